"""What the cases about memory seen from outside share; they begin with 'from memory import *'."""
from recording import *  # noqa: F401,F403
from recording import inferom

KINDS = ["rss", "anon", "file", "shared", "swap"]
PAGE = 4096


def process_memory(path):
    return inferom("report", "--json", "--memory", path)["process_memory"]


def process_of(memory, pid):
    return next(p for p in memory["processes"] if p["pid"] == pid)


def during(readings, step):
    """Values read while the program stood still. One that was taken as it began may be of the moment before."""
    return [value for time, value in readings if step["from_ns"] < time < step["to_ns"]]
