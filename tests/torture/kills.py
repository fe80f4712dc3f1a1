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
RECORDER = os.path.basename(os.path.realpath(h.INFEROM))[:15]  # and children of it that run no other program
LAST_SECOND = 1.0      # what may be missing
SLACK_S = 0.5          # ticks of clocks, pages that have to be fetched
LATEST_S = 5           # long enough that a write that did not come is missed
COUNT = "500" if h.SHORT else "5000"
COMMAND = [h.CROWD, "churn", COUNT]
OUTPUT, STATUS = f"churn: {COUNT} went well\n", 0
stayer = subprocess.Popen([h.CROWD, "stay", "8"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def orphans():
    """How the programs ended that the recorder left behind: the target, if it began; not what the recorder tries things out with.
    The target of the other half of this torture is not among them."""
    statuses = []
    while True:
        mine = h.proc("self", f"task/{os.getpid()}/children").split()
        left = [int(pid) for pid in mine if int(pid) != stayer.pid]
        if not left:
            return statuses
        for pid in left:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            program = h.proc(pid, "comm").strip()
            _, how = os.waitpid(pid, 0)
            if program != RECORDER:
                statuses.append(h.shell_status(os.waitstatus_to_exitcode(how)))


class Kill:
    """The end of a recorder, and what it owed us then.

    A recorder that stands in line for a processor cannot write, and on a busy machine that is most of the time; nor can it
    while it looks for names. The promise is about the rest: what it neither waited nor worked for may be a second.
    """

    def __init__(self, recorder):
        self.excused_s = sum(h.worked_and_waited_s(recorder.pid))
        self.time_s = time.time()
        recorder.kill()
        recorder.wait()

    def look_at_file(self, path, what):
        """True when it has samples. One killed in its first second may have none, but it says what it is."""
        missing_s, excused_s = self.time_s - os.stat(path).st_mtime, self.excused_s
        h.check(missing_s < LAST_SECOND + SLACK_S + excused_s,
                f"{what}: last written {missing_s:.1f} s before, of which {excused_s:.1f} s at most were spent waiting and working")
        found, status, said = h.report(path)
        if found is None:
            h.check(status in (6, 9), f"{what}: no report, status {status}: {said}")
            return False
        h.check(status == 9, f"{what}: the report ends with {status}")
        h.check(any("not closed properly" in d for d in found["damage"]), f"{what}: the damage is told as {found['damage']}")
        return found["samples"] > 0


def launched(folder, i, wait_s):
    path = os.path.join(folder, f"launched-{i}.inferom")
    with open(path + ".out", "w+") as out:
        recorder = subprocess.Popen([h.INFEROM, "record", "-o", path, "--", *COMMAND], stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=subprocess.DEVNULL)
        time.sleep(wait_s)
        kill = Kill(recorder)
        statuses = orphans()
        out.seek(0)
        said = out.read()
    if recorder.returncode != -9:
        return "ended before"
    what = f"kill {i} after {wait_s:.2f} s"
    h.check((said, statuses) in (("", []), (OUTPUT, [STATUS])), f"{what}: said {said!r} and ended with {statuses}")
    if not os.path.exists(path):
        return "no file yet"
    return "samples" if kill.look_at_file(path, what) else "no sample yet"


def attached(folder, i, wait_s):
    path = os.path.join(folder, f"attached-{i}.inferom")
    recorder = subprocess.Popen([h.INFEROM, "record", "-o", path, "--pid", str(stayer.pid)], stdin=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
    time.sleep(wait_s)
    kill = Kill(recorder)
    h.check(set(h.states(stayer.pid)) <= set("RSD"), f"attached kill {i}: threads in {h.states(stayer.pid)}")
    if not os.path.exists(path):
        return "no file yet"
    return "samples" if kill.look_at_file(path, f"attached kill {i} after {wait_s:.2f} s") else "no sample yet"


def main():
    h.need_perf_event()
    h.reap_orphans()
    folder, seen = h.scratch(in_memory=True), {}
    seed = int(os.environ.get("TORTURE_SEED", time.time_ns() % 100000))
    moment = random.Random(seed)
    for i in range(KILLS // 2):
        for how in launched(folder, i, moment.uniform(0, 2.5)), attached(folder, i, moment.uniform(0, LATEST_S)):
            seen[how] = seen.get(how, 0) + 1
    stayer.terminate()
    out = stayer.communicate()[0]
    h.check(out == "stay: 8 went well\n" and stayer.returncode == 0, f"the attached one said {out!r}, ended with {stayer.returncode}")
    print(f"{KILLS} kills, TORTURE_SEED={seed}: {seen}", flush=True)
    h.check(h.SHORT or seen.get("samples", 0) > KILLS // 4, f"too few of the files had samples: {seen}")
    h.finish()


main()
