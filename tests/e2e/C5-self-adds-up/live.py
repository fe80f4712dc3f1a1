"""Self times add up to the sampled CPU time, that is the true one, and the roots have all of it."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402


def experiment():
    r = Recording([fixture("fx-burn-nofp"), "--seconds", 3])
    report = r.report()
    own = sum(f["self"] for f in report["functions"])
    check("self times add up to the total", own == report["total"], f"{own} of {report['total']}")
    near("the total, of the program's CPU time", report["total"] / 1e9 / cpu_seconds(r.truth), 1, 0.03)
    near("sampled and unsampled, of the CPU time that inferom saw",
         (r.summary["samples"] + r.summary["unsampled"]) * 1e6 / r.summary["cpu_ns"], 1, 0.005)

    main = r.truth["threads"][0]
    rows = totals(thread_rows(r.report("--threads"), main["tid"])["functions"])
    near("main's total, of its thread", rows["main"], 1, 0.01)
    roots = {}
    for stack, value in r.folded():
        roots[stack[0]] = roots.get(stack[0], 0) + value
    check("the roots have all of it", sum(roots.values()) == report["total"], roots)


need_sampling()
steady(experiment)
done()
