"""The leaked blocks of fx-heap are found, all of them and only they, with their bytes and the function they come from."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from heap_recorded import *  # noqa: E402

for r in recorded():
    heap = r.report("--leaks")["heap"]
    rows = by_function(heap["leaks"])
    check("only leaky() leaks", list(rows) == ["leaky"], list(rows))
    check("every byte", rows["leaky"]["live_bytes"] == LEAKS * LEAK_BYTES, rows["leaky"]["live_bytes"])
    check("every block", rows["leaky"]["live_blocks"] == LEAKS, rows["leaky"]["live_blocks"])
    check("the sum says so, too", heap["leaked"]["b"]["bytes"] == r.truth["live_bytes"], heap["leaked"])
    fails = subprocess.run([INFEROM, "report", "--leaks", "--fail-on-leaks", r.path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    check("a build machine hears of it", fails.returncode == 1 and "1 000 blocks" in fails.stderr, fails.stderr)
    with open("known", "w") as f:
        f.write("leak:^leaky$\n")
    passes = subprocess.run([INFEROM, "report", "--leaks", "--fail-on-leaks", "--suppressions", "known", r.path], stdout=subprocess.PIPE, text=True)
    check("unless it is known", passes.returncode == 0 and "There are none" in passes.stdout.replace("\n", " "), passes.stdout[-300:])
done()
