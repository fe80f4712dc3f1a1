"""Rows of run.py about the flame viewer in a headless Chromium.

What a page costs is what all processes of a fresh browser used until it was drawn, less what those of
another used for an empty page in the same time, taking turns. A redraw is CPU time as well, of the script and of everything that
brings the picture to a screen, drawn in software: a fiftieth of fifty frames.
"""
import os
import statistics
import subprocess
import sys
import time

import __main__ as bench

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import browser  # noqa: E402  (the folder above has to be known first)

EMPTY = "<!DOCTYPE html><script>window.inferometer = Promise.resolve()</script>"


def used(chromium):
    return sum(p["cpuTime"] for p in chromium.call("SystemInfo.getProcessInfo")["processInfo"])


def empty_page(path, seconds):
    """A browser is never quite idle: what it uses with nothing to show, for as long as the other page took."""
    with browser.Browser() as chromium:
        began = time.monotonic()
        chromium.open("file://" + path)
        time.sleep(max(0, seconds - (time.monotonic() - began)))
        return used(chromium)


def viewer_page(path):
    """CPU seconds until drawn, and on the wall; nodes; milliseconds of a redraw, of a search, of the inverted tree."""
    with browser.Browser() as chromium:
        began = time.monotonic()
        page = chromium.open("file://" + path)
        wall = time.monotonic() - began
        cpu = used(chromium)
        nodes = page.app("app.main.layout.trie.n")
        before = used(chromium)
        page.js("window.inferometer.then(async app => { for (let i = 0; i < 50; i++) { app.main.redraw();"
                " await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))); } })")
        redraw = (used(chromium) - before) * 1000 / 50
        search, inverted = (page.app(f"(() => {{ const t = performance.now(); app.set({patch}); return performance.now() - t; }})()")
                            for patch in ("{search: 'mul_mat_1'}", "{search: '', invert: true}"))
        return cpu, wall, nodes, redraw, search, inverted


def viewer(scratch, stacks, most_s, most_ms):
    if browser.missing():
        bench.row(f"viewer, {bench.thousands(stacks)} stacks", "skipped: " + browser.missing(), "-", "-", "not measured")
        return
    profile, html, empty = (os.path.join(scratch, name) for name in ("stacks.folded", "stacks.html", "empty.html"))
    with open(profile, "wb") as out:
        subprocess.run([bench.tool("gen_stacks"), str(stacks)], check=True, stdout=out)
    with open(empty, "w") as out:
        out.write(EMPTY)
    writing, mib = bench.cost([bench.INFEROM, "flame", profile, "-o", html])
    os.remove(profile)
    opening, redraws, searches, inverting = [], [], [], []
    for _ in range(bench.REPEATS):
        cpu, wall, nodes, redraw, search, inverted = viewer_page(html)
        opening.append(cpu - empty_page(empty, wall))
        for column, value in (redraws, redraw), (searches, search), (inverting, inverted):
            column.append(value)
    bench.row(f"viewer, {bench.thousands(stacks)} stacks, {bench.thousands(nodes)} nodes, a page of {os.path.getsize(html) >> 20} MiB",
              f"opens in {bench.spread(opening)} s, redraws in {bench.spread(redraws, 1)} ms",
              f"search {bench.spread(searches, 0)} ms, inverted {bench.spread(inverting, 0)} ms; writing it {writing:.2f} s, {mib:.0f} MiB",
              "-", "holds" if statistics.median(opening) < most_s and statistics.median(redraws) < most_ms
              else f"FAILS: wants {most_s} s and {most_ms} ms")


BENCHMARKS = {"viewer-100k": lambda s: viewer(s, 100000, 2, 16), "viewer-1m": lambda s: viewer(s, 1000000, 2, 50)}
