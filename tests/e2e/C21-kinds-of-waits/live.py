"""Every kind of waiting is told from the others, and what each thread did adds up to its life."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402


def waits_of(r, tid):
    report = r.report("--set", "off-cpu", "--waits", "--threads", "--thread", str(tid))
    return {w["wait"]: w["ns"] for w in report["waits"]}, totals(report["threads"][0]["functions"])


def check_kind(r, t):
    waits, functions = waits_of(r, t["tid"])
    of_kind, off = waits.get(t["class"], 0), sum(waits.values())
    if t["class"] == "page fault": # what a fault costs is partly CPU time, and there is none where files live in memory
        enough = t["disk_faults"] > 100
        check(f"{t['name']}: page faults", not enough or 0.3 * t["wait_ns"] < of_kind < 1.03 * t["wait_ns"],
              f"{of_kind / 1e6:.0f} ms, {t['disk_faults']} faults in {t['wait_ns'] / 1e6:.0f} ms")
    else: # the pauses of the holder are sleep, too, but not in hold()
        spare = sum(ns for wait, ns in waits.items() if wait in ("waiting for a CPU", "unknown")) if t["class"] != "waiting for a CPU" else 0
        low, high = t["wait_ns"] - spare - 0.03 * t["wall_ns"], t["wait_ns"] + 0.03 * t["wall_ns"]
        high += t["wall_ns"] if t["name"] == "holder" else 0
        check(f"{t['name']}: {t['class']}", low <= of_kind <= high, f"{of_kind / 1e6:.0f} ms of {t['wait_ns'] / 1e6:.0f} ms")
    share = functions.get(t["function"], 0)
    check(f"{t['name']}: its stacks have {t['function']}", share >= 0.8 * min(of_kind, t["wait_ns"]) / off, f"{share:.0%}")


def experiment():
    r = Recording([fixture("fx-wait-nofp"), "--seconds", 3], "--off-cpu")
    if r.summary["wait_stacks"] != "switch":
        print("skipped: stacks of switches are not allowed for this user")
        sys.exit(SKIP)
    lives = {t["tid"]: t for t in r.report("--waits")["thread_times"]}
    for t in r.truth["threads"]:
        near(f"{t['name']}: on + off, of its life", lives[t["tid"]]["wall_ns"] / t["wall_ns"], 1, 0.03)
        check_kind(r, t)
    unknown = r.summary["waits_unknown_ns"] / sum(t["wall_ns"] for t in r.truth["threads"])
    check("time that is neither on nor off for sure", unknown < 0.01, f"{unknown:.2%}")


need_sampling()
steady(experiment)
done()
