#!/usr/bin/env python3
"""Scopes of programs whose calls are known: what they wrote about themselves, as inferom tells it.

    scopes.py CASE INFEROM FX_SCOPE SHARED_LIBRARY STATIC_LIBRARY INCLUDE CC...

Counts are compared exactly, times only with each other: a busy machine makes them longer and not wrong.
"""
import collections
import ctypes
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

CASE, INFEROM, FX_SCOPE, SHARED, STATIC, INCLUDE = [sys.argv[1], *map(os.path.abspath, sys.argv[2:7])]
CC = sys.argv[7:]
SKIP = 77


def run(*command, status=0, **env):
    told = subprocess.run(command, env={**os.environ, **env}, text=True, errors="surrogateescape", capture_output=True)
    assert told.returncode == status, (command, told.returncode, told.stdout, told.stderr)
    return told


def report(path, *options):
    return json.loads(run(INFEROM, "report", path, "--json", *options).stdout)


def fixture(*options, **env):
    """A run of fx-scope: its truth and its file."""
    told = run(FX_SCOPE, *options, INFEROM_SCOPES="file", INFEROM_SCOPES_FILE="fx.inferom", **env)
    return json.loads(told.stdout), "fx.inferom"


def pairs_of(threads):
    pairs = collections.Counter()
    for t in threads:
        for caller, callee, n in t["pairs"]:
            pairs[caller or "", callee] += n
    return pairs


def calls_of(pairs):
    calls = collections.Counter()
    for (_, callee), n in pairs.items():
        calls[callee] += n
    return calls


def told_pairs(answer):
    return {(r["caller"], r["callee"]): r["calls"] for r in answer["scope_calls"]}


def compile_c(source, out, *options, compiler=None):
    name = out + (".cc" if compiler else ".c")
    with open(name, "w", encoding="utf-8") as f:
        f.write(source)
    run(*(compiler or CC), "-Wall", "-Wextra", "-Werror", "-O2", "-I" + INCLUDE, name, "-o", out, *options, STATIC, "-pthread")
    return os.path.abspath(out)


def scopes_of(program, *args, status=0, **env):
    run(program, *args, status=status, INFEROM_SCOPES="file", INFEROM_SCOPES_FILE="run.inferom", **env)
    return {r["name"]: r for r in report("run.inferom", "--scopes")["scopes"]}


# The cases, by the rows they prove.

def calls_are_exact():
    for timing in "every", "adaptive":
        truth, path = fixture("--rounds", "300", INFEROM_SCOPES_TIMING=timing)
        answer = report(path)
        assert told_pairs(answer) == dict(pairs_of(truth["threads"])), told_pairs(answer)
        assert {r["name"]: r["calls"] for r in answer["scopes"]} == dict(calls_of(pairs_of(truth["threads"])))


def callers_on_each_thread():
    truth, path = fixture()
    for t in truth["threads"]:
        assert told_pairs(report(path, "--thread", t["thread"], "--scopes")) == dict(pairs_of([t])), t["thread"]


def numbers_hang_together():
    for timing in "every", "adaptive":
        _, path = fixture("--rounds", "200", INFEROM_SCOPES_TIMING=timing)
        answer = report(path)
        rows = {r["name"]: r for r in answer["scopes"]}
        for r in rows.values():
            assert r["min_ns"] <= r["mean_ns"] <= r["max_ns"], r
            assert r["min_ns"] <= r["p50_ns"] <= r["p90_ns"] <= r["p99_ns"] <= r["max_ns"], r
            assert 0 <= r["deviation_ns"] <= r["max_ns"] and 0 <= r["self_ns"] <= r["total_ns"], r
            assert r["allocations"] is None and r["bytes"] is None, r
        whole = sum(r["self_ns"] for r in rows.values())
        assert whole == answer["total"] == rows["serve"]["total_ns"], (whole, answer["total"], rows["serve"])
        assert math.isclose(sum(r["self_share"] for r in rows.values()), 1)
        for inner, outer in ("attention", "serve"), ("mlp", "layer"), ("layer", "decode"), ("decode", "serve"):
            assert rows[inner]["total_ns"] <= rows[outer]["total_ns"], (inner, outer)


def inside_equals_outside():
    truth, path = fixture("--allocate", "64")
    rows = {r["name"]: r for r in report(path)["scopes"]}
    assert [r["name"] for r in truth["rows"]] == [r["name"] for r in report(path)["scopes"]]
    for inside in truth["rows"]:
        outside = rows[inside["name"]]
        for key in "calls", "allocations", "bytes":
            assert inside[key] == outside[key], (key, inside, outside)
        for key in "total_ns", "self_ns", "min_ns", "mean_ns", "max_ns", "p50_ns", "p90_ns", "p99_ns", "deviation_ns":
            # The length of a tick is known a little better at the end; the file has whole nanoseconds.
            assert abs(inside[key] - outside[key]) <= 2e-3 * inside[key] + 32, (key, inside, outside)
    table = run(FX_SCOPE, INFEROM_SCOPES="table").stderr
    assert re.search(r"^norm +\d+ ", table, re.M), table


