"""RSS, its parts, swap and PSS are what /proc says at the same time, within a page; so are the mappings together."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from memory import *  # noqa: E402

need_sampling()
static = os.path.join(FIXTURES, "fx-stairs-static")
program = static if os.path.exists(static) else fixture("fx-stairs") # shares no page: nobody else changes its PSS
target = subprocess.Popen([program, "--steps", "3", "--mib", "24", "--hold", "3"], stdout=subprocess.PIPE, text=True)

def kib(file, key):
    with open(f"/proc/{target.pid}/{file}") as f:
        return next((int(line.split()[1]) for line in f if line.startswith(key)), 0)


while kib("status", "RssAnon:") < 24 * 1024 and target.poll() is None:
    pass # it climbs the first step
has_pss = os.path.exists(f"/proc/{target.pid}/smaps_rollup")


def record(path, *options):
    """What the kernel says meanwhile, again and again: the recorder opens the program for its names, and then shares its pages."""
    p = subprocess.Popen([INFEROM, "record", "--json", "--pid", str(target.pid), "-o", path, *options],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = set()
    while p.poll() is None and has_pss and "--pss" in options:
        seen.add(kib("smaps_rollup", "Pss:") * 1024)
    said = p.communicate()[1]
    check("it could be attached to", p.returncode == 0, said)
    return seen


pss_meanwhile = record("pss.inferom", "--pss", "--duration", "1s")
record("run.inferom")
truth = json.loads(target.communicate()[0])
contents = inferom("runs", "show", "--json", "pss.inferom")
memory = process_memory("run.inferom")
seen = process_of(memory, truth["pid"])
facts = {f["key"]: f["value"] for f in inferom("runs", "show", "--json", "run.inferom")["facts"]}
compared = 0
for i, step in enumerate(truth["steps"]):
    for kind in KINDS:
        values = during(seen[kind], step)
        compared += len(values)
        check(f"step {i + 1}: {kind}", all(abs(v - step[kind]) <= PAGE for v in values), (step[kind], values[:3], len(values)))
check("there was something to compare", compared > 50, compared)

last = next(s for s in reversed(truth["steps"]) if during(seen["rss"], s))
check("the peak is the kernel's", abs(int(facts["memory.peak_bytes"]) - last["peak"]) <= PAGE, (facts["memory.peak_bytes"], last["peak"]))
pss = [x for x in contents["series"] if x["name"] == "memory.pss"]
if has_pss:
    check("PSS was read twice, and not in between", len(pss) == 1 and pss[0]["readings"] == 2, pss)
if has_pss and program == static:
    check("PSS", any(abs(pss[0]["last"] - value) <= PAGE for value in pss_meanwhile), (pss[0]["last"], sorted(pss_meanwhile)))

if "memory.residency" not in facts:
    print("not compared: mappings cannot be seen here,", facts.get("memory.not_seen"))
    done()
of = lambda *kinds: sum(m["resident_bytes"] or 0 for m in memory["mappings"] if m["kind"] in kinds)
# The page of zeros and pages of the kernel's own are counted by one and not by the other.
near("files resident, mapping by mapping, in pages", of("file", "weights") / PAGE, last["file"] / PAGE, 8)
near("anonymous memory, region by region, in pages", of("anon", "brk", "stack") / PAGE, last["anon"] / PAGE, 8)
near("shared memory, in pages", of("shared") / PAGE, last["shared"] / PAGE, 8)
done()
