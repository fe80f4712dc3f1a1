"""A small transformer runs end to end: its size is computed, its text is fixed, and its time is in its layers."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

CHECKSUMS = {"small": "3be086a0ad5433ac", "medium": "64ab66311e3b1025"}
PARAMETERS = {"small": 470528, "medium": 3454464}


def model(*options, status=0):
    done = subprocess.run([INFEROM, "lab", "model", *options, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(f"{' '.join(options)}: exit status", done.returncode == status, f"{done.returncode} {done.stderr.strip()}")
    return json.loads(done.stdout) if done.stdout else None


def by_name(answer):
    return {s["scope"]: s for s in answer["scopes"]}


for name, parameters in PARAMETERS.items():
    runs = [model(name, "--tokens", "40", "--threads", str(n)) for n in (1, 2, 4)]
    check(f"{name}: parameters", runs[0]["model"]["parameters"] == parameters, runs[0]["model"]["parameters"])
    check(f"{name}: text and logits on 1, 2 and 4 threads", len({(r["text"], r["checksum"], r["logits_checksum"]) for r in runs}) == 1,
          [r["checksum"] for r in runs])
    check(f"{name}: checksum", runs[0]["checksum"] == CHECKSUMS[name], runs[0]["checksum"])
    one, layers = runs[0], runs[0]["model"]["layers"]
    passes = one["decode"]["tokens"] + 1
    scopes = by_name(one)
    check(f"{name}: a scope for every layer, entered in every pass", all(scopes[f"layer {i}"]["calls"] == passes for i in range(layers)),
          [scopes.get(f"layer {i}", {}).get("calls") for i in range(layers)])
    check(f"{name}: steps of all layers", scopes["attention"]["calls"] == passes * layers, scopes["attention"]["calls"])
    check(f"{name}: tokens", (one["tokens"], one["decode"]["tokens"]) == (40, 39), one["tokens"])
    for phase in "prefill", "decode":
        p = one[phase]
        near(f"{name}: {phase} tokens/s by its own tokens and time", p["tokens_per_s"] * p["wall_ns"] / 1e9 / p["tokens"], 1, 1e-6)
    check(f"{name}: tokens/s is there", one["decode"]["tokens_per_cpu_s"] > 0, one["decode"]["tokens_per_cpu_s"])

# Scopes are timed on the wall: a moment in which somebody else has the processor falls where it falls.
covered = max(model("medium", "--tokens", "100")["covered_share"] for _ in range(5))
check("the steps cover the passes", covered >= 0.95, covered)
check("another seed, another text", model("small", "--seed", "2")["text"] != model("small", "--seed", "3")["text"], "")
warm = [model("small", "--temperature", "0.9", "--seed", "5", "--tokens", "30")["text"] for _ in range(2)]
check("the same seed, the same throws", warm[0] == warm[1], warm[0])
check("the context is the end", model("small", "--tokens", "1000")["context_full"] is True, "")

md = subprocess.run([INFEROM, "lab", "model", "small", "--md"], stdout=subprocess.PIPE, text=True).stdout
check("for documents", "| parameters | 470 528 |" in md and "| decode | 47 |" in md and "| `layer 1` |" in md, md[:300])

# What was made when it is stopped is shown; nothing is printed at exit that nobody asked for.
child = subprocess.Popen([INFEROM, "lab", "model", "huge", "--tokens", "1000", "--precision", "f32", "--json"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
while int(open(f"/proc/{child.pid}/stat").read().rpartition(")")[2].split()[11]) < 100 and child.poll() is None:
    time.sleep(0.05)
child.send_signal(signal.SIGINT)
out, said = child.communicate()
check("stopped: exit status", child.returncode == 130, (child.returncode, said))
check("stopped: what there is", out and json.loads(out)["stopped"] and json.loads(out)["tokens"] < 1000, out[:60])
check("stopped: one line", said.startswith("inferom lab model: stopped after") and said.count("\n") == 1, said)

# The scopes as a capture file, and under the recorder.
model("small", "--output", "small.inferom")
report = json.loads(subprocess.run([INFEROM, "report", "--json", "--scopes", "small.inferom"], stdout=subprocess.PIPE, text=True).stdout)
names = {s["name"] for s in report["scopes"]}
check("a capture file of the run", {"attention", "feed_forward", "layer 1", "prefill", "decode"} <= names, names)
model("small", "--output", "nowhere/small.inferom", status=3)
done()
