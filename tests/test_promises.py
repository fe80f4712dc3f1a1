#!/usr/bin/env python3
"""promises.py over small made-up tables and logs."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

TABLE = "id\tpromise\tarea\nC1\tIt samples.\tCPU\nC2\tIt counts.\tCPU\nC11\tIt follows.\tCPU\nM1\tIt tracks.\tMemory\n"

#    what                        tests of each log: (suite, name, result)                      lines that must be there        status
ROWS = [
    ("nothing ran",              [[]],                                                         ["CPU: 0 of 3 hold", "  no proof yet: C1 C2 C11",
                                                                                                "0 promises hold, 0 fail, 4 have no proof yet"], 0),
    ("one passed",               [[("e2e", "C1-samples", "OK")]],                              ["CPU: 1 of 3 hold", "  holds  C1   It samples.",
                                                                                                "  no proof yet: C2 C11"], 0),
    ("C11 is not C1",            [[("e2e", "C11-follows", "OK")]],                             ["  no proof yet: C1 C2"], 0),
    ("one of two failed",        [[("e2e", "C1-a", "OK"), ("e2e", "C1-b", "FAIL")]],           ["CPU: 0 of 3 hold, 1 fail", "  fails  C1   It samples.",
                                                                                                "              C1-b: fail"], 1),
    ("failed in one build",      [[("e2e", "C1-a", "OK")], [("e2e", "C1-a", "TIMEOUT")]],      ["CPU: 0 of 3 hold, 1 fail"], 1),
    ("skipped proves nothing",   [[("e2e", "M1-a", "SKIP")]],                                  ["Memory: 0 of 1 hold", "  no proof yet: M1"], 0),
    ("a unit test is no proof",  [[("unit", "M1-a", "OK")]],                                   ["Memory: 0 of 1 hold"], 0),
    ("a name without a promise", [[("e2e", "convert-suffix", "OK")]],                          ["0 promises hold, 0 fail, 4 have no proof yet"], 0),
    ("a promise nobody made",    [[("e2e", "Q7-x", "OK")]],                                    ["no promise Q7, but a case is named after it: Q7-x"], 1),
]


def run(folder, logs):
    table = os.path.join(folder, "table.tsv")
    with open(table, "w") as f:
        f.write(TABLE)
    paths = []
    for i, tests in enumerate(logs):
        paths.append(os.path.join(folder, f"log{i}.json"))
        with open(paths[-1], "w") as f:
            for suite, name, result in tests:
                f.write(json.dumps({"name": f"inferometer:{suite} / {name}", "result": result}) + "\n")
    return subprocess.run([sys.executable, os.path.join(HERE, "promises.py"), "--table", table, *paths], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def check_real_table():
    """Every row is whole, and no id is used twice."""
    with open(os.path.join(HERE, "promises.tsv"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    ids = [row[0] for row in rows]
    assert rows[0] == ["id", "promise", "area"]
    assert all(len(row) == 3 and all(row) for row in rows)
    assert len(ids) == len(set(ids))


def main():
    failed = 0
    for what, logs, lines, status in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            done = run(folder, logs)
        lacking = [line for line in lines if line not in done.stdout.splitlines()]
        if lacking or done.returncode != status:
            failed += 1
            print(f"{what}: status {done.returncode}, want {status}; lacking {lacking} in\n{done.stdout}")
    check_real_table()
    sys.exit(1 if failed else 0)


main()
