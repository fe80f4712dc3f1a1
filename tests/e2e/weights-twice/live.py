"""Weights that are in memory twice are found, with what they cost; what only looks like it is not."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from memory import *  # noqa: E402

need_sampling()
hostile = 'a<script>alert(1)"]]>\x1b[31m\u00fc'
os.mkdir(hostile)
os.chdir(hostile) # the file is called by its whole path


def record(*options, more=()):
    r = Recording([fixture("fx-weights"), "--mib", 64, "--hold", 1, *options], *more)
    return r, process_memory(r.path)


r, memory = record()
if not any(m["resident_bytes"] for m in memory["mappings"]):
    print("skipped: pages cannot be counted here")
    sys.exit(SKIP)
found = memory["weights_twice"]
check("a copy that kept its source is found", len(found) == 1, found)
if found:
    f, truth = found[0], r.truth
    check("by the name of the file", os.path.basename(f["path"]) == truth["path"] and f["pid"] == truth["pid"], f["path"])
    check("it saves the pages of the file", f["saving_bytes"] == truth["file_bytes"], f["saving_bytes"])
    near("the copy is as large as it is, in MiB", f["copy_bytes"] / 2**20, truth["copy_bytes"] / 2**20, 1)
    check("the order was seen", f["is_order_seen"], f)
    check("it says when it is wrong", "Wrong if" in f["text"], f["text"])
weights = [m for m in memory["mappings"] if m["kind"] == "weights"]
check("weights are called so", len(weights) == 1 and weights[0]["mapped_bytes"] == r.truth["file_bytes"], weights)
text = subprocess.run([INFEROM, "report", r.path], check=True, stdout=subprocess.PIPE, text=True).stdout
check("every report says it", "found: " in text and r.truth["path"] in text, text[:400])

every = {f: subprocess.run([INFEROM, "report", "--memory", "-f", f, r.path], check=True, stdout=subprocess.PIPE).stdout for f in ("text", "md", "html", "json")}
check("names are text", not any(b"\x1b" in said for said in every.values()) and not any(b"<script>alert" in every[f] for f in ("md", "html")),
      [f for f, said in every.items() if b"\x1b" in said or b"<script>alert" in said])

for what, options in {
    "memory that was there before the file": ["--before", 1],
    "no copy at all": ["--ratio", 0],
    "memory a third as large": ["--ratio", 0.33],
    "memory half as large again": ["--ratio", 1.5],
    "pages that were given back": ["--drop", 1],
    "a file that is no longer mapped": ["--unmap", 1],
}.items():
    r, memory = record(*options)
    check(f"not found: {what}", memory["weights_twice"] == [], memory["weights_twice"])

r, memory = record("--hold", 3, more=["--touched"])
if "which pages" in json.dumps(inferom("runs", "show", "--json", r.path)["facts"]):
    print("not tried: this kernel does not say which pages are used")
    done()
found = memory["weights_twice"]
check("looked at, and the file is not read any more", len(found) == 1 and found[0]["is_touch_known"], found)
r, memory = record("--hold", 3, "--use", 1, more=["--touched"])
check("not found: a file that is still read", memory["weights_twice"] == [], memory["weights_twice"])
weights = [m for m in memory["mappings"] if m["kind"] == "weights"]
check("because its pages were used", weights[0]["touched_bytes"] >= 0.9 * r.truth["file_bytes"], weights)
done()
