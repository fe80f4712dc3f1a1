#!/usr/bin/env python3
"""Check that the floors of the house point down only.

    floors.py SOURCE_ROOT BUILD_ROOT [--planted]

Includes are read from the sources, calls from the symbols of the built libraries:
what a floor leaves undefined must not be defined on its own level or above. With
--planted the check is tried on a copy of the sources, and on a library, in which
somebody broke the rule; it succeeds when both are found.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Bottom first; folders of one level do not see each other.
FLOORS = [
    ["base"],
    ["model", "net"],
    ["symbols", "unwind", "formats", "analyse", "codebase"],
    ["capture", "store", "render", "bench", "lab"],
    ["verbs"],
    ["server"],
    ["cli"],
]
LEVEL = {name: level for level, names in enumerate(FLOORS) for name in names}
GUEST_MAY_SEE = ("inferom.h", "inferom/", "common/", "client/", "heap/", "cuda/")


def sources(root):
    for folder, _, names in os.walk(root):
        yield from (os.path.join(folder, n) for n in names if n.endswith((".c", ".h", ".def")))


def includes(path):
    with open(path, encoding="utf-8") as f:
        yield from re.findall(r'^\s*#\s*include\s*"([^"]+)"', f.read(), re.M)


def wrong_includes(root):
    """Sentences about includes that go up or sideways, or out of the guest's room."""
    src = os.path.join(root, "src")
    for path in sources(src):
        here = os.path.relpath(path, src).split(os.sep)[0]
        for name in includes(path):
            there = name.split("/")[0] if "/" in name else here
            if there not in LEVEL or there == here:
                continue
            if LEVEL[there] >= LEVEL[here]:
                yield f"{os.path.relpath(path, root)} includes {name}: {there} is not below {here}"
    for path in sources(os.path.join(root, "guest")):
        for name in includes(path):
            beside = os.path.exists(os.path.join(os.path.dirname(path), name))
            if not beside and not name.startswith(GUEST_MAY_SEE):
                yield f"{os.path.relpath(path, root)} includes {name}: guests see inferom.h, wire.h and libc only"


def symbols(library, defined):
    flag = "--defined-only" if defined else "--undefined-only"
    out = subprocess.run(["nm", "--extern-only", "--format=just-symbols", flag, library],
                         check=True, capture_output=True, text=True).stdout
    return {line for line in out.splitlines() if line and not line.endswith(":")}


def wrong_calls(libraries):
    """Sentences about symbols that a floor takes from its own level or above."""
    home = {s: name for name, path in libraries.items() for s in symbols(path, True)}
    for name, path in libraries.items():
        for symbol in sorted(symbols(path, False) - symbols(path, True)):
            there = home.get(symbol)
            if there and LEVEL[there] >= LEVEL[name]:
                yield f"{name} calls {symbol}() of {there}, which is not below it"


def built_libraries(build):
    found = {}
    for folder, _, names in os.walk(os.path.join(build, "src")):
        for n in names:
            name = n[3:-2]
            if n.startswith("lib") and n.endswith(".a") and name in LEVEL:
                found[name] = os.path.join(folder, n)
    return found


def planted_faults(root, libraries):
    """Break both rules on purpose; each must be found."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(os.path.join(root, "src"), os.path.join(scratch, "src"))
        with open(os.path.join(scratch, "src/model/weights.c"), "a", encoding="utf-8") as f:
            f.write('#include "formats/format.h"\n')
        if not any("formats/format.h" in s for s in wrong_includes(scratch)):
            yield "an include from model up to formats was not found"

        code = os.path.join(scratch, "up.c")
        with open(code, "w", encoding="utf-8") as f:
            f.write("const void *format_at(unsigned long); const void *up(void); "
                    "const void *up(void) { return format_at(0); }\n")
        subprocess.run(["cc", "-c", code, "-o", os.path.join(scratch, "up.o")], check=True)
        broken = os.path.join(scratch, "libmodel.a")
        shutil.copy(libraries["model"], broken)
        # A thin archive names files relative to itself; make a real one of its members first.
        members = subprocess.run(["ar", "tP", libraries["model"]], check=True, capture_output=True, text=True).stdout.split()
        os.remove(broken)
        subprocess.run(["ar", "rcs", broken, os.path.join(scratch, "up.o"), *members], check=True)
        if not any("format_at" in s for s in wrong_calls({**libraries, "model": broken})):
            yield "a call from model up to formats was not found"
        linked = subprocess.run(["cc", "-shared", "-Wl,--no-undefined", os.path.join(scratch, "up.o"), broken,
                                 libraries["base"], "-lxxhash", "-lm", "-o", os.path.join(scratch, "up.so")],
                                capture_output=True, text=True)
        if "format_at" not in linked.stderr:
            yield "a call from model up to formats links"


def main():
    root, build = sys.argv[1], sys.argv[2]
    libraries = built_libraries(build)
    if len(libraries) < 5:
        sys.exit(f"only {sorted(libraries)} were found below {build}")
    faults = list(planted_faults(root, libraries) if "--planted" in sys.argv
                  else [*wrong_includes(root), *wrong_calls(libraries)])
    good = "the planted faults were found" if "--planted" in sys.argv else f"{len(libraries)} floors, all pointing down"
    print("\n".join(faults) or good)
    sys.exit(bool(faults))


main()
