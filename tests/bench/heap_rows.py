"""Rows of run.py about the heap profiler, beside heaptrack, gperftools and jemalloc on the same programs, taking turns.

    HEAP_PAIRS=1000000   malloc/free pairs of each of the four threads of the load that does little else, per turn

CPU time is the program's own, by its own clock: what it does for the profiler counts, what the profiler does in processes of its own does not. A peer
that is not installed is left out with a word. Peers that are an allocator as well are compared with that allocator.
"""
import glob
import json
import os
import random
import shutil
import statistics
import subprocess

import __main__ as bench
import turns

PAIRS = int(os.environ.get("HEAP_PAIRS", "1000000"))
THREADS, FEW = 4, 20  # a peer that is a hundred times slower gets a twentieth of the work
WEIGHTS_MIB, TURN, TURNS = 200, 4, 300


def program(name):
    subprocess.run(["ninja", "-C", bench.BUILD, f"tests/workloads/{name}", "guest/heap/libinferom_heap.so", "src/cli/inferom"], check=True,
                   stdout=subprocess.DEVNULL)
    return os.path.join(bench.BUILD, "tests/workloads", name)


def library(name):
    found = sorted(glob.glob(f"/usr/lib/*/{name}"))
    return found[0] if found else None


class Way:
    """One way to run a program: words in front of it, and variables around it."""

    def __init__(self, *words, few=1, **variables):
        self.words, self.few, self.variables = words, few, variables

    def run(self, command):
        made = subprocess.run([*self.words, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={**os.environ, **self.variables}, check=False)
        line = next((x for x in made.stdout.splitlines() if x.startswith("{") and "cpu_ns" in x), None)
        return json.loads(line) if line and made.returncode == 0 else None


def ours(scratch, *options, name="ours", rate=("--rate", "1")):
    return Way(bench.INFEROM, "record", *rate, "-o", os.path.join(scratch, f"{name}.inferom"), *options, "--")


def peers(scratch):
    ways = {}
    if shutil.which("heaptrack"):
        # Raw: the interpreter of heaptrack 1.4 dies of this load after a minute and gigabytes; interpreting as well costs its program twice as much.
        ways["heaptrack"] = Way("heaptrack", "--raw", "-o", os.path.join(scratch, "heaptrack"), few=4)
    jemalloc, tcmalloc = library("libjemalloc.so.2"), library("libtcmalloc.so.4")
    if jemalloc:
        ways["jemalloc alone"] = Way(LD_PRELOAD=jemalloc)
        ways["jemalloc sampling"] = Way(LD_PRELOAD=jemalloc, MALLOC_CONF=f"prof:true,lg_prof_sample:19,prof_prefix:{scratch}/je")
    if tcmalloc:
        ways["tcmalloc alone"] = Way(LD_PRELOAD=tcmalloc)
        ways["tcmalloc sampling"] = Way(LD_PRELOAD=tcmalloc, TCMALLOC_SAMPLE_PARAMETER="524288")
        ways["gperftools heap profile"] = Way(LD_PRELOAD=tcmalloc, HEAPPROFILE=os.path.join(scratch, "gp"), few=FEW)
    return ways


def measure(ways, command_of, units, rounds):
    """CPU nanoseconds for each unit of work, by way, a number for each round; and those that did not run."""
    per_unit = {name: [] for name in ways}
    for _ in range(rounds):
        for name in random.sample(list(ways), len(ways)):
            said = ways[name].run(command_of(ways[name].few))
            if said:
                per_unit[name].append(said["cpu_ns"] / said[units])
    return per_unit


def ratios(values, base):
    return [a / b for a, b in zip(values, base)]


def heap_alloc(scratch):
    load = program("load-alloc")
    ways = {"nobody": Way(), "exact": ours(scratch, "--heap=exact"), "sampled": ours(scratch, "--heap=sampled"), "default": ours(scratch, "--heap"),
            **peers(scratch)}
    got = measure(ways, lambda few: [load, str(THREADS), str(PAIRS // few)], "pairs", bench.REPEATS)
    base = got["nobody"]
    added = {name: statistics.median(a - b for a, b in zip(v, base)) if v else None for name, v in got.items()}
    about = f"{THREADS} threads that allocate, {bench.thousands(THREADS * PAIRS)} pairs"
    exact = ratios(got["exact"], base)
    bench.row(f"heap, exact: {about}", f"{bench.spread(got['exact'], 0)} ns, +{added['exact']:.0f}", f"nobody {bench.spread(base, 0)} ns",
              bench.spread(exact), "holds" if statistics.median(exact) <= 3.0 else "FAILS: wants 3.0")
    if added.get("heaptrack"):
        third = added["exact"] / added["heaptrack"]
        bench.row("heap, exact: added to a pair", f"+{added['exact']:.0f} ns", f"heaptrack, raw +{added['heaptrack']:.0f} ns", f"{third:.2f}",
                  "holds" if third <= 1 / 3 else "FAILS: wants a third")
    else:
        bench.row("heap, exact: added to a pair", f"+{added['exact']:.0f} ns", "heaptrack: skipped, not installed or it failed", "-", "not compared")
    sampled = ratios(got["sampled"], base)
    holds = statistics.median(sampled) <= 1.15 and added["sampled"] <= 15
    bench.row("heap, sampled", f"{bench.spread(got['sampled'], 0)} ns, +{added['sampled']:.0f}", f"nobody {bench.spread(base, 0)} ns",
              bench.spread(sampled), "holds" if holds else "FAILS: wants 1.15 and 15 ns")
    bench.row("heap, default", f"{bench.spread(got['default'], 0)} ns, +{added['default']:.0f}", f"nobody {bench.spread(base, 0)} ns",
              bench.spread(ratios(got["default"], base)), "-")
    for name, alone in (("jemalloc sampling", "jemalloc alone"), ("tcmalloc sampling", "tcmalloc alone"), ("gperftools heap profile", "tcmalloc alone")):
        if got.get(name) and got.get(alone):
            more = statistics.median(a - b for a, b in zip(got[name], got[alone]))
            bench.row(f"beside: {name}", "-", f"{bench.spread(got[name], 0)} ns, +{more:.0f} on {alone}", bench.spread(ratios(got[name], got[alone])), "-")


def heap_disk(scratch):
    load = program("load-alloc")
    way = ours(scratch, "--heap=exact")
    said = way.run([load, "4", "5000000"])
    size = os.path.getsize(os.path.join(scratch, "ours.inferom")) if said else 0
    bench.row("heap, exact: on disk for 20 million pairs", f"{size / 1e6:.2f} MB", "wants 5 MB", "-", "holds" if 0 < size <= 5e6 else "FAILS")


def heap_infer(scratch):
    load, weights = program("load-infer"), os.path.join(scratch, "weights.gguf")
    with open(weights, "wb") as f:
        f.write(os.urandom(1 << 20) * WEIGHTS_MIB)
    heap = {"exact": "--heap=exact", "sampled": "--heap=sampled", "default": "--heap"}
    ways = {"nobody": Way(), "nobody again": Way(), **{name: ours(scratch, option, name=name) for name, option in heap.items()},
            "together": ours(scratch, "--heap", name="all", rate=())}
    command = [load, weights, str((TURNS + 1) * TURN), str(TURN)]
    got = {name: [turn["cpu_ns"] for turn in took] for name, took in turns.play({name: [*way.words, *command] for name, way in ways.items()}, TURNS).items()}
    for name, most in (("nobody again", None), ("exact", 1.02), ("sampled", 1.02), ("default", 1.02), ("together", 1.03)):
        ratio, error = turns.middle(ratios(got[name], got["nobody"]))
        what = f"heap, {name}" if name != "together" else "CPU at 1000 Hz, heap, scopes and host together"
        bench.row(f"{what if most else name}: generating tokens, {TURNS} turns", f"{statistics.median(got[name]) / TURN / 1e6:.2f} ms a token",
                  f"nobody {statistics.median(got['nobody']) / TURN / 1e6:.2f} ms", f"{ratio:.4f} +- {error:.4f}",
                  "-" if not most else "holds" if ratio <= most else f"FAILS: wants {most}")


BENCHMARKS = {"heap-alloc": heap_alloc, "heap-disk": heap_disk, "heap-infer": heap_infer}
