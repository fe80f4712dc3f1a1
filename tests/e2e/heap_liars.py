#!/usr/bin/env python3
"""Targets that make up what their heap agents count: the recorder's memory stays bounded, and sums stay sums.

    heap_liars.py INFEROM LIAR          LIAR: tests/workloads/fx_heap_liar.c

Memory is that of the recorder alone, while it records; the pages a target fills are its own. Exit status: 0 all true, 1 not, 77 the
machine could not run the experiment.
"""
import json
import os
import subprocess
import sys
import time

from telling import check, finish

INFEROM, LIAR = map(os.path.abspath, sys.argv[1:3])
PATH = "liar.inferom"
MIB = 1 << 20


def anonymous_and_shared(pid):
    """Bytes that only this process holds, and pages of the shared memory that it has looked at."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        rows = dict(line.split(":", 1) for line in f)
    return [int(rows[k].split()[0]) << 10 for k in ("RssAnon", "RssShmem") if k in rows]


def is_closed():
    with open(PATH, "rb") as f:
        f.seek(max(0, os.fstat(f.fileno()).st_size - 32))
        return b"IFMDONE" in f.read()


def recorded(*lie, options=()):
    """The most that the recorder held, of its own and in all, before it looked at its file for the summary."""
    recorder = subprocess.Popen([INFEROM, "record", "--heap=exact", "-o", PATH, *options, "--", LIAR, *map(str, lie)], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)
    own = all_of_it = 0
    while recorder.poll() is None:
        try:
            now = anonymous_and_shared(recorder.pid)
            if len(now) == 2 and not is_closed():
                own, all_of_it = max(own, now[0]), max(all_of_it, sum(now))
        except OSError:
            pass
        time.sleep(0.01)
    said = recorder.stderr.read()
    if "sampling is not possible" in said:
        print(said)
        sys.exit(77)
    check(f"{' '.join(map(str, lie))}: the recording went well", recorder.returncode == 0, (recorder.returncode, said[-400:]))
    return own, all_of_it


def shown():
    return json.loads(subprocess.run([INFEROM, "runs", "show", "--json", PATH], stdout=subprocess.PIPE, text=True, check=True).stdout)


def totals(what):
    s = next(s for s in shown()["sets"] if s["name"] == what)
    return {m["name"]: int(m["total"]) for m in s["measures"]}


def by_function(measure):
    told = subprocess.run([INFEROM, "report", "--json", "--top", "0", "--set", "heap", "--measure", measure, PATH], stdout=subprocess.PIPE, check=True)
    return [(f["function"], f["self"]) for f in json.loads(told.stdout)["functions"]]


def facts():
    told = shown()["facts"]
    return {f["key"]: f["value"] for f in told} if isinstance(told, list) else told


def lost():
    return {x["reason"]: x["count"] for x in shown()["losses"]}


def rows_beyond_the_limit():
    n, kept = 1000000, 1 << 19
    own, _ = recorded("rows", n)
    check("a million rows: what is kept of them is bounded", own < 200 * MIB, own >> 20)
    got = totals("heap")
    check("every total is exact", [got[k] for k in ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space", "peak_space", "samples")]
          == [n, 10 * n, n, 10 * n, 10 * n, n], got)
    said = facts()
    check("and so are the facts", [int(said[f"heap.{k}"]) for k in ("allocations", "allocated_bytes", "live_bytes", "live_blocks")]
          == [n, 10 * n, 10 * n, n], said)
    beyond = n + 1 - kept
    check("it is said how many are one row", f"{beyond} stacks beyond the limit are shown as one row; totals are exact" in said["heap.note"], said["heap.note"])
    rows = by_function("alloc_objects")
    together = sum(calls for name, calls in rows if name == "[stacks beyond the limit]")
    check("the row has them", beyond <= together < n, together)
    check("others have their own", sum(calls for _, calls in rows) == n, sum(calls for _, calls in rows))


def nothing_behind_it():
    own, everything = recorded("claims", options=("--heap-blocks",))
    check("tables that are said to be full, and are empty, cost nothing", everything < 100 * MIB, everything >> 20)
    check("and count nothing", totals("heap")["alloc_objects"] == 0, totals("heap"))


def a_crowd():
    processes, n = 60, 4000
    own, _ = recorded("rows", n, processes)
    check("many at once are as bounded as one", own < 250 * MIB, own >> 20)
    got = totals("heap")
    check("with exact totals", (got["alloc_objects"], got["inuse_space"]) == (processes * n, processes * n * 10), got)
    own, everything = recorded("claims", 0, 200)
    check("200 that only claim", everything < 150 * MIB, everything >> 20)


def rings():
    own, _ = recorded("mappings", 60000)
    check("long names of many mappings", own < 200 * MIB, own >> 20)
    check("all of them are counted, with a few that are true", 60000 <= totals("mappings")["mapped_objects"] < 60010, totals("mappings"))
    check("names that did not fit are counted", lost().get("mappings, or their names, beyond what is kept of one process", 0) > 0, lost())
    own, _ = recorded("pieces", 200000)
    check("a mapping in 200,000 pieces", own < 120 * MIB, own >> 20)
    own, _ = recorded("lines", 50000)
    check("50,000 files that nobody has", own < 150 * MIB, own >> 20)
    own, _ = recorded("slices", 4000)
    check("deep stacks to be unwound", own < 200 * MIB, own >> 20)


def main():
    rows_beyond_the_limit()
    nothing_behind_it()
    a_crowd()
    rings()
    finish()


main()
