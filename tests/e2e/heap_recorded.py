"""What the cases about heap recordings share: fx-heap, built in every way that can be recorded, and its truth."""
from recording import *  # noqa: F401,F403
from recording import Recording, check, fixture, variants

LEAKS, LEAK_BYTES, HELD, HELD_BYTES, CHURNED, CHURN_BYTES = 1000, 4096, 3000, 2048, 6000, 512


def recorded(*options, heap="--heap=exact"):
    """A recording of each way fx-heap was built; a static program cannot be recorded."""
    ways = [v for v in variants("fx-heap") if v != "static"] or [fixture("fx-heap-nofp")[-4:]]
    for variant in ways:
        print(f"-- {variant}", flush=True)
        r = Recording([fixture("fx-heap-" + variant)], heap, *options)
        check("the program ran as ever", r.status == 0 and r.truth["allocations"] == LEAKS + HELD + CHURNED, r.status)
        yield r


def by_function(rows):
    """{function that allocated: its rows together}, numbers added up."""
    found = {}
    for row in rows:
        sums = found.setdefault(row["function"], dict.fromkeys((k for k, v in row.items() if isinstance(v, (int, float))), 0))
        for key in sums:
            sums[key] += row[key] or 0
    return found
