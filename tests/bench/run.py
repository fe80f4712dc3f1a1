#!/usr/bin/env python3
"""What we promise about our own speed, as ratios within one run.

    run.py BUILD_DIR [NAME...]          all benchmarks, or those named

Each benchmark takes turns with its peer on the same input, so that a busy machine
is equally unkind to both, and prints the middle of the runs with their spread.
Times are CPU seconds (user and system) of the process.

    BENCH_REPEATS=5      how often each is run
    FLAMEGRAPH_PL=path   flamegraph.pl, which no package ships; skipped with a word when absent
    OPENBLAS=path        libopenblas.so.0, when the loader does not find one; skipped with a word when absent
    INFERNO_FLAMEGRAPH=path  inferno-flamegraph, when it is not on PATH; skipped with a word when absent
    LARGE_LIBRARY=path   whose unwind table is made and names are asked for; the largest libLLVM here, or else the C library
    TRACY_DIR=path       Tracy's client (TracyClient.cpp), as the crate tracy-client-sys has it; found where cargo keeps crates
    DWARF_FILE=path      a program or library with debug information; build/src/cli/inferom when not set
"""
import glob
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import cpu_rows
import flame_rows
import heap_rows
import lab_rows
import memory_rows
import model_rows
import viewer_rows

BUILD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else sys.exit(__doc__)
REPEATS = int(os.environ.get("BENCH_REPEATS", "5"))
INFEROM = os.path.join(BUILD, "src/cli/inferom")


