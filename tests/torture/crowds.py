#!/usr/bin/env python3
"""Many threads, forks, execs, loads and maps: recorded whole, in bounded memory, and the target none the wiser."""
import os
import resource

import harness as h

# mode, how many in full, how many in short
CROWDS = [
    ("threads", 256, 256),
    ("churn", 20000, 500),
    ("forks", 20000, 500),
    ("spawns", 5000, 100),
    ("execs", 2000, 100),
    ("loads", 20000, 500),
    ("maps", 10000, 10000),
]
BROKEN_SHARE, BROKEN_FEW = 0.005, 1  # stacks that may be incomplete: a share, or this many where there are few
LOST_SHARE = 0.01
PERIOD_NS = 1000000


def accounted(s):
    """The CPU time that samples stand for, or that we know to have no sample of."""
    return PERIOD_NS * (s["samples"] + s["lost"] + s["unsampled"])


def cpu_of(command):
    """CPU time of the program and its children when nobody watches."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = h.plain(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return *said, 1e9 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def torture(folder, mode, count):
    command = [h.CROWD, mode, str(count)]
    want, status, cpu_ns = cpu_of(command)
    path = os.path.join(folder, mode + ".inferom")
    r = h.record(path, command=command)
    if not h.check(r.summary, f"{mode}: no summary: {r.said}"):
        return
    s = r.summary
    print(f"{mode} {count}: {s['samples']} samples, {s['lost']} lost, {100 * (s['complete_share'] or 0):.2f} % complete, "
          f"{s['truncated']} truncated, {s['unsampled']} unsampled, {accounted(s) / cpu_ns:.2f} of the CPU time, "
          f"{s['file_bytes'] >> 10} KiB, recorder {r.peak_mib:.1f} MiB, {r.most_files} files", flush=True)
    h.check(r.output == want and r.status == status, f"{mode}: {r.output!r} and {r.status}, without us {want!r} and {status}")
    h.check(s["samples"] > 0, f"{mode}: not one sample")
    if h.SHORT:
        return  # how much is lost depends on who else wants the processors: the full run judges that
    h.check(s["lost"] <= LOST_SHARE * s["samples"], f"{mode}: {s['lost']} lost of {s['samples']}")
    broken = (1 - (s["complete_share"] or 0)) * s["samples"]
    h.check(broken < max(BROKEN_SHARE * s["samples"], BROKEN_FEW + 0.5), f"{mode}: {s['complete_share']} of the stacks are complete")
    h.check(0.5 < accounted(s) / cpu_ns < 2, f"{mode}: accounts for {accounted(s) / 1e9:.2f} s of {cpu_ns / 1e9:.2f} s")
    h.check(r.peak_mib < h.MOST_MIB, f"{mode}: the recorder took {r.peak_mib:.0f} MiB")
    found, status, said = h.report(path)
    h.check(status == 0 and found["samples"] == s["samples"], f"{mode}: the report ends with {status}: {said}")


def main():
    h.need_perf_event()
    folder = h.scratch()
    for mode, full, short in CROWDS:
        torture(folder, mode, short if h.SHORT else full)
    h.finish()


main()
