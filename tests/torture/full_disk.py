#!/usr/bin/env python3
"""The disk fills up while recording: a sentence, a readable file, and a target that runs to its end."""
import os
import shutil
import subprocess
import sys

import harness as h

ROOM_KIB = 16
DEEP = os.path.join(h.BUILD, "tests/workloads/fx-deep-nofp")


def with_small_disk(folder, script):
    """Runs sh with a tmpfs on ./disk that nobody else sees."""
    disk = os.path.join(folder, "disk")
    os.makedirs(disk, exist_ok=True)
    mount = f'mount -t tmpfs -o size={ROOM_KIB}k none "{disk}" || exit 77\n'
    way = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    return subprocess.run([*way, "sh", "-c", mount + script], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def main():
    h.need_perf_event()
    folder = h.scratch()
    if not shutil.which("unshare") or with_small_disk(folder, "true").returncode:
        print("skipped: no mount of our own (unshare) here")
        sys.exit(h.SKIP)
    for mode, count in ("spawns", 100 if h.SHORT else 2000), ("threads", 64 if h.SHORT else 256):
        want, _ = h.plain([h.CROWD, mode, str(count)])
        # Something else fills most of the disk, so that it is the recording which finds no room.
        done = with_small_disk(folder, f"""
            head -c {(ROOM_KIB - 8) * 1024} /dev/zero >disk/ballast
            "{h.INFEROM}" record --rate 4000 -o disk/full.inferom -- "{h.CROWD}" {mode} {count} >said; echo "status $?"
            ls -l disk >&2
            cp disk/full.inferom kept.inferom""")
        with open(os.path.join(folder, "said")) as f:
            said = f.read()
        print(f"{mode}: {done.stdout.strip()}: {done.stderr.strip().splitlines()[0] if done.stderr else ''}", flush=True)
        h.check(said == want, f"{mode}: said {said!r}, without us {want!r}")
        h.check("status 8" in done.stdout, f"{mode}: {done.stdout!r}, wants status 8")
        h.check("No space left" in done.stderr and "full.inferom" in done.stderr, f"{mode}: the sentence was {done.stderr!r}")
        found, status, why = h.report(os.path.join(folder, "kept.inferom"))
        h.check(status in (0, 9), f"{mode}: what was written reads with {status}: {why}")
        if found:
            print(f"{mode}: {found['samples']} samples kept, {found['damage']}", flush=True)
    h.finish()


main()
