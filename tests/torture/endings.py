#!/usr/bin/env python3
"""Targets that crash, leave, stop, change their user or are gone at once: saved, and their end passed on."""
import os
import signal
import time

import harness as h

# how it ends, and as what a shell sees it
ENDINGS = [("normal", 7), ("crash", 128 + signal.SIGSEGV), ("abort", 128 + signal.SIGABRT), ("leave", 5), ("stop", 7),
           ("user", 7), ("at-once", 7)]
STOPPED, AT_ONCE = "stop", "at-once"


def wake(recorder, target):
    """A stopped program does not keep the recorder from anything; let it go on when all of it stands still."""
    while recorder.process.poll() is None and h.states(target) != "T":
        time.sleep(0.01)
    h.check(recorder.process.poll() is None, "stop: the recorder ended while the target was stopped")
    h.kill(target, signal.SIGCONT)


def torture(folder, ending, status):
    path = os.path.join(folder, ending + ".inferom")
    recorder = h.Recorder(path, command=[h.ENDING, ending])
    if ending == STOPPED:
        wake(recorder, recorder.child())
    r = recorder.wait()
    if not h.check(r.summary, f"{ending}: no summary: {r.said}"):
        return
    print(f"{ending}: status {r.status}, {r.summary['samples']} samples, {r.summary['lost']} lost", flush=True)
    h.check(r.status == status, f"{ending}: ended with {r.status}, wants {status}")
    h.check(r.output == f"ending: {ending}\n", f"{ending}: said {r.output!r}")
    found, status, said = h.report(path)
    if found is None and r.summary["samples"] == 0:
        h.check("no samples" in said, f"{ending}: the report ends with {status}: {said}")
        return
    h.check(status == 0 and not found["damage"], f"{ending}: the report ends with {status}: {said}")
    if ending != AT_ONCE:
        share = sum(f["self_share"] for f in found["functions"] if f["function"] == "ending_burn")
        h.check(share > 0.9, f"{ending}: ending_burn has {share:.2f} of the time")


def main():
    h.need_perf_event()
    folder = h.scratch()
    for ending, status in ENDINGS * (1 if h.SHORT else 10):
        torture(folder, ending, status)
    h.finish()


main()
