"""Functions come with the file and line where the source has them."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

import re  # noqa: E402

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "workloads")


def where(function):
    """file:line of the definition, by reading the source."""
    for name in "fx_burn.c", "truth.c":
        with open(os.path.join(SOURCES, name)) as f:
            for number, line in enumerate(f, 1):
                if re.match(rf"(static |KEPT |void |int |\*)*{function}\(.*[^;]$", line.rstrip()):
                    return f"{name}:{number}"
    raise LookupError(function)


need_sampling()
r = Recording([fixture("fx-burn-nofp"), "--seconds", 1])
places = {f["function"]: f["place"] for f in r.report()["functions"]}
for function in "burn_a", "burn_b", "burn_c", "burn_w", "main", "worker_run":
    got = places.get(function, "")
    check(f"{function} is at {where(function)}", got.rsplit("/", 1)[-1] == where(function), got)
done()
