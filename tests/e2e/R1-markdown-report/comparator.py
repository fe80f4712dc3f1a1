"""Read enhanced reports by the rules of SmallMind's comparator: rows between two emoji, numbers or the row is dropped."""
import sys


def parse(path):
    rows, inside = {}, False
    for line in open(path, encoding="utf-8"):
        if "\U0001F525 Hot Paths" in line:
            inside = True
        elif "\U0001F4BE Top Allocators" in line:
            inside = False
        elif inside and line.startswith("| ") and "Rank" not in line and "---" not in line:
            parts = [p.strip() for p in line.split("|") if p.strip()]
            name, time, calls, average = parts[1].strip("`"), float(parts[2]), int(parts[3]), float(parts[4])
            alloc = float(parts[5]) if len(parts) > 5 else 0.0
            rows[name] = (time, calls, average, alloc)
    return rows


for path in sys.argv[1:]:
    rows = parse(path)
    total = sum(time for time, *_ in rows.values())
    print(f"{path}: {len(rows)} methods, {total:g} together; {max(rows, key=lambda n: rows[n][0])} has most")
    for name, (time, calls, average, _) in rows.items():
        assert abs(average * calls - time) < 0.01 * calls, name
