#!/usr/bin/env python3
"""Run every example of the manual page, as a reader would, and see that it works.

    manual_examples.py INFEROM

The page itself is the list. A reader has a profile called run.something; here
they are made from PROFILE before the first example.
"""
import os
import re
import subprocess
import sys
import tempfile

inferom = os.path.abspath(sys.argv[1])
UNSUPPORTED = 5
PROFILE = "main;load 10\nmain;decode;matmul 60\nmain;decode;softmax 30\n"


def examples():
    page = subprocess.run([inferom, "help", "--man"], check=True, text=True, stdout=subprocess.PIPE).stdout
    section = page[page.index(".Sh EXAMPLES"):]
    blocks = re.findall(r"^\.Bd.*?\n(.*?)^\.Ed", section, re.M | re.S)
    return [line for block in blocks for line in block.splitlines()]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        env = {"PATH": os.path.dirname(inferom) + ":" + os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": work}
        env.update((k, v) for k, v in os.environ.items() if k.endswith("SAN_OPTIONS"))
        with open(os.path.join(work, "run.folded"), "w") as f:
            f.write(PROFILE)
        subprocess.run([inferom, "convert", "run.folded", "-o", "run.inferom"], cwd=work, env=env, check=True)
        commands = examples()
        for command in commands:
            before = set(os.listdir(work))
            done = subprocess.run(["sh", "-c", command], cwd=work, env=env, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            did_something = done.stdout or set(os.listdir(work)) - before
            if done.returncode == UNSUPPORTED and "this build has no" in done.stdout:
                print(f"not here: {command}: {done.stdout.strip()}")
            elif done.returncode or not did_something:
                failed += 1
                print(f"$ {command}\nstatus {done.returncode}\n{done.stdout}")
    print(f"{len(commands)} examples, {failed} failed")
    sys.exit(1 if failed or not commands else 0)


main()
