import json

self_of = {f["function"]: f["self"] for f in json.load(open("top.json"))["functions"]}
nodes = json.load(open("inverted.json"))["inverted"]
for i, node in enumerate(nodes):
    if node["depth"] != 0:
        continue
    callers = 0
    for n in nodes[i + 1:]:
        if n["depth"] == 0:
            break
        callers += n["total"] if n["depth"] == 1 else 0
    same = node["total"] == self_of[node["function"]] == callers + node["self"]
    print(node["function"], node["total"], "equal" if same else f"callers {callers}, self {self_of[node['function']]}")
