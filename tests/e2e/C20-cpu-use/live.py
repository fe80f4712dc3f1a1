"""CPU use per process and core is there as series, and says how much CPU time was used."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402


def experiment():
    r = Recording([fixture("fx-burn-fp"), "--seconds", 4])
    series = r.contents()["series"]
    process = next((s for s in series if s["name"] == "cpu use" and f"pid={r.truth['pid']}" in s["labels"]), None)
    check("there is a series for the process", process is not None, [s["labels"] for s in series])
    used = cpu_seconds(r.truth) / (r.truth["wall_ns"] / 1e9)
    near("percent of one core, as the program's clocks have it", process["mean"] / 100, used, 0.05 * used)
    check("it was read several times a second", process["readings"] >= 2 * r.truth["wall_ns"] / 1e9, process["readings"])
    cores = [s for s in series if s["name"] == "core use"]
    check("there is a series for each core", len(cores) == os.cpu_count(), len(cores))
    check("of percent", all(0 <= s["least"] and s["most"] <= 100.5 for s in cores), [(s["least"], s["most"]) for s in cores])
    busy = sum(s["mean"] for s in cores) / 100
    check("cores were as busy as the program at least", busy >= 0.9 * used, f"{busy:.3f} cores, {used:.3f} used")


need_sampling()
steady(experiment)
done()
