#!/usr/bin/env python3
"""Recordings of programs with scopes in them: CPU samples and what the program counted, in one file.

    scopes_recorded.py CASE INFEROM STATIC_LIBRARY INCLUDE CC...

What a program counted lies in memory that it shares with the recorder, so it does not matter how the program ends.
"""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

CASE, INFEROM, STATIC, INCLUDE = [sys.argv[1], *map(os.path.abspath, sys.argv[2:5])]
CC = sys.argv[5:]
SKIP = 77


def inferom(*args, status=0, **env):
    told = subprocess.run([INFEROM, *args], text=True, capture_output=True, env={**os.environ, **env})
    assert told.returncode == status, (args, told.returncode, told.stdout, told.stderr)
    return told.stdout


def compiled(source, name):
    with open(name + ".c", "w", encoding="utf-8") as f:
        f.write(source)
    subprocess.run([*CC, "-Wall", "-Werror", "-O2", "-g", "-I" + INCLUDE, name + ".c", "-o", name, STATIC, "-pthread"], check=True)
    return "./" + name


def report(*options, path="run.inferom"):
    return json.loads(inferom("report", path, "--json", *options))


def calls(*options, path="run.inferom"):
    return {r["name"]: r["calls"] for r in report("--scopes", *options, path=path)["scopes"]}


# The program burns in one function in each of its phases, on two threads, each for a request of its own. So a sample of
# burn_prefill was taken in the phase prefill, or within a moment of its end.
PHASES = r"""
#include <inferom.h>
#include <pthread.h>
#include <time.h>
static double cpu_s(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
static __attribute__((noinline)) void burn_prefill(double s) { double end = cpu_s() + s; while (cpu_s() < end) for (volatile int i = 0; i < 100000; i++) ; }
static __attribute__((noinline)) void burn_decode(double s) { double end = cpu_s() + s; while (cpu_s() < end) for (volatile int i = 0; i < 100000; i++) ; __asm__ volatile(""); }
static void *worker(void *r)
{
    INFEROM_REQUEST(r);
    INFEROM_SCOPE("worker");
    for (int i = 0; i < 5; i++) {
        INFEROM_PHASE("prefill");
        burn_prefill(0.02);
        INFEROM_PHASE("decode");
        burn_decode(0.06);
        INFEROM_COUNT("tokens", 2);
    }
    return NULL;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, inferom_request_new("r-1"));
    pthread_create(&b, NULL, worker, inferom_request_new("r-2"));
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"""


def burnt(*options):
    """CPU time by function, of what passes the options."""
    answer = report("--top", "0", *options)
    return {f["function"].split(".")[0]: f["total"] for f in answer["functions"] if f["function"].startswith("burn_")}


def phases_and_requests():
    inferom("record", "-o", "run.inferom", "--", compiled(PHASES, "phases"))
    assert calls() == {"worker": 2, "prefill": 10, "decode": 10}, calls()
    metrics = report("--scopes")["metrics"]
    assert [m["last"] for m in metrics if m["name"] == "tokens"] == [20], metrics
    threads = json.loads(inferom("runs", "show", "run.inferom", "--json"))["threads"]
    assert len({t["tid"] for t in threads}) == len(threads), threads  # a thread is one row, whoever speaks of it

    whole, prefill, decode = burnt(), burnt("--phase", "prefill"), burnt("--phase", "decode")
    print(whole, prefill, decode)
    assert prefill["burn_prefill"] > 0.9 * whole["burn_prefill"] and decode["burn_decode"] > 0.9 * whole["burn_decode"]
    assert prefill.get("burn_decode", 0) < 0.1 * whole["burn_decode"] and decode.get("burn_prefill", 0) < 0.1 * whole["burn_prefill"]
    requests = [sum(burnt("--request", r).values()) for r in ("r-1", "r-2")]
    assert 0.95 * sum(whole.values()) < sum(requests) <= sum(whole.values()), (requests, whole)
    assert not glob.glob("*.inferom*") or glob.glob("*.inferom*") == ["run.inferom"]


def folded(by):
    """Stacks under roots of this kind, with their weight."""
    inferom("flame", "run.inferom", "--by", by, "-o", f"{by}.svg", "--max-frames", "0", "--min-share", "0")
    inferom("flame", "run.inferom", "--by", by, "-o", f"{by}.html")
    with open(f"{by}.svg", encoding="utf-8") as f:
        return f.read()


