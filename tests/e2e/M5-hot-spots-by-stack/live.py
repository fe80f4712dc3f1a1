"""Allocations by stack: count, bytes and mean size of each are those of the source."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from heap_recorded import *  # noqa: E402

WANT = {"hold": (HELD, HELD_BYTES), "leaky": (LEAKS, LEAK_BYTES), "churn": (CHURNED, CHURN_BYTES)}
for r in recorded():
    heap = r.report("--heap")["heap"]
    rows = by_function(heap["hotspots"])
    for name, (count, size) in WANT.items():
        got = rows[name]
        check(f"{name}: count and bytes", (got["allocations"], got["alloc_bytes"]) == (count, count * size), (got["allocations"], got["alloc_bytes"]))
    first = heap["hotspots"][0]
    check("most bytes first", first["function"] == "hold" and first["mean_bytes"] == HELD_BYTES, first)
    check("with who called", "run" in first["stack"].split(" < ") and "main" in first["stack"].split(" < "), first["stack"])
    live = max(heap["hotspots"], key=lambda row: row["live_bytes"])
    check("what is left is leaky()'s", live["function"] == "leaky" and live["live_bytes"] == LEAKS * LEAK_BYTES, live["function"])
    check("churn is temporary", rows["churn"]["temporary"] == CHURNED, rows["churn"]["temporary"])
    check("nothing else allocated", sum(row["allocations"] for row in heap["hotspots"]) == r.truth["allocations"], len(rows))
    folded = subprocess.run([INFEROM, "flame", r.path, "--measure", "inuse_space", "-o", "live.svg"], stdout=subprocess.PIPE, text=True)
    check("and as a picture", folded.returncode == 0 and "leaky" in open("live.svg").read(), folded.stdout)
done()