def reports_have_calls():
    truth, path = fixture("--allocate", "64")
    pairs, calls = pairs_of(truth["threads"]), calls_of(pairs_of(truth["threads"]))
    text = run(INFEROM, "report", path, "--format", "md", "--deep").stdout
    hot = re.findall(r"^\| \d+ \| `(\w+)` \|.*\| ([\d.]+) % \|", text[text.index("## Hot Paths"):text.index("## Top Alloc")], re.M)
    assert len(hot) == len(calls) and abs(sum(float(share) for _, share in hot) - 100) < 0.1 * len(hot), hot
    allocators = re.search(r"\| 1 \| `attention` \| .* (\d+) \|$", text[text.index("## Top Allocators"):], re.M)
    others = re.findall(r"^\| \d+ \| `(\w+)` \| [\d.]+ \| [\d.]+ % \| \d+ \| [\d.]+ \| ([\d.]+) \| (\d+) \|$", text, re.M)
    assert ("attention", str(calls["attention"])) in [(n, a) for n, _, a in others], (allocators, others)
    assert all(a == "0" for n, _, a in others if n != "attention"), others
    most_called = re.search(r"## Most Called Methods\n\n.*\n.*\n\| 1 \| (?:`norm`|norm) \| (\d+) ", text)
    assert most_called and int(most_called[1]) == calls["norm"], text[text.index("## Most Called"):][:400]
    page = run(INFEROM, "report", path, "--format", "html").stdout
    table = page[page.index('id="scope-table"'):]
    shown = dict(re.findall(r"<code>(\w+)</code></td><td[^>]*>([\d\s\u202f\u00a0]+)</td>", table[:table.index("</table>")]))
    assert {name: int(re.sub(r"\s", "", n)) for name, n in shown.items()} == dict(calls), (shown, table[:2000])
    for (caller, callee), n in pairs.items():
        if caller:
            section = text[text.index(f"### `{callee}`"):]
            section = section[:section.index("\n### ")] if "\n### " in section else section
            assert f"- `{caller}` ({n} times)" in section.split("**Calls:**")[0], (caller, callee, n, section)


# What the heap agent counts, counted in the smallest way: every malloc of a thread.
AGENT = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inferom/heap_counters.h>
#include <stddef.h>
static __thread struct inferom_heap_counters mine __attribute__((tls_model("initial-exec")));
const struct inferom_heap_counters *inferom_heap_counters(void) { return &mine; }
void *malloc(size_t bytes)
{
    static void *(*real)(size_t);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "malloc");
    mine.allocations++;
    mine.bytes += bytes;
    return real(bytes);
}
"""


def allocations_by_scope():
    """Exact, and each thread's own; alone and in a recording, whether calls are timed or not."""
    with open("agent.c", "w", encoding="ascii") as f:
        f.write(AGENT)
    run(*CC, "-O2", "-shared", "-fPIC", "-I" + INCLUDE, "agent.c", "-o", "agent.so")
    agent = os.path.abspath("agent.so")
    options = ["--rounds", "200", "--malloc", "112"]
    told = run(INFEROM, "record", "-o", "run.inferom", "--", "env", "LD_PRELOAD=" + agent, FX_SCOPE, *options).stdout
    answers = [(json.JSONDecoder().raw_decode(told[told.index('{"fixture"'):])[0], "run.inferom")]
    for timing in "every", "adaptive":
        answers.append(fixture(*options, LD_PRELOAD=agent, INFEROM_SCOPES_TIMING=timing))
        for truth, path in answers:
            for t in truth["threads"]:
                rows = report(path, "--thread", t["thread"], "--scopes")["scopes"]
                got = {r["name"]: (r["allocations"], r["bytes"]) for r in rows}
                assert got == {name: (n, 112 * n) for name, n in t["blocks"].items()}, (timing, path, got, t)
            whole = collections.Counter()
            for t in truth["threads"]:
                whole.update(t["blocks"])
            assert {r["name"]: r["allocations"] for r in truth["rows"]} == dict(whole), truth["rows"]
        answers = []


