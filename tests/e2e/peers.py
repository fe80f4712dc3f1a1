#!/usr/bin/env python3
"""pprof and speedscope read our files, we read theirs, and the totals are equal.

    peers.py INFEROM

Gets both tools by name (the Go module github.com/google/pprof, the npm package
speedscope) into a scratch folder, which is kept between runs when
INFEROM_PEERS names one. Without go, node, npm or a network the part that needs
them says so and is skipped; when nothing could be checked the exit status is 77.

A total is compared as a whole number, in the unit of its measure:

    ours      the weights of each profile of `inferom convert --to speedscope`
    pprof     what `pprof -top` calls the total
    speedscope  what its importer calls the total weight
"""
import collections
import decimal
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")
inferom = os.path.abspath(sys.argv[1])
checked = failed = 0


class Skip(Exception):
    """What a peer needs is not here."""


def check(what, got, want):
    global checked, failed
    checked += 1
    if got != want:
        failed += 1
    print(f"{'ok    ' if got == want else 'FAILED'} {what}: {got}" + ("" if got == want else f", want {want}"))


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.decode()[-400:]}")
    return done.stdout.decode()


def fetch(what, *command, **options):
    try:
        return run(*command, **options)
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as e:
        raise Skip(f"{what} is not available: {str(e).strip().splitlines()[-1]}") from e


def convert(source, to, target):
    run(inferom, "convert", source, "--to", to, "-o", target)
    return target


def our_totals(path, scratch):
    """What inferom reads from a file: measure -> total. With one measure there is no name for it: None."""
    target = convert(path, "speedscope", os.path.join(scratch, "totals.speedscope.json"))
    with open(target, encoding="utf-8") as f:
        profiles = json.load(f, parse_float=decimal.Decimal)["profiles"]
    totals = collections.Counter()
    for p in profiles:
        measure = re.search(r"\(([^()]*)\)$", p["name"])
        totals[measure.group(1).split()[-1] if measure else None] += sum(p["weights"])
    return dict(totals)


# pprof


def get_pprof(scratch):
    if not shutil.which("go"):
        raise Skip("pprof is not checked: no go")
    env = dict(os.environ, GOPATH=os.path.join(scratch, "go"), GOFLAGS="-modcacherw", GO111MODULE="on")
    tool = os.path.join(scratch, "go", "bin", "pprof")
    if not os.path.exists(tool):
        fetch("the Go module github.com/google/pprof", "go", "install", "github.com/google/pprof@latest", env=env)
    return tool


def pprof_totals(pprof, path, measures):
    totals = {}
    for measure, unit in measures.items():
        text = run(pprof, "-top", f"-sample_index={measure}", f"-unit={unit}", "-nodefraction=0", path)
        totals[measure] = int(re.search(r"of (-?\d+)\S* total", text).group(1))
    return totals


def go_profiles(scratch):
    folder = os.path.join(scratch, "profiled")
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.path.join(here, "profiled.go"), os.path.join(folder, "main.go"))
    with open(os.path.join(folder, "go.mod"), "w", encoding="utf-8") as f:
        f.write("module profiled\n\ngo 1.20\n")
    fetch("a Go program", "go", "build", "-o", "profiled", ".", cwd=folder)
    run("./profiled", "cpu.pb.gz", "heap.pb.gz", cwd=folder)
    return [
        (os.path.join(folder, "cpu.pb.gz"), {"samples": "count", "cpu": "ns"}),
        (os.path.join(folder, "heap.pb.gz"), {"alloc_objects": "count", "alloc_space": "B",
                                              "inuse_objects": "count", "inuse_space": "B"}),
    ]


def check_pprof(scratch):
    pprof = get_pprof(scratch)
    for path, measures in go_profiles(scratch):
        name = os.path.basename(path)
        truth = pprof_totals(pprof, path, measures)
        check(f"{name} of Go, read by us", our_totals(path, scratch), truth)
        ours = convert(path, "pprof", os.path.join(scratch, "ours.pb.gz"))
        check(f"{name} of Go, written by us, read by pprof", pprof_totals(pprof, ours, measures), truth)
        theirs = os.path.join(scratch, "theirs.pb.gz")
        run(pprof, "-proto", f"-output={theirs}", ours)
        check(f"{name} written by us, again by pprof -proto, read by us", our_totals(theirs, scratch), truth)
        diff = os.path.join(scratch, "diff.pb.gz")
        run(pprof, "-proto", f"-diff_base={path}", f"-output={diff}", ours)
        again = convert(diff, "pprof", os.path.join(scratch, "again.pb.gz"))
        check(f"{name} minus itself by pprof -diff_base, through us", raw_sums(pprof, again), [0] * len(measures))

    folded = os.path.join(scratch, "in.folded")
    with open(folded, "w", encoding="utf-8") as f:
        f.write("main;decode;matmul 9007199254740993\nmain;f;f;f 5\nmain;tokenize 2\n")
    ours = convert(folded, "pprof", os.path.join(scratch, "folded.pb.gz"))
    check("folded stacks, written by us, read by pprof", pprof_totals(pprof, ours, {"samples": "count"}),
          {"samples": 9007199254741000})


