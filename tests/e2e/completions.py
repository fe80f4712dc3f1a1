#!/usr/bin/env python3
"""Press TAB in bash, zsh and fish, and lint the manual page.

    completions.py INFEROM

Each row is a command line as far as it was typed and words that must be among
the offers, or must not. Shells that are not installed are skipped with a word.
"""
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

inferom = os.path.abspath(sys.argv[1])

#    typed so far                      offered             not offered
ROWS = [
    ("inferom ",                       "convert config",   "folded --output"),
    ("inferom con",                    "convert config",   "formats"),
    ("inferom --log debug for",        "formats",          "convert"),
    ("inferom --log ",                 "warn debug",       "convert"),
    ("inferom --ver",                  "--version",        "--output"),
    ("inferom convert --",             "--output --to --log", "--explain --version"),
    ("inferom convert --to ",          "folded",           "convert never"),
    ("inferom convert --output sa",    "sample.folded",    "convert"),
    ("inferom convert sa",             "sample.folded",    "convert"),
    ("inferom help for",               "formats",          "sample.folded"),
    ("inferom formats --js",           "--json",           "--explain"),
    ("inferom ru",                     "runs",             "convert"),
    ("inferom runs ",                  "show",             "convert"),
    ("inferom runs show --js",         "--json",           "--explain"),
    ("inferom runs show sa",           "sample.folded",    "convert"),
    ("inferom report --sort ",         "self total",       "folded"),
    ("inferom formats --color ",       "auto never",       "warn"),
]


def script(shell):
    return subprocess.run([inferom, "help", "--completion", shell], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def bash(line, env, _):
    words = line.split(" ")
    ask = 'source ./inferom.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _inferom; printf "%s\\n" "${COMPREPLY[@]}"'
    return subprocess.run(["bash", "--norc", "-c", ask, "bash", *words], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def fish(line, env, _):
    return subprocess.run(["fish", "--no-config", "-c", f"source ./inferom.fish; complete -C '{line}'"], env=env,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


class Zsh:
    """zsh completes only for a line being edited: it gets a terminal, and TAB, and is read back."""

    def __init__(self, env):
        pid, self.fd = pty.fork()
        if pid == 0:
            os.execvpe("zsh", ["zsh", "-f", "-i"], dict(env, TERM="dumb", PS1="> ", COLUMNS="200", LINES="50"))
        self.say("unsetopt zle_bracketed_paste list_beep; setopt no_always_last_prompt; LISTMAX=10000\n")
        self.say("fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; echo rea''dy\n")
        self.read_until({"ready"})

    def say(self, text):
        os.write(self.fd, text.encode())

    def read_until(self, words, limit_s=20):
        got, end = "", time.monotonic() + limit_s
        while not words <= set(got.split()) and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.2)[0]:
                got += os.read(self.fd, 65536).decode(errors="replace")
        return got

    def __call__(self, line, env, offered):
        self.say("\x15" + line + "\t\t")
        got = self.read_until(set(offered.split()), 5)
        time.sleep(0.1)
        self.say("\x15\necho do''ne\n")
        return got + self.read_until({"done"})


def check(shell, ask, env):
    failures = 0
    for line, offered, not_offered in ROWS:
        got = ask(line, env, offered)
        words = set(got.replace("\r", "\n").split())
        typed = set(line.split())
        lacking = [w for w in offered.split() if w not in words]
        extra = [w for w in not_offered.split() if w in words - typed]
        if lacking or extra:
            failures += 1
            print(f"{shell}: {line!r}: lacking {lacking}, too many {extra}\n{got}")
    print(f"{shell}: {len(ROWS)} lines, {failures} failures")
    return failures


def lint_manual():
    page = subprocess.run([inferom, "help", "--man"], check=True, stdout=subprocess.PIPE).stdout
    if not shutil.which("mandoc"):
        print("mandoc: not installed")
        return 0
    lint = subprocess.run(["mandoc", "-Tlint"], input=page, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    sys.stdout.write(lint.stdout.decode())
    return 1 if lint.returncode or lint.stdout else 0


def main():
    failures = lint_manual()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        open("sample.folded", "w").close()
        env = {"PATH": os.environ["PATH"], "HOME": work, "LC_ALL": "C.UTF-8", "TERM": "dumb"}
        for shell, name in ("bash", "inferom.bash"), ("zsh", "_inferom"), ("fish", "inferom.fish"):
            with open(name, "w") as f:
                f.write(script(shell))
        for shell, make in ("bash", lambda: bash), ("zsh", lambda: Zsh(env)), ("fish", lambda: fish):
            if shutil.which(shell):
                failures += check(shell, make(), env)
            else:
                print(f"{shell}: not installed")
        os.chdir("/")
    sys.exit(1 if failures else 0)


main()