def heap_knows_its_scope():
    """Every recorded allocation, by the scope it was made in: what the heap agent asked and what the scopes counted agree."""
    told = run(INFEROM, "record", "--heap=exact", "-o", "run.inferom", "--", FX_SCOPE, "--rounds", "100", "--malloc", "112").stdout
    truth = json.JSONDecoder().raw_decode(told[told.index('{"fixture"'):])[0]
    blocks = collections.Counter()
    for t in truth["threads"]:
        blocks.update({name: n for name, n in t["blocks"].items() if n})
    heap = json.loads(run(INFEROM, "report", "run.inferom", "--heap", "--json").stdout)["heap"]
    assert {r["scope"]: (r["allocations"], r["alloc_bytes"]) for r in heap["scopes"]} == \
        {name: (n, 112 * n) for name, n in blocks.items()}, (heap["scopes"], blocks)
    assert all(r["live_bytes"] == 0 for r in heap["scopes"]), heap["scopes"]
    for name, inside in ("mlp", blocks["mlp"]), ("serve", sum(blocks.values())):  # with all that is within it
        answer = report("run.inferom", "--set", "heap", "--measure", "alloc_space", "--scope", name)
        assert answer["total"] == 112 * inside, (name, answer["total"], inside)
    shown = run(INFEROM, "report", "run.inferom", "--heap", "-n", "0").stdout
    assert "mlp" in shown and not re.search("inferom_|inferom-|block_of_this_thread|own_pages", shown), f"memory of the profiler itself: {shown}"


def edges_carry_calls():
    truth, path = fixture()
    dot = run(INFEROM, "graph", path, "-n", "0", "-e", "0").stdout
    names = dict(re.findall(r'^ +(n\d+) \[label="(\w+)\\n', dot, re.M))
    edges = {(names[a], names[b]): int(n.replace(" ", "").replace("\u00a0", "").replace("\u202f", ""))
             for a, b, n in re.findall(r'^ +(n\d+) -> (n\d+) \[label="[^"]*?\\r\s+([\d \u00a0\u202f]+)×', dot, re.M)}
    assert edges == {k: n for k, n in pairs_of(truth["threads"]).items() if k[0]}, (edges, dot)


CONCENTRATED = r"""
#include <inferom.h>
static void spin(int n) { for (volatile int i = 0; i < n; i++) ; }
int main(void)
{
    for (int i = 0; i < 3; i++) { INFEROM_SCOPE("large"); inferom_allocated(3000000); spin(100000); }
    for (int i = 0; i < 10001; i++) { INFEROM_SCOPE("often"); spin(100); }
    for (int i = 0; i < 10000; i++) { INFEROM_SCOPE("not so often"); inferom_allocated(900000); }
    for (int i = 0; i < 4; i++) { INFEROM_SCOPE("one"); spin(50000); INFEROM_SCOPE("two"); spin(90000); INFEROM_SCOPE("three"); spin(70000); INFEROM_SCOPE("four"); spin(8000); }
    return 0;
}
"""


def few_have_most():
    """The first five are so much of the whole as their self times are; two of them stand out by what they do per call."""
    program = compile_c(CONCENTRATED, "concentrated")
    scopes_of(program)
    answer = report("run.inferom")
    insights = {i["key"]: i for i in answer["insights"]}
    shares = sorted((r["self_share"] for r in answer["scopes"]), reverse=True)
    assert len(shares) == 7 and abs(sum(shares) - 1) < 1e-6 and sum(shares[:5]) <= 1, shares
    assert abs(insights["concentration"]["number"] - sum(shares[:5])) < 1e-6, (insights, shares)
    assert insights["large allocations"]["number"] == 1 and insights["frequent calls"]["number"] == 1, insights
    run(INFEROM, "record", "-o", "cpu.inferom", "--", program)
    of_both = {i["key"]: i["number"] for i in report("cpu.inferom")["insights"]}
    assert of_both["large allocations"] == 1 and of_both["frequent calls"] == 1, of_both


OFF = r"""
#ifdef WITH
#include <inferom.h>
#else
#define INFEROM_SCOPE(x)
#define INFEROM_PHASE(x) ((void)0)
#define INFEROM_COUNT(x, n) ((void)0)
#define INFEROM_REQUEST(r)
#endif
int work(int n);
int work(int n)
{
    INFEROM_SCOPE("work");
    INFEROM_REQUEST(0);
    INFEROM_PHASE("decode");
    int sum = 0;
    for (int i = 0; i < n; i++) {
        INFEROM_SCOPE("inner");
        sum += i * n;
        if (sum > 1000)
            return sum;
        INFEROM_COUNT("tokens", 1);
    }
    return sum;
}
"""


def off_at_build_is_nothing():
    with open("off.c", "w", encoding="utf-8") as f:
        f.write(OFF)
    code = []
    for options in ["-DWITH", "-DINFEROM_DISABLE", "-I" + INCLUDE], []:
        for level in "-O0", "-O2":
            run(*CC, "-Wall", "-Werror", level, "-c", "off.c", "-o", "off.o", *options)
            code.append(run("objdump", "-dr", "--no-show-raw-insn", "off.o").stdout)
            assert "inferom" not in run("nm", "off.o").stdout
    assert code[:2] == code[2:], code


