"""A program that sleeps 70 % of the time is off the CPU 70 % of the time, and the stack says where it sleeps."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402


def experiment(variant):
    # It sleeps only when it gets 30 % of a core; with some priority, where that is allowed, it does.
    r = Recording([fixture(f"fx-sleep-{variant}"), "--seconds", 3], "--off-cpu", prefix=("nice", "-n", "-15"))
    truth, report = r.truth, r.report("--set", "off-cpu", "--waits", "--threads")
    life = next(t for t in report["thread_times"] if t["tid"] == truth["pid"])
    near(f"{variant}: on and off the CPU, of the time it ran", life["wall_ns"] / truth["wall_ns"], 1, 0.03)
    near(f"{variant}: off the CPU, by its own account", life["off_ns"] / life["wall_ns"], truth["off_ns"] / truth["wall_ns"], 0.03)
    if abs(truth["off_ns"] / truth["wall_ns"] - 0.7) < 0.01:
        near(f"{variant}: off the CPU", life["off_ns"] / life["wall_ns"], 0.7, 0.03)
    else:
        print(f"     the machine gave it no more than {truth['on_ns'] / truth['wall_ns']:.0%} of a core; compared with its truth")
    rest = sum(f["total"] for f in report["threads"][0]["functions"] if f["function"] == "rest")
    near(f"{variant}: waits inside rest, of all time", rest / truth["wall_ns"], truth["rest_ns"] / truth["wall_ns"], 0.03)
    sleep = sum(w["ns"] for w in report["waits"] if w["wait"] == "sleep")
    if r.summary["wait_stacks"] == "switch":
        near(f"{variant}: classified as sleep, of all time", sleep / truth["wall_ns"], truth["rest_ns"] / truth["wall_ns"], 0.03)


need_sampling()
for each in variants("fx-sleep"):
    steady(experiment, each)
done()