def tool(name):
    """A helper program of the benchmarks, built on demand."""
    target = f"tests/bench/{name}"
    subprocess.run(["ninja", "-C", BUILD, target, "src/cli/inferom"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(BUILD, target)


def cost(command, stdout=subprocess.DEVNULL, stderr=None):
    """CPU seconds and peak memory (MiB) of one run."""
    child = subprocess.Popen(command, stdout=stdout, stderr=stderr)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def spread(values, digits=2):
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def thousands(n):
    return f"{n:,}".replace(",", " ")


def row(name, ours, theirs, ratio, verdict):
    print(f"| {name} | {ours} | {theirs} | {ratio} | {verdict} |", flush=True)


def folded(scratch, stacks):
    """Reading and adding up folded stacks, against flamegraph.pl on the same file."""
    path = os.path.join(scratch, f"{stacks}.folded")
    with open(path, "wb") as out:
        subprocess.run([tool("gen_stacks"), str(stacks)], check=True, stdout=out)
    peer = os.environ.get("FLAMEGRAPH_PL")
    name = f"folded, {thousands(stacks)} stacks ({os.path.getsize(path) >> 20} MiB)"
    ours, theirs, ratios, memory, their_memory = [], [], [], [], []
    for _ in range(REPEATS):
        cpu, mib = cost([INFEROM, "report", path])
        ours.append(cpu)
        memory.append(mib)
        if peer:
            cpu, mib = cost(["perl", peer, path])
            theirs.append(cpu)
            their_memory.append(mib)
            ratios.append(theirs[-1] / ours[-1])
    os.remove(path)
    mine = f"{spread(ours)} s, {max(memory):.0f} MiB"
    if not peer:
        row(name, mine, "flamegraph.pl: skipped, set FLAMEGRAPH_PL", "-", "not compared")
        return
    row(name, mine, f"flamegraph.pl {spread(theirs)} s, {max(their_memory):.0f} MiB", spread(ratios, 1) + "x",
        "holds" if statistics.median(ratios) >= 10 and max(memory) < 2048 else "FAILS: wants 10x in under 2 GiB")


def sorted_folded(scratch, stacks):
    """Sorted input shares its callers with the line before: how much that helps."""
    path = os.path.join(scratch, "any.folded")
    with open(path, "wb") as out:
        subprocess.run([tool("gen_stacks"), str(stacks)], check=True, stdout=out)
    in_order = os.path.join(scratch, "sorted.folded")
    subprocess.run(["sort", "-o", in_order, path], check=True, env={**os.environ, "LC_ALL": "C"})
    any_order, ordered = [], []
    for _ in range(REPEATS):
        any_order.append(cost([INFEROM, "report", path])[0])
        ordered.append(cost([INFEROM, "report", in_order])[0])
    ratios = [a / b for a, b in zip(any_order, ordered)]
    row(f"the same sorted, {thousands(stacks)} stacks", f"{spread(ordered)} s",
        f"unsorted {spread(any_order)} s", spread(ratios, 1) + "x",
        "holds" if statistics.median(ratios) > 1 else "FAILS: sorted input should be quicker")


def model(_, millions):
    """Building a profile from memory: whole stacks of 20 to 60 frames handed in one by one."""
    program = tool("bench_model")
    results = []
    for _ in range(REPEATS):
        out = subprocess.run([program, str(millions * 1000000), str(millions * 100000)], check=True,
                             capture_output=True, text=True).stdout
        results.append(json.loads(out))
    cpu = [r["cpu_s"] for r in results]
    peak = max(r["peak_mib"] for r in results)
    limit = "10 s and 1024 MiB at 10 million"
    held = millions < 10 or (statistics.median(cpu) < 10 and peak < 1024)
    row(f"model, {millions} M samples, {millions / 10:g} M stacks, {thousands(results[0]['nodes'])} nodes",
        f"{spread(cpu)} s, {peak:.0f} MiB", limit, f"{1e9 * statistics.median(cpu) / (millions * 1e6):.0f} ns a sample",
        "holds" if held else "FAILS")


def large_library():
    found = glob.glob("/usr/lib/*/libLLVM*.so*") or glob.glob("/lib/*/libc.so.6")
    return os.environ.get("LARGE_LIBRARY") or max(found, key=os.path.getsize)


def unwind(_):
    """Making the unwind table of a large library, beside a program that prints the same rules; and walking over it."""
    program, library = tool("bench_unwind"), large_library()
    results, theirs = [], []
    for _ in range(REPEATS):
        out = subprocess.run([program, library], check=True, capture_output=True, text=True).stdout
        results.append(json.loads(out))
        theirs.append(cost(["readelf", "--debug-dump=frames-interp", library])[0])
    built = [r["build_s"] for r in results]
    ratios = [t / b for t, b in zip(theirs, built)]
    warm, cold = ([r[k] for r in results] for k in ("warm_ns_per_frame", "cold_ns_per_frame"))
    name = f"unwind table, {os.path.basename(library)}, {thousands(results[0]['rows'])} rows"
    per_row = results[0]["bytes"] / results[0]["rows"]
    row(name, f"{spread(built, 3)} s, {per_row:.1f} bytes a row", f"readelf {spread(theirs)} s", spread(ratios, 1) + "x",
        "holds" if statistics.median(ratios) >= 5 and per_row < 6 else "FAILS: wants 5x in under 6 bytes a row")
    row("unwinding over it, a frame", f"{spread(warm, 0)} ns warm", f"{spread(cold, 0)} ns cold", "-",
        "holds" if statistics.median(cold) < 300 else "FAILS: wants less than 300 ns")


def code_addresses(path, count):
    """Random addresses of a file's .text, always the same."""
    headers = subprocess.run(["readelf", "--section-headers", "--wide", path], check=True, capture_output=True, text=True).stdout
    start, size = (int(x, 16) for x in re.search(r"\] \.text +PROGBITS +(\w+) +\w+ +(\w+)", headers).groups())
    dice = random.Random(1)
    return [start + dice.randrange(size) for _ in range(count)]


def symbols(scratch, path, count, peers):
    """Naming addresses of one file, against addr2line and its kin on the same ones."""
    if not os.path.exists(path):
        row(f"symbols, {path}", "skipped: there is no such file", "set DWARF_FILE", "-", "not measured")
        return
    program = tool("bench_symbols")
    asked = os.path.join(scratch, "addresses")
    with open(asked, "w", encoding="ascii") as out:
        out.writelines(f"{a:x}\n" for a in code_addresses(path, count))
    ours, theirs, results = [], {p: [] for p in peers if shutil.which(p)}, []
    for _ in range(REPEATS):
        with open(asked, "rb") as addresses:
            out = subprocess.run([program, path], check=True, stdin=addresses, capture_output=True, text=True).stdout
        results.append(json.loads(out))
        ours.append(results[-1]["open_ms"] / 1e3 + results[-1]["cold_us_each"] * count / 1e6)
        for peer, times in theirs.items():
            times.append(cost(["sh", "-c", f"exec {peer} -fiC -e '{path}' < '{asked}'"])[0])
    last = results[-1]
    mine = (f"{spread(ours, 3)} s; open {last['open_ms']:.1f} ms, then {spread([r['cold_us_each'] for r in results])} us each, "
            f"again {spread([r['warm_us_each'] for r in results])} us, {last['held_mib']:.0f} MiB")
    beside = ", ".join(f"{peer} {spread(times)} s" for peer, times in theirs.items()) or "no addr2line here"
    ratios = [min(times[i] for times in theirs.values()) / ours[i] for i in range(REPEATS)] if theirs else []
    row(f"symbols, {thousands(count)} addresses of {os.path.basename(path)}", mine, beside,
        spread(ratios, 1) + "x" if ratios else "-",
        "-" if not ratios else "holds" if statistics.median(ratios) >= 1 else "FAILS: not slower than the quickest peer")


def off_cpu(scratch):
    """What recording costs a program that does nothing but switch, in its own CPU time; with waits and without."""
    program, path = tool("bench_switches"), os.path.join(scratch, "run.inferom")
    ways = {"alone": [], "record": [INFEROM, "record", "-o", path, "--"], "--off-cpu": [INFEROM, "record", "--off-cpu", "-o", path, "--"]}
    each = {way: [] for way in ways}
    for _ in range(REPEATS):
        for way, prefix in ways.items():
            out = subprocess.run([*prefix, program, "100000"], check=True, capture_output=True, text=True).stdout
            each[way].append(json.loads(out)["cpu_ns_each"])
    ratios = [b / a for a, b in zip(each["alone"], each["--off-cpu"])]
    without = [b / a for a, b in zip(each["alone"], each["record"])]
    row("record --off-cpu, a switch", f"{spread(each['--off-cpu'], 0)} ns", f"alone {spread(each['alone'], 0)} ns, without waits "
        f"{spread(without)}x", spread(ratios) + "x", "holds" if statistics.median(ratios) < 4 else "FAILS: wants less than 4x")


def scope_costs(program, threads, timing):
    """The least of several runs, by way: a busy machine only ever adds."""
    least = {}
    for _ in range(REPEATS):
        out = subprocess.run([program, "200000", str(threads)], check=True, capture_output=True, text=True,
                             env={**os.environ, "INFEROM_SCOPES_TIMING": timing}).stdout
        for way, ns in json.loads(out).items():
            least[way] = min(ns, least.get(way, ns))
    return least


def scopes(_):
    """A scope beside the clock it has to read twice, by the CPU time of its thread; see bench_scopes.c."""
    program = tool("bench_scopes")
    every, eighth, adaptive = (scope_costs(program, 1, timing) for timing in ("every", "8", "adaptive"))
    four = scope_costs(program, 4, "every")
    clock = every["clock"] + every["call"]  # as the promise has it: one reading in a loop
    beside = f"clock {clock:.1f} ns"

    def say(name, ns, limit, words):
        row(name, f"{ns:.2f} ns", beside, f"{ns / clock:.2f}x", "holds" if ns <= limit else f"FAILS: wants {words}")

    say("scope, timed", every["on"], 2.15 * clock + 1, "2.15 clocks + 1 ns")
    say("scope inside two others", every["nested"], 2.15 * clock + 1, "2.15 clocks + 1 ns")
    say("short scope, one in 8 timed", eighth["on"], 0.6 * clock, "0.6 clocks")
    say("short scope, as many timed as is cheap", adaptive["on"], 0.6 * clock, "0.6 clocks")
    say("next phase", every["phase"], 1.1 * clock, "1.1 clocks")
    say("next phase, each written down", every["phase_kept"], float("inf"), "")
    say("scope, switched off", every["off"], 0.6, "0.6 ns")
    say("scope, by name (begin, end)", every["begin_end"], float("inf"), "")
    say("counter", every["counter"], float("inf"), "")
    slower = every["kernel_on"] / every["kernel_off"] - 1
    row("a scope around 20 us", f"{every['kernel_on'] / 1e3:.3f} us", f"off {every['kernel_off'] / 1e3:.3f} us", f"{slower:.2%}",
        "holds" if slower < 0.01 else "FAILS: wants less than 1 %")
    row("scope, 4 threads at once", f"{four['on']:.2f} ns", f"1 thread {every['on']:.2f} ns", f"{four['on'] / every['on']:.2f}x",
        "holds" if four["on"] <= 1.2 * every["on"] else "FAILS: wants 1.2x")
    row("640 scopes of a token of 13 ms", f"{640 * every['on'] / 1e3:.1f} us", "13 ms", f"{640 * every['on'] / 13e6:.3%}",
        "holds" if 640 * every["on"] < 13e3 else "FAILS: wants 0.1 %")


def tracy_source():
    crates = glob.glob(os.path.expanduser("~/.cargo/registry/src/*/tracy-client-sys-*/tracy/TracyClient.cpp"))
    return os.environ.get("TRACY_DIR") or (os.path.dirname(max(crates)) if crates else None)


def scope_peers(scratch):
    """A scope beside those of Tracy, on the same loop, taking turns; no viewer is connected."""
    source, compiler = tracy_source(), shutil.which("c++")
    if not source or not compiler:
        row("scope, beside Tracy", "skipped", "set TRACY_DIR, or 'cargo fetch' what needs tracy-client-sys", "-", "not compared")
        return
    here = os.path.dirname(os.path.abspath(__file__))
    program = os.path.join(scratch, "peers")
    subprocess.run(["ninja", "-C", BUILD, "guest/client/libinferom.a"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([compiler, "-std=c++17", "-O2", "-DNDEBUG", "-DTRACY_ENABLE", "-I" + source, "-I" + os.path.join(here, "../../include"),
                    os.path.join(here, "bench_scope_peers.cc"), os.path.join(source, "TracyClient.cpp"),
                    os.path.join(BUILD, "guest/client/libinferom.a"), "-o", program, "-pthread", "-ldl"], check=True)
    for timing, words in ("every", "each timed"), ("adaptive", "as it is"):
        least = {}
        for _ in range(REPEATS):
            told = subprocess.run([program, "100000"], check=True, capture_output=True, text=True,
                                  env={**os.environ, "INFEROM_SCOPES_TIMING": timing}).stdout
            for way, ns in json.loads(told).items():
                least[way] = min(ns, least.get(way, ns))
        theirs = min(least["tracy_cpp"], least["tracy_c"])
        row(f"empty scope in C++, {words}", f"{least['inferom']:.1f} ns", f"Tracy {least['tracy_cpp']:.1f} ns in C++, {least['tracy_c']:.1f} ns in C",
            f"{theirs / least['inferom']:.1f}x", "holds" if least["inferom"] < theirs else "FAILS: not dearer than Tracy")


def program_with_dwarf():
    return os.environ.get("DWARF_FILE") or os.path.join(os.path.dirname(BUILD), "build/src/cli/inferom")


BENCHMARKS = {
    "folded-10k": lambda s: folded(s, 10000),
    "folded-100k": lambda s: folded(s, 100000),
    "folded-1m": lambda s: folded(s, 1000000),
    "folded-sorted": lambda s: sorted_folded(s, 300000),
    "model-1m": lambda s: model(s, 1),
    "model-3m": lambda s: model(s, 3),
    "model-10m": lambda s: model(s, 10),
    "unwind": unwind,
    "off-cpu": off_cpu,
    "scopes": scopes,
    "scope-peers": scope_peers,
    "symbols-names": lambda s: symbols(s, large_library(), 10000, ["addr2line", "llvm-addr2line"]),
    "symbols-inlined": lambda s: symbols(s, program_with_dwarf(), 10000, ["addr2line", "llvm-addr2line"]),
}


for rows in (cpu_rows, flame_rows, heap_rows, lab_rows, memory_rows, model_rows, viewer_rows):
    BENCHMARKS |= rows.BENCHMARKS


def main():
    wanted = sys.argv[2:] or list(BENCHMARKS)
    unknown = [w for w in wanted if w not in BENCHMARKS]
    if unknown:
        sys.exit(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    tool("gen_stacks")
    print(f"{REPEATS} runs of each, taking turns; CPU seconds: middle (lowest to highest), peak memory\n")
    print("| what | ours | beside | ratio | promise |\n|---|---|---|---|---|")
    for name in wanted:
        scratch = tempfile.mkdtemp(prefix="inferom-bench-", dir=os.environ.get("TMPDIR", "/var/tmp"))
        try:
            BENCHMARKS[name](scratch)
        finally:
            shutil.rmtree(scratch)


main()
