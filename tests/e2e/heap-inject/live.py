"""The heap agent in a process that ran already: what it sees is true, and the process does not notice.

fx-serve checks its waits, its sums, errno and its rounding itself: it ends with 0 only if none of them was disturbed.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

need_sampling()
if os.uname().machine != "x86_64":
    print("skipped: only on x86-64")
    sys.exit(SKIP)


def serve(*options):
    p = subprocess.Popen([fixture("fx-serve"), *options], stdout=subprocess.PIPE, text=True)
    while p.poll() is None and len(os.listdir(f"/proc/{p.pid}/task")) < 2:
        pass
    return p


def record(pid, *options, path="run.inferom", prefix=()):
    return subprocess.run([*prefix, INFEROM, "record", "--heap=exact", "--inject", "--pid", str(pid), "-o", path, *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def as_it_was(what, p):
    said = p.communicate()[0]
    check(f"{what}: the process ended well, with everything right", p.returncode == 0 and json.loads(said)["wrong"] == 0, (p.returncode, said))


def states(pid):
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/status") as f:
                fields = dict(line.split(":", 1) for line in f)
            found[tid] = fields["State"].split()[0], fields["TracerPid"].strip()
        except (FileNotFoundError, ProcessLookupError):
            pass # it has ended meanwhile
    return found


# What it sees.
target = serve("--seconds", "6", "--threads", "3", "--keep-every", "4")
r = record(target.pid, "--duration", "1500ms")
if r.returncode == 4:
    print("skipped: no process may be traced here:", r.stderr.strip())
    target.communicate()
    sys.exit(SKIP)
check("it was put into a process that runs", r.returncode == 0, r.stderr[-600:])
alive = states(target.pid)
check("nobody is stopped or traced", not any(state in "tT" or tracer != "0" for state, tracer in alive.values()), alive)
facts = {f["key"]: f["value"] for f in inferom("runs", "show", "--json", "run.inferom")["facts"]}
rows = {}
for measure in "alloc_objects", "alloc_space", "inuse_objects", "inuse_space":
    for f in inferom("report", "--json", "--top", "0", "--set", "heap", "--measure", measure, "run.inferom")["functions"]:
        rows.setdefault(f["function"], {})[measure] = f["total"]
keep, churn = rows.get("keep", {}), rows.get("churn", {})
check("keep() is seen, and keeps all of it", keep.get("inuse_objects", 0) > 0 and keep["inuse_objects"] == keep["alloc_objects"], keep)
check("4096 bytes each", keep.get("inuse_space") == 4096 * keep.get("inuse_objects", -1), keep)
check("churn() is seen", churn.get("alloc_objects", 0) > 100, churn)
check("nothing else allocates", int(facts["heap.allocations"]) == keep.get("alloc_objects", 0) + churn.get("alloc_objects", 0), (facts["heap.allocations"], keep, churn))
check("what came before is said to be unknown", "before the agent came" in facts.get("heap.note", ""), facts.get("heap.note"))
r = record(target.pid, "--duration", "200ms", path="again.inferom")
check("a second time is refused", r.returncode == 5 and "once in its life" in r.stderr and not os.path.exists("again.inferom"), r.stderr)
as_it_was("recorded, and once more", target)

# A library that comes later.
target = serve("--seconds", "5", "--plug-after", "1.5")
r = record(target.pid, "--duration", "4s")
rows = {m: {f["function"]: f["total"] for f in inferom("report", "--json", "--top", "0", "--set", "heap", "--measure", m, "run.inferom")["functions"]}
        for m in ("alloc_objects", "inuse_space")}
seen = rows["alloc_objects"].get("plug_keep", 0)
check("a library that was loaded afterwards is seen", seen > 0 and rows["inuse_space"]["plug_keep"] == 512 * seen, (seen, r.stderr[-300:]))
as_it_was("with a library that came later", target)

# Who is not to be disturbed.
target = serve("--seconds", "2")
os.kill(target.pid, signal.SIGSTOP)
r = record(target.pid, "--duration", "200ms")
check("one that is stopped stays so", r.returncode == 5 and "stopped" in r.stderr, r.stderr)
os.kill(target.pid, signal.SIGCONT)
as_it_was("stopped", target)
ended = subprocess.Popen(["true"])
while open(f"/proc/{ended.pid}/stat").read().rpartition(")")[2].split()[0] != "Z":
    time.sleep(0.01)
r = record(ended.pid, "--duration", "200ms")
check("one that has ended", r.returncode == 3, r.stderr)
ended.wait()
if os.path.exists(os.path.join(FIXTURES, "fx-stairs-static")):
    target = subprocess.Popen([os.path.join(FIXTURES, "fx-stairs-static"), "--hold", "0.5"], stdout=subprocess.DEVNULL)
    r = record(target.pid, "--duration", "200ms")
    check("a static one is left alone", r.returncode == 5 and "static" in r.stderr, r.stderr)
    check("and ends well", target.wait() == 0, target.returncode)
for words in ["--pid", "1", "--inject"], ["--inject", "--heap", "--", "true"]:
    r = subprocess.run([INFEROM, "record", "-o", "x.inferom", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(f"{' '.join(words)}: said", r.returncode == 2 and "--inject" in r.stderr, r.stderr)

# We are ended in the middle.
for sig in [signal.SIGINT, signal.SIGKILL] * 3:
    target = serve("--seconds", "1", "--busy", "1" if sig == signal.SIGKILL else "0")
    p = subprocess.Popen([INFEROM, "record", "--heap=exact", "--inject", "--pid", str(target.pid), "--duration", "100ms", "-o", "x.inferom"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while p.poll() is None and target.poll() is None:
        if any(tracer != "0" for _, tracer in states(target.pid).values()):
            p.send_signal(sig)
            break
    p.wait()
    as_it_was(f"the recorder got {sig.name}", target)
done()
