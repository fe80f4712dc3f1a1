#!/usr/bin/env python3
"""The same programs recorded and run under valgrind: sums to the byte, and every call stack by itself.

    heap_beside.py CASE INFEROM WORKLOADS

Programs nobody here wrote have no symbols, and valgrind loads them elsewhere. So a frame is (file, offset of the return address
in it): ours from the pprof export, which has addresses and mappings, valgrind's from its addresses and the list of
segments it prints at the end. Nothing is compared by name.

dhat knows what every stack allocated, what is left of it and what was there at the peak; but it books a realloc() with the stack that made the
block first. Programs that call it are held against memcheck, which books it where it was called and knows what is left;
and against dhat stack by stack where dhat had no reason to move anything.

Exit status: 0 all true, 1 not, 77 there is no valgrind here.
"""
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from telling import check, finish, same

CASE, INFEROM, WORKLOADS = sys.argv[1], *map(os.path.abspath, sys.argv[2:4])
PATIENCE_S = 240
MEASURES = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space", "peak_objects", "peak_space")
ALL, LEFT, PEAK = slice(0, 2), slice(2, 4), slice(4, 6)


def run(*command, **more):
    return subprocess.run(command, timeout=PATIENCE_S, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", **more)


def even_environment():
    """Some programs copy the list of their variables: both sides get the same names, those that the tools add for themselves included."""
    told = (run(INFEROM, "record", "--heap=exact", "-o", "env.inferom", "--", "env"), run("valgrind", "-q", "env"))
    for name in {line.partition("=")[0] for t in told for line in t.stdout.splitlines() if re.match(r"[A-Z_]+=", line)}:
        os.environ.setdefault(name, "")


# Programs.

def programs():
    """{name: command}; those that are on the machine."""
    with open("numbers", "w", encoding="ascii") as f:
        f.writelines(f"{i * 7919 % 5003}\n" for i in range(5000))
    sql = ("create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000) "
           "insert into t select x, 'text ' || x from c; create index i on t(b); select count(*), sum(a) from t where b like '%7%'")
    known = {
        "fx-heap": [os.path.join(WORKLOADS, "fx-heap-nofp")],
        "sort": ["sort", "-n", "numbers"],
        "ls": ["ls", "-la", "/usr"],
        "find": ["find", "/usr/share", "-maxdepth", "1"],
        "xz": ["xz", "-1", "-k", "-f", "numbers"],
        "sqlite3": ["sqlite3", ":memory:", sql],
        "git": ["git", "-C", a_repository(), "log", "--stat", "--oneline"],
        "mawk": ["mawk", "{s[$1 % 10] += $1} END {for (i in s) print i, s[i]}", "numbers"],
    }
    return {name: command for name, command in known.items() if shutil.which(command[0])}


def a_repository():
    if shutil.which("git") and not os.path.exists("repository"):
        os.mkdir("repository")
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        run("git", "init", "-q", "repository")
        for i in range(10):
            with open(f"repository/{i % 3}", "a", encoding="ascii") as f:
                f.write(f"{i}\n" * 10)
            run("git", "-C", "repository", "add", ".")
            run("git", "-C", "repository", *who, "commit", "-q", "-m", f"number {i}")
    return "repository"


# Ours.

def varint(data, at):
    n = shift = 0
    while True:
        byte, at = data[at], at + 1
        n, shift = n | (byte & 127) << shift, shift + 7
        if byte < 128:
            return n, at


def fields(data):
    """(number, value) of a protobuf message; values are numbers or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def packed(value):
    numbers, at = [], 0
    while at < len(value):
        n, at = varint(value, at)
        numbers.append(n - (1 << 64) if n >> 63 else n)
    return numbers


def stacks_of_pprof(path):
    """{frames, the allocating one first: values in the order of MEASURES}"""
    with gzip.open(path) as f:
        parts = list(fields(f.read()))
    texts = [v.decode(errors="replace") for k, v in parts if k == 6]
    types = [texts[dict(fields(v))[1]] for k, v in parts if k == 1]
    maps = {m[1]: (os.path.realpath(texts[m[5]]), m.get(4, 0) - m.get(2, 0)) for m in (dict(fields(v)) for k, v in parts if k == 3) if m.get(5)}
    places = {p[1]: (p.get(2), p.get(3, 0)) for p in (dict(fields(v)) for k, v in parts if k == 4)}
    found = collections.defaultdict(lambda: [0] * len(MEASURES))
    for sample in (dict(fields(v)) for k, v in parts if k == 2):
        values = packed(sample[2])
        frames = tuple((maps[m][0], address + maps[m][1]) if m in maps else ("?", address) for m, address in
                       (places[i] for i in packed(sample.get(1, b""))))
        for i, name in enumerate(MEASURES):
            found[frames][i] += values[types.index(name)]
    return {frames: values for frames, values in found.items() if any(values)}


class Recorded:
    def __init__(self, command):
        told = run(INFEROM, "record", "--json", "--heap=exact", "-o", "ours.inferom", "--", *command)
        if "sampling is not possible" in told.stderr:
            print(told.stderr)
            sys.exit(77)
        self.sums = json.loads("{" + ("\n" + told.stdout).rpartition("\n{\n")[2])
        run(INFEROM, "convert", "ours.inferom", "-o", "ours.pb.gz")
        self.stacks = stacks_of_pprof("ours.pb.gz")


# Valgrind's.

USUAL = ("--num-callers=500", "--show-below-main=yes", "--run-libc-freeres=no")


def segments_of(said):
    """(from, to, file, offset): what it had mapped at the end, from its own list (-d -d)."""
    names = {m[1]: os.path.realpath(m[2]) for m in re.finditer(r"aspacem \((\d+),\d+,\d+\) (/.*)", said)}
    listed = re.finditer(r"aspacem +\d+: file ([0-9a-f]+)-([0-9a-f]+) .* o=(\d+) +\((\d+),", said)
    return {(int(m[1], 16), int(m[2], 16), names[m[4]], int(m[3])) for m in listed if m[4] in names}


def frames_of(addresses, segments):
    """
    Addresses with what else was said about each: functions that were inlined have the address of their caller's frame, so that
    the same address again is the same frame, unless the same thing is said of it (recursion). Below the first function
    valgrind goes on into what lies on the stack there; that is in no file.
    """
    frames, said_here = [], set()
    for address, said in addresses:
        at = next((s for s in segments if s[0] <= address <= s[1]), None)
        if not at:
            break
        frame = (at[2], address - at[0] + at[3])
        if "/vgpreload_" in frame[0]:
            continue
        if not frames or frames[-1] != frame or said in said_here:
            frames.append(frame)
            said_here = set()
        said_here.add(said)
    return tuple(frames)


def stacks_of_dhat(command):
    said = run("valgrind", "-d", "-d", "--tool=dhat", "--dhat-out-file=dhat.json", "--trace-malloc=yes", *USUAL, *command).stderr
    with open("dhat.json", encoding="utf-8") as f:
        dhat = json.load(f)
    segments, found = segments_of(said), collections.defaultdict(lambda: [0] * len(MEASURES))
    for point in dhat["pps"]:
        frames = frames_of([(int(dhat["ftbl"][i].split(":")[0], 16), i) for i in point["fs"]], segments)
        for i, key in enumerate(("tbk", "tb", "ebk", "eb", "gbk", "gb")):
            found[frames][i] += point[key]
    return found, len(re.findall(r"-- realloc\(0x[0-9A-F]{2,}", said))


def stacks_of_memcheck(command):
    """What is left, by stack: [blocks, bytes]."""
    said = run("valgrind", "-d", "-d", "--xml=yes", "--xml-file=left.xml", "--leak-check=full", "--show-leak-kinds=all",
               "--leak-resolution=high", *USUAL, *command).stderr
    segments, found = segments_of(said), collections.defaultdict(lambda: [0, 0])
    for error in ElementTree.parse("left.xml").getroot().iter("error"):
        if not error.findtext("kind").startswith("Leak_"):
            continue
        text = error.findtext("xwhat/text").replace(",", "")
        direct = re.search(r"\((\d+) direct", text)  # without those that only it leads to: they have entries of their own
        frames = frames_of([(int(f.findtext("ip"), 16), (f.findtext("fn"), f.findtext("line"))) for f in error.find("stack").iter("frame")],
                           segments)
        found[frames][0] += int(error.findtext("xwhat/leakedblocks"))
        found[frames][1] += int(direct[1] if direct else error.findtext("xwhat/leakedbytes"))
    return found


# The cases.

def sums():
    """What memcheck counts altogether."""
    for name, command in programs().items():
        said = run("valgrind", "--run-libc-freeres=no", *command).stderr
        found = re.search(r"in use at exit: ([\d,]+) bytes in ([\d,]+) blocks.*?total heap usage: ([\d,]+) allocs, ([\d,]+) frees, "
                          r"([\d,]+) bytes", said, re.S)
        if not found:
            check("valgrind says something", False, said)
            continue
        same(f"{name}: bytes and blocks left, allocations, frees, bytes",
             tuple(Recorded(command).sums[f"heap_{k}"] for k in ("live_bytes", "live_blocks", "allocations", "frees", "allocated_bytes")),
             tuple(int(x.replace(",", "")) for x in found.groups()))


def shown(stack):
    return " < ".join(f"{os.path.basename(file)}+{offset:#x}" for file, offset in stack)


def differing(ours, theirs, part):
    """Stacks of which the two do not say the same, with what they say."""
    return {s: (ours.get(s, [0] * 6)[part], theirs.get(s, [0] * 6)[part]) for s in set(ours) | set(theirs)
            if ours.get(s, [0] * 6)[part] != theirs.get(s, [0] * 6)[part]}


def same_stacks(what, ours, theirs, part):
    wrong = differing(ours, theirs, part)
    blocks, size = (sum(v[part][i] for v in ours.values()) for i in (0, 1))
    check(f"{what}: {len(theirs)} stacks, {blocks} blocks, {size} bytes, each stack by itself", not wrong,
          [(shown(s), *w) for s, w in list(wrong.items())[:5]] or "no difference")


def column_sums(pairs):
    return [[sum(v[side][i] for v in pairs) for i in (0, 1)] for side in (0, 1)]


def beside_dhat(name, ours, theirs, reallocs):
    moved = differing(ours, theirs, ALL)
    if not reallocs or not moved:
        for what, part in ("allocated", ALL), ("left", LEFT), ("at the peak", PEAK):
            same_stacks(f"{name} and dhat, {what}", ours, theirs, part)
        return
    a, b = column_sums(moved.values())
    both = set(ours) | set(theirs)
    print(f"     {name}: {len(both) - len(moved)} of {len(both)} stacks as dhat has them; {reallocs} calls of realloc are booked elsewhere")
    same(f"{name} and dhat: blocks and bytes of the {len(moved)} others together", a, b)
    check(f"{name} and dhat: every stack of dhat is one of ours", set(theirs) <= set(ours), len(set(theirs) - set(ours)))
    check(f"{name} and dhat: no more others than calls, each from one stack to another", len(moved) <= 2 * reallocs, (len(moved), reallocs))


def stacks():
    """Every call stack of every program by itself."""
    known = programs()
    check("at least three programs", len(known) >= 3, list(known))
    for name, command in known.items():
        ours = Recorded(command).stacks
        theirs, reallocs = stacks_of_dhat(command)
        check(f"{name}: valgrind has stacks", sum(map(len, theirs)) > 2 * len(theirs) > 0, len(theirs))
        beside_dhat(name, ours, theirs, reallocs)
        left = stacks_of_memcheck(command)
        same_stacks(f"{name} and memcheck, left", {s: v[LEFT] for s, v in ours.items() if any(v[LEFT])}, left, ALL)


if not shutil.which("valgrind"):
    print("skipped: valgrind is not installed")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    even_environment()
    globals()[CASE]()
    os.chdir("/")
finish()
