"""Rows of run.py about the CPU profiler, beside perf on the same programs, taking turns.

    CLANG=clang++           the compiler that is recorded
    CPU_TURN_SECONDS=0.04   CPU seconds of each thread of the spin load, per turn

perf counts the same thing at the same rate: cpu-clock, one sample per millisecond of CPU time. Where it is not
installed a row says so and shows ours alone.
"""
import collections
import json
import math
import os
import shutil
import statistics
import subprocess

import __main__ as bench
import turns

CLANG = os.environ.get("CLANG", "clang++")
TURN_SECONDS = os.environ.get("CPU_TURN_SECONDS", "0.04")
TURNS_PER_REPEAT = 100
CLOCK = ["-e", "cpu-clock", "-c", "1000000"]
Z_99 = 2.576


def perf_is_here(scratch):
    probe = ["perf", "record", "-q", "-e", "cpu-clock", "-o", os.path.join(scratch, "probe"), "--", "true"]
    return bool(shutil.which("perf")) and subprocess.run(probe, capture_output=True).returncode == 0


# What is recorded.

TEMPLATE = """template<int N> struct T{i} {{
    static constexpr int v = T{i}<N - 1>::v + {i};
    std::map<int, std::vector<std::string>> m;
    int f(int x) {{
        std::vector<int> a(N);
        std::sort(a.begin(), a.end(), [x](int p, int q) {{ return p * x < q; }});
        return a[0] + T{i}<N - 1>().f(x);
    }}
}};
template<> struct T{i}<0> {{ static constexpr int v = 0; int f(int x) {{ return x; }} }};
int g{i}(int x) {{
    std::unordered_map<std::string, std::function<int(int)>> h;
    h["a"] = [](int y) {{ return T{i}<12>().f(y); }};
    return h["a"](x) + T{i}<12>::v;
}}
"""


def clang_command(scratch):
    """A translation unit full of templates: about ten CPU seconds for clang 14."""
    source = os.path.join(scratch, "large.cpp")
    with open(source, "w") as f:
        for name in "map", "vector", "string", "algorithm", "functional", "memory", "regex", "unordered_map", "iostream":
            f.write(f"#include <{name}>\n")
        f.writelines(TEMPLATE.format(i=i) for i in range(10))
    return [CLANG, "-O1", "-c", source, "-o", os.path.join(scratch, "large.o")]


def burn_command(_):
    subprocess.run(["ninja", "-C", bench.BUILD, "tests/workloads/fx-burn-nofp"], check=True, stdout=subprocess.DEVNULL)
    return [os.path.join(bench.BUILD, "tests/workloads/fx-burn-nofp"), "--seconds", "2"]


# Recording it.

def cpu_of_zombie(pid):
    """CPU seconds of the process alone, children not counted; it has ended and nobody has asked for its status."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ours(scratch, command, *options):
    """The summary, with the file's path and the CPU seconds of the recorder."""
    path = os.path.join(scratch, "ours.inferom")
    with open(os.path.join(scratch, "said"), "w+") as out:
        child = subprocess.Popen([bench.INFEROM, "record", "--json", "-o", path, *options, "--", *command], stdout=out)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        cpu_s = cpu_of_zombie(child.pid)
        if child.wait():
            raise SystemExit(f"inferom record {' '.join(command)} ended with {child.returncode}")
        out.seek(0)
        said = out.read()
    at = said.rindex('{\n  "file"')
    return {**json.loads(said[at:]), "path": path, "cpu_s": cpu_s, "said": said[:at]}


