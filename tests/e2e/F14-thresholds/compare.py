import marshal
import os
import sys

sys.path.insert(0, os.environ["E2E"])
import read_dot  # noqa: E402


def theirs(name):
    """gprof2dot's spelling of a function: module:line:name."""
    at = name.rfind(" ")
    file, _, line = name[at + 1:].rpartition(":")
    if not file.endswith(".py"):
        return f"~:0:{name}"
    return f"{file[:-3]}:{line}:{name[:at]}"


def short(key):
    return f"{os.path.splitext(os.path.basename(key[0]))[0]}:{key[1]}:{key[2]}"


nodes, edges = read_dot.read(sys.argv[1])
mine = {("node", theirs(n), ""): (v[0], v[1], str(v[2])) for n, v in nodes.items()}
mine |= {("edge", theirs(a), theirs(b)): (v[0], "", str(v[1])) for (a, b), v in edges.items()}
rows = [row.rstrip("\n").split("\t") for row in open(sys.argv[2], encoding="utf-8") if not row.startswith("#")]
recorded = {tuple(r[:3]): tuple(r[3:]) for r in rows}
made = {("edge", short(c), short(f)): v[4][c][0] for f, v in marshal.load(open(sys.argv[3], "rb")).items() for c in v[4]}

assert set(mine) == set(recorded), set(mine) ^ set(recorded)
wrong = 0
for key, said in recorded.items():
    assert mine[key][:2] == said[:2], (key, mine[key], said)
    if key[0] == "edge":
        assert int(mine[key][2]) == made[key], (key, mine[key], made[key])
        wrong += mine[key][2] != said[2]
    else:
        assert mine[key][2] == said[2], (key, mine[key], said)
print(f"{len(nodes)} nodes and {len(edges)} edges agree; {wrong} recursive edges have other calls, as the file has them")