# Each thread is where its scopes say it is: outer for itself, inner inside it, and short ones that are too short to be met.
SCOPED = r"""
#include <inferom.h>
#include <pthread.h>
#include <time.h>
static double cpu_s(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
#define BURN(name) static __attribute__((noinline)) void name(double s) { double end = cpu_s() + s; do for (volatile int i = 0; i < 2000; i++) ; while (cpu_s() < end); __asm__ volatile("# " #name ::: "memory"); }
BURN(burn_outer)
BURN(burn_inner)
BURN(burn_none)
static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < 40; i++) {
        burn_none(0.001);
        INFEROM_SCOPE("outer");
        burn_outer(0.002);
        { INFEROM_SCOPE("a > b"); burn_inner(0.004); }
        for (int k = 0; k < 100; k++) { INFEROM_SCOPE("short"); }
        burn_outer(0.001);
    }
    return NULL;
}
int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    work(NULL);
    pthread_join(other, NULL);
    return 0;
}
"""


def samples_know_their_scope(*options):
    inferom("record", "-o", "run.inferom", *options, "--", compiled(SCOPED, "scoped"))
    assert calls() == {"outer": 80, "a > b": 80, "short": 8000}, calls()
    whole, inner, outer = burnt(), burnt("--scope", "a > b"), burnt("--scope", "outer")
    print(whole, inner, outer)
    assert inner["burn_inner"] > 0.95 * whole["burn_inner"], (inner, whole)
    assert inner.get("burn_outer", 0) < 0.05 * whole["burn_outer"] and not inner.get("burn_none")
    assert outer["burn_outer"] > 0.95 * whole["burn_outer"] and outer["burn_inner"] > 0.95 * whole["burn_inner"]
    assert outer.get("burn_none", 0) < 0.05 * whole["burn_none"], (outer, whole)
    svg = folded("scope")
    assert "<title>outer\n" in svg or "<title>outer" in svg and "(in no scope)" in svg
    assert "(in no phase)" in folded("phase") and "(for no request)" in folded("request")


def with_timers():
    samples_know_their_scope("--engine", "timers")


# Ways to end. Each process counts three calls of "work" and ends inside "last", in a phase.
ENDING = r"""
#define _GNU_SOURCE
#include <inferom.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void work(int n) { for (int i = 0; i < n; i++) { INFEROM_SCOPE("work"); usleep(20); } INFEROM_COUNT("things", n); }
int main(int argc, char **argv)
{
    const char *how = argv[argc - 1];
    work(3);
    INFEROM_PHASE("ending");
    INFEROM_SCOPE("last");
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "_exit")) _exit(0);
    if (!strcmp(how, "crash")) *(volatile int *)(argc > 9 ? &argc : (int *)8) = 1;
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "exec")) { execl(argv[0], argv[0], "_exit", NULL); }
    if (!strcmp(how, "fork")) {
        for (int i = 0; i < 3; i++) {
            pid_t child = fork();
            if (child) { waitpid(child, NULL, 0); continue; }
            work(5);
            if (i == 0) _exit(0);
            if (i == 1) kill(getpid(), SIGKILL);
            execl(argv[0], argv[0], "return", NULL);
        }
    }
    if (!strcmp(how, "many"))
        for (int i = 0; i < 400; i++) {
            pid_t child = fork();
            if (!child) { work(2); _exit(0); }
            waitpid(child, NULL, 0);
        }
    return 0;
}
"""


def however_it_ends():
    program = compiled(ENDING, "ending")
    ways = {"return": (0, 3), "_exit": (0, 3), "kill": (137, 3), "crash": (139, 3), "abort": (134, 3), "exec": (0, 6),
            "fork": (0, 3 + 3 * 5 + 3), "many": (0, 3 + 400 * 2)}
    before = set(os.listdir(tempfile.gettempdir()))
    for how, (status, want) in ways.items():
        inferom("record", "-o", "run.inferom", "--", program, how, status=status)
        answer = report("--scopes")
        assert calls()["work"] == want, (how, calls())
        things = [m["last"] for m in answer["metrics"] if m["name"] == "things"]
        assert things, (how, answer["metrics"])
        spans = {s["kind"]: s["count"] for s in json.loads(inferom("runs", "show", "run.inferom", "--json"))["spans"]}
        assert spans.get("phase", 0) >= 1, (how, spans)  # one that never ended, too
        rows = {r["name"]: r for r in answer["scopes"]}
        assert sum(r["self_ns"] for r in rows.values()) > 0, (how, rows)
    # Others come and go there; ours would be called so.
    assert not [n for n in set(os.listdir(tempfile.gettempdir())) - before if n.startswith("inferom-scopes")]


