"""A program that keeps 8 MiB more every second: its heap over time has these steps, and the path that grew is named."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from heap_recorded import *  # noqa: E402

STEP, STEPS = 8 << 20, 4
PROGRAM = f"""
import os, time
keep = []
for _ in range({STEPS}):
    keep.append(bytearray({STEP}))
    time.sleep(1.3)
os._exit(0) # without cleaning up: the end is the last step
"""
r = Recording([sys.executable, "-c", PROGRAM], "--heap=exact")
heap = r.report("--heap")["heap"]
levels = [round(m["live_bytes"] / STEP) for m in heap["growth"]]
check("readings over time", len(heap["growth"]) >= 3, len(heap["growth"]))
grown = [level for i, level in enumerate(levels) if i == 0 or level != levels[i - 1]]
check("steps, one above the other", len(grown) >= 3 and max(grown) == STEPS, levels)
check("the peak is the last step", abs(heap["peak_bytes"] - STEPS * STEP) < STEP / 2, heap["peak_bytes"] / STEP)
most = heap["growing"][0]
check("the path that grew by steps", most["grew_bytes"] % STEP < STEP / 8 and most["grew_bytes"] >= STEP, most["grew_bytes"] / STEP)
done()
