"""What a case looked at, a line each, and at the end whether all of it was true: one that is not does not hide the others."""
import sys

failures = []


def check(what, ok, seen):
    print(f"{'ok  ' if ok else 'FAIL'} {what}: {seen}", flush=True)
    if not ok:
        failures.append(what)


def same(what, seen, want):
    check(f"{what} is {want}", seen == want, seen)


def finish():
    sys.exit(f"{len(failures)} not true: " + "; ".join(failures) if failures else 0)
