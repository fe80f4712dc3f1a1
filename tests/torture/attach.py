#!/usr/bin/env python3
"""Attach to a running program and leave it again, a hundred times: it never notices.

fx-burn checks its own shares; the 64 threads of tx-crowd work and rest until they are told to end.
"""
import json
import os
import signal
import subprocess
import time

import harness as h

TIMES = 2 if h.SHORT else 100
STAY = "0.2s"


def visit(target, path):
    """How many samples; None when the target had ended before we came."""
    r = h.Recorder(path, "--pid", str(target.pid), "--duration", STAY).wait()
    if r.status == 3 and target.poll() is not None:
        return None
    if not h.check(r.summary and r.status == 0, f"attaching: status {r.status}: {r.said}"):
        return 0
    _, status, said = h.report(path)
    h.check(status == 0 or (r.summary["samples"] == 0 and "no samples" in said), f"the report ends with {status}: {said}")
    return r.summary["samples"]


def look_over(what, target, files):
    """What must be as it was before. A target that has ended meanwhile is looked at by its output."""
    letters, open_now, tracer = h.states(target.pid), h.open_files(target.pid), h.status_of(target.pid, "TracerPid")
    if target.poll() is not None:
        return
    h.check("T" not in letters and "t" not in letters, f"{what}: threads left stopped: {letters}")
    h.check(tracer == "0", f"{what}: traced by {tracer}")
    h.check(open_now == files, f"{what}: {files} files open before, {open_now} after")


def visits(what, command, threads, folder, most):
    """Attaches up to `most` times while the target runs: the target, how often, and with how many samples."""
    target = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    while target.poll() is None and len(h.states(target.pid)) < threads:
        time.sleep(0.01)
    files, count, samples = h.open_files(target.pid), 0, 0
    while count < most:
        got = visit(target, os.path.join(folder, "visit.inferom"))
        if got is None:
            break
        count, samples = count + 1, samples + got
        look_over(what, target, files)
    return target, count, samples


def burn(folder):
    """fx-burn ends by itself; another one takes its place until there were enough visits."""
    left, samples = TIMES, 0
    while left > 0:
        target, count, got = visits("fx-burn", [h.BURN, "--seconds", "1" if h.SHORT else "20"], 2, folder, left)
        left, samples = left - count, samples + got
        told = json.loads(target.communicate()[0])
        shares = {f["name"]: f["share"] for t in told["threads"] for f in t["functions"]}
        wanted = {"burn_a": 0.6, "burn_b": 0.3, "burn_c": 0.1, "burn_w": 1.0}
        h.check(target.returncode == 0, f"fx-burn ended with {target.returncode}")
        h.check(all(abs(shares[n] - w) < 0.02 for n, w in wanted.items()), f"fx-burn's own shares: {shares}")
    print(f"fx-burn: {TIMES} visits, {samples} samples", flush=True)
    h.check(samples > 0, f"fx-burn: not one sample in {TIMES} visits")


def crowd(folder):
    target, count, samples = visits("64 threads", [h.CROWD, "stay", "64"], 65, folder, TIMES)
    h.kill(target.pid, signal.SIGTERM)
    out = target.communicate()[0]
    print(f"64 threads: {count} visits, {samples} samples", flush=True)
    h.check(count == TIMES and samples > 0, f"64 threads: {count} visits, {samples} samples")
    h.check(out == "stay: 64 went well\n" and target.returncode == 0, f"64 threads: said {out!r}, ended with {target.returncode}")


def main():
    h.need_perf_event()
    folder = h.scratch()
    burn(folder)
    crowd(folder)
    h.finish()


main()