def raw_sums(pprof, path):
    """The sum of each column; speedscope has no negative values, so a difference is added up in pprof's own listing."""
    text = run(pprof, "-raw", path)
    rows = re.findall(r"^ +(-?\d+(?: +-?\d+)*): ", text[text.index("Samples:"):text.index("Locations")], re.M)
    if not any("-" in row for row in rows):
        return "no negative values"
    return [sum(column) for column in zip(*([int(n) for n in row.split()] for row in rows))]


# speedscope


def get_speedscope(scratch):
    for tool in ("node", "npm"):
        if not shutil.which(tool):
            raise Skip(f"speedscope is not checked: no {tool}")
    release = os.path.join(scratch, "node_modules", "speedscope", "dist", "release")
    if not glob.glob(os.path.join(release, "*.js")):
        fetch("the npm package speedscope", "npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts",
              "--prefix", scratch, "speedscope")
    return release


def speedscope_reads(release, path, target):
    done = subprocess.run(["node", os.path.join(here, "speedscope.cjs"), release, path, target],
                          stdout=subprocess.PIPE, timeout=120)
    if done.returncode == 77:
        raise Skip(done.stdout.decode().strip())
    if done.returncode:
        raise RuntimeError("speedscope.cjs failed")
    return json.loads(done.stdout)


def weights_of(path):
    with open(path, encoding="utf-8") as f:
        return [[p["name"], p["unit"], sum(p["weights"])] for p in json.load(f)["profiles"]]


def by_unit(weights):
    """Names grow on the way: a profile becomes a thread of that name, and the set is named behind it again."""
    return sorted([unit, total] for _, unit, total in weights)


def check_speedscope(scratch):
    release = get_speedscope(scratch)
    sources = {
        "threads.folded": "main;decode;matmul 70\nmain;decode 20\nmain;f;f;f 10\n",
        "fractions.folded": "main;a 1.5\nmain;b 0.25\n",
    }
    for name, text in sources.items():
        with open(os.path.join(scratch, name), "w", encoding="utf-8") as f:
            f.write(text)
    paths = [os.path.join(scratch, name) for name in sources]
    paths += glob.glob(os.path.join(scratch, "profiled", "*.pb.gz"))
    paths += glob.glob(os.path.join(here, "..", "..", "fuzz", "corpus", "speedscope", "py-spy.json"))
    for path in paths:
        name = os.path.basename(path)
        ours = convert(path, "speedscope", os.path.join(scratch, "ours.speedscope.json"))
        theirs = os.path.join(scratch, "theirs.speedscope.json")
        seen = speedscope_reads(release, ours, theirs)
        want = weights_of(ours)
        check(f"{name}, written by us, read by speedscope", [[p["name"], p["unit"], p["total"]] for p in seen], want)
        back = convert(theirs, "speedscope", os.path.join(scratch, "back.speedscope.json"))
        check(f"{name}, exported by speedscope, read by us", by_unit(weights_of(back)), by_unit(want))


def main():
    scratch = os.environ.get("INFEROM_PEERS") or tempfile.mkdtemp(prefix="inferom-peers-")
    os.makedirs(scratch, exist_ok=True)
    skipped = 0
    try:
        for part in (check_pprof, check_speedscope):
            try:
                part(scratch)
            except Skip as why:
                skipped += 1
                print(f"skipped {why}")
    finally:
        if not os.environ.get("INFEROM_PEERS"):
            shutil.rmtree(scratch, ignore_errors=True)
    print(f"{checked - failed} passed, {failed} failed, {skipped} of 2 peers skipped")
    return 1 if failed else 77 if not checked or skipped else 0


if __name__ == "__main__":
    sys.exit(main())
