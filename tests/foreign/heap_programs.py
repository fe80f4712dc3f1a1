#!/usr/bin/env python3
"""Programs nobody here wrote, with every allocation recorded: they print what they print without us, and end as they do.

    heap_programs.py BUILD_DIR [--short] [NAME...]

What differs by nature (a time, a process number) is taken out of both outputs first. A program that is not installed is left out with a word. The
table it prints is the one in docs/guide/heap.md.
"""
import glob
import os
import pwd
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../torture"))
import harness as h  # noqa: E402

PATIENCE_S = 600
NAMES = [a for a in sys.argv[2:] if not a.startswith("-")]

BASH = """
declare -A seen
for i in $(seq 1 400); do
    word=$(printf '%x' $((i * 7919 % 1009)))
    seen[$word]=$((${seen[$word]:-0} + 1))
done
for k in "${!seen[@]}"; do echo "$k ${seen[$k]}"; done | sort | md5sum
ls -la / | awk '{print $1}' | sort | uniq -c | sort -rn | head -3
f() { local n=$1; if [ "$n" -gt 0 ]; then f $((n - 1)); fi; }
f 100; echo done
"""
GIT = "git init -q r && cd r && git config user.email a@b && git config user.name n && for i in $(seq 1 30); do echo $i > f$i; git add .; " \
      "GIT_AUTHOR_DATE=@$i+0000 GIT_COMMITTER_DATE=@$i+0000 git commit -qm c$i; done; git log --format=%H | md5sum; git gc -q; git fsck; git log --stat | md5sum"
SQLITE = "python3 -c \"import random; random.seed(1); [print(i, random.random(), 'text%d' % i, sep=',') for i in range(200000)]\" > d.csv; " \
         "sqlite3 x.db 'create table t(a int, b real, c text)' '.mode csv' '.import d.csv t' 'create index i on t(b)' 'select count(*), round(sum(b), 6), max(c) from t' " \
         "'select c from t order by b limit 3' 'pragma integrity_check'"
NODE = "let m = new Map(); for (let i = 0; i < 300000; i++) m.set('k' + i % 5000, [i, {a: i}]); let s = 0; for (const [k, v] of m) s += v[0]; " \
       "const h = require('crypto').createHash('sha256').update(JSON.stringify([...m])).digest('hex'); console.log(s, h); " \
       "require('zlib').gzip(Buffer.alloc(1 << 20, 7), (e, b) => console.log(b.length));"
REDIS = "redis-server --port 0 --unixsocket ./s --save '' --daemonize no > log & for i in $(seq 1 100); do [ -S s ] && break; sleep 0.1; done; " \
        "redis-benchmark -s ./s -n 20000 -q -t set,get,lpush,sadd,mset > /dev/null; redis-cli -s ./s eval 'for i=1,1000 do redis.call(\"set\", \"k\"..i, i) end return 7' 0; " \
        "redis-cli -s ./s dbsize; redis-cli -s ./s get k500; redis-cli -s ./s shutdown nosave; wait"
CC = "cat > a.c <<'E'\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + "\n".join(
    f"static int f{i}(int x) {{ int s = 0; for (int k = 0; k < x; k++) s += k * {i}; return s; }}" for i in range(200)) + \
    "\nint main(void) { int s = 0; " + " ".join(f"s += f{i}(3);" for i in range(200)) + " printf(\"%d\\n\", s); }\nE\ngcc -O2 -c a.c -o a.o && md5sum < a.o && gcc a.o -o a && ./a"


def python_tests():
    """The system's Python first: another one may load things at its start that its own tests do not expect."""
    for python in ("/usr/bin/python3", sys.executable):
        if os.path.exists(python) and subprocess.run([python, "-c", "import test.test_threading"], capture_output=True, check=False).returncode == 0:
            return f"{python} -m test test_threading {'' if h.SHORT else 'test_subprocess '}-q"
    return None


