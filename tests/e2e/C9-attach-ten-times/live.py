"""Ten times attached to and left again, a program ends as if nobody had been there."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402



def threads(pid):
    """{tid: (state, tracer)}"""
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/status") as f:
            fields = dict(line.split(":", 1) for line in f)
        found[int(tid)] = fields["State"].split()[0], int(fields["TracerPid"])
    return found


need_sampling()
target = subprocess.Popen([fixture("fx-burn-nofp"), "--seconds", "6"], stdout=subprocess.PIPE, text=True)
with open(f"/proc/{target.pid}/comm") as f:
    f.read()
descriptors = len(os.listdir(f"/proc/{target.pid}/fd"))
attached = 0
for n in range(10):
    p = subprocess.run([INFEROM, "record", "--json", "--pid", str(target.pid), "--duration", "200ms", "-o", f"{n}.inferom"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode != 0:
        check(f"attached for the {n + 1}th time", False, p.stderr)
        break
    said = json.loads(p.stdout)
    attached += said["samples"] > 0
    alive = threads(target.pid)
    if any(state in "tT" or tracer for state, tracer in alive.values()):
        check("no thread is stopped or traced", False, alive)
check("each time there were samples", attached == 10, attached)
names = {f["function"] for f in inferom("report", "--json", "9.inferom")["functions"]}
check("functions of both threads are there", {"burn_a", "burn_w"} <= names, sorted(names)[:8])
check("no descriptor was added to it", len(os.listdir(f"/proc/{target.pid}/fd")) == descriptors, descriptors)
out, _ = target.communicate()
check("it ended normally", target.returncode == 0, target.returncode)
shares = [f["cpu_ns"] for f in json.loads(out)["threads"][0]["functions"]]
near("and did its work: share of burn_a", shares[0] / sum(shares), 0.6, 0.01)
done()
