#!/usr/bin/env python3
"""The shares of fx-burn, again and again, for every way it is built: each within two points of the truth it prints.

Ten runs of each build in full (SHARES_RUNS, SHARES_SECONDS), one of one build in short. A run is long enough that two
points are more than three standard deviations of a share by chance alone; the table says how many they were.
"""
import json
import math
import os
import statistics

import harness as h

RUNS = 1 if h.SHORT else int(os.environ.get("SHARES_RUNS", "10"))
SECONDS = 4 if h.SHORT else int(os.environ.get("SHARES_SECONDS", "8"))
POINTS = 2.0
PERIOD_NS = 1000000
LEAST_SIGMAS = 0 if h.SHORT else 3
# Of a function's true CPU time the hypervisor may have kept some for others; then samples are right and the truth is not.
STOLEN_MOST_S = 0.03
TRIES = 3
BUILDS = {"fp": "frame pointers", "nofp": "none", "stripped": "stripped, debug file", "static": "static"}


def function_totals(report, tid):
    thread = next((t for t in report["threads"] if t["tid"] == tid), None)
    return {f["function"]: f["total_share"] for f in thread["functions"]} if thread else {}


def one_run(path, program):
    """Points off the truth by function, the samples of each thread, and what was lost. None: too much was stolen."""
    before_s = h.stolen_s()
    r = h.record(path, command=[program, "--seconds", str(SECONDS)])
    if not h.check(r.summary and r.status == 0, f"{program}: status {r.status}: {r.said}"):
        return None
    report, status, said = h.report(path, "--threads")
    h.check(status == 0, f"{program}: the report ends with {status}: {said}")
    off, fewest = {}, math.inf
    for thread in json.loads(r.output)["threads"]:
        got = function_totals(report, thread["tid"])
        samples = sum(t["total"] for t in report["threads"] if t["tid"] == thread["tid"]) // PERIOD_NS
        for f in thread["functions"]:
            off[f["name"]] = 100 * (got.get(f["name"], 0) - f["share"])
            if 0 < f["share"] < 1:
                fewest = min(fewest, samples)
    return off, fewest, r.summary["lost"], r.summary["complete_share"], h.stolen_s() - before_s


def steady_run(path, program):
    for _ in range(TRIES):
        run = one_run(path, program)
        if run is None or run[4] < STOLEN_MOST_S or all(abs(p) <= POINTS for p in run[0].values()):
            return run
        print(f"again: {run[4]:.2f} s of CPU time were stolen by the hypervisor meanwhile", flush=True)
    return run


def build(folder, variant):
    program = os.path.join(h.BUILD, f"tests/workloads/fx-burn-{variant}")
    if not os.path.exists(program):
        print(f"{BUILDS[variant]:22} was not built here")
        return
    runs = [r for r in (steady_run(os.path.join(folder, variant + ".inferom"), program) for _ in range(RUNS)) if r]
    if not h.check(runs, f"{variant}: no run went well"):
        return
    names = sorted(runs[0][0])
    worst = {n: max((r[0][n] for r in runs), key=abs) for n in names}
    sigma = 100 * 0.5 / math.sqrt(min(r[1] for r in runs))
    cells = [f"{n} {statistics.fmean(r[0][n] for r in runs):+.2f} ({worst[n]:+.2f})" for n in names]
    print(f"{BUILDS[variant]:22} {len(runs):2} runs, {min(r[1] for r in runs)} samples at least, one sigma {sigma:.2f}: "
          f"{', '.join(cells)}; {sum(r[2] for r in runs)} lost, {100 * min(r[3] for r in runs):.2f} % complete", flush=True)
    h.check(POINTS > LEAST_SIGMAS * sigma, f"{variant}: two points are only {POINTS / sigma:.1f} standard deviations")
    for n in names:
        h.check(abs(worst[n]) <= POINTS, f"{variant}: {n} is {worst[n]:+.2f} points off")


def main():
    h.need_perf_event()
    folder = h.scratch()
    print("points off the truth, mean (worst)")
    for variant in ["nofp"] if h.SHORT else BUILDS:
        build(folder, variant)
    h.finish()


main()
