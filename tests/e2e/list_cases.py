#!/usr/bin/env python3
"""The case folders, one per line; with names given, whether the build knows them all.

    list_cases.py cmd             for meson, when it configures: folders that run.py replays
    list_cases.py live.py         folders with a program that measures something while it happens
    list_cases.py cmd NAME...     as a test: a folder added since then must not be forgotten silently
"""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
cases = sorted(name for name in os.listdir(here) if os.path.exists(os.path.join(here, name, sys.argv[1])))
if len(sys.argv) == 2:
    print("\n".join(cases))
    sys.exit(0)
unknown = sorted(set(cases) ^ set(sys.argv[2:]))
if unknown:
    print(f"the build was configured with other cases: {', '.join(unknown)}; run meson setup --reconfigure")
sys.exit(1 if unknown else 0)
