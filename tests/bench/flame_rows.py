"""Rows of run.py about flame graphs: from a folded file to the finished picture, beside other people's programs.

    FLAMEGRAPH_PL=path        flamegraph.pl, which no package ships
    INFERNO_FLAMEGRAPH=path   inferno-flamegraph (cargo install inferno); any on PATH when not set

Each round draws the same file with each of them, one after the other. A peer that is not here is named and left out.
"""
import os
import shutil
import statistics
import subprocess

import __main__ as bench

SVG_MOST_BYTES = 1 << 20
MEMORY_PART = 5  # at most a fifth of flamegraph.pl's
INFERNO_RATIO = 1.5


def peers():
    perl, inferno = os.environ.get("FLAMEGRAPH_PL"), os.environ.get("INFERNO_FLAMEGRAPH") or shutil.which("inferno-flamegraph")
    return {"flamegraph.pl": ["perl", perl] if perl else None, "inferno": [inferno] if inferno else None}


def judge(name, ratios, wanted, memory, their_memory, size):
    failed = [f"{wanted}x" if statistics.median(ratios) < wanted else "",
              f"a {MEMORY_PART}th of the memory" if name == "flamegraph.pl" and max(memory) * MEMORY_PART > max(their_memory) else "",
              "under 1 MiB" if size > SVG_MOST_BYTES else ""]
    failed = [f for f in failed if f]
    return f"FAILS: wants {', '.join(failed)}" if failed else f"holds: {wanted:g}x"


def flame(scratch, stacks, perl_ratio):
    """Read, add up, lay out and write; CPU seconds and peak memory of the whole process."""
    path, picture = os.path.join(scratch, f"{stacks}.folded"), os.path.join(scratch, "out.svg")
    with open(path, "wb") as out:
        subprocess.run([bench.tool("gen_stacks"), str(stacks)], check=True, stdout=out)
    ours, theirs = [], {name: [] for name, command in peers().items() if command}
    for _ in range(bench.REPEATS):
        ours.append(bench.cost([bench.INFEROM, "flame", path, "-o", picture]))
        for name, costs in theirs.items():
            with open(os.path.join(scratch, "their.svg"), "wb") as out:
                costs.append(bench.cost([*peers()[name], path], stdout=out, stderr=subprocess.DEVNULL))
    what = f"flame graph, {bench.thousands(stacks)} stacks ({os.path.getsize(path) >> 20} MiB)"
    size, memory = os.path.getsize(picture), [mib for _, mib in ours]
    mine = f"{bench.spread([cpu for cpu, _ in ours], 3)} s, {max(memory):.0f} MiB, picture {size / 1024:.0f} KiB"
    os.remove(path)
    for name in peers():
        if name not in theirs:
            bench.row(what, mine, f"{name}: skipped, not here", "-", "not compared")
            continue
        their_memory = [mib for _, mib in theirs[name]]
        ratios = [their[0] / our[0] for our, their in zip(ours, theirs[name])]
        wanted = perl_ratio if name == "flamegraph.pl" else INFERNO_RATIO
        bench.row(what, mine, f"{name} {bench.spread([cpu for cpu, _ in theirs[name]])} s, {max(their_memory):.0f} MiB",
                  bench.spread(ratios, 1) + "x", judge(name, ratios, wanted, memory, their_memory, size))


BENCHMARKS = {
    "flame-10k": lambda s: flame(s, 10000, 30),
    "flame-100k": lambda s: flame(s, 100000, 30),
    "flame-1m": lambda s: flame(s, 1000000, 10),
}
