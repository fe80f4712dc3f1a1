#!/usr/bin/env python3
"""The disk fills up while recording: a sentence, a readable file, and a target that runs to its end."""
import json
import os
import shutil
import subprocess
import sys

import harness as h

ROOM_KIB, BALLAST_KIB = 64, 40  # something else has most of the disk
SECONDS = 2 if h.SHORT else 20


def with_small_disk(folder, script):
    """Runs sh with a tmpfs on ./disk that nobody else sees."""
    disk = os.path.join(folder, "disk")
    os.makedirs(disk, exist_ok=True)
    mount = f'mount -t tmpfs -o size={ROOM_KIB}k none "{disk}" || exit {h.SKIP}\n'
    way = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    return subprocess.run([*way, "sh", "-c", mount + script], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def main():
    h.need_perf_event()
    folder = h.scratch()
    if not shutil.which("unshare") or with_small_disk(folder, "true").returncode:
        print("skipped: no mount of our own (unshare) here")
        sys.exit(h.SKIP)
    done = with_small_disk(folder, f"""
        head -c {BALLAST_KIB * 1024} /dev/zero >disk/ballast
        "{h.INFEROM}" record --rate 4000 -o disk/full.inferom -- "{h.BURN}" --seconds {SECONDS} >said; echo "status $?"
        cp disk/full.inferom kept.inferom""")
    with open(os.path.join(folder, "said")) as f:
        told = json.load(f)
    print(done.stdout.strip(), done.stderr.strip(), sep=": ", flush=True)
    h.check(told["fixture"] == "fx-burn" and len(told["threads"]) == 2, f"the target said {told}")
    h.check("status 8" in done.stdout, f"{done.stdout!r}, wants status 8")
    h.check("No space left" in done.stderr and "full.inferom" in done.stderr, f"the sentence was {done.stderr!r}")
    found, status, why = h.report(os.path.join(folder, "kept.inferom"))
    h.check(status in (0, 9) or "no samples" in why, f"what was written reads with {status}: {why}")
    if found:
        print(f"{found['samples']} samples were kept: {found['damage']}", flush=True)
        h.check(status == 9 and found["damage"], f"the file does not say that it is incomplete: status {status}, {found['damage']}")
    h.check(found or h.SHORT, "nothing was kept")
    h.finish()


main()
