"""A program that keeps 8 MiB more with every step: its heap over time has these steps, and the path that grew is named."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from heap_recorded import *  # noqa: E402

STEP, STEPS = 8 << 20, 3
PROGRAM = f"""
import os, time

def wait_for_reader():  # until the recording has been written to a few times: then this step is in it
    for _ in range(2):
        size, patience = os.path.getsize("run.inferom"), 600
        while os.path.getsize("run.inferom") == size and patience:
            time.sleep(0.05)
            patience -= 1

keep = []
wait_for_reader()  # names of the interpreter's own functions are many
for _ in range({STEPS}):
    keep.append(bytearray({STEP}))
    wait_for_reader()
os._exit(0)  # without cleaning up: the end is the last step
"""
r = Recording([sys.executable, "-c", PROGRAM], "--heap=exact")
heap = r.report("--heap")["heap"]
levels = [round(m["live_bytes"] / STEP) for m in heap["growth"]]
check("readings over time", len(levels) >= 3, len(levels))
check("never less than before", levels == sorted(levels), levels)
check("steps, up to the last", len(set(levels)) >= 3 and max(levels) == STEPS, levels)
check("the peak is the last step", abs(heap["peak_bytes"] - STEPS * STEP) < STEP / 2, heap["peak_bytes"] / STEP)
most = max(heap["hotspots"], key=lambda row: row["live_bytes"])
check("one path has the steps", abs(most["live_bytes"] - STEPS * STEP) < STEP / 8, most["live_bytes"] / STEP)
grown = [row for row in heap.get("growing", []) if row["stack"] == most["stack"]]
check("and grew, as far as the heap was read in time", not grown or grown[0]["grew_bytes"] >= STEP, grown and grown[0]["grew_bytes"] / STEP)
done()
