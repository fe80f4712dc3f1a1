"""Profiles whose flame graphs are known in advance, for viewer.py."""
import json
import random

from protobuf import message, number, varint

# Two threads, in milliseconds, in order of time: 150 in all.
THREADS = {
    "main": [
        ("main;prefill;matmul", 30),
        ("main;decode;matmul", 40),
        ("main;decode;softmax", 10),
        ("main;decode", 5),
        ("main;eval;apply;eval;matmul", 10),
        ("main;eval;eval", 5),
    ],
    "worker": [
        ("worker;softmax", 20),
        ("worker;matmul", 30),
    ],
}


def speedscope(threads):
    """Sampled profiles, one per thread, in milliseconds."""
    names = sorted({f for rows in threads.values() for path, _ in rows for f in path.split(";")})
    profiles = [{"type": "sampled", "name": thread, "unit": "milliseconds", "startValue": 0, "endValue": sum(w for _, w in rows),
                 "samples": [[names.index(f) for f in path.split(";")] for path, _ in rows], "weights": [w for _, w in rows]}
                for thread, rows in threads.items()]
    return json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json",
                       "shared": {"frames": [{"name": n, "file": n + ".c", "line": 7} for n in names]}, "profiles": profiles})


# (stack, milliseconds, labels); modules by function below.
SERVER = [
    ("main;serve;matmul", 400, {"phase": "prefill", "request": "r-1", "thread": "http"}),
    ("main;serve;matmul", 100, {"phase": "decode", "request": "r-1", "thread": "http"}),
    ("main;serve;memcpy", 200, {"phase": "decode", "request": "r-2", "thread": "http"}),
    ("main;serve;tokenize", 50, {"phase": "tokenize", "request": "r-2", "thread": "http"}),
    ("start_thread;poll", 250, {"thread": "io"}),
]
MODULES = {"memcpy": "/lib/x86_64-linux-gnu/libc.so.6", "start_thread": "/lib/x86_64-linux-gnu/libc.so.6"}


def pprof(samples, modules, default="/opt/server"):
    """An uncompressed profile.proto."""
    strings, paths = ["", "cpu", "milliseconds"], sorted({default, *modules.values()})
    functions = sorted({f for path, _, _ in samples for f in path.split(";")})

    def string(text):
        if text not in strings:
            strings.append(text)
        return strings.index(text)

    out = message(1, number(1, 1) + number(2, 2))
    for path, ms, labels in samples:
        leaf_first = b"".join(varint(functions.index(f) + 1) for f in reversed(path.split(";")))
        said = b"".join(message(3, number(1, string(k)) + number(2, string(v))) for k, v in labels.items())
        out += message(2, message(1, leaf_first) + message(2, varint(ms)) + said)
    for i, path in enumerate(paths):
        out += message(3, number(1, i + 1) + number(5, string(path)))
    for i, name in enumerate(functions):
        module = paths.index(modules.get(name, default)) + 1
        out += message(4, number(1, i + 1) + number(2, module) + message(4, number(1, i + 1)))
        out += message(5, number(1, i + 1) + number(2, string(name)))
    return out + b"".join(message(6, text.encode()) for text in strings)


# In decode the same function does half as much again; in prefill nothing changed; a third part is new. In samples of 10 ms.
PARTS = {"prefill": (1000, 1000), "decode": (2000, 3000), "<sample>": (0, 500), None: (300, 300)}


def in_parts(side):
    """One of two runs whose samples say what they were part of: phase, request and scopes alike."""
    rows = []
    for part, ms in PARTS.items():
        labels = {"phase": part, "request": part, "scope path": f"serve > {part}"} if part else {}
        rows += [("main;work" if part else "main;idle", 10, labels)] * (ms[side] // 10)
    return pprof(rows, {})


# b does twice the work it did, c is gone, d is new; a is as it was. In samples.
BEFORE = "main;a 1000\nmain;b 500\nmain;c 400\n"
AFTER = "main;a 1000\nmain;b 1000\nmain;d 300\n"



def two_runs():
    """Two folded files of 300 stacks whose counts are drawn at random, the same every time; a third of them really changed."""
    dice = random.Random(7)
    before, after = [], []
    for i in range(300):
        path = f"main;part{i % 7};step{i % 31};leaf{i}"
        mean = dice.choice([3, 30, 300])
        factor = dice.choice([0, 0.5, 1, 1, 1, 1, 1, 2])
        first, second = (round(max(0, dice.gauss(m, m ** 0.5))) for m in (mean, mean * factor))
        if first:
            before.append(f"{path} {first}\n")
        if second:
            after.append(f"{path} {second}\n")
    return "".join(before), "".join(after)


HOSTILE = ["<script>window.hacked = 1</script>", "\"]]>", "</script><img src=x onerror=alert(1)>", "vector<" * 500 + ">" * 500,
           "\x1b[31mred\x1b[0m", "\xff\xfe", "a\tb", "Zeile\u2028zwei", "मातृका", "矩陣乘法"]


def hostile():
    """Each name on top of main, 10 samples each; one of them is not UTF-8."""
    return b"".join(b"main;" + (n.encode("latin-1") if n == "\xff\xfe" else n.encode()) + b" 10\n" for n in HOSTILE)
