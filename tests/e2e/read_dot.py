"""A call graph as our DOT has it: what nodes and edges say, by name.

Only what graph_dot.c writes is understood; `dot -Tcanon` is the judge of the syntax.
"""
import re

NODE = re.compile(r'    n(\d+) \[label="((?:[^"\\]|\\.)*)"')
EDGE = re.compile(r'    n(\d+) -> n(\d+) \[label="((?:[^"\\]|\\.)*)"')


def plain(text):
    return text.replace("&amp;", "&").replace('\\"', '"').replace("\\\\", "\\")


def lines(label):
    """The lines of a label, whichever way they are aligned."""
    return [plain(line).strip() for line in re.split(r"(?<!\\)(?:\\\\)*\\[nlr]", label) if line]


def calls(words):
    """1 234× is 1234; None where nobody counted."""
    counts = [w for w in words if w.endswith("×")]
    return int(counts[0][:-1].replace(" ", "")) if counts else None


def read(path):
    """({name: (total, self, calls)}, {(caller, callee): (share, calls)}); a name is "fib work.py:3", shares are texts."""
    nodes, edges, names = {}, {}, {}
    with open(path, encoding="utf-8") as f:
        for row in f:
            if match := EDGE.match(row):
                said = lines(match[3])
                share = [w[:-2] for w in said if w.endswith(" %")]
                edges[names[match[1]], names[match[2]]] = (share[0] if share else None, calls(said))
            elif match := NODE.match(row):
                said = lines(match[2])
                at = next(i for i, w in enumerate(said) if re.fullmatch(r"\S+ %   self \S+ %", w))
                names[match[1]] = " ".join(said[:at])
                total, own = re.findall(r"(\S+) %", said[at])
                nodes[names[match[1]]] = (total, own, calls(said))
    return nodes, edges
