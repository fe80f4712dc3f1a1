"""The same numbers for programs: exact, and in bytes."""
import json
import sys

report = json.load(sys.stdin)
heap = report["heap"]
for key in "allocations", "allocated_bytes", "frees", "freed_bytes", "live_blocks", "live_bytes", "peak_bytes", "peak_after_ns", "temporary":
    print(key, heap[key])
print("per token", heap["allocations_per_token"], heap["allocated_bytes_per_token"])
print("contract", report["memory"])
print("leaked", heap["leaked"])
for row in heap["hotspots"]:
    print(row["function"], row["allocations"], row["alloc_bytes"], row["mean_bytes"], row["live_bytes"], row["peak_bytes"], row["stack"])
print("growth", [(m["time_ns"] // 10**6, m["live_bytes"]) for m in heap["growth"]])
assert sum(r["allocations"] for r in heap["sizes"]) == heap["allocations"]
assert sum(r["alloc_bytes"] for r in heap["sizes"]) == heap["allocated_bytes"]
assert sum(r["blocks"] for r in heap["lifetimes"]) == heap["frees"]
assert sum(r["live_bytes"] for r in heap["hotspots"]) == heap["live_bytes"]
assert sum(r["peak_bytes"] for r in heap["peak"]) == heap["peak_bytes"]
