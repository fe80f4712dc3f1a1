"""Programs that the launched one starts are recorded, each under its own number; without children they are not."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

BURN = fixture("fx-burn-nofp")
SCRIPT = f"for i in 1 2 3; do {BURN} --seconds 1.5 > $i.json & done; wait"


def experiment():
    r = Recording(["sh", "-c", SCRIPT])
    truths = {}
    for i in 1, 2, 3:
        with open(f"{i}.json") as f:
            t = json.load(f)
        truths[t["pid"]] = t
    pids = {p["pid"]: p["name"] for p in r.contents()["processes"]}
    check("three processes called fx-burn-nofp", sorted(p for p, n in pids.items() if n == "fx-burn-nofp") == sorted(truths), pids)
    for pid, truth in truths.items():
        report = r.report("--process", str(pid), "--threads")
        near(f"CPU time of process {pid}, of the true one", report["total"] / 1e9 / cpu_seconds(truth), 1, 0.03)
        main = truth["threads"][0]
        got = totals(thread_rows(report, main["tid"])["functions"])
        for f in main["functions"]:
            near(f"process {pid}: share of {f['name']}", got.get(f["name"], 0), f["share"], 0.03)


need_sampling()
steady(experiment)

r = Recording([fixture("fx-fork-nofp"), "--seconds", 1])
got = {p["pid"] for p in r.contents()["processes"]}
check("forked children without exec are there", {c["pid"] for c in r.truth["children"]} <= got, got)

r = Recording(["sh", "-c", SCRIPT], "--no-children")
names = {p["name"] for p in r.contents()["processes"]}
check("with --no-children only the shell", names <= {"sh"}, names)
done()
