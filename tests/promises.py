#!/usr/bin/env python3
"""Which promises hold, as far as the last test run knows.

    promises.py [--table FILE] [TESTLOG ...]

tests/promises.tsv lists the promises. An end-to-end case is a folder named after
the one it proves (C18-sort-and-top); a promise holds when at least one such case
ran and all of them passed, in every build folder that ran them. A skipped case
proves nothing. Without TESTLOG: build*/meson-logs/testlog.json of this tree.

Ends with 1 when a promise fails, or when a case names a promise that is not in
the list.
"""
import argparse
import csv
import glob
import json
import os
import re
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GOOD = ("OK", "EXPECTEDFAIL")


def read_table(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f, delimiter="\t"))


def read_results(logs):
    """Promise id -> [(case, result)], from "project:suite / C18-sort-and-top" lines of the logs."""
    results = {}
    for path in logs:
        with open(path, encoding="utf-8") as f:
            for test in map(json.loads, f):
                suite, _, name = test["name"].rpartition(" / ")
                match = re.match(r"([A-Z]\d+)-", name)
                if match and suite.endswith("e2e") and test["result"] != "SKIP":
                    results.setdefault(match[1], []).append((name, test["result"]))
    return results


def verdict(results):
    if not results:
        return "no proof"
    return "holds" if all(result in GOOD for _, result in results) else "fails"


def print_area(area, rows, results):
    by = {v: [r for r in rows if verdict(results.get(r["id"])) == v] for v in ("holds", "fails", "no proof")}
    print(f"{area}: {len(by['holds'])} of {len(rows)} hold" + (f", {len(by['fails'])} fail" if by["fails"] else ""))
    for word in "holds", "fails":
        for row in by[word]:
            print(f"  {word:6} {row['id']:4} {row['promise']}")
            for name, result in sorted(set(results[row["id"]])):
                if result not in GOOD:
                    print(f"              {name}: {result.lower()}")
    if by["no proof"]:
        print(f"  no proof yet: {' '.join(row['id'] for row in by['no proof'])}")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--table", default=os.path.join(HERE, "promises.tsv"))
    options.add_argument("logs", nargs="*", metavar="TESTLOG")
    given = options.parse_args()
    logs = given.logs or sorted(glob.glob(os.path.join(HERE, "..", "build*", "meson-logs", "testlog.json")))
    table, results = read_table(given.table), read_results(logs)
    if not logs:
        print("no test has run yet: make test")

    for area in dict.fromkeys(row["area"] for row in table):
        print_area(area, [row for row in table if row["area"] == area], results)
    strangers = sorted(set(results) - {row["id"] for row in table})
    for name in strangers:
        print(f"no promise {name}, but a case is named after it: {results[name][0][0]}")
    words = [verdict(results.get(row["id"])) for row in table]
    print(f"{words.count('holds')} promises hold, {words.count('fails')} fail, "
          f"{words.count('no proof')} have no proof yet")
    sys.exit(1 if strangers or "fails" in words else 0)


signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # | head
main()
