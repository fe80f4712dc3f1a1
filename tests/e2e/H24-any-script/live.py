"""Any script can be wrapped: arguments, output, exceptions and exit code are its own, and a profile is always written."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

SCRIPT = """
import sys
total = sum(i * i for i in range(2000000))
print(sys.argv[1:], total)
if "raise" in sys.argv:
    raise KeyError("on purpose")
sys.exit(int(sys.argv[1]))
"""
need_sampling()
with open("script.py", "w") as f:
    f.write(SCRIPT)
for args in ["0"], ["3", "--rate", "a b"], ["4", "raise"]:
    command = [sys.executable, "script.py", *args]
    bare = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    r = Recording(command)
    check(f"{args}: exit status", r.status == bare.returncode, r.status)
    check(f"{args}: output", r.output + "\n" == bare.stdout, r.output)
    check(f"{args}: the traceback", bare.stderr in r.stderr, r.stderr[-100:])
    check(f"{args}: samples", r.summary["samples"] > 10, r.summary["samples"])
done()
