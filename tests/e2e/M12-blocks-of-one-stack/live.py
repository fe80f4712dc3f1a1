"""Every block of a chosen stack, with address, size, fate and time; and the blocks of one stack only."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from heap_recorded import *  # noqa: E402

import csv
import io


def blocks(path, *options):
    text = subprocess.run([INFEROM, "report", "--blocks", *options, path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


for r in recorded("--heap-blocks"):
    leaked = blocks(r.path, "--include", "leaky")
    check("the blocks of leaky()", len(leaked) == LEAKS, len(leaked))
    check("each with its size", {b["bytes"] for b in leaked} == {str(LEAK_BYTES)}, {b["bytes"] for b in leaked})
    check("none of them freed", all(b["freed"] == "0" and not b["lifetime_ns"] for b in leaked), leaked[0])
    addresses = sorted(int(b["address"], 16) for b in leaked)
    check("at different places", all(b - a >= LEAK_BYTES for a, b in zip(addresses, addresses[1:])), hex(addresses[0]))
    times = [int(b["time_ns"]) for b in leaked]
    check("in order of time", times == sorted(times) and 0 <= times[0] <= r.summary["duration_ns"], times[:2])
    check("with their stack", all(b["stack"].split(";")[-1] == "leaky" and "main" in b["stack"] for b in leaked), leaked[0]["stack"])
    held = blocks(r.path, "--include", "hold")
    check("the blocks of hold() were freed", len(held) == HELD and all(b["freed"] == "1" and int(b["lifetime_ns"]) >= 0 for b in held), len(held))
    check("all blocks", len(blocks(r.path)) == r.truth["allocations"], r.truth["allocations"])
done()
