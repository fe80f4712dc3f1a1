#!/usr/bin/env python3
"""`inferom top --once` and `--json`: functions with the name, file and line of the source.

    top_once.py INFEROM FX_BURN SOURCE_FOLDER
"""
import json
import os
import re
import subprocess
import sys

inferom, fx_burn, sources = (os.path.abspath(a) for a in sys.argv[1:4])


def top(*words):
    return subprocess.run([inferom, "top", *words], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


# What the line looks like on which a function begins; debug information says the line of its name.
BEGINS = {
    "burn_w": ("fx_burn.c", r"static KEPT void burn_w\("),
    "main": ("fx_burn.c", r"int main\("),
    "worker_run": ("fx_burn.c", r"static void \*worker_run\("),
    "burn_a": ("truth.c", r"static KEPT void burn_a\("),
}


def place_in_source(name):
    file, pattern = BEGINS[name]
    with open(os.path.join(sources, file), encoding="utf-8") as f:
        return file, next(number for number, line in enumerate(f, 1) if re.match(pattern, line))


def check_functions(answer):
    functions = {f["function"]: f for f in answer["functions"]}
    for name in BEGINS:
        assert name in functions, (name, sorted(functions))
        f = functions[name]
        assert (os.path.basename(f["file"]), f["line"]) == place_in_source(name), (f, place_in_source(name))
        assert 0 <= f["self_share"] <= f["total_share"] <= 1, f
    assert abs(sum(f["self_share"] for f in answer["functions"]) - 1) < 1e-9, "self adds up to the whole"
    assert functions["burn_w"]["self_share"] > 0.1 and functions["burn_a"]["self_share"] > 0.1, functions


def main():
    with subprocess.Popen([fx_burn, "--seconds", "3600"], stdout=subprocess.DEVNULL) as p:
        try:
            done = top("--json", "--top", "0", "--pid", str(p.pid))
            assert done.returncode == 0, done.stderr
            answer = json.loads(done.stdout)
            check_functions(answer)
            assert [(q["pid"], q["rss_bytes"] > 0, q["cpu_ratio"] > 0) for q in answer["processes"]] == [(p.pid, True, True)], answer
            assert {t["thread"] for t in answer["threads"]} == {"fx-worker", os.path.basename(fx_burn)}, answer["threads"]
            assert answer["samples"] > 5 and answer["duration_ns"] > 1.5e9, answer

            done = top("--once", "--sort", "name", "--filter", "BURN_", "--pid", str(p.pid))
            names = re.findall(r"%\s+(burn_\w)\s", done.stdout)
            assert done.returncode == 0 and names == sorted(names) and "burn_w" in names, done.stdout + done.stderr
            assert "worker_run" not in done.stdout, done.stdout
            assert p.poll() is None, "the program goes on"
        finally:
            p.kill()

    done = top("--pid", str(os.getpid()))
    assert done.returncode == 2 and "not a terminal" in done.stderr and "--once" in done.stderr, done.stderr
    done = top("--once", "--", fx_burn, "--seconds", "0.2")
    assert done.returncode == 0 and "burn_w" in done.stdout and "{" not in done.stdout, done.stdout + done.stderr
    done = top("--once", "--", "sh", "-c", "exit 5")
    assert done.returncode == 5, (done.returncode, done.stderr)
    for words in ([], ["--pid", "1", "--", "true"], ["--pid", "0"]):
        assert top(*words).returncode == 2, words


main()
