"""An ordinary user sees off-CPU time as well: all of it accounted for, most of it with stack and kind."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

import shutil

NOBODY = "65534"


def as_nobody():
    """Words to put in front of a command; none when we are an ordinary user already."""
    if os.getuid() != 0:
        return ()
    if not shutil.which("setpriv"):
        print("skipped: no setpriv to become an ordinary user with")
        sys.exit(SKIP)
    os.chmod(".", 0o777)
    words = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    if subprocess.run([*words, INFEROM, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        print("skipped: an ordinary user cannot run what was built here")
        sys.exit(SKIP)
    return words


def experiment():
    # Its threads wait 7 ms at a time: shorter than the time between two looks.
    r = Recording([fixture("fx-wait-nofp"), "--seconds", 3], "--off-cpu", prefix=as_nobody())
    if r.summary["wait_stacks"] != "look":
        print("skipped: even an ordinary user may have the stacks of switches here")
        sys.exit(SKIP)
    lives = {t["tid"]: t for t in r.report("--waits")["thread_times"]}
    for t in r.truth["threads"]:
        on = max(lives[t["tid"]]["on_ns"], t["cpu_ns"]) # CPU time in the kernel has no samples for this user
        near(f"{t['name']}: on + off, of its life", (on + lives[t["tid"]]["off_ns"]) / t["wall_ns"], 1, 0.05)
        if t["name"] not in ("sleeper", "writer", "reader", "poller"):
            continue
        report = r.report("--set", "off-cpu", "--waits", "--threads", "--thread", str(t["tid"]))
        waits = {w["wait"]: w["ns"] for w in report["waits"] if w["wait"] != "unknown"}
        known = sum(waits.values())
        check(f"{t['name']}: much of it is known", known > 0.3 * t["wait_ns"], f"{known / t['wait_ns']:.0%}")
        check(f"{t['name']}: {t['class']}", waits.get(t["class"], 0) > 0.8 * known, waits)
        names = totals(report["threads"][0]["functions"])
        check(f"{t['name']}: its stacks have {t['function']}", names.get(t["function"], 0) > 0.25, names.get(t["function"], 0))


need_sampling()
steady(experiment)
done()
