"""Rows of run.py about the lab's kernels, beside OpenBLAS, plain reading, and a loop timed by hand.

    OPENBLAS=path        libopenblas.so.0 (Debian: libopenblas-dev); the one the loader finds when not set

Both sides of a row take turns in one process, each round some fifty milliseconds of CPU time, one thread.
"""
import ctypes.util
import os
import statistics
import subprocess

import __main__ as bench

BLAS_SHARE = 0.8
READING_SHARE = 0.9
HAND_TOLERANCE = 0.05
ROUNDS_PER_REPEAT = 3
QUANTISED_SHARE = {"q4_0": 0.6}  # unpacking halves takes longer than reading them; llama.cpp reaches as much


def turns(*arguments):
    """Ours and theirs, round by round."""
    rounds = str(ROUNDS_PER_REPEAT * bench.REPEATS)
    told = subprocess.run([bench.tool("bench_lab"), *map(str, arguments), rounds], check=True, text=True, capture_output=True)
    pairs = [tuple(map(float, line.split())) for line in told.stdout.splitlines()]
    return [p[0] for p in pairs], [p[1] for p in pairs], [p[0] / p[1] for p in pairs]


def judge(name, unit, least, most, arguments):
    ours, theirs, ratios = turns(*arguments)
    middle = statistics.median(ratios)
    words = f"{least:.0%} or more" if most is None else f"within {HAND_TOLERANCE:.0%}"
    holds = middle >= least and (most is None or middle <= most)
    bench.row(name, f"{bench.spread(ours, 1)} {unit}", f"{bench.spread(theirs, 1)} {unit}", bench.spread(ratios),
              f"holds: {words}" if holds else f"FAILS: wants {words}")


def products(scratch):
    """Matrix products, against OpenBLAS with one thread."""
    library = os.environ.get("OPENBLAS") or ctypes.util.find_library("openblas")
    if not library:
        bench.row("matmul f32 beside OpenBLAS", "-", "-", "-", "skipped: no OpenBLAS here (libopenblas-dev, or OPENBLAS=path)")
        return
    for n in 512, 768, 1024:
        judge(f"matmul f32 {n}, beside OpenBLAS", "GFLOPS", BLAS_SHARE, None, ("blas", library, n))


def rows(scratch):
    """Rows times a vector, against reading the same bytes."""
    for name in "f32", "f16", "bf16", "q8_0", "q4_0":
        judge(f"matvec {name}, 192 MiB, beside plain reading", "GB/s", QUANTISED_SHARE.get(name, READING_SHARE), None, ("rows", name, 2048))


def hand(scratch):
    """What 'lab kernels' prints, against a loop timed by hand."""
    for n in 128, 256, 512:
        judge(f"'lab kernels' matmul f32 {n}, beside a loop timed by hand", "GFLOPS", 1 - HAND_TOLERANCE, 1 + HAND_TOLERANCE, ("hand", n))


BENCHMARKS = {"lab-products": products, "lab-rows": rows, "lab-hand": hand}
