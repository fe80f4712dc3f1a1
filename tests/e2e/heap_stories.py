#!/usr/bin/env python3
"""Recordings in the case folders are what their stories tell: each is made again and compared.

    heap_stories.py HEAP_FILES [--update]
"""
import glob
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
stories = sorted(glob.glob(os.path.join(here, "*", "*.story")))
wrong = []
for story in stories:
    recording = story.removesuffix(".story") + ".inferom"
    with tempfile.TemporaryDirectory() as work:
        again = os.path.join(work, "again.inferom")
        subprocess.run([sys.argv[1], story, again], check=True)
        made = open(again, "rb").read()
    if "--update" in sys.argv:
        with open(recording, "wb") as f:
            f.write(made)
    if open(recording, "rb").read() != made:
        wrong.append(os.path.relpath(recording, here))
print(f"{len(stories)} stories", *wrong, sep="\n")
sys.exit(bool(wrong) or not stories)
