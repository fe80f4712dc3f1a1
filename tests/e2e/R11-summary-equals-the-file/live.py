"""The summary at the end of a session: ten functions, the numbers of the file."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

need_sampling()
p = subprocess.run([INFEROM, "record", "-o", "run.inferom", "--", fixture("fx-burn-nofp"), "--seconds", "1"], stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE, text=True)
shown = subprocess.run([INFEROM, "report", "--top", "10", "run.inferom"], check=True, stdout=subprocess.PIPE, text=True).stdout


def numbers_and_name(text):
    """Of each line self, total, their shares and the function; where it is may be cut where the window ends."""
    return [" ".join(line.split()[:9]) for line in text.splitlines()]


table = numbers_and_name(shown.partition("Functions by self\n")[2].strip())
summary = numbers_and_name(p.stderr)
check("a table of ten at most", 3 <= len(table) <= 12, len(table))
check("the head is in both", table[0] in summary, table[0])
check("all lines are the same", table == summary[summary.index(table[0]):][:len(table)], table[1:4])
r = inferom("report", "--json", "--top", "10", "run.inferom")
check("burn_a and burn_w are among the first two", {f["function"] for f in r["functions"][:2]} == {"burn_a", "burn_w"}, [f["function"] for f in r["functions"][:2]])
done()
