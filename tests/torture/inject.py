#!/usr/bin/env python3
"""The heap agent, put into running programs at random moments, by recorders that are ended at random moments.

fx-serve checks its waits, sums, errno and rounding itself, and ends with 0 only if nothing was disturbed. A recorder
that is killed in the middle may leave a wait that took longer and another errno; then only reckoning is looked at.

    SEED=99      other moments
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

import harness as h

TIMES = 6 if h.SHORT else 200
SERVE = os.path.join(h.BUILD, "tests/workloads/fx-serve")
PATIENCE = 60
chance = random.Random(int(os.environ.get("SEED", "20260314")))


def is_traced(pid):
    tasks = os.listdir(f"/proc/{pid}/task") if os.path.isdir(f"/proc/{pid}/task") else []
    return any(h.status_of(f"{pid}/task/{tid}", "TracerPid") not in ("0", None) for tid in tasks)


def at_some_moment(target, recorder):
    """While the recorder traces it, mostly; else whenever."""
    if chance.random() < 0.3:
        time.sleep(chance.random() * 0.2)
        return
    while recorder.poll() is None and target.poll() is None and not is_traced(target.pid):
        pass
    until = time.perf_counter() + chance.random() * 0.006
    while time.perf_counter() < until:
        pass


def one(number, folder):
    end = chance.choice([None, None, signal.SIGINT, signal.SIGKILL])
    busy, threads = end == signal.SIGKILL or chance.random() < 0.4, chance.choice([1, 2, 8, 32])
    target = subprocess.Popen([SERVE, "--seconds", str(chance.choice([0.4, 0.8, 1.2])), "--threads", str(threads), "--busy", str(int(busy))],
                              stdout=subprocess.PIPE, text=True)
    time.sleep(chance.random() * 0.5)
    recorder = subprocess.Popen([h.INFEROM, "record", "--heap=exact", "--inject", "--pid", str(target.pid), "-o", os.path.join(folder, "x.inferom"),
                                 "--duration", f"{chance.randrange(20, 400)}ms"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if end:
        at_some_moment(target, recorder)
        recorder.send_signal(end)
    what = f"{number}: {threads} threads, {'busy' if busy else 'waiting'}, recorder {'left alone' if not end else signal.Signals(end).name}"
    try:
        said = recorder.communicate(timeout=PATIENCE)[1]
        told = target.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired:
        h.check(False, f"{what}: somebody hangs: recorder {recorder.poll()}, target {target.poll()} {h.states(target.pid)}")
        recorder.kill()
        target.kill()
        return None
    h.check(target.returncode == 0 and json.loads(told)["wrong"] == 0, f"{what}: the target ended with {target.returncode}: {told}")
    h.check(recorder.returncode in (0, 3, 5, -signal.SIGINT, -signal.SIGKILL), f"{what}: the recorder ended with {recorder.returncode}: {said}")
    return recorder.returncode


def main():
    h.need_perf_event()
    if os.uname().machine != "x86_64":
        print("skipped: only on x86-64")
        sys.exit(h.SKIP)
    folder, ends = h.scratch(), {}
    for i in range(TIMES):
        end = one(i, folder)
        ends[end] = ends.get(end, 0) + 1
    print(f"{TIMES} targets; the recorders ended with {ends}", flush=True)
    h.check(ends.get(0, 0) > 0, "not one was recorded")
    h.finish()


main()
