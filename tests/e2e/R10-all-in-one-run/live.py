"""One execution, one file: where the CPU time went, what was allocated, what the scopes cost, and a flame graph of all that."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

TOKENS, LAYERS = 40, 4
need_sampling()
p = subprocess.run([INFEROM, "record", "--heap=exact", "-o", "run.inferom", "--", INFEROM, "lab", "model", "medium", "--tokens", str(TOKENS), "--json"],
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
check("the program ended well", p.returncode == 0, p.stderr)
made = inferom("runs", "show", "--json", "run.inferom")
check("one process", len(made["processes"]) == 1, made["processes"])
tids = [t["tid"] for t in made["threads"]]
check("each thread once, whoever speaks of it", len(tids) == len(set(tids)), made["threads"])

cpu = inferom("report", "--json", "--set", "cpu", "run.inferom")
check("samples of the CPU", cpu["total"] > 0, cpu["total"])
heap = inferom("report", "--json", "--heap", "run.inferom")["heap"]
check("every allocation", heap["mode"] == "exact" and heap["allocations"] > 100, heap["allocations"])
scopes = {s["name"]: s for s in inferom("report", "--json", "--scopes", "run.inferom")["scopes"]}
check("scopes, counted exactly", scopes["feed_forward"]["calls"] == TOKENS * LAYERS, scopes["feed_forward"])
check("what the weights took is their scope's", scopes["load.weights"]["allocations"] > 0, scopes["load.weights"])
check("all of it fits the time it took", scopes["forward"]["total_ns"] < cpu["duration_ns"], scopes["forward"])
check("the memory of the process", inferom("report", "--json", "--memory", "run.inferom")["process_memory"]["processes"], made["series"])
for name, options in {"flame.svg": [], "allocations.svg": ["--measure", "alloc_space"], "scopes.html": ["--by", "scope"]}.items():
    subprocess.run([INFEROM, "flame", "run.inferom", *options, "-o", name], check=True, stdout=subprocess.DEVNULL)
    check(f"{name} is a picture", os.path.getsize(name) > 1000, os.path.getsize(name))
done()
