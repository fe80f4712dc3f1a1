"""Weights that are in memory twice are found, with what they cost; what only looks like it is not."""
import os
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from memory import *  # noqa: E402

need_sampling()
hostile = 'a<script>alert(1)"]]>\x1b[31m\u00fc'
os.mkdir(hostile)
os.chdir(hostile) # the file is called by its whole path

# What, options of the fixture, options of the recorder. They mostly sleep: all at once.
CASES = {
    "a copy that kept its source": ([], []),
    "the same, looked at": (["--hold", 3], ["--touched"]),
    "a file that is still read, looked at": (["--hold", 3, "--use", 1], ["--touched"]),
    "memory that was there before the file": (["--before", 1], []),
    "no copy at all": (["--ratio", 0], []),
    "memory a third as large": (["--ratio", 0.33], []),
    "memory half as large again": (["--ratio", 1.5], []),
    "pages that were given back": (["--drop", 1], []),
    "a file that is no longer mapped": (["--unmap", 1], []),
}


def record(case):
    what, (options, more) = case
    return what, Recording([fixture("fx-weights"), "--mib", 64, "--hold", 1, *options], *more, path=f"{abs(hash(what))}.inferom")


with ThreadPoolExecutor(len(CASES)) as all_at_once:
    recorded = dict(all_at_once.map(record, CASES.items()))
memory = {what: process_memory(r.path) for what, r in recorded.items()}
found = {what: m["weights_twice"] for what, m in memory.items()}

r = recorded["a copy that kept its source"]
mappings, twice = memory["a copy that kept its source"]["mappings"], found.pop("a copy that kept its source")
if not any(m["resident_bytes"] for m in mappings):
    print("skipped: pages cannot be counted here")
    sys.exit(SKIP)
check("a copy that kept its source is found", len(twice) == 1, twice)
if twice:
    f, truth = twice[0], r.truth
    check("by the name of the file", os.path.basename(f["path"]) == truth["path"] and f["pid"] == truth["pid"], ascii(f["path"]))
    check("it saves the pages of the file", f["saving_bytes"] == truth["file_bytes"], f["saving_bytes"])
    near("the copy is as large as it is, in MiB", f["copy_bytes"] / 2**20, truth["copy_bytes"] / 2**20, 1)
    check("the order was seen", f["is_order_seen"], f["text"])
    check("it says when it is wrong", "Wrong if" in f["text"], f["text"])
weights = [m for m in mappings if m["kind"] == "weights"]
check("weights are called so", len(weights) == 1 and weights[0]["mapped_bytes"] == r.truth["file_bytes"], weights)
text = subprocess.run([INFEROM, "report", r.path], check=True, stdout=subprocess.PIPE, text=True).stdout
check("every report says it", "found: " in text and r.truth["path"] in text, text[:400])
said = {f: subprocess.run([INFEROM, "report", "--memory", "-f", f, r.path], check=True, stdout=subprocess.PIPE).stdout
        for f in ("text", "md", "html", "json")}
check("names are text", not any(b"\x1b" in s for s in said.values()) and not any(b"<script>alert" in said[f] for f in ("md", "html")),
      [f for f, s in said.items() if b"\x1b" in s])

used = "a file that is still read, looked at"
looked = found.pop("the same, looked at")
if "which pages" in json.dumps(inferom("runs", "show", "--json", recorded[used].path)["facts"]):
    print("not tried: this kernel does not say which pages are used")
    del found[used]
else:
    check("looked at, and the file is not read any more", len(looked) == 1 and looked[0]["is_touch_known"], looked)
    weights = [m for m in memory[used]["mappings"] if m["kind"] == "weights"]
    check("pages that are used are seen", weights[0]["touched_bytes"] >= 0.9 * recorded[used].truth["file_bytes"], weights)
for what, twice in found.items():
    check(f"not found: {what}", twice == [], twice)
done()
