"""A program without frame pointers, and one without symbols but a debug file beside it, show the same top functions.

Without a debug file there are no names, but the functions are still functions: one row for each, not one for each address.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

need_sampling()
want = ["burn_w", "burn_a", "burn_b"]
for variant in "fp", "nofp", "stripped":
    r = Recording([fixture(f"fx-burn-{variant}"), "--seconds", 2])
    names = [f["function"] for f in r.report("--sort", "self")["functions"]][:3]
    check(f"{variant}: top 3", sorted(names) == sorted(want), names)
    callers = {s[s.index("burn_a") - 1] for s, _ in r.folded() if "burn_a" in s}
    check(f"{variant}: burn_a is called by", callers == {"main"}, callers)

with tempfile.TemporaryDirectory() as folder:
    nameless = os.path.join(folder, "nameless")
    shutil.copy(fixture("fx-burn-nofp"), nameless)
    if not shutil.which("strip") or subprocess.run(["strip", "--strip-all", nameless]).returncode:
        print("no strip here: the program without any names is left out")
        done()
    rows = Recording([nameless, "--seconds", 2]).report("--sort", "self")["functions"]
    names = [f["function"] for f in rows if f["module"] == "nameless"]
    check("without names: rows of the program", 3 <= len(names) < 20, names)
    check("without names: called after where they begin", all(n.startswith("[nameless+0x") for n in names), names)
    check("without names: the three burn functions and their waiting", sum(f["self_share"] for f in rows[:4]) > 0.9, rows[:4])
done()
