#!/usr/bin/env python3
"""Reads capture files by the word of docs/formats/inferom.md, with nothing but Python.

    read_inferom.py FILE                            prints totals as JSON
    read_inferom.py --check INFEROM MAKER PAGE      holds itself against the program

The check proves that the page is complete: the example printed on it is read
from the page itself, and files made by MAKER (tests/unit/capture_files.c), whole
and damaged, must give the totals that 'inferom runs show' gives. Chunks packed
with zstd are beyond Python's own library; the files are stored plain.
"""
import json
import re
import struct
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

MASK = (1 << 64) - 1
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def rotl(x, n):
    return (x << n | x >> (64 - n)) & MASK


def xxh_round(acc, lane):
    return rotl((acc + lane * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    """XXH64 with seed 0."""
    at, n = 0, len(data)
    if n >= 32:
        v = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        for lanes in struct.iter_unpack("<4Q", data[: n // 32 * 32]):
            v = [xxh_round(a, lane) for a, lane in zip(v, lanes)]
        at = n // 32 * 32
        h = (rotl(v[0], 1) + rotl(v[1], 7) + rotl(v[2], 12) + rotl(v[3], 18)) & MASK
        for a in v:
            h = ((h ^ xxh_round(0, a)) * P1 + P4) & MASK
    else:
        h = P5
    h = (h + n) & MASK
    while at + 8 <= n:
        h = (rotl(h ^ xxh_round(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= n:
        h = (rotl(h ^ struct.unpack_from("<I", data, at)[0] * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotl(h ^ byte * P5 & MASK, 11) * P1 & MASK
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


def is_sealed(piece):
    return xxh64(piece[:-8]) == struct.unpack("<Q", piece[-8:])[0]


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def signed(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def text(self):
        n = self.varint()
        self.at += n
        return self.data[self.at - n : self.at]

    def steps(self, n):
        times, now = [], 0
        for _ in range(n):
            now = (now + self.signed()) & MASK
            times.append(now)
        return times

    def doubles(self, n):
        self.at += 8 * n
        return struct.unpack("<%dd" % n, self.data[self.at - 8 * n : self.at])


MAGIC = b"\x89INFEROM\r\n\x1a\n"
CHUNK, DONE = b"\x8aIFMCHNK", b"\x8aIFMDONE"
MOST = 16 << 20


class Capture:
    """The file as it stands: chunks found, and what is missing between them."""

    def __init__(self, data):
        self.data, self.file_id, self.damaged = data, None, []
        self.is_closed, self.lost_chunks = False, 0
        self.tables = {t: {} for t in range(2, 11)}
        self.sets, self.facts, self.spans, self.readings, self.lost_samples = {}, {}, 0, 0, 0
        self.losses = 0
        self.latest, self.coming = {}, {}
        self.read()

    def read(self):
        header = self.data[:32]
        good = at = 0
        if header.startswith(MAGIC) and is_sealed(header):
            major, _, self.file_id = struct.unpack_from("<HHQ", header, 12)
            if major != 1:
                raise SystemExit("major version %d" % major)
            good = at = 32
        sequence = 0
        while at < len(self.data):
            end, chunk = self.chunk_at(at)
            if not end and self.is_trailer(at):
                end, self.is_closed = at + 32, True
            if not end:
                at = self.data.find(CHUNK[:4], at + 1)
                at = len(self.data) if at < 0 else at
                continue
            if at > good:
                self.damaged.append((good, at - good))
            if chunk and chunk[1] >= sequence:
                self.lost_chunks += chunk[1] - sequence
                sequence = chunk[1] + 1
                self.take(*chunk)
            good = at = end
        if good < len(self.data):
            self.damaged.append((good, len(self.data) - good))
        for rows in self.latest.values():
            for row in rows:
                self.take_latest_row(*row)

    def is_trailer(self, at):
        piece = self.data[at : at + 32]
        return len(piece) == 32 and piece.startswith(DONE) and is_sealed(piece)

    def chunk_at(self, at):
        head = self.data[at : at + 48]
        if len(head) < 48 or not head.startswith(CHUNK) or not is_sealed(head):
            return None, None
        file_id, kind, flags, sequence, stored, unpacked, checksum = struct.unpack_from("<QHHIIIQ", head, 8)
        payload = self.data[at + 48 : at + 48 + stored]
        if self.file_id not in (None, file_id) or stored > MOST or unpacked > MOST or len(payload) < stored:
            return None, None
        if xxh64(payload) != checksum:
            return None, None
        if flags & 1:
            raise SystemExit("this chunk is packed with zstd")
        self.file_id = file_id
        return at + 48 + stored, (kind if not flags else 0, sequence, payload)

    def take(self, kind, _, payload):
        cursor = Cursor(payload)
        if kind == 1:
            self.is_closed = True
        elif kind in self.tables:
            self.take_rows(self.tables[kind], ROWS[kind], cursor)
        elif kind == 11:
            self.take_samples(cursor)
        elif kind == 12:
            cursor.varint()
            self.spans += cursor.varint()
        elif kind == 14:
            self.take_readings(cursor)
        elif kind == 15:
            for _ in range(cursor.varint()):
                key = cursor.text()
                self.facts[key] = cursor.text()
        elif kind == 16:
            for _ in range(cursor.varint()):
                cursor.varint()
                cursor.text()
                self.losses += cursor.varint()
        elif kind == 19:
            self.take_latest(cursor)

    @staticmethod
    def take_rows(table, row, cursor):
        first, n = cursor.varint(), cursor.varint()
        for i in range(first, first + n):
            table[i] = row(cursor, i)

    def take_samples(self, c):
        number, name = c.varint(), c.text()
        measures = [(c.text(), c.varint(), c.text(), c.varint()) for _ in range(c.varint())]
        c.varint()
        c.signed()
        n, flags = c.varint(), c.varint()
        times = c.steps(n) if flags & 1 else [MASK] * n
        contexts = [c.varint() for _ in range(n)] if flags & 2 else [0] * n
        stacks = [c.varint() for _ in range(n)]
        values = [[c.signed() for _ in range(n)] for _ in measures]
        s = self.sets.setdefault(number, {"name": name, "measures": measures, "samples": [], "totals": [0] * len(measures)})
        for i in range(n):
            if (stacks[i] and stacks[i] not in self.tables[6]) or (contexts[i] and contexts[i] not in self.tables[10]):
                self.lost_samples += 1
                continue
            s["samples"].append((times[i], contexts[i], stacks[i]))
            s["totals"] = [t + column[i] for t, column in zip(s["totals"], values)]

    def take_latest(self, c):
        subject, number, is_last = c.varint(), c.varint(), c.varint()
        if self.coming.get(subject, (number,))[0] != number:
            del self.coming[subject]
        rows = self.coming.setdefault(subject, (number, []))[1]
        for _ in range(c.varint()):
            of, thread, stack = c.varint(), c.varint(), c.varint()
            values = [c.signed() for _ in range(c.varint())]
            labels = [(c.varint(), c.varint(), c.signed(), c.varint()) for _ in range(c.varint())]
            rows.append((of, thread, stack, values, labels))
        if is_last:
            self.latest[subject] = rows
            del self.coming[subject]

    def take_latest_row(self, of, thread, stack, values, labels):
        if of not in self.sets or (stack and stack not in self.tables[6]):
            self.lost_samples += 1
            return
        s = self.sets[of]
        s["samples"].append((MASK, (thread, labels), stack))
        s["totals"] = [t + v for t, v in zip(s["totals"], values)]

    def take_readings(self, c):
        c.text()
        c.varint()
        c.text()
        c.varint()
        n = c.varint()
        self.readings += len(list(zip(c.steps(n), c.doubles(n))))

    def stack_names(self, stack):
        names = []
        while stack:
            stack, frame = self.tables[6][stack]
            names.append(self.tables[2][self.tables[4][self.tables[5][frame][0]][0]])
        return names[::-1]


def varints(n):
    return lambda c, i: tuple(c.varint() for _ in range(n))


ROWS = {
    2: lambda c, i: c.text(),
    3: varints(5),
    4: varints(4),
    5: varints(4),
    6: lambda c, i: (i - c.varint(), c.varint()),
    7: lambda c, i: (c.signed(), c.varint(), c.varint()),
    8: lambda c, i: (c.varint(), c.signed(), c.varint()),
    9: lambda c, i: [(c.varint(), c.varint(), c.signed(), c.varint()) for _ in range(c.varint())],
    10: varints(2),
}


def totals(capture):
    """In the words of 'inferom runs show --json'."""
    return {
        "is_closed": capture.is_closed,
        "lost_chunks": capture.lost_chunks,
        "damaged_bytes": sum(n for _, n in capture.damaged),
        "lost_samples": capture.lost_samples,
        "threads": len(capture.tables[8]),
        "facts": len(capture.facts),
        "spans": capture.spans,
        "readings": capture.readings,
        "lost": capture.losses + capture.lost_samples,
        "sets": [
            {
                "name": s["name"].decode(),
                "samples": len(s["samples"]),
                "totals": [Decimal(t).scaleb(-m[3]) for t, m in zip(s["totals"], s["measures"])],
            }
            for s in capture.sets.values()
        ],
    }


def totals_of_program(inferom, path):
    done = subprocess.run([inferom, "runs", "show", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in (0, 9):
        raise SystemExit("inferom runs show %s: %s" % (path, done.stderr.decode()))
    shown = json.loads(done.stdout, parse_float=Decimal)
    result = {k: shown["capture"][k] for k in ("is_closed", "lost_chunks", "damaged_bytes", "lost_samples")}
    result.update(
        threads=len(shown["threads"]),
        facts=len(shown["facts"]),
        spans=sum(k["count"] for k in shown["spans"]),
        readings=sum(s["readings"] for s in shown["series"]),
        lost=sum(x["count"] for x in shown["losses"]),
        sets=[
            {"name": s["name"], "samples": s["samples"], "totals": [Decimal(m["total"]) for m in s["measures"]]}
            for s in shown["sets"]
        ],
    )
    return result


def example_on(page):
    dump = re.search(r"```hex\n(.*?)```", page.read_text(), re.S).group(1)
    return b"".join(bytes.fromhex(line.split(": ", 1)[1]) for line in dump.splitlines())


def check(inferom, maker, page):
    assert xxh64(b"") == 0xEF46DB3751D8E999 and xxh64(b"abc") == 0x44BC2CF5AD770999
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([maker, folder, "--many"], check=True)
        example = example_on(Path(page))
        if example != Path(folder, "example.inferom").read_bytes():
            failures += 1
            print("the example on the page is not what the program writes")
        capture = Capture(example)
        paths = [b";".join(capture.stack_names(s)) for _, _, s in capture.sets[0]["samples"]]
        if paths != [b"main;decode", b"main"] or capture.damaged or not capture.is_closed:
            failures += 1
            print("the example reads as", paths, capture.damaged)
        for name in ("example", "plain", "many", "cut", "flipped", "headless", "latest"):
            path = Path(folder, name + ".inferom")
            mine, theirs = totals(Capture(path.read_bytes())), totals_of_program(inferom, path)
            same = mine == theirs
            failures += not same
            print("%-9s %s" % (name, "same totals" if same else "page: %s\nprogram:  %s" % (mine, theirs)))
    return failures


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "--check":
        sys.exit(1 if check(*sys.argv[2:]) else 0)
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(json.dumps(totals(Capture(Path(sys.argv[1]).read_bytes())), indent=2, default=str))
