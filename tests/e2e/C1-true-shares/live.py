"""Each function's share of its thread's CPU time is within two points of the truth, however it was built."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402



def experiment(variant):
    r = Recording([fixture(f"fx-burn-{variant}"), "--seconds", 4])
    print(f"{variant}: {r.summary['samples']} samples")
    check_shares(r, points=2)
    check(f"{variant}: stacks reach a thread's start", r.summary["complete_share"] >= 0.995, r.summary["complete_share"])
    check(f"{variant}: nothing was lost", r.summary["lost"] == 0, r.summary["lost"])


need_sampling()
for each in variants("fx-burn"):
    steady(experiment, each)
done()
