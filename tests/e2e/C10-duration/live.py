"""A recording with a fixed duration ends on time; the program goes on and its status still counts."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

import time  # noqa: E402

need_sampling()
target = subprocess.Popen([fixture("fx-burn-fp"), "--seconds", "60"], stdout=subprocess.DEVNULL)
try:
    before = time.monotonic()
    p = subprocess.run([INFEROM, "record", "--json", "--pid", str(target.pid), "--duration", "5", "-o", "run.inferom"],
                       stdout=subprocess.PIPE, text=True)
    took = time.monotonic() - before
    near("duration of the recording, in seconds", json.loads(p.stdout)["duration_ns"] / 1e9, 5, 0.2)
    check("inferom ended soon after", 4.8 < took < 8, f"{took:.2f} s")
    check("the program still runs", target.poll() is None, target.poll())
finally:
    target.kill()
    target.wait()

r = Recording(["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; exit 3"], "--duration", "100ms")
near("duration with a launched program", r.summary["duration_ns"] / 1e9, 0.1, 0.2)
check("whose status is waited for", r.status == 3, r.status)
r = Recording(["sleep", "0.6"], "--delay", "200ms")
near("a delay is not recorded: seconds", r.summary["duration_ns"] / 1e9, 0.4, 0.2)
done()
