"""An interactive program may end by its own word, by Ctrl-C or by a crash: the profile is there each time."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

import time  # noqa: E402

BUSY = "import signal, sys\n{setup}\nprint('ready', flush=True)\nfor line in sys.stdin:\n    x = sum(range(3000000))\n    {each}\n"
DEAF = BUSY.format(setup="signal.signal(signal.SIGINT, signal.SIG_IGN)", each="pass")


def begin(script):
    p = subprocess.Popen([INFEROM, "record", "-o", "run.inferom", "--", sys.executable, "-c", script], text=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    p.stdout.readline()
    p.stdin.write("go\n")
    p.stdin.flush()
    return p


def wait_for_file():
    """The recording is over when the file is closed; the program may still run."""
    for _ in range(600):
        time.sleep(0.1)
        shown = subprocess.run([INFEROM, "report", "--json", "run.inferom"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if shown.returncode == 0:
            return True
    return False


def saved(what):
    shown = subprocess.run([INFEROM, "report", "--json", "run.inferom"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ok = shown.returncode == 0 and json.loads(shown.stdout)["samples"] > 0
    check(f"{what}: the profile is whole and has samples", ok, shown.stderr or "yes")


need_sampling()
p = begin(BUSY.format(setup="", each="if line == 'q\\n': sys.exit(5)"))
p.stdin.write("q\n")
p.stdin.close()
check("quit by its own word: status", p.wait() == 5, p.returncode)
saved("quit")

p = begin(BUSY.format(setup="", each="pass"))
time.sleep(0.5)
stop_group(p)
check("Ctrl-C that ends the program: status", p.wait() in (130, 1), p.returncode)
saved("Ctrl-C")

p = begin(BUSY.format(setup="", each="import os; os.abort()"))
check("crash: status", p.wait() == 128 + signal.SIGABRT, p.returncode)
saved("crash")

p = begin(DEAF)
time.sleep(0.5)
stop_group(p)
check("Ctrl-C of a program that does not care: the recording is saved", wait_for_file(), "yes")
check("and the program goes on", p.poll() is None, p.poll())
p.send_signal(signal.SIGINT)
check("the second one ends it", p.wait(timeout=30) == 128 + signal.SIGTERM, p.returncode)
done()
