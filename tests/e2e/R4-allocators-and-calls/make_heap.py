"""A pprof heap profile with known bytes: load 3 MB in 3, decode 1 MB in 1000, of which attend 0.25 MB in 10."""
import os
import sys

sys.path.insert(0, os.environ["E2E"])
from protobuf import message, number, varint  # noqa: E402

STRINGS = ["", "alloc_objects", "count", "alloc_space", "bytes", "main", "load", "decode", "attend"]
SAMPLES = [(["main", "load"], 3, 3000000), (["main", "decode"], 990, 750000), (["main", "decode", "attend"], 10, 250000)]
out = message(1, number(1, 1), number(2, 2)) + message(1, number(1, 3), number(2, 4))
for path, objects, size in SAMPLES:
    ids = b"".join(varint(STRINGS.index(f) - 4) for f in reversed(path))
    out += message(2, message(1, ids), message(2, varint(objects) + varint(size)))
for i in range(1, 5):
    out += message(4, number(1, i), message(4, number(1, i))) + message(5, number(1, i), number(2, i + 4))
for text in STRINGS:
    out += message(6, text.encode())
sys.stdout.buffer.write(out)
