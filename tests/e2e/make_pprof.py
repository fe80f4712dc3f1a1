"""Write a small pprof file by hand: an uncompressed profile.proto with modules, in milliseconds of cpu."""
import sys

from protobuf import message, number, varint

STRINGS = ["", "cpu", "milliseconds"]


def string(text):
    if text not in STRINGS:
        STRINGS.append(text)
    return STRINGS.index(text)


MODULES = ["/opt/app", "/lib/x86_64-linux-gnu/libc.so.6"]
FUNCTIONS = [("main", 0), ("decode", 0), ("matmul", 0), ("memcpy", 1), ("start_thread", 1), ("worker", 0), ("tokenize", 0)]
SAMPLES = [  # root first
    (["main", "decode", "matmul"], 7000),
    (["main", "decode", "memcpy"], 1000),
    (["main", "decode"], 100),
    (["main", "tokenize"], 300),
    (["start_thread", "worker"], 900),
    (["start_thread", "worker", "memcpy"], 700),
]

names = [name for name, _ in FUNCTIONS]
out = message(1, number(1, 1), number(2, 2))
for path, ms in SAMPLES:
    leaf_first = b"".join(varint(names.index(f) + 1) for f in reversed(path))
    out += message(2, message(1, leaf_first), message(2, varint(ms)))
for i, path in enumerate(MODULES):
    out += message(3, number(1, i + 1), number(5, string(path)))
for i, (name, module) in enumerate(FUNCTIONS):
    out += message(4, number(1, i + 1), number(2, module + 1), message(4, number(1, i + 1)))
    out += message(5, number(1, i + 1), number(2, string(name)))
for text in STRINGS:
    out += message(6, text.encode())
sys.stdout.buffer.write(out)
