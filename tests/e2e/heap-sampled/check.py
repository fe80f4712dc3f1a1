"""100 blocks of 4 KiB and 4 of 1 MiB, each standing for 128: (1 - p) / p^2 s^2 for each, p = 1 / 128."""
import json
import math
import sys

heap = json.load(sys.stdin)["heap"]
one = 128 * 127
want = {"f": math.sqrt(100 * one * 4096**2), "g": math.sqrt(4 * one * 1048576**2)}
for row in heap["hotspots"]:
    assert math.isclose(row["alloc_bytes_error"], want[row["function"]], rel_tol=1e-6), row
    print(row["function"], row["samples"], row["alloc_bytes"], round(row["alloc_bytes_error"]))
whole, sigma = heap["rows_allocated_bytes"], math.hypot(*want.values())
assert math.isclose(whole["error"], sigma, rel_tol=1e-6)
assert math.isclose(whole["high_95"] - whole["value"], 1.959964 * sigma, rel_tol=1e-6)
