#!/usr/bin/env python3
"""One recording of a program with scopes in it: CPU samples and what the program counted, in one file.

    scopes_recorded.py INFEROM STATIC_LIBRARY INCLUDE CC...

The program burns in one function in each of its phases, on two threads, each for a request of its own. So a sample of
burn_prefill was taken in the phase prefill, or within a moment of its end.
"""
import json
import os
import subprocess
import sys
import tempfile

INFEROM, STATIC, INCLUDE = map(os.path.abspath, sys.argv[1:4])
CC = sys.argv[4:]
SKIP = 77

PROGRAM = r"""
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


def inferom(*args):
    told = subprocess.run([INFEROM, *args], text=True, capture_output=True)
    assert told.returncode == 0, (args, told.returncode, told.stderr)
    return told.stdout


def burnt(*options):
    """CPU time by function, of what passes the options."""
    answer = json.loads(inferom("report", "run.inferom", "--json", "--top", "0", *options))
    return {f["function"].split(".")[0]: f["total"] for f in answer["functions"] if f["function"].startswith("burn_")}


def main():
    told = json.loads(inferom("doctor", "--json"))
    if next(f for f in told if f["name"] == "cpu sampling")["state"] == "off":
        sys.exit(SKIP)
    with open("phases.c", "w", encoding="ascii") as f:
        f.write(PROGRAM)
    subprocess.run([*CC, "-O2", "-I" + INCLUDE, "phases.c", "-o", "phases", STATIC, "-pthread"], check=True)
    inferom("record", "-o", "run.inferom", "--", "./phases")

    rows = {r["name"]: r["calls"] for r in json.loads(inferom("report", "run.inferom", "--scopes", "--json"))["scopes"]}
    assert rows == {"worker": 2, "prefill": 10, "decode": 10}, rows
    metrics = json.loads(inferom("report", "run.inferom", "--scopes", "--json"))["metrics"]
    assert [m["last"] for m in metrics if m["name"] == "tokens"] == [20], metrics
    threads = json.loads(inferom("runs", "show", "run.inferom", "--json"))["threads"]
    assert len({t["tid"] for t in threads}) == len(threads), threads  # a thread is one row, whoever speaks of it

    whole, prefill, decode = burnt(), burnt("--phase", "prefill"), burnt("--phase", "decode")
    print(whole, prefill, decode)
    assert prefill["burn_prefill"] > 0.9 * whole["burn_prefill"] and decode["burn_decode"] > 0.9 * whole["burn_decode"]
    assert prefill.get("burn_decode", 0) < 0.1 * whole["burn_decode"] and decode.get("burn_prefill", 0) < 0.1 * whole["burn_prefill"]
    requests = [sum(burnt("--request", r).values()) for r in ("r-1", "r-2")]
    assert 0.95 * sum(whole.values()) < sum(requests) <= sum(whole.values()), (requests, whole)
    assert not os.path.exists("phases.inferom")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    main()
    os.chdir("/")
