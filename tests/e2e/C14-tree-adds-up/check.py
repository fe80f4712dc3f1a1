import json
import sys

report = json.load(open(sys.argv[1]))
nodes = report["tree"]
path, below = [], {}
for i, node in enumerate(nodes):
    del path[node["depth"]:]
    if path:
        below[path[-1]] = below.get(path[-1], 0) + node["total"]
    path.append(i)
wrong = [n["function"] for i, n in enumerate(nodes) if n["total"] != n["self"] + below.get(i, 0) + n["not_shown"]]
roots = sum(n["total"] for n in nodes if n["depth"] == 0)
print(f"{len(nodes)} nodes, {len(wrong)} do not add up; the roots make {roots} of {report['total']}")
