"""A launched program keeps its exit status, arguments, input and output, to the byte."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402



def run(*command, **how):
    return subprocess.run([INFEROM, "record", "-o", "run.inferom", "--", *command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **how)


def readable():
    try:
        return inferom("runs", "show", "--json", "run.inferom")["damage"] == []
    except subprocess.CalledProcessError as e:
        return str(e)


need_sampling()
for status in 0, 1, 7, 77, 255:
    got = run("sh", "-c", f"exit {status}").returncode
    check(f"exit status {status}", got == status, got)
for sig in signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM:
    got = run("sh", "-c", f"kill -{int(sig)} $$").returncode
    check(f"{sig.name} is 128 + {int(sig)}", got == 128 + sig, got)
    check("what was recorded until then is saved", readable() is True, readable())

bytes_in = bytes(range(256)) * 300
p = run("cat", input=bytes_in)
check("input and output are the program's, byte by byte", p.stdout == bytes_in, f"{len(p.stdout)} bytes")
p = run("sh", "-c", "echo to stderr >&2")
check("what it says on standard error comes first", p.stderr.startswith(b"to stderr\n"), p.stderr[:20])
p = run("printf", "%s|", "--rate", "a b", "", "-o")
check("arguments are passed on as they are", p.stdout == b"--rate|a b||-o|", p.stdout)
p = run("sh", "-c", "ls -l /proc/self/fd | wc -l")
bare = subprocess.run(["sh", "-c", "ls -l /proc/self/fd | wc -l"], stdout=subprocess.PIPE)
check("no descriptor of ours is open in it", p.stdout == bare.stdout, (p.stdout, bare.stdout))
p = run("grep", "Sig[BIC]", "/proc/self/status")
bare = subprocess.run(["grep", "Sig[BIC]", "/proc/self/status"], stdout=subprocess.PIPE)
check("its signals are as without us", p.stdout == bare.stdout, p.stdout)

p = run("no-such-program")
check("a program that is not there", p.returncode == 3 and b"no-such-program" in p.stderr, p.stderr)
p = run("/")
check("a program that is none", p.returncode == 4 and p.stdout == b"", p.stderr)
done()
