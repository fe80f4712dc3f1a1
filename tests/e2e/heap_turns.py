#!/usr/bin/env python3
"""Memory and requests, live: what fx-turns forgets, keeps and only lends, and what each request, phase and token allocated.

    heap_turns.py CASE INFEROM FX_TURNS

Every number is compared exactly with what the program says about itself; nothing depends on how long anything took.
Exit status: 0 all true, 1 not, 77 the machine could not run the experiment.
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

from telling import check, finish, same

CASE, INFEROM, FX_TURNS = sys.argv[1], *map(os.path.abspath, sys.argv[2:4])
PATIENCE_S = 240


def run(*command):
    return subprocess.run([INFEROM, *command], text=True, capture_output=True, timeout=PATIENCE_S, check=False)


def recorded(*arguments, heap="--heap=exact"):
    """A recording of fx-turns in run.inferom; what the program said."""
    told = run("record", heap, "-o", "run.inferom", "--", FX_TURNS, *arguments)
    if "sampling is not possible" in told.stderr:
        print(told.stderr)
        sys.exit(77)
    check(f"fx-turns {' '.join(arguments)} ran as ever", told.returncode == 0, told.returncode)
    return json.loads(told.stdout[told.stdout.index('{"fixture"'):].splitlines()[0])


def heap(*options):
    return json.loads(run("report", "run.inferom", "--json", *options).stdout)["heap"]


# Leaks.

def leaks_of(answer):
    """{function: (grade, blocks, bytes, turns that left something, of how many, bytes by a turn)}"""
    return {r["function"]: (r["grade"], r["live_blocks"], r["live_bytes"], r["grew_in_turns"], r["of_turns"], r["left_per_turn"])
            for r in answer["leaks"]}


def truth_about_leaks(n):
    """Turns that have three others after them are judged. A path grows when at least half of those since its first leave something."""
    judged = n - 3
    five_grow = 2 * 5 >= judged - 10
    return {
        "remember": ("A", 4 * n, 1024 * n, judged, judged, 1024),
        "five_times": ("A" if five_grow else "B", 5, 360, 5, judged - 10, 72),
        "four_times": ("B", 4, 160, 4, judged - 8, 40),
        "fill_cache": ("B", 10, 5120, 1, judged, 5120),
        "load_model": ("B", 3, 12288, None, None, None),
    }


def leaks():
    """Grade A is what grows with requests; what is kept once is B; what is given back late is neither."""
    for n, threads in ((20, 0), (40, 0), (20, 1), (23, 3), (60, 8)):
        truth = recorded("--requests", str(n), "--threads", str(threads))
        answer = heap("--leaks")
        found, want = leaks_of(answer), truth_about_leaks(n)
        same(f"{n} requests on {threads} threads: turns", answer["leaked"]["turns"], len(truth["requests"]))
        same(f"{n} requests on {threads} threads: leaks", {f: found.pop(f, None) for f in want}, want)
        # Starting threads leaves tables of the loader behind, outside of every request.
        check(f"{n} requests on {threads} threads: nobody else", all(v[0] == "B" and v[3] is None for v in found.values()) and
              bool(found) <= bool(threads), found)
        by_grade = {g: (sum(v[1] for v in want.values() if v[0] == g), sum(v[2] for v in want.values() if v[0] == g)) for g in "AB"}
        same("grade A together", (answer["leaked"]["a"]["blocks"], answer["leaked"]["a"]["bytes"]), by_grade["A"])
        if not threads:
            same("grade B together", (answer["leaked"]["b"]["blocks"], answer["leaked"]["b"]["bytes"]), by_grade["B"])
    few_turns()
    as_documents()
    statuses()


def few_turns():
    """Five that grow and three after them are eight; with seven nothing is known to grow."""
    for n, grade in ((7, "B"), (8, "A")):
        recorded("--requests", str(n))
        same(f"{n} requests: grade of remember", leaks_of(heap("--leaks"))["remember"][0], grade)
        same(f"{n} requests: it is said how many it takes", "Grade A takes 8 or more" in run("report", "run.inferom", "--leaks").stdout.replace("\n", " "), n < 8)


def as_documents():
    recorded("--requests", "20")
    text = run("report", "run.inferom", "--leaks").stdout
    row = re.search(r"^A +20\.0 KiB +80 +17 +17 +1\.00 KiB  remember < serve < main$", text, re.M)
    check("the text has the leak, its turns and its place", row and "Turns: 20 requests." in text, text)
    rows = list(csv.DictReader(run("report", "run.inferom", "--leaks", "--format", "csv").stdout.splitlines()))
    same("CSV", [(r["grade"], r["function"], r["live_blocks"]) for r in rows][:2], [("A", "remember", "80"), ("A", "five_times", "5")])
    for form, pattern in (("md", r"\| A \| 20\.0 KiB \| 80 \| 17 \| 17 \| 1\.00 KiB \| `remember < serve < main` \|"),
                          ("html", r"<td[^>]*>A</td><td[^>]*>20\.0 KiB</td><td[^>]*>80</td>.*?remember")):
        page = run("report", "run.inferom", "--heap", "--format", form).stdout
        check(f"{form} has it", re.search(pattern, page), re.findall(r".*remember.*", page)[:2])


def statuses():
    """For machines that build."""
    told = run("report", "run.inferom", "--leaks", "--leak-grade", "a", "--fail-on-leaks")
    same("status with a leak that grows", told.returncode, 1)
    check("a sentence says so", "leak" in told.stderr, told.stderr)
    check("those of grade B are not among those that grow", "fill_cache" not in told.stdout and "remember" in told.stdout, told.stdout)
    with open("known", "w", encoding="ascii") as f:
        f.write("leak:remember\nleak:five_times\n")
    told = run("report", "run.inferom", "--leaks", "--leak-grade", "a", "--fail-on-leaks", "--suppressions", "known")
    same("status when the known ones are left out", told.returncode, 0)
    same("status when those live at the end count", run("report", "run.inferom", "--leaks", "--fail-on-leaks", "--suppressions", "known").returncode, 1)


# Rates.

def amounts(rows, key):
    return {r[key]: (r["times"], r["allocations"], r["alloc_bytes"]) for r in rows}


def truth_of(rows, key):
    return {r[key]: (r["times"], r["allocations"], r["bytes"]) for r in rows}


def check_rates(truth):
    answer = heap("--heap")
    same("requests", amounts(answer["requests"], "request"), truth_of(truth["requests"], "request"))
    same("phases", amounts(answer["phases"], "phase"), truth_of(truth["phases"], "phase"))
    same("tokens", answer["tokens"], truth["tokens"])
    n, each = len(truth["requests"]), [r["bytes"] for r in truth["requests"]]
    same("per request", (answer["allocated_bytes_per_turn"], answer["allocations_per_turn"], answer["least_bytes_per_turn"], answer["most_bytes_per_turn"]),
         (sum(each) / n, sum(r["allocations"] for r in truth["requests"]) / n, min(each), max(each)))
    same("per phase", {r["phase"]: (r["bytes_each"], r["allocations_each"]) for r in answer["phases"]},
         {r["phase"]: (r["bytes"] / r["times"], r["allocations"] / r["times"]) for r in truth["phases"]})
    same("per phase and token", {r["phase"]: (r["bytes_per_token"], r["allocations_per_token"]) for r in answer["phases"]},
         {r["phase"]: (r["bytes"] / truth["tokens"], r["allocations"] / truth["tokens"]) for r in truth["phases"]})
    same("per token", (answer["allocated_bytes_per_token"], answer["allocations_per_token"]),
         (answer["allocated_bytes"] / truth["tokens"], answer["allocations"] / truth["tokens"]))
    return answer


def rates():
    """What each request, each phase and each token allocated: counted, so that it is exact in sampled mode as well."""
    for mode in "--heap=exact", "--heap=sampled:4K", "--heap":
        for threads in "0", "3":
            print(mode, threads, "threads")
            answer = check_rates(recorded("--requests", "30", "--threads", threads, heap=mode))
            if mode == "--heap=exact":
                left = {r["request"]: r["live_bytes"] for r in answer["requests"]}
                want = {f"r-{i:03}": 1024 + 5120 * (i == 0) + 72 * (10 <= i < 15) + 40 * (8 <= i < 12) for i in range(30)}
                same("what each request left behind", left, want)
    rates_as_documents()
    parts()
    without_heap()


def parts():
    """Only a phase: by the scopes that allocations know, whenever the heap was read. By request only the counts are known."""
    truth = recorded("--requests", "20", "--threads", "2")
    for phase in truth["phases"]:
        part = heap("--heap", "--phase", phase["phase"])
        same(f"--phase {phase['phase']}", (part["allocations"], part["allocated_bytes"]), (phase["allocations"], phase["bytes"]))
    made = run("flame", "run.inferom", "--set", "heap", "--measure", "alloc_objects", "--by", "phase", "-o", "-").stdout
    towers = dict(re.findall(r"<title>(decode|prefill)\ntotal ([\d \u202f\u00a0]+) alloc_objects", made))
    same("--by phase", {k: int(re.sub(r"\D", "", v)) for k, v in towers.items()}, {p["phase"]: p["allocations"] for p in truth["phases"]})
    told = run("report", "run.inferom", "--heap", "--request", "r-003")
    check("--request is refused with a reason", told.returncode == 3 and "do not know their request" in told.stderr, told.stderr)
    told = run("report", "run.inferom", "--set", "heap", "--request", "r-003")
    check("nor are there zeros", told.returncode == 3 and "do not know their request" in told.stderr and not told.stdout, told.stdout + told.stderr)


def rates_as_documents():
    truth = recorded("--requests", "20")
    phases = {r["phase"]: r for r in truth["phases"]}
    same("a token takes three blocks of 64 bytes", phases["decode"]["allocations"], 3 * truth["tokens"])
    text = run("report", "run.inferom", "--heap").stdout
    check("text: per request", re.search(r"^Per request +9\.58 KiB in 33\.5 allocations, counted in each of 20: 9\.02 KiB to 14\.0 KiB$", text, re.M), text[:900])
    check("text: per token", f"over {truth['tokens']} tokens" in text, text[:900])
    check("text: decode", re.search(r" 390 +20 +1\.22 KiB +19\.5 +192 B +3  decode$", text, re.M), text[text.index("\nPhases"):][:600])
    page = run("report", "run.inferom", "--heap", "--format", "md").stdout
    check("markdown: decode", re.search(r"\| 390 \| 20 \| 1\.22 KiB \| 19\.5 \| 192 B \| 3 \| decode \|", page), re.findall(r".*decode.*", page)[:4])
    page = run("report", "run.inferom", "--heap", "--format", "html").stdout
    check("page: decode", re.search(r"id=\"heap-phases\".*<td[^>]*>390</td><td[^>]*>20</td><td[^>]*>1\.22 KiB</td>", page, re.S), "heap-phases" in page)
    asked = heap("--heap", "--tokens", "10")
    same("--tokens says otherwise", (asked["tokens"], asked["allocations_per_token"]), (10, asked["allocations"] / 10))


def without_heap():
    """Nobody counted: then nothing is said, and nothing is zero."""
    told = run("record", "-o", "run.inferom", "--", FX_TURNS)
    same("recorded without the heap", told.returncode, 0)
    shown = run("report", "run.inferom", "--heap")
    check("there is no heap to show, and that is said", shown.returncode != 0 and "heap" in shown.stderr, shown.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    globals()[CASE]()
    os.chdir("/")
finish()
