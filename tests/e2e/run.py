#!/usr/bin/env python3
"""Run one case folder and compare what it says with what it is expected to say.

    run.py CASE_DIR BIN_DIR [--update]

    cmd      what to run, by sh, in a scratch copy of the folder; prints $? itself where it matters
    expect   standard output and standard error together, as the terminal shows them
    files    optional: the files that must be there afterwards, one per line, besides those of the folder
    ...      everything else is input

$E2E is the folder above the case, for what several cases use.

--update writes what happened into expect (and into files, where there is one);
the diff in the commit then shows the reader what changed.
"""
import difflib
import os
import shutil
import subprocess
import sys
import tempfile


def environment(case, bin_dir, scratch):
    """A home nobody lives in: what a case says must not depend on whose machine it is."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("INFEROM_")}
    for name in "NO_COLOR", "COLUMNS":
        env.pop(name, None)
    return dict(env, PATH=bin_dir + os.pathsep + env["PATH"], LC_ALL="C.UTF-8", TZ="UTC", HOME=scratch,
                E2E=os.path.dirname(case), XDG_CONFIG_HOME=os.path.join(scratch, "xdg"))


def files_below(folder):
    found = [os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names]
    return sorted(found)


def run(case, bin_dir):
    """What the terminal showed, and which files are new."""
    with tempfile.TemporaryDirectory() as work, tempfile.TemporaryDirectory() as home:
        shutil.copytree(case, work, dirs_exist_ok=True)
        before = files_below(work)
        shown = subprocess.run(["sh", "cmd"], cwd=work, env=environment(case, bin_dir, home), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        new = [name for name in files_below(work) if name not in before]
    return shown.decode(errors="backslashreplace"), "".join(name + "\n" for name in new)


def compare(name, path, got, update):
    if update:
        with open(path, "w") as f:
            f.write(got)
    with open(path) as f:
        want = f.read()
    sys.stdout.writelines(difflib.unified_diff(want.splitlines(True), got.splitlines(True), name, "got"))
    return got == want


def main():
    update = "--update" in sys.argv
    case, bin_dir = (os.path.abspath(a) for a in sys.argv[1:] if a != "--update")
    shown, new = run(case, bin_dir)
    same = compare("expect", os.path.join(case, "expect"), shown, update)
    if os.path.exists(os.path.join(case, "files")):
        same &= compare("files", os.path.join(case, "files"), new, update)
    sys.exit(0 if same else 1)


main()
