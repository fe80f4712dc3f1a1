"""One line for every fault: what tables of bad command lines and bad files have in common.

Each row is a command line, the exit status and the line on standard error it
earns. It is run in a folder of its own that holds the files; it must say exactly
that line, nothing on standard output, and leave the folder as it was.
"""
import os
import shlex
import subprocess
import sys
import tempfile

USAGE, NOT_FOUND, DENIED, UNSUPPORTED, MALFORMED, LIMIT = 2, 3, 4, 5, 6, 7


def lay_out(folder, files):
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content)


def contents(folder):
    found = {}
    for at, folders, names in os.walk(folder):
        for name in names + folders:
            path = os.path.join(at, name)
            found[path] = open(path, "rb").read() if os.path.isfile(path) else None
    return found


def run(inferom, files, line):
    """Variables may stand in front; $'...' is for the bytes that are hard to write."""
    settings, _, rest = line.partition(" ") if "=" in line.split(" ")[0] and line[0] != "-" else ("", "", line)
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
    env.update([settings.split("=", 1)] if settings else [])
    for name in os.environ:
        if name.endswith("SAN_OPTIONS"):
            env[name] = os.environ[name]
    command = f"exec {shlex.quote(inferom)} {rest}"
    with tempfile.TemporaryDirectory() as folder:
        lay_out(folder, files)
        before = contents(folder)
        done = subprocess.run(["bash", "--norc", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done, before == contents(folder)


def faults(inferom, files, line, status, says):
    done, is_untouched = run(inferom, files, line)
    err = done.stderr.decode(errors="backslashreplace")
    if done.returncode != status:
        yield f"ended with {done.returncode}, not {status}: {err}"
    if done.stdout:
        yield f"wrote to standard output: {done.stdout[:200]!r}"
    if err.count("\n") != 1 or not err.endswith("\n"):
        yield f"said {err.count(chr(10))} lines: {err!r}"
    if any(ord(c) < 32 for c in err[:-1]):
        yield f"let control characters through: {err!r}"
    if err.rstrip("\n") != says:
        yield f"said   {err.rstrip()!r}\n    should {says!r}"
    if not is_untouched:
        yield "left something behind"


def check(inferom, files, rows):
    """Runs every row and ends the program with the verdict."""
    inferom = os.path.abspath(inferom)
    failed = 0
    for line, status, says in rows:
        found = list(faults(inferom, files, line, status, says))
        failed += bool(found)
        for fault in found:
            print(f"inferom {line}\n    {fault}")
    print(f"{len(rows)} rows, {failed} failed")
    sys.exit(1 if failed else 0)