COUNTED = r"""
#include <inferom.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) void scoped(void) { INFEROM_SCOPE("scoped"); __asm__ volatile("" ::: "memory"); }
static __attribute__((noinline)) void plain(void) { __asm__ volatile("" ::: "memory"); }
static __attribute__((noinline)) void phased(void) { INFEROM_PHASE("phased"); }
static __attribute__((noinline)) void kernel(void) /* about twenty microseconds */
{
    INFEROM_SCOPE("kernel");
    for (unsigned long x = 1, i = 0; i < 14000; i++) { x ^= x << 13; x ^= x >> 7; __asm__ volatile("" : "+r"(x)); }
}
static void (*what)(void);
static long rounds;
static void *work(void *unused) { (void)unused; for (long i = 0; i < rounds; i++) what(); return NULL; }
int main(int argc, char **argv)
{
    pthread_t t[64];
    int threads = argc > 3 ? atoi(argv[3]) : 1;
    rounds = argc > 2 ? atol(argv[2]) : 1;
    inferom_enable(argc > 4);
    what = !strcmp(argv[1], "scoped") ? scoped : !strcmp(argv[1], "phased") ? phased : !strcmp(argv[1], "kernel") ? kernel : plain;
    for (int i = 0; i < threads; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
    return 0;
}
"""


