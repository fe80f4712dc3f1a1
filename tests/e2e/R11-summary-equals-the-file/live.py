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
summary = [line.strip() for line in p.stderr.splitlines()]
for line in table[:4]:
    check("the summary has the same line", line.strip() in summary, line.strip())
check("all lines", [line.strip() for line in table] == summary[summary.index(table[0].strip()):][:len(table)], len(table))
r = inferom("report", "--json", "--top", "10", "run.inferom")
check("burn_a and burn_w are among the first two", {f["function"] for f in r["functions"][:2]} == {"burn_a", "burn_w"}, [f["function"] for f in r["functions"][:2]])
done()
