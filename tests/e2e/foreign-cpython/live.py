"""CPython, as the distribution ships it: stacks are whole, functions plausible, the script none the wiser."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from recording import *  # noqa: E402

PYTHON = "/usr/bin/python3"
EVALUATION = ("_PyEval_EvalFrameDefault", "PyEval_EvalCode", "Py_RunMain")
LEAST_SHARE, LEAST_SAMPLES = 0.995, 100

need_sampling()
if not os.path.exists(PYTHON):
    print(f"skipped: no {PYTHON}")
    sys.exit(SKIP)
command = [PYTHON, os.path.join(HERE, "work.py")]
want = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
r = Recording(command)
check("it said what it says without us", r.output.strip() == want.strip() and r.status == 0, r.output)
check(f"more than {LEAST_SAMPLES} samples, none lost", r.summary["samples"] > LEAST_SAMPLES and not r.summary["lost"], r.summary["samples"])
check("stacks reach a thread's start", r.summary["complete_share"] >= LEAST_SHARE, r.summary["complete_share"])
shares = totals(r.report()["functions"])
inside = max(shares.get(name, 0) for name in EVALUATION)
check("most of the time is inside the interpreter", inside > 0.7, f"{inside:.3f}")
for f in r.report()["functions"][:10]:
    print(f"     {100 * f['self_share']:5.1f} %  {f['function']}  {f['module']}")
done()
