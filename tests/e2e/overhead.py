#!/usr/bin/env python3
"""`inferom overhead`: what it says about itself has the right shape, and makes sense.

    overhead.py INFEROM

Short runs on a machine that does other things: nothing here depends on how fast it is.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

inferom = os.path.abspath(sys.argv[1])
failures = []


def check(what, is_so, shown=""):
    if not is_so:
        failures.append(what)
        print(f"not so: {what}\n{shown}")


def run(*words, **more):
    return subprocess.run([inferom, "overhead", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def check_row(row, rounds):
    for key in ("cpu", "wall"):
        v = row[key]
        check(f"{key} has every pair", v["pairs"] == rounds, row)
        check(f"{key} is in order", 0 < v["low"] <= v["ratio"] <= v["high"] < 100, row)
    check("fewer than five pairs decide nothing", rounds >= 5 or row["cpu"]["verdict"] == "undecided", row)
    check("the verdict is a word", row["cpu"]["verdict"] in ("stable", "improved", "regressed", "undecided"), row)


def check_spin(scratch):
    rounds = 2
    done = run("--json", "--rounds", str(rounds), "--length", "100ms", "--rate", "99", "--rate", "1000",
               env=dict(os.environ, TMPDIR=scratch))
    if done.returncode == 4:
        print(done.stderr)
        sys.exit(77)  # nobody may sample here
    check("it succeeds", done.returncode == 0, done.stderr)
    answer = json.loads(done.stdout)
    noise, *ways = answer["rows"]
    check("the first row is the noise", noise["engine"] is None and noise["rate_hz"] is None, noise)
    check("the load against itself is about one", 0.5 < noise["cpu"]["ratio"] < 2, noise)
    check("nobody recorded there", noise["recorder_share"] is None and noise["samples_per_cpu_s"] is None, noise)
    alone, together = ([w for w in ways if w["heap"] is is_there] for is_there in (False, True))
    check("two rates of each engine", alone and [w["rate_hz"] for w in alone] == [99, 1000] * (len(alone) // 2), ways)
    check("and one with the heap as well", [(w["engine"], w["rate_hz"]) for w in together] == [(alone[0]["engine"], 1000)], ways)
    for row in answer["rows"]:
        check_row(row, rounds)
    for row in ways:
        check("recording costs no multiples", 0.5 < row["cpu"]["ratio"] < 3, row)
        check("the recorder is a process with memory", row["recorder_peak_bytes"] > 1 << 20, row)
        check("and takes CPU time", row["recorder_fixed_ns"] >= 0 and row["recorder_share"] >= 0, row)
        check("samples were taken", 0 < row["samples_per_cpu_s"] < 1.3 * row["rate_hz"], row)
    check("both threads did their work", answer["load_cpu_ns"] > 0.1e9, answer)
    check("no recording is left", os.listdir(scratch) == [], os.listdir(scratch))


def check_command():
    work = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo noise; echo noise >&2"
    done = run("--rounds", "5", "--rate", "99", "--", "sh", "-c", work)
    lines = done.stdout.splitlines()
    check("a command is compared", done.returncode == 0 and lines[0].startswith("load: sh, "), done.stdout + done.stderr)
    check("what it prints is not ours", "noise;" not in done.stdout and "\nnoise" not in done.stdout, done.stdout)
    check("with its wall time", lines[2].endswith("Wall time"), done.stdout)
    check("in five pairs", "of 5 pairs" in done.stdout, done.stdout)

    done = run("--rounds", "1", "--", "sh", "-c", "exit 3")
    check("a command that fails is no load", done.returncode == 8 and "sh ended with status 3" in done.stderr, done.stderr)
    done = run("--rounds", "1", "--", "/nowhere/program")
    check("nor is one that is not there", done.returncode == 3 and "cannot be run" in done.stderr, done.stderr)


def check_interrupt(scratch):
    """Ctrl-C: what is finished is shown, the load is gone, and so is the recording."""
    for patience_s in 2, 10, 50:
        p = subprocess.Popen([inferom, "overhead", "--rounds", "1000", "--length", "20ms", "--rate", "99"], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, TMPDIR=scratch))
        time.sleep(patience_s)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate()
        check("it says that it was stopped", p.returncode == 130 and "stopped" in err, err)
        if out:  # else not even the first round was over
            break
    check("and shows what it has", "none, again" in out, out)
    check("the scratch folder is gone", os.listdir(scratch) == [], os.listdir(scratch))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        check_spin(scratch)
        check_interrupt(scratch)
    check_command()
    done = run("--rate", "fast")
    check("a rate is a number", done.returncode == 2 and "'fast'" in done.stderr, done.stderr)
    print(f"{len(failures)} failed")
    sys.exit(1 if failures else 0)


main()