def instructions(program, *args, **env):
    """Of a whole run, as valgrind counts them: the same on every machine, however busy it is."""
    told = run("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, *args, **env).stderr
    return int(re.search(r"Collected : (\d+)", told)[1])


def each(program, what, *on, threads=1, timing="every", calls=20000):
    """Instructions of one call: what a run with more calls has more."""
    few, many = (instructions(program, what, str(n), str(threads), *on, INFEROM_SCOPES_TIMING=timing) for n in (calls // 4, calls // 4 + calls))
    return (many - few) / calls / threads


def below_one_percent():
    """A scope around twenty microseconds of work, each of its two clock readings taken for a hundred instructions."""
    if not shutil.which("valgrind"):
        sys.exit(SKIP)
    program = compile_c(COUNTED, "counted")
    off, on = each(program, "kernel", calls=400), each(program, "kernel", "on", calls=400)
    print(f"off {off:.0f}, on {on:.0f}")
    assert off > 40000 and (on + 2 * 100 - off) / off < 0.01, (off, on)


def costs_in_instructions():
    """What a scope executes, in every way; and that it is the same however many threads there are: nobody waits, nobody retries."""
    if not shutil.which("valgrind"):
        sys.exit(SKIP)
    program = compile_c(COUNTED, "counted")
    plain, off, every = each(program, "plain"), each(program, "scoped"), each(program, "scoped", "on")
    few, crowd, phase = each(program, "scoped", "on", timing="64"), each(program, "scoped", "on", threads=4), each(program, "phased", "on")
    print(f"plain {plain:.1f}, off {off:.1f}, timed {every:.1f}, counted {few:.1f}, in a crowd {crowd:.1f}, phase {phase:.1f}")
    assert off - plain <= 4, (off, plain)  # the switch is read, and that is all
    assert every - plain <= 260 and few - plain <= 80 and phase - plain <= 180, (plain, every, few, phase)
    assert abs(crowd - every) <= 0.05 * every, (crowd, every)


TOGGLED = r"""
#include <inferom.h>
#include <signal.h>
#include <stdlib.h>
static void work(int n) { for (int i = 0; i < n; i++) { INFEROM_SCOPE("work"); } }
static void leave(void) { INFEROM_SCOPE("exits inside"); exit(3); }
int main(void)
{
    work(10);
    raise(SIGUSR2); /* off */
    work(100);
    raise(SIGUSR2); /* on */
    work(1000);
    leave();
}
"""


def switched_by_signal():
    rows = scopes_of(compile_c(TOGGLED, "toggled"), status=3, INFEROM_SCOPES_SIGNAL="12")
    assert rows["work"]["calls"] == 1010 and rows["exits inside"]["calls"] == 1, rows
    off = run("./toggled", status=-12)  # nobody asked for the signal: it does what it always does
    assert off.stderr == "" and not os.path.exists(f"toggled.{12}.inferom")


def warmup_left_out():
    truth, path = fixture("--rounds", "50", INFEROM_SCOPES_WARMUP="serve=3,nobody=1")
    answer = report(path)
    rows = {r["name"]: r for r in answer["scopes"]}
    calls = calls_of(pairs_of(truth["threads"]))
    assert rows["serve"]["calls"] == calls["serve"] - 3, (rows["serve"], calls)
    assert rows["decode"]["calls"] == calls["decode"] - 9 and rows["layer"]["calls"] == calls["layer"] - 36, rows
    assert "left out: 3 calls of warm-up" in run(INFEROM, "report", path).stdout


PHASES = r"""
#include <inferom.h>
#include <pthread.h>
#include <stdio.h>
static void spin(int n) { for (volatile int i = 0; i < n; i++) ; }
static void *worker(void *r) { INFEROM_REQUEST(r); INFEROM_PHASE("decode"); spin(20000); INFEROM_PHASE_END(); return NULL; }
int main(void)
{
    INFEROM_FUNCTION();
    {
        INFEROM_SCOPE("load");
        INFEROM_PHASE("load.tokenizer"); spin(10000);
        INFEROM_PHASE("load.config");    spin(20000);
        INFEROM_PHASE("load.weights");   spin(400000);
        INFEROM_PHASE("load.post");      spin(10000);
    }
    inferom_request *r = inferom_request_new("chat \"42\" \x1b[31m<script>");
    {
        INFEROM_REQUEST(r);
        INFEROM_PHASE("prefill"); spin(1000);
        pthread_t t;
        pthread_create(&t, NULL, worker, r);
        pthread_join(t, NULL);
        INFEROM_PHASE_END();
    }
    for (int i = 1; i <= 5; i++) {
        INFEROM_COUNT("tokens", i);
        INFEROM_GAUGE("kv <script> \xff", 100 - i);
    }
    return 0;
}
"""


def phases_add_up():
    rows = scopes_of(compile_c(PHASES, "phases"))
    load = [rows[n]["total_ns"] for n in ("load.tokenizer", "load.config", "load.weights", "load.post")]
    assert all(rows[n]["calls"] == 1 for n in ("load.tokenizer", "load.config", "load.weights", "load.post", "load", "main"))
    assert sum(load) + rows["load"]["self_ns"] == rows["load"]["total_ns"], (load, rows["load"])
    assert rows["load"]["total_ns"] > load[-1] + load[2], rows
    shown = json.loads(run(INFEROM, "runs", "show", "run.inferom", "--json").stdout)
    kinds = {s["kind"]: s["count"] for s in shown["spans"]}
    assert kinds == {"phase": 6, "request": 2}, kinds


def counters_and_gauges():
    scopes_of(compile_c(PHASES, "phases"))
    metrics = {m["name"]: m for m in report("run.inferom", "--scopes")["metrics"]}
    assert metrics["tokens"]["last"] == 15 and metrics["tokens"]["unit"] == "count", metrics
    gauge, = (m for n, m in metrics.items() if n.startswith("kv"))
    assert (gauge["last"], gauge["most"]) == (95, 99), gauge
    text = run(INFEROM, "report", "run.inferom").stdout
    assert re.search(r"^tokens +\d+ +15 ", text, re.M) and "\x1b" not in text, text
    assert "tokens" in run(INFEROM, "report", "run.inferom", "--format", "md").stdout
    shown = run("./phases", INFEROM_SCOPES="table").stderr
    assert "\x1b" not in shown and "\\xff" in shown and re.search(r"^tokens +5 +15 ", shown, re.M), shown


THROWN = r"""
#include <inferom.h>
#include <stdexcept>
static void thrower(int i) { INFEROM_SCOPE("thrower"); if (i % 2) throw std::runtime_error("odd"); INFEROM_SCOPE("went on"); }
static void around(int i) { INFEROM_FUNCTION(); try { INFEROM_SCOPE("tries"); thrower(i); } catch (const std::exception &) { INFEROM_SCOPE("caught"); } }
int main() { for (int i = 0; i < 10; i++) around(i); INFEROM_COUNT("c", 2); INFEROM_PHASE("p"); { INFEROM_REQUEST(inferom_request_new("r")); } }
"""


def exceptions_end_scopes():
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        sys.exit(SKIP)
    for level in "-O0", "-O2":
        rows = scopes_of(compile_c(THROWN, "thrown", level, "-std=c++11", compiler=[compiler]))
        assert {n: r["calls"] for n, r in rows.items()} == \
            {"around": 10, "tries": 10, "thrower": 10, "went on": 5, "caught": 5, "p": 1}, rows
        pairs = told_pairs(report("run.inferom", "--scopes"))
        assert pairs[("around", "caught")] == 5 and pairs[("tries", "thrower")] == 10, pairs
        assert "cut" not in run(INFEROM, "report", "run.inferom").stdout
    run(compiler, "-DINFEROM_DISABLE", "-std=c++11", "-I" + INCLUDE, "thrown.cc", "-o", "none")  # no library
    run("./none", INFEROM_SCOPES="on")


def from_python():
    """As docs/guide/scopes.md does it."""
    lib = ctypes.CDLL(SHARED)
    lib.inferom_begin.restype = ctypes.c_uint64
    lib.inferom_begin.argtypes = [ctypes.c_char_p]
    lib.inferom_end.argtypes = [ctypes.c_uint64]
    lib.inferom_count.argtypes = [ctypes.c_char_p, ctypes.c_double]
    lib.inferom_enable(1)
    for i in range(50):
        outer = lib.inferom_begin(b"generate")
        for _ in range(3):
            inner = lib.inferom_begin(b"decode %d" % (i % 2))
            lib.inferom_end(inner)
        lib.inferom_end(outer)
        lib.inferom_count(b"tokens", 3)
    assert lib.inferom_write(b"python.inferom") == 0
    answer = report("python.inferom")
    assert told_pairs(answer) == {("", "generate"): 50, ("generate", "decode 0"): 75, ("generate", "decode 1"): 75}, answer
    assert answer["metrics"][0]["last"] == 150


# What a program with NVTX's header in it does: the tables, the search for a tool, the calls through pointers.
NVTX = r"""
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
typedef void (*fn)(void);
static fn core_functions[16], core2_functions[16];
static fn *core[16], *core2[16];
static int functions_of(int module, fn ***table, unsigned *size)
{
    *table = module == 1 ? core : module == 5 ? core2 : NULL;
    *size = module == 1 || module == 5 ? 16 : 0;
    return *table != NULL;
}
static const struct { size_t bytes; int (*of)(int, fn ***, unsigned *); } callbacks = {sizeof callbacks, functions_of};
static const void *table_of(uint32_t id) { return id == 1 ? &callbacks : NULL; }
struct attributes { uint16_t version, bytes; uint32_t category; int32_t ct; uint32_t c; int32_t pt, r; uint64_t payload; int32_t mt; const void *message; };
int main(void)
{
    for (int i = 1; i < 16; i++) { core[i] = &core_functions[i]; core2[i] = &core2_functions[i]; }
    void *tool = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_LAZY);
    int (*init)(const void *(*)(uint32_t)) = tool ? (int (*)(const void *(*)(uint32_t)))dlsym(tool, "InitializeInjectionNvtx2") : NULL;
    if (!init || !init(table_of)) return 1;
    int (*push_a)(const char *) = (int (*)(const char *))core_functions[9];
    int (*push_w)(const wchar_t *) = (int (*)(const wchar_t *))core_functions[10];
    int (*pop)(void) = (int (*)(void))core_functions[11];
    int (*push_ex)(void *, const struct attributes *) = (int (*)(void *, const struct attributes *))core2_functions[4];
    int (*pop_ex)(void *) = (int (*)(void *))core2_functions[5];
    const void *(*string)(void *, const char *) = (const void *(*)(void *, const char *))core2_functions[10];
    struct attributes ascii = {3, sizeof ascii, 0, 0, 0, 0, 0, 0, 1, "aten::linear"};
    struct attributes known = {3, sizeof known, 0, 0, 0, 0, 0, 0, 3, string(NULL, "registered")};
    for (int i = 0; i < 20; i++) {
        if (push_a("step") != 0 || push_ex(NULL, &ascii) != 1) return 2;
        push_ex(NULL, &known); pop_ex(NULL);
        push_w(L"gr\u00f6\u00dfe"); pop();
        if (pop_ex(NULL) != 1 || pop() != 0) return 3;
    }
    for (int i = 0; i < 200; i++) push_a("deep");
    for (int i = 0; i < 200; i++) pop();
    return pop() == -1 ? 0 : 4;
}
"""


def nvtx_ranges():
    with open("nvtx.c", "w", encoding="utf-8") as f:
        f.write(NVTX)
    run(*CC, "-Wall", "-O1", "nvtx.c", "-o", "nvtx", "-ldl")
    rows = scopes_of("./nvtx", NVTX_INJECTION64_PATH=SHARED)
    assert rows.pop("deep")["calls"] >= 128
    assert {n: r["calls"] for n, r in rows.items()} == {"step": 20, "aten::linear": 20, "registered": 20, "größe": 20}, rows
    pairs = told_pairs(report("run.inferom", "--scopes"))
    assert pairs[("step", "aten::linear")] == pairs[("aten::linear", "registered")] == pairs[("aten::linear", "größe")] == 20, pairs


# What a program with ITT's static part in it does: a table of names and pointers, the search for a collector, calls through pointers.
ITT = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct domain { volatile int flags; const char *name; void *w; int e1; void *e2; struct domain *next; };
struct string { const char *name; void *w; int e1; void *e2; struct string *next; };
struct id { unsigned long long d[3]; };
static struct domain *(*domain_create)(const char *);
static struct string *(*string_create)(const char *);
static void (*task_begin)(const struct domain *, struct id, struct id, struct string *);
static void (*task_end)(const struct domain *);
static void (*frame_begin)(const struct domain *, struct id *), (*frame_end)(const struct domain *, struct id *);
static void *(*counter_create)(const char *, const char *), *(*counter_typed)(const char *, const char *, int);
static void (*counter_inc)(void *), (*counter_inc_delta)(void *, unsigned long long), (*counter_set)(void *, void *);
static void (*thread_set_name)(const char *), (*pause_)(void), (*resume)(void);
static void (*unknown)(void) = (void (*)(void))abort;
static struct api { const char *name; void **at; void *first, *nothing; int group; } list[] = {
    {"__itt_domain_create", (void **)&domain_create, 0, 0, 1}, {"__itt_string_handle_create", (void **)&string_create, 0, 0, 1},
    {"__itt_task_begin", (void **)&task_begin, 0, 0, 1}, {"__itt_task_end", (void **)&task_end, 0, 0, 1},
    {"__itt_frame_begin_v3", (void **)&frame_begin, 0, 0, 1}, {"__itt_frame_end_v3", (void **)&frame_end, 0, 0, 1},
    {"__itt_counter_create", (void **)&counter_create, 0, 0, 1}, {"__itt_counter_create_typed", (void **)&counter_typed, 0, 0, 1},
    {"__itt_counter_inc", (void **)&counter_inc, 0, 0, 1}, {"__itt_counter_inc_delta", (void **)&counter_inc_delta, 0, 0, 1},
    {"__itt_counter_set_value", (void **)&counter_set, 0, 0, 1}, {"__itt_thread_set_name", (void **)&thread_set_name, 0, 0, 1},
    {"__itt_pause", (void **)&pause_, 0, 0, 1}, {"__itt_resume", (void **)&resume, 0, 0, 1},
    {"__itt_heap_allocate_begin", (void **)&unknown, 0, 0, 1}, {NULL, NULL, 0, 0, 0},
};
static struct { unsigned char magic[8]; unsigned long version[3]; volatile long state[3]; pthread_mutex_t mutex; void *lib, *handler;
    const char **path; struct api *api; void *next, *threads, *domains, *strings; } global = {
    {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30}, {3, 24, 0}, {0}, PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, list, 0, 0, 0, 0};
static struct id none;
int main(void)
{
    void *lib = dlopen(getenv("INTEL_LIBITTNOTIFY64"), RTLD_LAZY);
    void (*init)(void *, int) = lib ? (void (*)(void *, int))dlsym(lib, "__itt_api_init") : NULL;
    if (!init) return 1;
    struct { unsigned char magic[8]; } other = {{1}};
    init(&other, -1); /* not one of these */
    init(&global, -1);
    struct domain *d = domain_create("onednn"), *frames = domain_create("inference");
    if (!d || !d->flags || d != domain_create("onednn") || unknown || string_create("gemm") != string_create("gemm")) return 2;
    thread_set_name("matrix thread");
    void *tokens = counter_create("tokens", "inference"), *bytes = counter_typed("bytes", "inference", 3), *share = counter_typed("share", "x", 8);
    for (int i = 0; i < 20; i++) {
        frame_begin(frames, NULL);
        task_begin(d, none, none, string_create("primitive"));
        task_begin(d, none, none, string_create(i % 2 ? "gemm" : "convolution <b>"));
        task_end(d);
        task_end(d);
        counter_inc(tokens);
        counter_inc_delta(tokens, 2);
        unsigned v = 100 + i;
        double s = 0.5;
        counter_set(bytes, &v);
        counter_set(share, &s);
        frame_end(frames, NULL);
    }
    task_end(d); /* one too many */
    pause_();
    task_begin(d, none, none, string_create("not seen"));
    task_end(d);
    resume();
    return 0;
}
"""


def itt_tasks():
    with open("itt.c", "w", encoding="utf-8") as f:
        f.write(ITT)
    run(*CC, "-Wall", "-O1", "itt.c", "-o", "itt", "-ldl", "-pthread")
    rows = scopes_of("./itt", INTEL_LIBITTNOTIFY64=SHARED)
    assert {n: r["calls"] for n, r in rows.items()} == {"inference": 20, "primitive": 20, "gemm": 10, "convolution <b>": 10}, rows
    answer = report("run.inferom", "--scopes", "--thread", "matrix thread")
    assert told_pairs(answer) == {("", "inference"): 20, ("inference", "primitive"): 20, ("primitive", "gemm"): 10,
                                  ("primitive", "convolution <b>"): 10}, answer
    metrics = {m["name"]: m["last"] for m in report("run.inferom", "--scopes")["metrics"]}
    assert metrics == {"tokens": 60, "bytes": 119, "share": 0.5}, metrics
    run("./itt", INTEL_LIBITTNOTIFY64=SHARED)  # nobody asked for scopes: nothing happens


MICROSECOND = r"""
#include <inferom.h>
#include <stdio.h>
#include <time.h>
static inline uint64_t ticks(void) { uint32_t a, d; __asm__ volatile("rdtsc" : "=a"(a), "=d"(d)); return (uint64_t)d << 32 | a; }
static double now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec * 1e9 + (double)t.tv_nsec; }
static uint64_t counts[4096]; /* of calls, by length in ticks */
int main(void)
{
    double from = now_ns();
    uint64_t first = ticks();
    while (now_ns() - from < 2e7)
        ;
    double ns = (now_ns() - from) / (double)(ticks() - first);
    uint64_t us = (uint64_t)(1000 / ns), seen = 0, middle = 0;
    for (int i = 0; i < 1000000; i++) {
        INFEROM_SCOPE("microsecond");
        uint64_t began = ticks(), length;
        while ((length = ticks() - began) < us)
            ;
        counts[length / 4 < 4095 ? length / 4 : 4095]++;
    }
    while ((seen += counts[middle]) < 500000)
        middle++;
    printf("%.1f\n", (double)(4 * middle) * ns);
    return 0;
}
"""


def microseconds_are_true():
    """The middle of a million calls, beside what the program measured inside of them: being interrupted moves neither."""
    if os.uname().machine != "x86_64":
        sys.exit(SKIP)
    program = compile_c(MICROSECOND, "microsecond")
    for timing in "every", "adaptive":
        truth = float(run(program, INFEROM_SCOPES="file", INFEROM_SCOPES_FILE="run.inferom", INFEROM_SCOPES_TIMING=timing).stdout)
        row, = report("run.inferom")["scopes"]
        print(timing, truth, row)
        assert row["calls"] == 1000000 and 0.95 * truth < row["p50_ns"] < 1.05 * truth, (truth, row)


def examples_work():
    examples = os.path.join(os.path.dirname(INCLUDE), "examples")
    with open(os.path.join(examples, "scopes.c"), encoding="ascii") as f:
        rows = {n: r["calls"] for n, r in scopes_of(compile_c(f.read(), "example")).items()}
    assert rows == {"load": 1, "load.tokenizer": 1, "load.weights": 1, "token": 200, "layer": 1600, "attention": 1600,
                    "feed-forward": 800}, rows
    compiler = shutil.which("c++")
    if compiler:
        with open(os.path.join(examples, "scopes.cc"), encoding="ascii") as f:
            rows = {n: r["calls"] for n, r in scopes_of(compile_c(f.read(), "example", compiler=[compiler])).items()}
        assert rows == {"token": 200, "sample": 200, "again": 4}, rows


def region_is_all():
    program = compile_c(r"""
#include <inferom.h>
static void work(int n) { for (int i = 0; i < n; i++) { INFEROM_SCOPE("work"); } }
int main(void)
{
    work(7);              /* nothing is on yet */
    inferom_enable(1);
    work(20);
    if (inferom_write("first.inferom"))
        return 1;
    inferom_reset();
    work(300);
    inferom_enable(0);
    work(4000);
    return inferom_write("second.inferom") ? 1 : 0;
}
""", "region")
    run(program)
    for name, calls in ("first", 20), ("second", 300):
        assert [r["calls"] for r in report(name + ".inferom")["scopes"]] == [calls], name


def failures_are_told():
    told = run(FX_SCOPE, "--rounds", "1", INFEROM_SCOPES="file", INFEROM_SCOPES_FILE="/nowhere/at/all.inferom").stderr
    assert told == "inferom: /nowhere/at/all.inferom was not written: No such file or directory\n", told
    os.mkfifo("pipe")  # what is no file is written to, and stays
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    run(FX_SCOPE, "--rounds", "1", INFEROM_SCOPES="file", INFEROM_SCOPES_FILE="pipe")
    assert os.read(reader, 8) == b"\x89INFEROM" and not os.path.isfile("pipe")
    os.close(reader)
    fd = os.open("/dev/full", os.O_WRONLY)  # by descriptor: there is no name here that could be replaced
    full = f"/proc/self/fd/{fd}"
    told = subprocess.run([FX_SCOPE, "--rounds", "1"], env={**os.environ, "INFEROM_SCOPES": "file", "INFEROM_SCOPES_FILE": full},
                          text=True, capture_output=True, pass_fds=[fd])
    assert told.stderr == f"inferom: {full} was not written: No space left on device\n", told
    os.close(fd)
    assert run(FX_SCOPE, "--rounds", "1").stderr == ""
    _, path = fixture("--rounds", "1")
    assert os.stat(path).st_mode & 0o777 == 0o600
    run(INFEROM, "report", path, "--scopes", "--include", "nothing*", status=3)
    with open("no.folded", "w", encoding="ascii") as f:
        f.write("main 1\n")
    assert "has no scopes" in run(INFEROM, "report", "no.folded", "--scopes", status=2).stderr


def main():
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        globals()[CASE]()
        os.chdir("/")


main()
