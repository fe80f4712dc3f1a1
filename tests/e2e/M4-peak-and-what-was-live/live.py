"""The peak of fx-heap is known, with its moment and the stacks that were live at it."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from heap_recorded import *  # noqa: E402

for r in recorded():
    heap, truth = r.report("--heap")["heap"], r.truth["peak_bytes"]
    check("the peak, within 1 %", abs(heap["peak_bytes"] - truth) <= truth / 100, (heap["peak_bytes"], truth))
    rows = by_function(heap["peak"])
    check("what was live then", set(rows) <= {"leaky", "hold", "churn"}, list(rows))
    for name, want in ("leaky", LEAKS * LEAK_BYTES), ("hold", HELD * HELD_BYTES):
        check(f"{name} at the peak, within 1 %", abs(rows[name]["peak_bytes"] - want) <= want / 100, rows[name]["peak_bytes"])
    inside = 0 <= heap["peak_after_ns"] <= r.summary["duration_ns"]
    check("the moment is within the recording", inside, heap["peak_after_ns"] / 1e9)
    chunks = sum(row["peak_bytes"] for row in heap["peak"])
    check("the stacks add up to it, within 1 %", abs(chunks - heap["peak_bytes"]) <= truth / 100, chunks)
done()
