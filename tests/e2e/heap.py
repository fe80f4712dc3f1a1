#!/usr/bin/env python3
"""Recording allocations: what fx-heap says about itself is what the profile says.

    heap.py CASE INFEROM WORKLOADS

Nothing here depends on how long anything took. Exit status: 0 all true, 1 not, 77 the machine could not run the experiment.
"""
import gzip
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from telling import check, finish, same

CASE, INFEROM, WORKLOADS = sys.argv[1], *map(os.path.abspath, sys.argv[2:4])
PATIENCE_S = 240
LEAKS, LEAK_BYTES, HELD, HELD_BYTES, CHURNED, CHURN_BYTES = 1000, 4096, 3000, 2048, 6000, 512


def program(name):
    path = os.path.join(WORKLOADS, name)
    return path if os.path.exists(path) else None


class Recording:
    """One run of `inferom record`: what the program printed, the summary, and the file."""

    def __init__(self, *command, options=("--heap=exact",), env=None, wants_file=True):
        self.path = tempfile.mktemp(suffix=".inferom", dir=".")
        p = subprocess.run([INFEROM, "record", "--json", "-o", self.path, *options, "--", *map(str, command)], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False,
                           env={**os.environ, **(env or {})})
        self.status, self.stderr = p.returncode, p.stderr
        said, brace, summary = ("\n" + p.stdout).rpartition("\n{\n")
        self.output = said[1:]
        if not brace and "sampling is not possible" in p.stderr:
            print(p.stderr)
            sys.exit(77)
        if not brace and wants_file:
            print(p.stdout, p.stderr)
            check("inferom printed a summary", False, p.returncode)
            leave()
        self.summary = json.loads("{" + summary) if brace else {}

    @property
    def truth(self):
        return json.loads(self.output)

    def report(self, measure, *options, what="heap"):
        made = subprocess.run([INFEROM, "report", "--json", "--top", "0", "--set", what, "--measure", measure, *options, self.path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        return json.loads(made.stdout) if made.stdout else {"total": None, "functions": [], "error": made.stderr}

    def by_function(self, measure, *options):
        return {f["function"]: f["self"] for f in self.report(measure, *options)["functions"] if f["self"]}

    def total_of(self, measure, function):
        return next((f["total"] for f in self.report(measure)["functions"] if f["function"] == function), 0)

    def contents(self):
        return json.loads(subprocess.run([INFEROM, "runs", "show", "--json", self.path], stdout=subprocess.PIPE, text=True, check=True).stdout)

    def facts(self):
        return {f["key"]: f["value"] for f in self.contents()["facts"]} if isinstance(self.contents()["facts"], list) else self.contents()["facts"]


def leave():
    finish()


# Exact mode.

def check_exact(r, times=1, threads=1):
    t = r.truth
    facts = r.facts()
    for key, want in (("allocations", t["allocations"]), ("frees", t["frees"]), ("allocated_bytes", t["allocated_bytes"]),
                      ("live_bytes", t["live_bytes"]), ("live_blocks", t["live_blocks"])):
        same(f"fact heap.{key}", int(facts[f"heap.{key}"]), want)
    same("fact heap.mode", facts["heap.mode"], "exact")
    same("fact heap.allocator", facts["heap.allocator"], "glibc")
    same("fact heap.unseen", facts["heap.unseen"], "0")
    same("allocations by function", r.by_function("alloc_objects"),
         {"leaky": threads * LEAKS, "hold": threads * times * HELD, "churn": threads * times * CHURNED})
    same("bytes by function", r.by_function("alloc_space"),
         {"leaky": threads * LEAKS * LEAK_BYTES, "hold": threads * times * HELD * HELD_BYTES, "churn": threads * times * CHURNED * CHURN_BYTES})
    same("temporary", r.report("temporary")["total"], t["temporary"])
    same("samples", r.report("samples")["total"], t["allocations"])
    peak = r.report("peak_space")["total"]
    same("fact heap.peak_bytes, beside what was live then", int(facts["heap.peak_bytes"]), peak)
    check("the end is no higher than the peak", peak >= t["live_bytes"], peak)


def exact():
    for variant in "nofp", "fp":
        print(variant)
        r = Recording(program(f"fx-heap-{variant}"), "--times", 3)
        check_exact(r, times=3)
        same("the whole is under main", r.total_of("alloc_objects", "main"), r.truth["allocations"])
    # On threads libc allocates for itself: the tables of thread-local storage, one each, from inside the loader.
    for n in 1, 8, 33:
        print(n, "threads")
        r = Recording(program("fx-heap-nofp"), "--times", 2, "--threads", n)
        got = r.by_function("alloc_objects")
        same("allocations by function", {k: got.get(k) for k in ("leaky", "hold", "churn")},
             {"leaky": n * LEAKS, "hold": 2 * n * HELD, "churn": 2 * n * CHURNED})
        check("little else", sum(got.values()) - n * (LEAKS + 2 * (HELD + CHURNED)) <= 4 * n + 4, got)
        same("nothing unseen", r.summary["heap_unseen"], 0)
        left = r.by_function("inuse_objects")
        same("left by function", {k: left.get(k, 0) for k in ("leaky", "hold", "churn")}, {"leaky": n * LEAKS, "hold": 0, "churn": 0})


def children():
    """Processes that are forked, and programs that are started, each have an account of their own."""
    heap = program("fx-heap-nofp")
    r = Recording("sh", "-c", f"for i in 1 2 3; do {heap} > $i.json & done; wait; exec {heap}")
    got = r.by_function("alloc_objects")
    same("four programs", {k: got.get(k) for k in ("leaky", "hold", "churn")}, {"leaky": 4 * LEAKS, "hold": 4 * HELD, "churn": 4 * CHURNED})
    pids = [json.load(open(f"{i}.json"))["pid"] for i in (1, 2, 3)]
    for pid in pids:
        one = r.by_function("alloc_objects", "--process", str(pid))
        same(f"those of process {pid}", {k: one.get(k) for k in ("leaky", "hold", "churn")}, {"leaky": LEAKS, "hold": HELD, "churn": CHURNED})
    code = "import os\nfor i in range(20):\n    pid = os.fork()\n    if pid == 0:\n        x = bytearray(1 << 20)\n        os._exit(0)\n    os.waitpid(pid, 0)\nprint('parent')"
    r = Recording(sys.executable, "-c", code)
    same("a Python program forks as it does alone", (r.status, r.output), (0, "parent"))
    big = sum(1 for row in (r.report("inuse_space")["functions"] or []) if row["self"] >= 20 << 20)
    check("a megabyte in each of twenty children", big >= 1, big)
    r = Recording("sh", "-c", f"{heap} > /dev/null; true", options=("--heap=exact", "--no-children"))
    check("without children only the shell", "leaky" not in r.by_function("alloc_objects"), r.by_function("alloc_objects"))


# Samples.

def variance_of(r):
    return r.report("variance", what="heap.variance")["total"] or 0


def sampled():
    """Five runs within 5 %; and the interval that is stated holds the truth."""
    held, runs = 0, 6
    for i in range(runs):
        r = Recording(program("fx-heap-nofp"), "--times", 100, options=("--heap=sampled:16K",))
        want, got = r.truth["allocated_bytes"], r.report("alloc_space")["total"]
        check(f"run {i}: bytes within 5 % of {want}", abs(got - want) <= 0.05 * want, got)
        count = r.report("alloc_objects")["total"]
        check(f"run {i}: allocations within 10 % of {r.truth['allocations']}", abs(count - r.truth["allocations"]) <= 0.1 * r.truth["allocations"], count)
        error = math.sqrt(variance_of(r) * (1 << 20))
        check(f"run {i}: there is a standard error", 0 < error < 0.05 * want, error)
        held += abs(got - want) <= 1.96 * error
        same(f"run {i}: exact counters beside it", (r.facts()["heap.allocations"], r.facts()["heap.allocated_bytes"], r.facts()["heap.mode"]),
             (str(r.truth["allocations"]), str(want), "sampled"))
    check("the stated 95 % interval holds the truth in most runs", held >= runs - 2, f"{held} of {runs}")


def modes():
    """Without a word all allocations are recorded, until they come too fast; --heap says how otherwise."""
    r = Recording(program("fx-heap-nofp"), options=("--heap",))
    check("few: exact", r.facts()["heap.mode"] in ("exact", "exact then sampled"), r.facts()["heap.mode"])
    r = Recording(program("fx-heap-nofp"), "--times", 300, options=("--heap",))
    same("many and fast: samples", r.facts()["heap.mode"], "exact then sampled")
    check("it is said", "faster than" in r.facts()["heap.note"], r.facts()["heap.note"])
    want, got = r.truth["allocated_bytes"], r.report("alloc_space")["total"]
    check("bytes within 15 %", abs(got - want) <= 0.15 * want, (got, want))
    same("counters are exact", r.facts()["heap.allocations"], str(r.truth["allocations"]))
    for wrong in "--heap=fast", "--heap=sampled:", "--heap=sampled:0", "--heap=sampled:much", "--heap=exact:1":
        r = Recording("true", options=(wrong,), wants_file=False)
        check(f"{wrong} is refused", r.status == 2 and "heap" in r.stderr and not os.path.exists(r.path), r.stderr.strip())
    r = Recording("true", options=("--heap-blocks",), wants_file=False)
    check("--heap-blocks alone is refused", r.status == 2 and "needs --heap" in r.stderr, r.stderr.strip())


# What is asked of it.

def leaks():
    for variant in "nofp", "fp":
        r = Recording(program(f"fx-heap-{variant}"))
        same("blocks left, by function", r.by_function("inuse_objects"), {"leaky": LEAKS})
        same("bytes left, by function", r.by_function("inuse_space"), {"leaky": LEAKS * LEAK_BYTES})


def peak():
    r = Recording(program("fx-heap-nofp"), "--times", 2)
    same("live at the peak, by function", r.by_function("peak_space"), {"leaky": LEAKS * LEAK_BYTES, "hold": HELD * HELD_BYTES})
    same("blocks at the peak, by function", r.by_function("peak_objects"), {"leaky": LEAKS, "hold": HELD})
    same("the peak", int(r.facts()["heap.peak_bytes"]), r.truth["peak_bytes"])
    check("and when it was", int(r.facts()["heap.peak_time_ns"]) > 0, r.facts()["heap.peak_time_ns"])
    # On threads: right to 64 KiB for each, and the rows add up to about as much.
    r = Recording(program("fx-heap-nofp"), "--threads", 8)
    stated, rows = int(r.facts()["heap.peak_bytes"]), r.report("peak_space")["total"]
    check("rows at the peak add up to the peak, to 64 KiB for each thread", abs(stated - rows) <= 9 * 65536, (stated, rows))
    check("the leak is in it", stated >= r.truth["live_bytes"], stated)
    check("the end is no higher than the peak", r.report("peak_space")["total"] >= r.report("inuse_space")["total"], r.report("peak_space")["total"])


def hotspots():
    r = Recording(program("fx-heap-nofp"))
    rows = sorted(r.by_function("alloc_space").items(), key=lambda x: -x[1])
    same("most bytes first", [name for name, _ in rows], ["hold", "leaky", "churn"])
    counts = r.by_function("alloc_objects")
    same("mean sizes", {name: size / counts[name] for name, size in rows}, {"hold": HELD_BYTES, "leaky": LEAK_BYTES, "churn": CHURN_BYTES})
    same("where", {re.sub(r":.*|.*/", "", f["place"]) for f in r.report("alloc_space")["functions"] if f["self"]}, {"fx_heap.c"})
    sizes = r.report("objects", what="heap.sizes")["total"]
    same("sizes of all", sizes, r.truth["allocations"])
    same("lifetimes of those that were freed", r.report("objects", what="heap.lifetimes")["total"], r.truth["frees"])


def bounded():
    """Ten million pairs: exact, and the memory of the agent is what its tables need, not what the calls would."""
    r = Recording(program("fx-heap-nofp"), "--times", 1112)
    check_exact(r, times=1112)
    check("more than ten million", r.truth["allocations"] > 10_000_000, r.truth["allocations"])
    plain = json.loads(subprocess.run([program("fx-heap-nofp")], stdout=subprocess.PIPE, text=True, check=True).stdout)
    more = r.truth["peak_rss_kib"] - plain["peak_rss_kib"]
    check("at most 16 MiB more in the target", more <= 16 << 10, f"{more} KiB")
    check("a small file", r.summary["file_bytes"] < 1 << 20, r.summary["file_bytes"])


def series():
    r = Recording(program("fx-heap-nofp"), "--times", 400)
    names = {s["name"] for s in r.contents()["series"]}
    check("readings of what is live and of the rate", {"heap.live", "heap.allocations"} <= names, names)


def blocks():
    """Every block on its own: address, size, stack, whether it was freed, and for how long it lived."""
    r = Recording(program("fx-heap-nofp"), options=("--heap=exact", "--heap-blocks"))
    rows = {m: r.report(m, what="heap.blocks") for m in ("bytes", "freed", "lifetime_ns")}
    same("a row for each", rows["bytes"]["samples"] if rows["bytes"]["samples"] else None, r.truth["allocations"])
    same("their bytes", rows["bytes"]["total"], r.truth["allocated_bytes"])
    same("freed", rows["freed"]["total"], r.truth["frees"])
    check("lived for some time", rows["lifetime_ns"]["total"] > 0, rows["lifetime_ns"]["total"])
    same("nothing lost", [x for x in rows["bytes"]["lost"] if "blocks" in x["reason"]], [])


# Endings.

PYTHON_BLOCKS = """
import ctypes, os, signal, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
for i in range(1000):
    libc.malloc(ctypes.c_size_t(12345))
sys.stdout.flush()
{end}
"""


def endings():
    """However it ends, what it had allocated is known."""
    for name, end, status in (("_exit", "os._exit(7)", 7), ("killed", "os.kill(os.getpid(), 9)", 137), ("crash", "ctypes.string_at(0)", 139),
                              ("abort", "libc.abort()", 134), ("exit", "sys.exit(3)", 3)):
        r = Recording(sys.executable, "-c", PYTHON_BLOCKS.format(end=end))
        same(f"{name}: status", r.status, status)
        got = r.report("inuse_space", "--include", "*ctypes*")["total"] or 0
        check(f"{name}: its thousand blocks", got >= 12345 * 1000, got)
    p = subprocess.Popen([INFEROM, "record", "--heap=exact", "-o", "killed.inferom", "--", "sh", "-c",
                          f"echo started; exec {program('fx-heap-nofp')} --times 300"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    same("it runs", p.stdout.readline(), "started\n")
    p.send_signal(signal.SIGKILL)
    out, _ = p.communicate(timeout=PATIENCE_S)
    check("the recorder is killed, and the program ends as it would", json.loads(out)["allocations"] == 1000 + 300 * 9000, out.strip())
    p = subprocess.run([INFEROM, "record", "--heap=exact", "--duration", "100ms", "-o", "early.inferom", "--", program("fx-heap-nofp"), "--times", "700"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False)
    check("a recording that is over before the program is", p.returncode == 0 and json.loads(p.stdout)["frees"] == 700 * 9000, p.stdout.strip())
    check("and has what came until then", "heap: " in p.stderr and " allocations" in p.stderr, p.stderr.splitlines()[2:3])


def mappings():
    """Files, shared memory and anonymous pieces that a program maps itself stand apart from its heap."""
    with open("tiny.gguf", "wb") as f:
        f.write(bytes(3 << 20))
    code = "import mmap, os\nf = open('tiny.gguf', 'rb')\na = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)\nb = mmap.mmap(-1, 5 << 20)\nb.close()\nprint(len(a), flush=True)\nos._exit(0)"
    r = Recording(sys.executable, "-c", code)
    got = r.report("mapped_space", "--include", "*mmap*", what="mappings")
    check("3 MiB of weights are still mapped, 5 MiB are not", got["total"] is not None and 3 << 20 <= got["total"] < 5 << 20, got["total"])
    subprocess.run([INFEROM, "convert", r.path, "-o", "maps.pb.gz"], check=True, stderr=subprocess.DEVNULL)
    with gzip.open("maps.pb.gz") as f:
        texts = f.read()
    check("the file is named and known as weights", b"tiny.gguf" in texts and b"weights" in texts and b"map_kind" in texts, len(texts))
    check("they are not in the heap", int(r.facts()["heap.peak_bytes"]) < 5 << 20, r.facts()["heap.peak_bytes"])


def not_possible():
    """What cannot be seen is said before the start, and the program runs all the same."""
    static = program("fx-heap-static")
    if static:
        r = Recording(static)
        check("a static program", "will not be recorded" in r.stderr and "statically linked" in r.stderr and r.status == 0, r.stderr.strip())
    r = Recording(program("fx-heap-own"))
    check("an allocator in the executable", "allocator of its own" in r.stderr and r.status == 0 and r.truth["allocations"] == 10000, r.stderr.strip())
    r = Recording("true", env={"INFEROM_HEAP_LIB": "/nowhere/agent.so"})
    check("no library", "/nowhere/agent.so" in r.stderr and r.status == 0, r.stderr.strip())


NEW_AND_DELETE = """
#include <cstdio>
#include <vector>
__attribute__((noinline)) int *made(int i) { return new int[100 + i % 7]; }
struct alignas(64) wide { char room[64]; };
int main()
{
    std::vector<int *> v;
    v.reserve(2000);
    for (int i = 0; i < 2000; i++)
        v.push_back(made(i));
    for (int i = 0; i < 1500; i++)
        delete[] v[i];
    wide *volatile w = new wide;
    delete w;
    std::puts("made");
}
"""


def operators():
    """C++'s new and delete: libstdc++'s, and those of allocators that have their own."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        print("skipped: no C++ compiler")
        sys.exit(77)
    with open("made.cc", "w") as f:
        f.write(NEW_AND_DELETE)
    subprocess.run([compiler, "-O1", "-g", "-std=c++17", "-o", "made", "made.cc"], check=True)
    for library in None, "libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc.so.4":
        env = {"LD_PRELOAD": library} if library else None
        if library and subprocess.run(["true"], env={**os.environ, **env}, capture_output=True, text=True, check=False).stderr:
            print(f"{library} is not installed")
            continue
        r = Recording("./made", env=env)
        same(f"{library or 'libstdc++'}: output and status", (r.output, r.status), ("made", 0))
        same(f"{library or 'libstdc++'}: arrays that were made, and are left",
             (r.total_of("alloc_objects", "made(int)"), r.total_of("inuse_objects", "made(int)")), (2000, 500))


def stacks():
    """Deep stacks, and stacks in code without frame pointers, are whole."""
    code = "import json\ndef f(n):\n    return f(n - 1) if n else json.dumps([{str(i): i} for i in range(2000)])\nprint(len(f(150)))"
    r = Recording(sys.executable, "-c", code)
    whole = r.report("alloc_objects")
    cut = sum(f["total"] for f in whole["functions"] if f["function"] in ("[truncated]", "[unknown caller]"))
    # The first of a kind may be over before the recorder, which has to share its processor, has answered.
    check("nearly all stacks of Python reach its start", cut <= 0.05 * whole["total"], (cut, whole["total"]))
    plain = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout
    same("and it prints what it does alone", r.output + "\n", plain)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    globals()[CASE]()
    os.chdir("/")
leave()
