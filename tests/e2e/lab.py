#!/usr/bin/env python3
"""The lab: what it prints hangs together, and what it is held against is known.

    lab.py CASE INFEROM INCLUDE CC...

The roof is ROOF below, so shares are exact. Times themselves are never judged: the machine may be busy.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile

CASE, INFEROM, INCLUDE = [sys.argv[1], *map(os.path.abspath, sys.argv[2:4])]
CC = sys.argv[4:]

LEVELS = ["scalar", "avx2", "avx512", "neon"]
PEAK, READ, COPY, TRIAD, CACHE = 1e12, 1e10, 2e10, 3e10, 1e11


def figure(kind, what, value, bytes=0, threads=1):
    return {"kind": kind, "what": what, "threads": threads, "bytes": bytes, "median": value, "least": value, "most": value,
            "readings": 1}


ROOF = {
    "format": "inferom machine roof", "version": 1, "cpu": "a known one", "cores": 1, "memory_gib": 1, "threads": 2,
    "short": True, "measured_at": 1700000000,
    "rows": [figure("peak", name, PEAK, threads=t) for name in LEVELS + ["int8", "bf16"] for t in (1, 2)]
    + [figure("memory", "read", READ), figure("memory", "copy", COPY), figure("memory", "triad", TRIAD),
       figure("cache", "read", CACHE, bytes=65536)],
}


def run(*command, status=0, **env):
    told = subprocess.run([INFEROM, *command], text=True, errors="surrogateescape", capture_output=True,
                          env={**os.environ, "HOME": os.getcwd(), "XDG_CACHE_HOME": os.path.join(os.getcwd(), "cache"), **env})
    assert told.returncode == status, (command, told.returncode, told.stdout, told.stderr)
    return told


def kernels(*options, **more):
    with open("roof.json", "w", encoding="ascii") as f:
        json.dump(ROOF, f)
    return run("lab", "kernels", "--roof", "roof.json", *options, **more)


def results(*options):
    answer = json.loads(kernels("--json", *options).stdout)
    assert answer["finished"] is True
    return answer["results"]


def near(got, want):
    assert abs(got - want) <= 1e-9 * abs(want), (got, want)


def levels_here():
    """Those that every mode finds on this processor, plainest first."""
    found = []
    for r in results("--deep", "--only", "dot", "--count", "1"):
        if r["level"] not in found:
            found.append(r["level"])
    return found


# Rows.


def flops_of_the_timed_calls():
    rows = results("--only", "matmul f32", "--count", "5")
    assert [r["size"] for r in rows] == [64, 128, 256, 512], rows
    for r in rows:
        assert r["flops"] == 2 * r["size"] ** 3
        near(r["gflops"], r["flops"] / r["median_ns"])
        assert r["calls"] == r["samples"] * r["calls_per_sample"] and r["samples"] == 5
        near(r["mean_ns"], r["total_ns"] / r["calls"])
        assert r["right"] is True and r["error"] <= 1e-5
        assert abs(r["checksum"] - r["reference"]) <= 1e-5 * r["size"] ** 1.5


def activations_are_checked():
    rows = results("--deep", "--only", "gelu", "--only", "softmax", "--only", "silu", "--count", "1", "--level", "scalar")
    assert {r["kernel"] for r in rows} == {"gelu", "silu", "softmax"}
    for r in rows:
        elements = r["size"] * (32 if r["kernel"] == "softmax" else 1)
        assert r["bytes"] == 8 * elements
        near(r["ns_per_element"], r["median_ns"] / elements)
        near(r["gb_per_s"], r["bytes"] / r["median_ns"])
        assert r["right"] is True and r["error"] <= 1e-5


def bytes_are_stated():
    for r in results("--deep", "--only", "add", "--only", "mul", "--only", "broadcast", "--count", "1"):
        assert r["bytes"] == (8 * 32 if r["kernel"] == "broadcast" else 12) * r["size"], r
        near(r["gb_per_s"], r["bytes"] / r["median_ns"])
        assert r["right"] is True


def warm_up_is_apart():
    for r in results("--only", "rmsnorm", "--count", "9"):
        assert r["warm_up_calls"] > 0 and r["samples"] == 9
        assert r["calls"] == 9 * r["calls_per_sample"]
        assert r["min_ns"] <= r["median_ns"] <= r["p90_ns"] <= r["max_ns"] and r["stddev_ns"] >= 0
    assert all(r["stddev_ns"] is None for r in results("--only", "rmsnorm", "--count", "1"))


def every_level_is_right():
    here = levels_here()
    assert here[0] == "scalar", here
    rows = results("--deep", "--count", "1", "--only", "*f32", "--only", "dot", "--only", "rope*", "--only", "layernorm")
    assert {r["level"] for r in rows} == set(here)
    assert all(r["right"] for r in rows)
    for level in here:
        assert {r["level"] for r in results("--level", level, "--only", "add", "--count", "1")} == {level}
    for level in set(LEVELS) - set(here):
        told = kernels("--level", level, "--only", "add", status=5)
        assert told.stderr == f"inferom lab kernels: --level: this processor has no {level}\n", told.stderr


def share_of_the_roof():
    for r in results("--only", "matmul f32", "--only", "add", "--count", "1"):
        small = 12 * r["size"] <= 65536
        roof_ns = (r["flops"] / PEAK if r["kernel"] == "matmul f32" else r["bytes"] / (CACHE if small else TRIAD)) * 1e9
        if r["kernel"] == "matmul f32":
            roof_ns = max(roof_ns, r["bytes"] / (CACHE if r["bytes"] <= 65536 else READ) * 1e9)
        near(r["roof_ns"], roof_ns)
        near(r["share_of_roof"], roof_ns / r["median_ns"])
        assert r["bound_by"] == ("memory" if roof_ns > r["flops"] / PEAK * 1e9 else "compute")


def machine_is_measured():
    run("lab", "machine", "--stored", status=3)
    answer = json.loads(run("lab", "machine", "--short", "--json").stdout)
    rows = {(r["kind"], r["what"], r["threads"], r["bytes"]): r for r in answer["rows"]}
    for what in "read", "copy", "triad":
        assert rows["memory", what, 1, 0]["median"] > 1e8
    for r in answer["rows"]:
        assert 0 < r["least"] <= r["median"] <= r["most"] and r["readings"] == 5, r
    assert rows["peak", "scalar", 1, 0]["median"] > 1e8
    steps = [r["bytes"] for r in answer["rows"] if r["kind"] == "cache"]
    assert steps == sorted(steps) and len(steps) > 5
    assert any(r["kind"] == "latency" for r in answer["rows"])
    assert {r["what"] for r in answer["rows"] if r["kind"] == "cost"} == {"clock", "cpu clock", "syscall"}
    assert json.loads(run("lab", "machine", "--stored", "--json").stdout) == answer
    shown = run("lab", "machine", "--stored").stdout
    assert "Medians of the readings" in shown and "GFLOPS" in shown
    # It is reused: without --roof, kernels are held against exactly these figures.
    told = json.loads(run("lab", "kernels", "--only", "add", "--count", "1", "--json").stdout)
    assert told["machine"] == answer
    # Figures that were damaged are measured again, not believed.
    (stored,) = os.listdir("cache/inferom")
    with open(os.path.join("cache/inferom", stored), "w", encoding="ascii") as f:
        f.write('{"format": "inferom machine roof", "rows": 7}\n')
    assert "expected an array, found a number" in run("lab", "machine", "--stored", status=6).stderr


PLUGIN = """#include <inferom/lab_plugin.h>
#include <stdlib.h>
static void *prepare(size_t n) { return calloc(n + 1, sizeof(double)); }
static void run(void *self) { double *x = self; x[0] += 1; }
static void done(void *self) { free(self); }
static double flops(size_t n) { return 3.0 * (double)n; }
static double check(void *self) { return ((double *)self)[0] > 0 ? %s : 1; }
static const size_t sizes[] = {%s};
static const struct inferom_lab_kernel kernels[] = {{%s, %s, "mine", sizes, prepare, %s, done, flops, NULL, check}};
const struct inferom_lab_plugin inferom_lab_plugin = {%s, 1, kernels};
"""


def plugin(name, error="0", sizes="10, 20, 0", size="sizeof *kernels", called='"twice"', run_="run", version="1"):
    with open(name + ".c", "w", encoding="utf-8") as f:
        f.write(PLUGIN % (error, sizes, size, called, run_, version))
    subprocess.run([*CC, "-O1", "-fPIC", "-shared", "-I", INCLUDE, "-o", name + ".so", name + ".c"], check=True)
    return name + ".so"


def refused(path, sentence, status=6):
    told = kernels("--plugin", path, "--only", "twice", status=status)
    assert told.stderr == f"inferom lab kernels: --plugin: {sentence}\n", told.stderr
    assert not told.stdout


def own_scenario():
    mine = plugin("mine")
    rows = results("--plugin", mine, "--only", "twice", "--count", "2")
    assert [(r["kernel"], r["size"], r["level"], r["flops"]) for r in rows] == [
        ("twice", 10, "plug-in", 30), ("twice", 20, "plug-in", 60)]
    assert all(r["right"] is True for r in rows)
    kernels("--plugin", mine, "--only", "twice", "--count", "3", "-o", "mine.inferom")
    told = run("report", "mine.inferom").stdout
    assert "twice 10, plug-in" in told and "twice 20, plug-in" in told
    # One that is wrong, and ones that do not keep to the header.
    told = kernels("--plugin", plugin("wrong", error="1e-3"), "--only", "twice", "--count", "1", status=6)
    assert "NO" in told.stdout and "2 of 2 results are wrong" in told.stderr
    refused("none.so", "none.so: No such file or directory", status=3)
    refused("mine.c", "mine.c: it cannot be loaded: ./mine.c: invalid ELF header")
    refused(plugin("newer", version="7"), "newer.so: it is made for version 7 of plug-ins; this build takes version 1", status=5)
    refused(plugin("short", size="8"), "short.so: kernel 0 says that it has 8 bytes; this build knows 80")
    refused(plugin("nameless", called='""'), "nameless.so: kernel 0 has no name")
    refused(plugin("endless", called='"' + "x" * 60 + '"'), "endless.so: the name of kernel 0 is longer than 48 bytes", status=7)
    refused(plugin("idle", run_="NULL"), "idle.so: kernel 'twice' has no run")
    refused(plugin("sizeless", sizes="0"), "sizeless.so: kernel 'twice' has no sizes")
    with open("empty.c", "w", encoding="ascii") as f:
        f.write("int nothing;\n")
    subprocess.run([*CC, "-fPIC", "-shared", "-o", "empty.so", "empty.c"], check=True)
    refused("empty.so", "empty.so: it has no symbol 'inferom_lab_plugin'")
    # Names are text wherever they are shown.
    hostile = plugin("hostile", called='"<b>|\\x1b[31m\\xff"')
    shown = kernels("--plugin", hostile, "--only", "<b>*", "--count", "1").stdout
    assert "\x1b" not in shown and "\\x1b" in shown and "\\xff" in shown, shown
    page = kernels("--plugin", hostile, "--only", "<b>*", "--count", "1", "--md").stdout
    assert "\x1b" not in page and "<b>|" not in page, page
    json.loads(kernels("--plugin", hostile, "--only", "<b>*", "--count", "1", "--json").stdout)


def files_and_reports():
    kernels("--only", "matmul f32", "--only", "gelu", "--count", "3", "-o", "run.inferom")
    answer = json.loads(run("report", "run.inferom", "--scopes", "--json").stdout)
    scopes = {s["name"]: s for s in answer["scopes"]}
    assert [n for n in scopes if n.startswith("matmul f32 64 x 64 x 64, ")], scopes.keys()
    cases = [s for n, s in scopes.items() if n.startswith("matmul f32 ")]
    assert len(cases) == 4 and all(s["calls"] == 3 for s in cases)
    assert scopes["warm-up"]["calls"] == scopes["matmul f32"]["calls"] + scopes["gelu"]["calls"] == 6
    shown = run("runs", "show", "run.inferom").stdout
    for words in "kernel time", "kernel rate", "kernel bandwidth", "share of roof", "roof: peak, scalar, 1 thread":
        assert words in shown, words
    run("flame", "run.inferom", "-o", "run.svg")
    for name, begin in ("run.md", "# Kernels, basic"), ("run.json", "{"):
        kernels("--only", "add", "--count", "1", "-o", name)
        with open(name, encoding="utf-8") as f:
            assert f.read().startswith(begin), name


def interrupted():
    """Ctrl-C keeps what is finished, on the screen and in the file."""
    with open("roof.json", "w", encoding="ascii") as f:
        json.dump(ROOF, f)
    child = subprocess.Popen([INFEROM, "lab", "kernels", "--roof", "roof.json", "--only", "add", "--only", "broadcast", "--deep",
                              "--count", "300", "-o", "cut.inferom"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while "add" not in subprocess.run([INFEROM, "runs", "show", "cut.inferom"], text=True, capture_output=True).stdout:
        assert child.poll() is None
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    assert child.returncode == 130, (child.returncode, err)
    assert "Interrupted: " in out and "add " in out, out
    assert "add" in run("report", "cut.inferom").stdout


def main():
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        globals()[CASE]()
        os.chdir("/")


main()
