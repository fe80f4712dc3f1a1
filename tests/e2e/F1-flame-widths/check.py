import os
import sys

sys.path.insert(0, os.environ["E2E"])
from flame_boxes import boxes  # noqa: E402

total, whole = {(): 0}, 0
for line in open(sys.argv[1]):
    stack, count = line.rsplit(" ", 1)
    frames = tuple(stack.split(";"))
    for n in range(len(frames) + 1):
        total[frames[:n]] = total.get(frames[:n], 0) + int(count)
found = boxes(sys.argv[2])
worst = 0
for box in found:
    share = total[box.path] / total[()]
    worst = max(worst, abs(box.wide / share - 1))
drawn = {box.path for box in found}
missing = [p for p in total if p not in drawn and total[p] / total[()] >= 0.001]
assert len(drawn) == len(found)
# Three digits behind the point of a pixel are what is written.
print(f"{len(found)} boxes, {len(missing)} missing, the furthest off by {'less than 0.1 %' if worst < 0.001 else worst}")