def theirs(scratch, command, *options):
    path = os.path.join(scratch, "theirs.data")
    done = subprocess.run(["perf", "record", "-q", *CLOCK, "-o", path, *options, "--", *command], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return path, done.stdout


# Shares.

def our_selves(path):
    """Samples by function; perf does not know inlined functions, so their time is their caller's here, too."""
    folded = subprocess.run([bench.INFEROM, "convert", "--to", "folded", path, "-o", "-"], check=True, capture_output=True, text=True).stdout
    found = collections.Counter()
    for line in folded.splitlines():
        stack, _, value = line.rpartition(" ")
        name = next((f for f in reversed(stack.split(";")) if not f.endswith("_[i]")), "")
        found[plain(name.removesuffix("_[k]"))] += int(value) // 1000000
    return found


def their_selves(path):
    script = subprocess.run(["perf", "script", "-i", path, "-F", "ip,sym"], check=True, capture_output=True, text=True).stdout
    rows = (line.split(None, 1) for line in script.splitlines())
    return collections.Counter(plain(row[1].strip()) for row in rows if len(row) == 2)


def plain(name):
    """Without arguments, versions and what compilers add: people and tools write those differently."""
    return name.split("(")[0].split("@")[0]


def shares(scratch, what, command):
    """The ten functions with the most samples, all runs together: within the 99 % interval of two binomials?"""
    mine, others = collections.Counter(), collections.Counter()
    for _ in range(bench.REPEATS):
        mine += our_selves(ours(scratch, command)["path"])
        others += their_selves(theirs(scratch, command)[0])
    n, m = sum(mine.values()), sum(others.values())
    known = {name: count for name, count in others.items() if not name.startswith("[")}
    top, held, worst = sorted(known, key=known.get, reverse=True)[:10], 0, ("", 0.0)
    for name in top:
        p, q = mine[name] / n, others[name] / m
        both = (mine[name] + others[name]) / (n + m)
        z = abs(p - q) / math.sqrt(both * (1 - both) * (1 / n + 1 / m))
        held += z <= Z_99
        worst = max(worst, (name, z), key=lambda pair: pair[1])
    bench.row(f"top-10 self shares, {what}", f"{bench.thousands(n)} samples", f"perf {bench.thousands(m)} samples",
              f"{held} of {len(top)} within 99 %, furthest {worst[0][:40]} at {worst[1]:.1f} sigma", "holds" if len(top) == 10 and held >= 9 else "FAILS")


def cpu_shares(scratch):
    if not perf_is_here(scratch):
        bench.row("top-10 self shares", "-", "perf: skipped, not installed or not allowed", "-", "not compared")
        return
    shares(scratch, "fx-burn", burn_command(scratch))
    shares(scratch, "clang", clang_command(scratch))


# Size, completeness, time to a report.

def cpu_clang(scratch):
    """One compile recorded by both: what is on the disk, what is complete, how long until there is an answer."""
    command, has_perf = clang_command(scratch), perf_is_here(scratch)
    smaller, complete, answer, mib, samples = [], [], [], [], []
    for _ in range(bench.REPEATS):
        r = ours(scratch, command)
        report_s, report_mib = bench.cost([bench.INFEROM, "report", "--tree", "--depth", "12", r["path"]])
        complete.append(100 * r["complete_share"])
        answer.append((r["cpu_s"] + report_s) * 10000 / r["samples"])
        mib.append(report_mib)
        samples.append(r["samples"])
        if has_perf:
            path, _ = theirs(scratch, command, "--call-graph", "dwarf")
            smaller.append(os.path.getsize(path) / r["file_bytes"])
            os.remove(path)
    about = f"clang, {bench.thousands(int(statistics.median(samples)))} samples"
    bench.row(f"complete stacks, {about}", f"{bench.spread(complete)} %", "wants 99.5 %", "-",
              "holds" if statistics.median(complete) >= 99.5 else "FAILS")
    bench.row(f"bytes on disk, {about}", f"{r['file_bytes'] >> 10} KiB", "perf dwarf" if has_perf else "perf: skipped",
              bench.spread(smaller, 0) + "x smaller" if smaller else "-",
              "not compared" if not smaller else "holds" if min(smaller) >= 50 else "FAILS: wants 50x")
    bench.row("unwinding, names, inlines and report, per 10 000 samples of clang", f"{bench.spread(answer)} s, report {max(mib):.0f} MiB",
              "wants 2 s", "-", "holds" if statistics.median(answer) <= 2 else "FAILS")


# What it costs.

def cpu_overhead(scratch):
    """Work per CPU second of two spinning threads, all ways taking turns."""
    spin = [bench.tool("bench_spin"), TURN_SECONDS, "turns"]
    record = lambda name, *options: [bench.INFEROM, "record", "-o", os.path.join(scratch, f"{name}.inferom"), *options, "--", *spin]  # noqa: E731
    perf = lambda name, *options: ["perf", "record", "-q", "-o", os.path.join(scratch, f"{name}.data"), *CLOCK, *options, "--", *spin]  # noqa: E731
    ways = {"nobody": spin, "nobody again": spin, "ours at 99 Hz": record("slow", "--rate", "99"), "ours at 1000 Hz": record("quick")}
    if perf_is_here(scratch):
        ways |= {"perf, no call graph": perf("plain"), "perf, dwarf": perf("dwarf", "--call-graph", "dwarf")}
    took = turns.play(ways, TURNS_PER_REPEAT * bench.REPEATS)
    rate = {name: [t["chunks"] / t["cpu_ns"] for t in all_of_them] for name, all_of_them in took.items()}
    cost = {name: [a / b for a, b in zip(rate["nobody"], r)] for name, r in rate.items()}
    told = {name: "{:.4f} +- {:.4f}".format(*turns.middle(c)) for name, c in cost.items() if name != "nobody"}
    about = f"two spinning threads, {len(rate['nobody'])} turns"
    bench.row(f"work lost, {about}, 99 Hz", told["ours at 99 Hz"], f"nobody {told['nobody again']}", "-",
              "holds" if statistics.median(cost["ours at 99 Hz"]) <= 1.003 else "FAILS: wants 1.003")
    if "perf, dwarf" not in ways:
        bench.row(f"work lost, {about}, 1000 Hz", told["ours at 1000 Hz"], "perf: skipped", "-", "not compared")
        return
    (more, error), (less, less_error) = (turns.middle([a - b for a, b in zip(cost["ours at 1000 Hz"], cost[peer])]) for peer in ("perf, no call graph", "perf, dwarf"))
    bench.row(f"work lost, {about}, 1000 Hz", told["ours at 1000 Hz"], f"perf {told['perf, no call graph']}, dwarf {told['perf, dwarf']}",
              f"{more:+.4f} +- {error:.4f}, {less:+.4f} +- {less_error:.4f}",
              "holds" if more <= 0.003 and less <= 0 else "FAILS: wants 0.003 more than perf, less than dwarf")


def peak_anonymous_mib(scratch, command):
    """What the recorder holds itself, read while it runs; pages of files it looks into are the system's."""
    child = subprocess.Popen([bench.INFEROM, "record", "-o", os.path.join(scratch, "m.inferom"), "--", *command],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while child.poll() is None:
        try:
            with open(f"/proc/{child.pid}/status") as f:
                peak = max([peak] + [int(line.split()[1]) for line in f if line.startswith("RssAnon")])
            child.wait(0.05)
        except (subprocess.TimeoutExpired, OSError):
            pass
    return peak / 1024


def cpu_recorder(scratch):
    """Our own CPU time for 2000 samples, from two lengths so that starting up does not count; and memory."""
    spin, own = bench.tool("bench_spin"), []
    for _ in range(bench.REPEATS):
        short, long = (ours(scratch, [spin, seconds]) for seconds in ("0.5", "4"))
        own.append(100 * (long["cpu_s"] - short["cpu_s"]) * 2000 / (long["samples"] - short["samples"]))
    bench.row("the recorder's own CPU, 1000 Hz x 2 busy threads", f"{bench.spread(own)} % of a core", "wants 2 %", "-",
              "holds" if statistics.median(own) < 2 else "FAILS")
    mib = peak_anonymous_mib(scratch, clang_command(scratch))
    bench.row("the recorder's own memory, clang", f"{mib:.0f} MiB", "wants 64 MiB", "-", "holds" if mib < 64 else "FAILS")


BENCHMARKS = {"cpu-shares": cpu_shares, "cpu-clang": cpu_clang, "cpu-overhead": cpu_overhead, "cpu-recorder": cpu_recorder}
