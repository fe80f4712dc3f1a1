#!/usr/bin/env python3
"""Names and lines of a whole program, beside what nm and addr2line say about it.

    test_symbols.py SYMBOLISE PROGRAM

Every function that nm lists is found at its first and at its last byte, and not one
byte behind. For some hundred random addresses the whole chain of inlined functions,
files and lines is that of addr2line. Exit status 77: there is no nm or addr2line.
"""
import os
import random
import re
import shutil
import subprocess
import sys

SYMBOLISE, PROGRAM = sys.argv[1], os.path.abspath(sys.argv[2])
ADDRESSES = 400
# Where a stripped program's functions are said to be.
WHOLE = PROGRAM + ".debug" if os.path.exists(PROGRAM + ".debug") else PROGRAM
CLONE = re.compile(r"\.(cold|part|constprop|isra)(\.\d+)*")
failures = 0


def fail(sentence):
    global failures
    failures += 1
    if failures <= 20:
        print("FAIL", sentence)


def run(*command, text=None):
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def chains(output):
    """{address: [(name, file, line), ...]} of addr2line -afi or of symbolise."""
    found, lines = {}, []
    for line in output.splitlines():
        if line.startswith("0x"):
            lines = found.setdefault(int(line, 16), [])
        else:
            lines.append(line)
    return {a: [(CLONE.sub("", name), *place(where)) for name, where in zip(l[::2], l[1::2])] for a, l in found.items()}


def place(where):
    file, _, line = where.split(" (discriminator")[0].rpartition(":")
    line = int(line) if line.isdigit() else 0
    return (os.path.normpath(file) if file != "??" and line else "??"), line


def ask(addresses):
    return chains(run(SYMBOLISE, PROGRAM, text="".join(f"{a:x}\n" for a in addresses)))


def functions():
    """(start, size, name) of every sized function that nm lists."""
    rows = (line.split() for line in run("nm", "--print-size", "--defined-only", WHOLE).splitlines())
    return sorted((int(r[0], 16), int(r[1], 16), r[3].split("@")[0]) for r in rows if len(r) == 4 and r[2] in "tTwWi")


def check_functions():
    rows = functions()
    named = {}
    for start, size, name in rows:
        named.setdefault(start, set()).add(CLONE.sub("", name))
    covered = {a for start, size, _ in rows for a in (start + size,) if any(s <= a < s + n for s, n, _ in rows)}
    answers = ask({a for start, size, _ in rows for a in (start, start + size - 1, start + size)})
    for start, size, name in rows:
        inner = any(start < s < start + size for s, _, _ in rows)
        for at in (start, start + size - 1):
            got = answers[at][-1][0]
            if got not in named[start] and not inner:
                fail(f"{name} at {at:#x} is called {got}")
        behind = answers[start + size][-1][0]
        if start + size not in covered and behind in named[start]:
            fail(f"{name} is still there at {start + size:#x}, one byte behind its end")
    print(f"{len(rows)} functions of nm")
    if len(rows) < 10:
        fail("that is too few to be true")


def check_chains():
    text = re.search(r"\] \.text +PROGBITS +(\w+) +\w+ +(\w+)", run("readelf", "--section-headers", "--wide", PROGRAM))
    start, size = int(text[1], 16), int(text[2], 16)
    dice = random.Random(2)
    addresses = sorted({start + dice.randrange(size) for _ in range(ADDRESSES)})
    ours = ask(addresses)
    theirs = chains(run("addr2line", "-afi", "-e", WHOLE, text="".join(f"{a:x}\n" for a in addresses)))
    rows, same, longest = functions(), 0, 0
    for a in addresses:
        around = {CLONE.sub("", name) for s, n, name in rows if s <= a < s + n}
        mine, other = ours[a], theirs[a]
        # addr2line gives the gaps between functions to the one before; aliases it picks as it likes.
        if not around:
            mine, other = [], []
        elif mine[-1][0] in around and other[-1][0] in around:
            mine, other = mine[:-1] + [("", *mine[-1][1:])], other[:-1] + [("", *other[-1][1:])]
        longest = max(longest, len(mine))
        same += mine == other
        if mine != other:
            fail(f"{a:#x}: {mine} is not {other}")
    print(f"{same} of {len(addresses)} chains as addr2line has them, up to {longest} long")


if not shutil.which("nm") or not shutil.which("addr2line"):
    sys.exit(77)
check_functions()
check_chains()
sys.exit(1 if failures else 0)
