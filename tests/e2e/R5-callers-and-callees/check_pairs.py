"""check_pairs.py STATS MARKDOWN: every pair of caller and callee, both ways, with the calls that pstats has."""
import pstats
import re
import sys

pairs = {}
for (_, _, callee), (_, _, _, _, callers) in pstats.Stats(sys.argv[1]).stats.items():
    for (_, _, caller), (calls, *_) in callers.items():
        pairs[caller, callee] = pairs.get((caller, callee), 0) + calls
text = open(sys.argv[2], encoding="utf-8").read().partition("## Call Hierarchy")[2].partition("\n## ")[0]
called_by, calls = {}, {}
for part in text.split("\n### ")[1:]:
    name = part.partition("\n")[0].strip("`")
    up, _, down = part.partition("**Calls:**")
    for other, n in re.findall(r"^- `(.+?)` \((\d+) times?\)$", up, re.M):
        called_by[other, name] = int(n)
    for other, n in re.findall(r"^- `(.+?)` \((\d+) times?\)$", down, re.M):
        calls[name, other] = int(n)
assert called_by == pairs, (called_by, pairs)
assert calls == pairs, (calls, pairs)
assert pairs["middle", "leaf"] == 1000
print("every pair, both ways; fib calls itself", pairs["fib", "fib"], "times, main calls it", pairs["main", "fib"])
