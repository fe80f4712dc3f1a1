#!/usr/bin/env python3
"""Many threads, forks, execs, loads and maps: recorded whole, in bounded memory, and the target none the wiser."""
import os

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
# Stacks that may be incomplete: a share, or this many where there are few. Samples that may be lost. A short run is part
# of every test run, on machines that have other things to do; what it finds missing must be told all the same.
BROKEN_SHARE, BROKEN_FEW = (0.02, 3) if h.SHORT else (0.005, 1)
LOST_SHARE = 0.1 if h.SHORT else 0.01
PERIOD_NS = 1000000
ACCOUNT_SHARE, ACCOUNT_NS = 0.1, 20 * PERIOD_NS  # between our account of CPU time and the kernel's of the same run


def accounted(s):
    """The CPU time that samples stand for, or that we know to have no sample of."""
    return PERIOD_NS * (s["samples"] + s["lost"] + s["unsampled"])


def check_account(mode, s, stolen_ns):
    """Whatever the recorder did not see, it says so: what it tells adds up to what the kernel charged the command for.

    Events count on while a hypervisor has taken the processor away. The recorder takes off what was stolen on all of
    them, which may be too much, and never knows whom it was stolen from: so much the two may differ as well.
    """
    ours, kernels = accounted(s), s["command_cpu_ns"]
    most = ACCOUNT_SHARE * kernels + ACCOUNT_NS + stolen_ns
    h.check(abs(ours - kernels) <= most, f"{mode}: we account for {ours / 1e6:.0f} ms, the kernel for {kernels / 1e6:.0f} ms "
            f"({s['samples']} samples, {s['lost']} lost, {s['unsampled']} unsampled; {stolen_ns / 1e6:.0f} ms stolen)")


def torture(folder, mode, count):
    command = [h.CROWD, mode, str(count)]
    want, status = h.plain(command)
    path = os.path.join(folder, mode + ".inferom")
    stolen_before_s = h.stolen_s()
    r = h.record(path, command=command)
    if not h.check(r.summary, f"{mode}: no summary: {r.said}"):
        return
    s = r.summary
    print(f"{mode} {count}: {s['samples']} samples, {s['lost']} lost, {100 * (s['complete_share'] or 0):.2f} % complete, "
          f"{s['truncated']} truncated, {s['unsampled']} unsampled, {accounted(s) / s['command_cpu_ns']:.2f} of the CPU time, "
          f"{s['file_bytes'] >> 10} KiB, recorder {r.peak_mib:.1f} MiB, {r.most_files} files", flush=True)
    h.check(r.output == want and r.status == status, f"{mode}: {r.output!r} and {r.status}, without us {want!r} and {status}")
    h.check(s["samples"] > 0, f"{mode}: not one sample")
    h.check(s["lost"] <= LOST_SHARE * s["samples"], f"{mode}: {s['lost']} lost of {s['samples']}")
    broken = (1 - (s["complete_share"] or 0)) * s["samples"]
    h.check(broken < max(BROKEN_SHARE * s["samples"], BROKEN_FEW + 0.5), f"{mode}: {s['complete_share']} of the stacks are complete")
    check_account(mode, s, 1e9 * (h.stolen_s() - stolen_before_s))
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
