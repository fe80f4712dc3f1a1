"""What live cases share: recording a program whose true profile is known, and comparing.

A live case is a folder with a live.py, run as

    live.py BIN_DIR FIXTURE_DIR

It ends with 0 when everything was true, 1 when not, and 77 when this machine does not allow
the experiment. Nothing is compared with a stopwatch: a fixture says itself how much CPU time
each of its functions had, so a busy machine makes a case slower and not wrong.

One thing a fixture cannot know: a hypervisor that takes the CPU away for a tenth of a second
in the middle of a slice. What the guest's clocks make of such a pause differs from clock to
clock, so an experiment about times that failed while CPU time was stolen proves nothing and
is repeated, a few times at most; steady() does that and nothing else is ever repeated.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile

SKIP = 77
BIN, FIXTURES = (os.path.abspath(a) for a in sys.argv[1:3])
INFEROM = os.path.join(BIN, "inferom")
WORK = tempfile.TemporaryDirectory()
os.chdir(WORK.name)
failures = []


def check(what, ok, seen):
    print(f"{'ok  ' if ok else 'FAIL'} {what}: {seen}", flush=True)
    if not ok:
        failures.append(what)


def near(what, value, want, margin):
    check(f"{what} is {want:.4g} +/- {margin:.2g}", abs(value - want) <= margin, f"{value:.4f}")


def done():
    sys.exit(1 if failures else 0)


def need_sampling():
    """Without it there is nothing to prove; the doctor's own words say why."""
    told = subprocess.run([INFEROM, "doctor", "--json"], stdout=subprocess.PIPE, text=True).stdout
    cpu = next(f for f in json.loads(told) if f["name"] == "cpu sampling")
    if cpu["state"] == "off":
        print("skipped:", cpu["why"])
        sys.exit(SKIP)


def fixture(name):
    path = os.path.join(FIXTURES, name)
    if not os.path.exists(path):
        print(f"skipped: {name} was not built on this machine")
        sys.exit(SKIP)
    return path


def variants(name):
    """The ways a fixture was built here; a machine without a static libc has one less."""
    return [v for v in ("fp", "nofp", "stripped", "static") if os.path.exists(os.path.join(FIXTURES, f"{name}-{v}"))]


def inferom(*args):
    """The answer of a verb that prints JSON."""
    return json.loads(subprocess.run([INFEROM, *args], check=True, stdout=subprocess.PIPE, text=True).stdout)


def stolen_seconds():
    with open("/proc/stat") as f:
        return int(f.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


class Recording:
    """A finished recording: what the program said, what inferom said, and the file."""

    def __init__(self, command, *options, path="run.inferom", prefix=()):
        self.path = path
        p = subprocess.run([*prefix, INFEROM, "record", "--json", "-o", path, *options, "--", *map(str, command)],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.status, self.stderr = p.returncode, p.stderr
        said, brace, summary = ("\n" + p.stdout).rpartition("\n{\n") # behind what the program printed
        self.output = said[1:]
        if not brace:
            print(p.stdout, p.stderr)
            check("inferom printed a summary", False, p.returncode)
            done()
        self.summary = json.loads("{" + summary)

    @property
    def truth(self):
        return json.loads(self.output)

    def report(self, *options):
        return inferom("report", "--json", "--top", "0", *options, self.path)

    def contents(self):
        return inferom("runs", "show", "--json", self.path)

    def folded(self):
        """[(frames from the root, value)]"""
        text = subprocess.run([INFEROM, "convert", "--to", "folded", self.path, "-o", "-"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        lines = (line.rpartition(" ") for line in text.splitlines())
        return [(stack.split(";"), int(value)) for stack, _, value in lines]


def steady(experiment, *args, tries=5):
    """An experiment about times; see above for when it is repeated."""
    for n in range(tries):
        known, before = len(failures), stolen_seconds()
        experiment(*args)
        stolen = stolen_seconds() - before
        if len(failures) == known or stolen < 0.03 or n + 1 == tries:
            return
        print(f"     again: {stolen:.2f} s of CPU time were stolen by the hypervisor meanwhile")
        del failures[known:]


def cpu_seconds(truth):
    return sum(t["cpu_ns"] for t in truth["threads"]) / 1e9


def totals(rows):
    """{function: share of the total}"""
    return {f["function"]: f["total_share"] for f in rows}


def thread_rows(report, tid):
    return next(t for t in report["threads"] if t["tid"] == tid)


def check_shares(r, points):
    """Every function of every thread, against the truth of that thread."""
    report = r.report("--threads")
    for thread in r.truth["threads"]:
        got = totals(thread_rows(report, thread["tid"])["functions"])
        for f in thread["functions"]:
            near(f"{thread['name']}: share of {f['name']}", got.get(f["name"], 0), f["share"], points / 100)


def stop_group(p, sig=signal.SIGINT):
    """What Ctrl-C on a terminal does: everybody in the group gets it."""
    os.killpg(p.pid, sig)
