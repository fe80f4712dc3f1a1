"""The summary at the end of a session: ten functions, the numbers of the file."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

need_sampling()
p = subprocess.run([INFEROM, "record", "-o", "run.inferom", "--", fixture("fx-burn-nofp"), "--seconds", "1"], stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE, text=True)
shown = subprocess.run([INFEROM, "report", "--top", "10", "run.inferom"], check=True, stdout=subprocess.PIPE, text=True).stdout
table = shown.partition("Functions by self\n")[2].strip().splitlines()
check("a table of ten at most", 3 <= len(table) <= 12, len(table))
summary = p.stderr.splitlines()
begin = next((i for i, line in enumerate(summary) if line.split()[:3] == ["Self", "Total", "Function"]), None)
check("the summary has a table", begin is not None, p.stderr)


def row(line):
    """The numbers, and the beginning of the name: into a log the summary is no wider than 120 columns, and names give way."""
    words = line.split()
    return words[:8] + [w[:12] for w in words[8:9]]


for shown, said in zip(table, summary[begin:]):
    check("the same row", row(shown) == row(said), (row(shown), row(said)))
check("no line of it is wider", max(map(len, summary[begin:begin + len(table)])) <= 120, summary[begin:])
r = inferom("report", "--json", "--top", "10", "run.inferom")
check("burn_a and burn_w are among the first two", {f["function"] for f in r["functions"][:2]} == {"burn_a", "burn_w"}, [f["function"] for f in r["functions"][:2]])
done()