def postgres():
    """initdb and pgbench, as an unprivileged user."""
    places = sorted(p for p in glob.glob("/usr/lib/postgresql/*/bin") if os.path.exists(f"{p}/pgbench"))
    if not places:
        return None
    p, n = places[-1], 200 if h.SHORT else 2000
    return (f"{p}/initdb -D data -U bench -A trust --no-sync > /dev/null && {p}/postgres -D data -k $PWD -c listen_addresses= -c fsync=off 2> log & "
            f"for i in $(seq 1 200); do {p}/psql -qh $PWD -U bench -d postgres -c 'select 1' > /dev/null 2>&1 && break; sleep 0.2; done; "
            f"{p}/pgbench -qh $PWD -U bench -i postgres 2> /dev/null > /dev/null; {p}/pgbench -h $PWD -U bench -t {n} -c 2 postgres 2>/dev/null | grep 'actually'; "
            f"{p}/psql -Ath $PWD -U bench -d postgres -c 'select count(*) from pgbench_history' -c 'select sum(abalance) - sum(d) from pgbench_accounts, "
            f"(select sum(delta) d from pgbench_history) x where false'; {p}/pg_ctl -D data -m fast stop > /dev/null; wait")


def llama():
    modules = os.environ.get("LLAMA_MODULES")
    if not modules or not shutil.which("node"):
        return None
    return f"{sys.executable} {HERE}/make_gguf.py m.gguf --width 256 > /dev/null && node {HERE}/llama.mjs {os.path.abspath(modules)} m.gguf 40"


# name, what it does, the shell's words for it (None: not here), and whether it must not be root
PROGRAMS = [
    ("bash", "a script of arrays, functions and pipes", BASH, False),
    ("git", "30 commits, gc, fsck, log", GIT if shutil.which("git") else None, False),
    ("gcc", "compiling and linking 200 functions", CC if shutil.which("gcc") else None, False),
    ("CPython", "its own test_threading and test_subprocess", python_tests(), False),
    ("PostgreSQL", "initdb, server, pgbench", postgres(), True),
    ("SQLite", "importing 200,000 rows, an index, a check", SQLITE if shutil.which("sqlite3") else None, False),
    ("node", "maps, JSON, crypto, zlib", f"node -e '{NODE}'" if shutil.which("node") and "'" not in NODE else ("node n.js" if shutil.which("node") else None), False),
    ("Redis", "server and redis-benchmark", REDIS if shutil.which("redis-server") else None, False),
    ("llama.cpp", "40 tokens of a fixed model", llama(), False),
]

BY_NATURE = [(r"passed in .*", "passed"), (r"\d+(\.\d+)? (ms|sec|seconds|s)\b", "TIME"), (r"(?i)duration: .*", "DURATION"), (r"0x[0-9a-f]+", "ADDRESS"), (r"Raised RLIMIT.*\n", ""),
             (r"== .*\n", ""), (r"Using random seed.*", "SEED"), (r"\d+:\d\d:\d\d load avg: \S+ ", "")]


def plain_text(text):
    for pattern, instead in BY_NATURE:
        text = re.sub(pattern, instead, text)
    return text


def who(is_not_root):
    if not is_not_root or os.getuid():
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def run(words, folder, user, recorded):
    os.makedirs(folder)
    with open(os.path.join(folder, "n.js"), "w") as f:
        f.write(NODE)
    os.chmod(folder, 0o777)
    front = [h.INFEROM, "record", "--heap=exact", "-o", os.path.join(folder, "run.inferom"), "--"] if recorded else []
    made = subprocess.run([*front, "bash", "-c", words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=PATIENCE_S, check=False, **user)
    found = re.search(r"heap: ([\d ]+) allocations", made.stderr)
    unseen = re.search(r"(\d+) calls not seen", made.stderr)
    return plain_text(made.stdout), made.returncode, found.group(1) if found else "0", unseen.group(1) if unseen else "0", made.stderr


def main():
    folder = h.scratch()
    os.chmod(folder, 0o777)
    print("| program | what | allocations | not seen | output and status |\n|---|---|---|---|---|")
    for name, what, words, is_not_root in PROGRAMS:
        if NAMES and name not in NAMES:
            continue
        if not words:
            print(f"| {name} | {what} | - | - | not installed here |", flush=True)
            continue
        user = who(is_not_root)
        want, status, *_ = run(words, os.path.join(folder, name + "-plain"), user, False)
        try:
            got, ended, allocations, unseen, said = run(words, os.path.join(folder, name), user, True)
        except subprocess.TimeoutExpired:
            h.check(False, f"{name}: it hangs")
            continue
        same = (got, ended) == (want, status)
        h.check(same, f"{name}: printed {got[-600:]!r} and ended with {ended}; without us {want[-600:]!r} and {status}; {said[-500:]}")
        h.check(allocations != "0", f"{name}: no allocation was seen: {said[-300:]}")
        print(f"| {name} | {what} | {allocations.strip()} | {unseen} | {'the same' if same else 'DIFFERENT'} |", flush=True)
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    h.finish()


main()
