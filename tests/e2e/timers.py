#!/usr/bin/env python3
"""The timers engine: record on a machine that refuses perf_event_open.

    timers.py WHAT INFEROM REFUSE_PERF HARD_HOST PLUG FIXTURE...

WHAT is shares (what fixtures say about themselves is what the profile says), hosts
(programs that are hard on a guest do what they do without one), endings (the target
or the recorder is killed) or calm (a hundred short runs).

Exit status: 0 all true, 1 not, 77 the machine could not run the experiment.
"""
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from telling import check, finish

WHAT, INFEROM, REFUSE, HOST, PLUG = sys.argv[1:6]
FIXTURES = {os.path.basename(path): path for path in sys.argv[6:]}
PATIENCE_S = 120


class Recording:
    """One run of `inferom record` under the filter, and the report about it."""

    def __init__(self, folder, *command, options=()):
        self.path = os.path.join(folder, "run.inferom")
        full = [REFUSE, INFEROM, "record", "-o", self.path, *options, "--", *command]
        run = subprocess.run(full, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        if run.returncode == 77:
            sys.exit(77)
        self.status, self.out, self.err = run.returncode, run.stdout, run.stderr
        self.report = report(self.path)
        self.functions = {f["function"]: f for f in self.report["functions"]}

    def total(self, *names):
        return sum(self.functions[n]["total"] for n in names if n in self.functions)

    def complete_ratio(self):
        found = re.search(r"([\d.]+) % of the stacks reach", self.err)
        return float(found.group(1)) / 100 if found else 0.0


def report(path, *options):
    made = subprocess.run([INFEROM, "report", "--json", "--top", "0", *options, path], capture_output=True, text=True, check=False)
    if not made.stdout:
        sys.exit(f"no report: {made.stderr}")
    return json.loads(made.stdout)


# Shares: three points, or three standard deviations when a busy machine left us few samples. On a virtual machine
# whose host takes the core away, a single sample may stand for 60 ms, and then there is more spread than that: a
# question that is left open is asked again, twice at most, and the sum of all answers counts.

class Shares:
    """What fixtures spent in their functions, and what profiles say about it, over all runs so far."""

    def __init__(self):
        self.truth, self.seen, self.total, self.samples = {}, {}, 0, 0

    def add(self, run, threads):
        for function in (f for t in threads for f in t["functions"]):
            name = function["name"]
            self.truth[name] = self.truth.get(name, 0) + function["cpu_ns"]
        for name in {f["name"] for t in threads for f in t["functions"]}:
            self.seen[name] = self.seen.get(name, 0) + run.total(name)
        self.total += run.report["total"]
        self.samples += run.report["samples"]

    def rows(self):
        whole = sum(self.truth.values())
        for name, spent in sorted(self.truth.items()):
            truth, share = spent / whole, self.seen[name] / self.total
            margin = max(0.03, 3 * math.sqrt(truth * (1 - truth) / max(self.samples, 1)))
            yield f"{name}: {truth:.3f} +/- {margin:.3f}", abs(share - truth) <= margin, f"{share:.4f} of {self.samples} samples"


def check_run(kind, run, truth, threads):
    check("exit status", run.status == 0, run.status)
    check("the engine is named, and why", "by timers (perf_event_open is refused" in run.err, run.err.split("\n", maxsplit=1)[0])
    check("stacks are whole", run.complete_ratio() >= 0.995, run.complete_ratio())
    spent = sum(t["cpu_ns"] for t in threads)
    check("all CPU time is there", abs(run.report["total"] - spent) < 0.05 * spent, f"{run.report['total'] / spent:.3f}")
    if kind == "fx-deep":
        levels = json.dumps(report(run.path, "--tree")).count('"deep"')
        check("every level is there", levels >= truth["depth"], levels)
    if kind == "fx-fork":
        for child in truth["children"]:
            ratio = report(run.path, "--process", str(child["pid"]))["total"] / child["cpu_ns"]
            check(f"child {child['pid']}", 0.9 < ratio < 1.1, f"{ratio:.3f} of its CPU time")
    if kind == "fx-burn":
        ratio = report(run.path, "--thread", "fx-worker")["total"] / threads[1]["cpu_ns"]
        check("the worker has its name", 0.9 < ratio < 1.1, f"{ratio:.3f} of its CPU time")


def shares(folder):
    for name in sorted(FIXTURES):
        kind = name.rsplit("-", 1)[0]
        more = ["--depth", "400"] if kind == "fx-deep" else []
        sums = Shares()
        for _ in range(3):
            print(f"--- {name}")
            run = Recording(folder, FIXTURES[name], "--seconds", "3", *more, options=["--max-depth", "1024"])
            truth = json.loads(run.out)
            threads = truth.get("threads") or [t for c in truth["children"] for t in c["threads"]]
            check_run(kind, run, truth, threads)
            sums.add(run, threads)
            if all(ok for _, ok, _ in sums.rows()):
                break
        for row in sums.rows():
            check(*row)


# Hosts: the deed, the function its time is in, the least share of all time that must be seen there.

HOSTS = [
    ("waits", "between_waits", 0.9), ("own-profiler", "profiled", 0.9), ("reset", "blocked_and_reset", 0.9),
    ("handlers", "handled_all", 0.9), ("ended", "ended", 0.5), ("errno", "errno_kept", 0.9), ("churn", "short_thread", 0.5),
    ("forks", "short_child", 0.3), ("programs", "short_program", 0.9), ("libraries", "plug_burn", 0.5),
    ("cloned", "stranger", 0.2), ("closes", "after_closing", 0.9), ("coroutine", "on_small_stack", 0.9),
    ("alternate", "in_handler", 0.9), ("jumps", "jumped_out_of", 0.9),
    ("leaves", "after_the_first", 0.9),
]


def hosts(folder):
    for deed, function, least in HOSTS:
        command = [HOST, deed] + ([PLUG] if deed == "libraries" else [])
        alone = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        status = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
        run = Recording(folder, *command)
        check(f"{deed}: says the same", run.out == alone.stdout, repr(run.out))
        check(f"{deed}: ends the same", run.status == status, run.status)
        share = run.total(function) / max(run.report["total"], 1)
        check(f"{deed}: is seen in {function}", share >= least, f"{share:.3f} of {run.report['samples']} samples")
        check(f"{deed}: nothing was spoiled", not any("spoiled" in row["reason"] for row in run.report["lost"]), run.report["lost"])


# Endings.

def start(folder, *command):
    path = os.path.join(folder, "run.inferom")
    return path, subprocess.Popen([REFUSE, INFEROM, "record", "-o", path, "--", *command], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)


def program_of(pid):
    try:
        return os.path.realpath(os.readlink(f"/proc/{pid}/exe"))
    except OSError:  # it has ended
        return None


def child_of(pid, program):
    """The child that runs the program: the recorder has others for a moment, when it tries what the machine permits."""
    for _ in range(200):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            children = f.read().split()
        for child in children:
            if program_of(child) == os.path.realpath(program):
                return int(child)
        time.sleep(0.05)
    sys.exit(f"the recorder did not start {program}")


def endings(folder):
    burn = FIXTURES["fx-burn-fp"]
    path, recorder = start(folder, burn, "--seconds", "600")
    target = child_of(recorder.pid, burn)
    time.sleep(3)
    os.kill(target, signal.SIGKILL)
    _, err = recorder.communicate(timeout=PATIENCE_S)
    got = report(path)
    check("target killed: the status says so", recorder.returncode == 128 + signal.SIGKILL, recorder.returncode)
    check("target killed: all samples are there", got["samples"] > 50 and not got["lost"][1:], f"{got['samples']}, {err.splitlines()[:2]}")

    path, recorder = start(folder, burn, "--seconds", "3")
    target = child_of(recorder.pid, burn)
    time.sleep(2)
    recorder.kill()
    out = recorder.stdout.read()  # until the target, which has it open too, has ended
    recorder.wait()
    check("recorder killed: the target goes on to its end", json.loads(out)["pid"] == target, out[:60])
    got = report(path)
    check("recorder killed: the file is readable", got["samples"] > 0, got["samples"])

    static = subprocess.run([REFUSE, INFEROM, "record", "-o", path, "--", FIXTURES["fx-burn-static"]], capture_output=True,
                            text=True, check=False) if "fx-burn-static" in FIXTURES else None
    if static:
        check("a static program is refused with a reason", static.returncode == 4 and "statically linked" in static.stderr, static.stderr)
    pid = subprocess.run([REFUSE, INFEROM, "record", "-o", path, "--pid", str(os.getpid())], capture_output=True, text=True, check=False)
    check("attaching is refused with advice", pid.returncode == 4 and "inferom record -- COMMAND" in pid.stderr, pid.stderr)


def calm(folder):
    slowest, wrong = 0.0, 0
    for _ in range(100):
        began = time.monotonic()
        # Whether a sample falls into so short a run is chance; that it ends well is not.
        _, recorder = start(folder, FIXTURES["fx-burn-nofp"], "--seconds", "0.02")
        out, _ = recorder.communicate(timeout=PATIENCE_S)
        if recorder.returncode == 77:
            sys.exit(77)
        slowest = max(slowest, time.monotonic() - began)
        wrong += recorder.returncode != 0 or json.loads(out)["fixture"] != "fx-burn"
    check("100 runs", wrong == 0, f"{wrong} wrong, the slowest took {slowest:.1f} s")


def main():
    with tempfile.TemporaryDirectory() as folder:
        {"shares": shares, "hosts": hosts, "endings": endings, "calm": calm}[WHAT](folder)
    finish()


main()
