"""Threads carry the kernel's id and their own name, and burn_w is the worker's alone."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402



def experiment():
    r = Recording([fixture("fx-burn-fp"), "--seconds", 2])
    report = r.report("--threads")
    for thread in r.truth["threads"]:
        row = thread_rows(report, thread["tid"])
        check(f"tid {thread['tid']} is called", row["thread"] == thread["name"], row["thread"])
        check(f"{row['thread']} is of process", row["pid"] == r.truth["pid"], row["pid"])
        near(f"CPU time of {row['thread']}, of the true one", row["total"] / thread["cpu_ns"], 1, 0.03)
    with_w = [t["thread"] for t in report["threads"] if any(f["function"] == "burn_w" for f in t["functions"])]
    check("burn_w runs on", with_w == ["fx-worker"], with_w)


need_sampling()
steady(experiment)
done()
