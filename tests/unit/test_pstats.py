#!/usr/bin/env python3
"""The table of a .stats file beside Python's own, in every order that sort_stats() knows.

    test_pstats.py PSTATS_TABLE FILE ...
"""
import io
import pstats
import subprocess
import sys

ORDERS = ["time", "cumulative", "calls", "pcalls", "name", "filename", "line", "nfl", "stdname", "unsorted"]


def pythons(path, order, rows):
    text = io.StringIO()
    stats = pstats.Stats(path, stream=text)
    if order != "unsorted":
        stats.sort_stats(order)
    stats.print_stats(*rows)
    return text.getvalue()


def main(table, *paths):
    failed = 0
    for path in paths:
        for order in ORDERS:
            for rows in [], [3]:
                got = subprocess.run([table, path, order, *map(str, rows)], capture_output=True, check=True, encoding="utf-8").stdout
                want = pythons(path, order, rows)
                if got != want:
                    failed += 1
                    print(f"{path} {order} {rows}:\n{got}is not\n{want}")
    print(f"{len(paths)} files, {len(ORDERS)} orders, {failed} differ")
    return 1 if failed or not paths else 0


sys.exit(main(*sys.argv[1:]))
