#!/usr/bin/env python3
"""A long recording of threads, processes and libraries that come and go: the recorder's memory and files settle.

Ten minutes in full (GROWTH_SECONDS is another length), a few seconds in short: the first third is for warming up, then
it is watched. What is held is what lives and the code that was seen, not all that ever lived.
"""
import os
import time

import harness as h

LENGTH_S = 5 if h.SHORT else int(os.environ.get("GROWTH_SECONDS", "600"))
MOST_GROWTH_MIB = 6  # 8 MiB of names are held at most, and ten minutes of this do not fill them


def main():
    h.need_perf_event()
    path = os.path.join(h.scratch(), "long.inferom")
    # Threads that stay, and beside them thousands that do not: of each sixteen one lives long enough for a sample.
    script = f'''exec >/dev/null; end=$(($(date +%s) + {LENGTH_S})); "{h.CROWD}" stay 8 & one=$!
        while [ $(date +%s) -lt $end ]; do "{h.CROWD}" loads 200; "{h.CROWD}" churn 2000; "{h.CROWD}" forks 500; done; kill $one; wait'''
    recorder, readings = h.Recorder(path, command=["sh", "-c", script]), []
    while recorder.process.poll() is None:
        readings.append((h.memory_mib(recorder.pid, "RssAnon"), h.open_files(recorder.pid)))
        time.sleep(0.5)
    r = recorder.wait()
    settled = [x for x in readings[len(readings) // 3:] if x[0]]
    if not h.check(r.status == 0 and r.summary, f"status {r.status}: {r.said}"):
        h.finish()
    s = r.summary
    grown = settled[-1][0] - settled[0][0]
    print(f"{LENGTH_S} s, {s['samples']} samples, {s['lost']} lost, {s['file_bytes'] >> 10} KiB: "
          f"{settled[0][0]:.1f} MiB after a third, {settled[-1][0]:.1f} MiB at the end, peak {r.peak_mib:.1f} MiB, {r.most_files} files")
    h.check(grown < MOST_GROWTH_MIB, f"the recorder grew by {grown:.1f} MiB")
    h.check(r.peak_mib < h.MOST_MIB, f"the recorder took {r.peak_mib:.0f} MiB")
    h.finish()


main()
