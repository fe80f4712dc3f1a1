"""check_calls.py STATS MARKDOWN: every function's calls are those that pstats has, most called first."""
import pstats
import re
import sys

truth = {}
for (_, _, name), (_, calls, _, _, _) in pstats.Stats(sys.argv[1]).stats.items():
    truth[name] = truth.get(name, 0) + calls
text = open(sys.argv[2], encoding="utf-8").read()
section = text.partition("## Most Called Methods")[2].partition("\n## ")[0]
rows = re.findall(r"^\| \d+ \| `(.+?)` \| (\d+) \| ([\d.]+) \| ([\d.]+) \|$", section, re.M)
got = {}
for name, calls, _, _ in rows:
    got[name] = got.get(name, 0) + int(calls)
counts = [int(calls) for _, calls, _, _ in rows]
assert counts == sorted(counts, reverse=True), counts
assert got == truth, (got, truth)
for _, calls, total_ms, average_us in rows:
    assert abs(float(total_ms) * 1000 / int(calls) - float(average_us)) <= 0.001 + 0.5 / int(calls), (calls, total_ms, average_us)
print("leaf", got["leaf"], "middle", got["middle"], "fib", got["fib"], "as Python counts them")
