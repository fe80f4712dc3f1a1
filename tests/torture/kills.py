#!/usr/bin/env python3
"""The recorder is killed with -9 at random moments: the target is unharmed, the file readable and honest.

The driver makes itself the parent of orphans, so it sees how the target of a dead recorder ended.
"""
import os
import random
import subprocess
import time

import harness as h

KILLS = 6 if h.SHORT else 100
NEVER_RAN = 127        # killed before the target was let go: it leaves without having begun
LAST_SECOND = 1.0      # what may be missing
SLACK_S = 2.0          # a recorder that got no CPU cannot write; on a busy machine that happens
COUNT = "500" if h.SHORT else "5000"
COMMAND = [h.CROWD, "churn", COUNT]
OUTPUT, STATUS = f"churn: {COUNT} went well\n", 0
stayer = subprocess.Popen([h.CROWD, "stay", "8"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def orphans():
    """How those ended that the recorder left behind. The target of the other half of this torture is not among them."""
    statuses = []
    while True:
        mine = h.proc("self", f"task/{os.getpid()}/children").split()
        left = [int(pid) for pid in mine if int(pid) != stayer.pid]
        if not left:
            return statuses
        for pid in left:
            _, how = os.waitpid(pid, 0)
            statuses.append(h.shell_status(os.waitstatus_to_exitcode(how)))


def look_at_file(path, began_s, killed_s, what):
    """True when it has samples. One killed in its first second may have none, but it says what it is."""
    found, status, said = h.report(path)
    if found is None:
        h.check(status in (6, 9) and (h.SHORT or killed_s - began_s < LAST_SECOND + SLACK_S), f"{what}: no report, status {status}: {said}")
        return False
    h.check(status == 9, f"{what}: the report ends with {status}")
    h.check(any("not closed properly" in d for d in found["damage"]), f"{what}: the damage is told as {found['damage']}")
    missing_s = killed_s - began_s - found["duration_ns"] / 1e9
    h.check(h.SHORT or missing_s < LAST_SECOND + SLACK_S, f"{what}: the last {missing_s:.1f} s are missing")
    return found["samples"] > 0


def launched(folder, i, wait_s):
    path = os.path.join(folder, f"launched-{i}.inferom")
    with open(path + ".out", "w+") as out:
        began_s = time.monotonic()
        recorder = subprocess.Popen([h.INFEROM, "record", "-o", path, "--", *COMMAND], stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=subprocess.DEVNULL)
        time.sleep(wait_s)
        killed_s = time.monotonic()
        recorder.kill()
        recorder.wait()
        statuses = orphans()
        out.seek(0)
        said = out.read()
    if recorder.returncode != -9:
        return "ended before"
    what = f"kill {i} after {wait_s:.2f} s"
    ran = [s for s in statuses if s != NEVER_RAN]
    h.check((said, ran) in (("", []), (OUTPUT, [STATUS])), f"{what}: said {said!r} and ended with {statuses}")
    if not os.path.exists(path):
        return "no file yet"
    return "samples" if look_at_file(path, began_s, killed_s, what) else "no sample yet"


def attached(folder, i, wait_s):
    path = os.path.join(folder, f"attached-{i}.inferom")
    began_s = time.monotonic()
    recorder = subprocess.Popen([h.INFEROM, "record", "-o", path, "--pid", str(stayer.pid)], stdin=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    time.sleep(wait_s)
    killed_s = time.monotonic()
    recorder.kill()
    recorder.wait()
    h.check(set(h.states(stayer.pid)) <= set("RSD"), f"attached kill {i}: threads in {h.states(stayer.pid)}")
    if not os.path.exists(path):
        return "no file yet"
    return "samples" if look_at_file(path, began_s, killed_s, f"attached kill {i} after {wait_s:.2f} s") else "no sample yet"


def main():
    h.need_perf_event()
    h.reap_orphans()
    folder, seen = h.scratch(), {}
    seed = int(os.environ.get("TORTURE_SEED", time.time_ns() % 100000))
    moment = random.Random(seed)
    for i in range(KILLS // 2):
        for how in launched(folder, i, moment.uniform(0, 2.5)), attached(folder, i, moment.uniform(0, 2.5)):
            seen[how] = seen.get(how, 0) + 1
    stayer.terminate()
    out = stayer.communicate()[0]
    h.check(out == "stay: 8 went well\n" and stayer.returncode == 0, f"the attached one said {out!r}, ended with {stayer.returncode}")
    print(f"{KILLS} kills, TORTURE_SEED={seed}: {seen}", flush=True)
    h.check(h.SHORT or seen.get("samples", 0) > KILLS // 4, f"too few of the files had samples: {seen}")
    h.finish()


main()
