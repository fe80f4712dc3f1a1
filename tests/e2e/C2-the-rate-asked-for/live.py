"""Samples per second of CPU time, as the program's own clock counts it, are the rate within 3 %."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402



def experiment(rate):
    r = Recording([fixture("fx-burn-nofp"), "--seconds", 3], "--rate", str(rate))
    got = r.summary["samples"] / cpu_seconds(r.truth)
    near(f"samples per CPU second, of {rate} asked for", got / rate, 1, 0.03)
    near(f"CPU time by samples at {rate} Hz, of the true one", r.report()["total"] / 1e9 / cpu_seconds(r.truth), 1, 0.03)


need_sampling()
for each in 99, 100, 500, 1000, 4000:
    steady(experiment, each)
done()
