"""Of 200 nested calls the limit keeps as many frames as it says, and the stack says that it was cut."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

need_sampling()
for limit in 128, 32:
    r = Recording([fixture("fx-deep-nofp"), "--depth", 200, "--seconds", 1], "--max-depth", str(limit))
    deep = [(s, v) for s, v in r.folded() if "deep" in s]
    whole = sum(v for _, v in deep)
    marked = sum(v for s, v in deep if s[0] == "[truncated]")
    exact = sum(v for s, v in deep if s[0] == "[truncated]" and len(s) == limit + 1)
    check(f"limit {limit}: every deep stack is marked", whole and marked == whole, f"{marked} of {whole} ns")
    check(f"limit {limit}: and has {limit} frames", exact == whole, f"{exact} of {whole} ns")
    near(f"limit {limit}: summary's share of truncated stacks", r.summary["truncated"] / r.summary["samples"], 1, 0.02)

r = Recording([fixture("fx-deep-nofp"), "--depth", 200, "--seconds", 1], "--max-depth", "256")
depths = {s.count("deep") for s, _ in r.folded() if s[-1] == "deep_leaf"}
check("without a cut, deep is there 200 times in every stack", depths == {200}, depths)
check("and none is marked", r.summary["truncated"] == 0, r.summary["truncated"])

r = Recording([fixture("fx-deep-nofp"), "--depth", 1000, "--seconds", 2], "--max-depth", "1024")
depths = [(s.count("deep"), v) for s, v in r.folded() if s[-1] == "deep_leaf"]
whole = sum(v for _, v in depths)
near("a stack larger than the first slice is whole after a moment",
     sum(v for n, v in depths if n == 1000) / whole, 1, 0.1)
done()