def own_output_as_well():
    """Who asks for a table gets one, recorded or not; who wants nothing gets nothing."""
    program = compiled(ENDING, "ending")
    told = subprocess.run([INFEROM, "record", "-o", "run.inferom", "--", program, "return"], text=True, capture_output=True,
                          env={**os.environ, "INFEROM_SCOPES": "table"})
    assert told.returncode == 0 and "\nwork " in told.stderr and calls()["work"] == 3, told
    inferom("record", "-o", "run.inferom", "--", program, "return", INFEROM_SCOPES="off")
    assert not [s for s in json.loads(inferom("runs", "show", "run.inferom", "--json"))["sets"] if s["name"] == "scopes"]


# Finds the memory as the library does, and fills all of it with bytes that look as if they meant something.
HOSTILE = r"""
#define _GNU_SOURCE
#include <inferom.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 3; i++) { INFEROM_SCOPE("work"); usleep(50); }
    int fd = open(getenv("INFEROM_SCOPES_PATH"), O_RDWR);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0) return 1;
    size_t n = 1 << 20;
    uint8_t *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED || ftruncate(fd, 0) == 0) return 2; /* sealed */
    srandom(7);
    for (int round = 0; round < 30; round++) {
        for (size_t i = 0; i + 4 <= n; i += 4) {
            uint32_t v = (uint32_t)random(), small = v % 9, row[] = {small, v, 0xffffffff, 64, 128, 1u << 31, (uint32_t)getpid(), 0};
            memcpy(p + i, &row[v >> 8 & 7], 4);
        }
        usleep(20000);
    }
    _exit(0);
}
"""


def hostile_targets():
    inferom("record", "-o", "run.inferom", "--", compiled(HOSTILE, "hostile"))
    report()  # whatever it says, it is a report


def while_it_runs():
    """The recording ends before the program does: what there is by then is there, open scopes with the time they have had."""
    source = ENDING.replace("work(3);", 'INFEROM_SCOPE("around"); work(3); { INFEROM_SCOPE("long"); usleep(1500000); }')
    inferom("record", "--duration", "700ms", "-o", "run.inferom", "--", compiled(source, "long"), "return")
    answer = {r["name"]: r for r in report("--scopes")["scopes"]}
    assert answer["work"]["calls"] == 3 and answer["around"]["calls"] == 0, answer


def wait_for(path):
    end = time.monotonic() + 60
    while not os.path.exists(path):
        assert time.monotonic() < end, path
        time.sleep(0.01)


def killed_recorder():
    """A recorder that is killed leaves nothing behind, and its target does not mind."""
    source = ENDING.replace("work(3);", "for (int i = 0; i < 300; i++) { work(3); usleep(1000); }")
    program = compiled(source, "goes_on")
    before = set(os.listdir(tempfile.gettempdir()))
    child = subprocess.Popen([INFEROM, "record", "-o", "run.inferom", "--", "sh", "-c",
                              f"echo > started; {program} return; echo > status"], stdout=subprocess.DEVNULL)
    wait_for("started")
    child.send_signal(signal.SIGKILL)
    child.wait()
    wait_for("status")
    assert not [n for n in set(os.listdir(tempfile.gettempdir())) - before if n.startswith("inferom-scopes")]


# It says how many calls of "hot" it has begun, before each, in a page of a file: whoever reads it later knows what the truth was at most.
# Calls of "hot" are too short to be timed all; "first" and "inner" are over before anybody looks.
COUNTING = r"""
#include <fcntl.h>
#include <inferom.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
static void first(void) { INFEROM_SCOPE("first"); for (int i = 0; i < 3; i++) { INFEROM_SCOPE("inner"); __asm__ volatile(""); } }
int main(void)
{
    int fd = open("truth", O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 8)) return 1;
    volatile uint64_t *begun = mmap(0, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (int i = 0; i < 1000; i++) first();
    while (access("enough", F_OK))
        for (int i = 0; i < 20000; i++) { ++*begun; INFEROM_SCOPE("hot"); }
    return 0;
}
"""


