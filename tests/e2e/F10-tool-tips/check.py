import json
import os
import re
import sys

sys.path.insert(0, os.environ["E2E"])
from flame_boxes import boxes  # noqa: E402

report, found = json.load(open(sys.argv[1])), {b.path: b for b in boxes(sys.argv[2])}
path, wrong = [], []


def value(text):
    """12 500 samples, or 1.5 ms: as a number of the report's unit."""
    number, unit = re.match(r"([\d.  ]*\d) (\w+)", text).groups()
    scale = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}.get(unit, 1)
    return float(number.replace(" ", "")) * scale


for node in report["tree"]:
    del path[node["depth"]:]
    path.append(node["function"])
    lines = found[tuple(path)].lines()
    total, own = lines[1].removeprefix("total "), lines[2].removeprefix("self ")
    percents = [float(re.search(r"([\d.]+) %", t).group(1)) for t in (total, own)]
    shares = [100 * node[key] / report["total"] for key in ("total", "self")]
    if [value(total), value(own)] != [node["total"], node["self"]] or any(abs(p - s) > 0.005 for p, s in zip(percents, shares)):
        wrong.append((node, lines))
print(f"{len(report['tree'])} nodes, {len(found) - 1} boxes, {len(wrong)} say something else")
