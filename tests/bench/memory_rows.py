"""Rows of run.py about memory seen from outside: what the recorder itself spends on it, with and without, taking turns."""
import os
import statistics
import subprocess
import sys

import __main__ as bench

MIB, SECONDS = 1024, 12

# Half of it is a mapped file, the other half anonymous; then it sleeps.
TARGET = """
import mmap, sys, time
mib = int(sys.argv[1])
with open("weights.gguf", "wb") as f:
    for _ in range(mib):
        f.write(b"w" * (1 << 20))
f = open("weights.gguf", "rb")
weights = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
copy = mmap.mmap(-1, mib << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for i in range(0, mib << 20, 4096):
    copy[i] = weights[i]
print("ready", flush=True)
time.sleep(3600)
"""


def outside(scratch):
    target = subprocess.Popen([sys.executable, "-c", TARGET, str(MIB)], cwd=scratch, stdout=subprocess.PIPE, text=True)
    target.stdout.readline()
    record = [bench.INFEROM, "record", "--pid", str(target.pid), "--duration", f"{SECONDS}s", "-o", os.path.join(scratch, "run.inferom")]
    each = {"with": [], "without": []}
    try:
        for _ in range(bench.REPEATS):
            each["with"].append(bench.cost(record, stderr=subprocess.DEVNULL)[0])
            each["without"].append(bench.cost([*record, "--no-memory"], stderr=subprocess.DEVNULL)[0])
    finally:
        target.kill()
        target.wait()
    share = statistics.median((a - b) / SECONDS for a, b in zip(each["with"], each["without"]))
    bench.row(f"memory from outside, {2 * MIB >> 10} GiB resident, {SECONDS} s", f"{bench.spread(each['with'], 3)} s",
              f"without {bench.spread(each['without'], 3)} s", f"{share:.2%} of a core", "holds" if share < 0.01 else "FAILS: wants less than 1 %")


BENCHMARKS = {"memory-outside": outside}
