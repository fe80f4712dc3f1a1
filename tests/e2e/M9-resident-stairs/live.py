"""Memory that grows in steps is recorded as those steps: in the total, and in the kind that grew."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from memory import *  # noqa: E402

need_sampling()
r = Recording([fixture("fx-stairs"), "--steps", 5, "--mib", 8, "--hold", 1])
steps, size = r.truth["steps"], r.truth["step_bytes"]
seen = process_of(process_memory(r.path), r.truth["pid"])
for i, step in enumerate(steps):
    values = during(seen["rss"], step)
    check(f"step {i + 1}: there are readings", len(values) > 0, len(values))
    check(f"step {i + 1}: all of them as the kernel said", all(abs(v - step["rss"]) <= PAGE for v in values), (step["rss"], values[:3]))
for before, step in zip(steps, steps[1:]):
    grown = during(seen[step["kind"]], step)[0] - during(seen[step["kind"]], before)[0]
    check(f"{step['kind']} memory grew by a step", abs(grown - size) <= 16 * PAGE, grown)
    for other in {"anon", "file", "shared"} - {step["kind"]}:
        more = during(seen[other], step)[0] - during(seen[other], before)[0]
        check(f"  and {other} did not", abs(more) <= 16 * PAGE, more)
rate = (len(seen["rss"]) - 1) / ((seen["rss"][-1][0] - seen["rss"][0][0]) / 1e9)
check("about ten times a second", 3 < rate < 11, f"{rate:.2f}")
text = subprocess.run([INFEROM, "report", "--memory", r.path], check=True, stdout=subprocess.PIPE, text=True).stdout
check("for eyes, too", "Memory of processes" in text and "fx-stairs" in text, text[-400:])
Recording(["sleep", "1"], path="idle.inferom")
idle = process_memory("idle.inferom")["processes"]
check("a program that only sleeps has memory, too", len(idle) == 1 and idle[0]["rss"][-1][1] > 0, idle)
done()
