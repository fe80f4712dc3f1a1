#!/usr/bin/env python3
"""The profile in a flame page, read as docs/formats/flame-data.md says.

    read_flame.py PAGE                      prints its stacks, folded
    read_flame.py --check INFEROM           whether pages hold what profiles hold
"""
import base64
import collections
import gzip
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import viewer_data

CODES = {"u8": "B", "u16": "H", "u32": "I", "i32": "i", "f64": "d"}


class Flame:
    def __init__(self, path):
        with open(path) as f:
            data = re.search(r'<script type="application/octet-stream" id="data">([^<]*)</script>', f.read()).group(1)
        raw = gzip.decompress(base64.b64decode(data))
        magic, version, size, zero = struct.unpack_from("<4sIII", raw)
        assert (magic, version, size % 8, zero) == (b"INMF", 1, 0, 0), (magic, version, size, zero)
        self.header = json.loads(raw[16:16 + size])
        self.columns, at = {}, 16 + size
        for c in self.header["columns"]:
            body = raw[at:at + c["bytes"]]
            assert len(body) == c["bytes"], c
            self.columns[c["name"]] = body.decode().split("\n") if c["type"] == "text" else list(
                struct.unpack(f"<{c['bytes'] // struct.calcsize(CODES[c['type']])}{CODES[c['type']]}", body))
            at += -(-c["bytes"] // 8) * 8
        assert at == len(raw), (at, len(raw))

    def paths(self):
        """By node: names from the root."""
        stack, out = [], [()]
        for rise, function in zip(self.columns["node_rise"], self.columns["node_function"]):
            if rise:
                del stack[-rise:]
            stack.append(self.columns["function_name"][function])
            out.append(tuple(stack))
        return out

    def samples(self, side=0):
        """(path, value, thread, phase, request, time)"""
        paths, told, c = self.paths(), self.header["sides"][side], self.columns
        node = now = 0
        n = len(c[f"side{side}_node"])
        values = c.get(f"side{side}_value")
        contexts = c.get(f"side{side}_context", [0] * n)
        times = c.get(f"side{side}_time", [])
        for i, step in enumerate(c[f"side{side}_node"]):
            node += step
            now += times[i] if i < len(times) else 0
            value = values[i] * self.header["scale"] if values else told["value"]
            who = {k: c["context_" + k][contexts[i]] for k in ("thread", "phase", "request")}
            yield (paths[node], value, who["thread"] and self.header["threads"][who["thread"] - 1]["name"],
                   who["phase"] and self.header["phases"][who["phase"] - 1], who["request"] and self.header["requests"][who["request"] - 1],
                   now * told["time_unit_ns"] if i < len(times) else None)

    def folded(self, side=0):
        sums = collections.Counter()
        for path, value, *_ in self.samples(side):
            sums[";".join(path)] += value
        return sums


def page(inferom, folder, name, content, *options):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())
    subprocess.run([inferom, "flame", path, "-o", path + ".html", *options], check=True, stdout=subprocess.DEVNULL)
    return Flame(path + ".html")


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, want {want}")


def check(inferom, folder):
    threads = page(inferom, folder, "run.speedscope.json", viewer_data.speedscope(viewer_data.THREADS))
    want = []
    for thread, rows in viewer_data.THREADS.items():
        at = 0
        for path, ms in rows:
            want.append((at * 10**6, (tuple(path.split(";")), ms * 10**6, thread)))
            at += ms
    got = [(time, (path, value, thread)) for path, value, thread, _, _, time in threads.samples()]
    same("samples with threads and times", sorted(got), sorted(want))
    same("in order of time", [t for t, _ in got], sorted(t for t, _ in want))
    side = threads.header["sides"][0]
    same("summary", (side["samples"], side["total"], side["lost"], side["unresolved"]), (8, 150 * 10**6, None, 0))
    same("source", {threads.columns["files"][i] for i in threads.columns["function_file"][1:]}, {n + ".c" for n in threads.columns["function_name"][1:]})

    server = page(inferom, folder, "server.pb", viewer_data.pprof(viewer_data.SERVER, viewer_data.MODULES))
    want = sorted((tuple(path.split(";")), ms * 10**6, l.get("thread"), l.get("phase", 0), l.get("request", 0)) for path, ms, l in viewer_data.SERVER)
    same("samples with labels", sorted(row[:5] for row in server.samples()), want)
    of = dict(zip(server.columns["function_name"], server.columns["function_system"]))
    same("system", (of["memcpy"], of["matmul"]), (1, 0))

    folded = page(inferom, folder, "big.folded", "a;b 3000000000\na;b;c 6000000000\na 1.5\n")
    same("large and fractional values", folded.folded(), {"a;b": 30000000000, "a;b;c": 60000000000, "a": 15})
    same("decimals", folded.header["measure"]["decimals"], 1)

    after = os.path.join(folder, "after.folded")
    with open(after, "w") as f:
        f.write(viewer_data.AFTER)
    both = page(inferom, folder, "before.folded", viewer_data.BEFORE, "--diff", after)
    for side, text in enumerate((viewer_data.BEFORE, viewer_data.AFTER)):
        same(f"side {side}", both.folded(side), {line.split(" ")[0]: int(line.split(" ")[1]) for line in text.split("\n") if line})
    print("pages hold what profiles hold")


def main():
    if sys.argv[1] != "--check":
        for path, value in sorted(Flame(sys.argv[1]).folded().items()):
            print(path, value)
        return 0
    told = subprocess.run([sys.argv[2], "--version", "--verbose"], check=True, stdout=subprocess.PIPE, text=True).stdout
    if "viewer: on" not in told:
        print("skipped: this build has no viewer (Debian: esbuild)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check(os.path.abspath(sys.argv[2]), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
