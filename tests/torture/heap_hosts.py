#!/usr/bin/env python3
"""Programs that are hard on whoever counts their allocations do what they do without us: same output, same end, no hang.

    heap_hosts.py BUILD_DIR [--short]

Every mode of tx-heap, on 1, 8 and 64 threads, with the allocator of libc; and with jemalloc, mimalloc and tcmalloc where they are. A program that
has an allocator of its own inside is recorded without its heap, and that is said. HEAP_TIMES says how often each mode does its worst.
"""
import os
import subprocess

import harness as h

MODES = ["forks", "spawns", "loads", "signals", "churn", "jumps", "exits", "deep"]
THREADS = [1, 8] if h.SHORT else [1, 8, 64]
TIMES = int(os.environ.get("HEAP_TIMES", 8 if h.SHORT else 500))
PATIENCE_S = 120 if h.SHORT else 900
ALLOCATORS = ["libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc.so.4"]
TARGET = os.path.join(h.BUILD, "tests/torture/tx-heap")
OWN = os.path.join(h.BUILD, "tests/torture/tx-heap-own")
PLUG = os.path.join(h.BUILD, "tests/torture/libtx-heap-plug.so")


def is_there(library):
    made = subprocess.run(["true"], env={**os.environ, "LD_PRELOAD": library}, capture_output=True, text=True, check=False)
    return not made.stderr


def torture(folder, program, mode, threads, how, preload=None):
    command = [program, mode, str(threads), str(TIMES), PLUG]
    path = os.path.join(folder, "hosts.inferom")
    line = [h.INFEROM, "record", "--json", f"--heap{how}", "-o", path, "--", *command]
    what = f"{os.path.basename(program)} {mode} on {threads} threads{how}{' with ' + preload if preload else ''}"
    environment = {**os.environ, "LD_PRELOAD": preload} if preload else os.environ
    try:
        r = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S, env=environment, check=False)
    except subprocess.TimeoutExpired:
        h.check(False, f"{what}: it hangs")
        return
    want = f"{mode}: {threads} threads, {TIMES} times\n"
    h.check(r.stdout.startswith(want) and r.returncode == 0, f"{what}: {r.stdout[:200]!r} {r.stderr[-300:]!r} and {r.returncode}")
    summary = h.json.loads(r.stdout[len(want):]) if r.stdout.startswith(want) else {}
    if program == OWN:
        h.check("allocator of its own" in r.stderr, f"{what}: nobody said that there is an allocator inside: {r.stderr}")
        return
    seen, unseen = summary.get("heap_allocations", 0), summary.get("heap_unseen", 0)
    h.check(seen > 0, f"{what}: no allocation was seen")
    h.check(unseen <= 0.001 * seen + 20, f"{what}: {unseen} calls were not seen, of {seen}")
    print(f"{what}: {seen} allocations, {unseen} not seen, {summary.get('heap_live_blocks')} left", flush=True)


def main():
    folder = h.scratch()
    for mode in MODES:
        for threads in THREADS:
            torture(folder, TARGET, mode, threads, "=exact")
    for threads in THREADS:
        torture(folder, OWN, "churn", threads, "=exact")
    torture(folder, TARGET, "forks", 8, "=sampled")
    torture(folder, TARGET, "churn", 8, "")
    for library in filter(is_there, ALLOCATORS):
        for mode in ("forks", "loads", "churn") if h.SHORT else MODES:
            torture(folder, TARGET, mode, 8, "=exact", library)
    h.finish()


main()