def table_of_a_killed_recorder():
    """The table is in the file, as it was not long before, and never more than the truth; the file does not fill up with tables."""
    program = compiled(COUNTING, "counting")
    began = time.monotonic()
    recorder = subprocess.Popen([INFEROM, "record", "-o", "run.inferom", "--", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline, rows = began + 60, {}
    while rows.get("hot", {"calls": 0})["calls"] == 0:  # while it is being written the table so far can be read as well
        assert time.monotonic() < deadline
        time.sleep(0.05)
        told = subprocess.run([INFEROM, "report", "run.inferom", "--json", "--scopes"], text=True, capture_output=True)
        rows = {r["name"]: r for r in json.loads(told.stdout).get("scopes", [])} if told.stdout else {}
    known, deadline = rows["hot"]["calls"], time.monotonic() + 60
    while rows["hot"]["calls"] == known:  # and it is brought up to date
        assert time.monotonic() < deadline
        time.sleep(0.05)
        rows = {r["name"]: r for r in json.loads(inferom("report", "run.inferom", "--json", "--scopes", status=9))["scopes"]}
    recorder.kill()
    recorder.wait()
    seconds = time.monotonic() - began
    with open("truth", "rb") as f:
        truth = int.from_bytes(f.read(8), "little")
    open("enough", "w").close()
    told = json.loads(inferom("report", "run.inferom", "--json", "--scopes", status=9))
    rows = {r["name"]: r for r in told["scopes"]}
    print(f"{rows['hot']['calls']} of at most {truth} calls, at least {known}", told["damage"])
    assert known < rows["hot"]["calls"] <= truth, (known, rows["hot"], truth)
    assert (rows["first"]["calls"], rows["inner"]["calls"]) == (1000, 3000), rows
    assert {(p["caller"], p["callee"]): p["calls"] for p in told["scope_calls"]}[("first", "inner")] == 3000, told["scope_calls"]
    assert rows["hot"]["total_ns"] > 0 and rows["first"]["total_ns"] >= rows["inner"]["total_ns"] > 0, rows
    assert any("not closed properly" in d for d in told["damage"]), told["damage"]
    assert "not closed properly" in inferom("report", "run.inferom", "--scopes", status=9)
    tables = [t for t in json.loads(inferom("runs", "show", "run.inferom", "--json", status=9))["capture"]["chunks"] if t["type"] == "latest tables"]
    stored = sum(t["stored_bytes"] for t in tables)
    print(f"{stored} bytes of tables in {seconds:.1f} s")
    assert 0 < stored <= 8192 * (seconds + 1), (tables, seconds)


ALLOCATING = """
#include <inferom.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
static void *volatile kept;
static void *work(void *times)
{
    for (intptr_t i = 0; i < (intptr_t)times; i++) {
        INFEROM_SCOPE("outer");
        kept = malloc(100);
        {
            INFEROM_SCOPE("inner");
            kept = malloc(1000);
            free(kept);
        }
    }
    return NULL;
}
int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, work, (void *)(intptr_t)300);
    work((void *)(intptr_t)100);
    pthread_join(other, NULL);
    return 0;
}
"""


def heap_by_scope():
    """What scopes allocated stands in the memory part of a report: exact, for each scope and each thread."""
    inferom("record", "--heap=exact", "-o", "run.inferom", "--", compiled(ALLOCATING, "allocating"))
    heap = report("--heap")["heap"]
    rows = {r["scope"]: (r["allocations"], r["alloc_bytes"], r["times"], r["bytes_each"]) for r in heap["scopes"]}
    assert rows == {"outer": (400, 40000, 400, 100), "inner": (400, 400000, 400, 1000)}, rows
    threads = sorted((r["scope"], r["allocations"], r["alloc_bytes"]) for r in heap["scope_threads"])
    assert threads == [("inner", 100, 100000), ("inner", 300, 300000), ("outer", 100, 10000), ("outer", 300, 30000)], threads


def main():
    told = json.loads(inferom("doctor", "--json"))
    if next(f for f in told if f["name"] == "cpu sampling")["state"] == "off":
        sys.exit(SKIP)
    globals()[CASE]()


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    main()
    os.chdir("/")
