"""A program without frame pointers, and one without symbols but a debug file beside it, show the same top functions."""
import os
import sys

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
done()
