import os
import sys

sys.path.insert(0, os.environ["E2E"])
from flame_boxes import boxes  # noqa: E402

NEUTRAL = "#d9d9d9"
found = boxes(sys.argv[1])
for box in found:
    if box.fill != NEUTRAL or box.hatch:
        print(f"  {box.name} {box.fill} {box.hatch} {100 * box.wide:.1f} %")
        print("".join(f"    {line}\n" for line in box.lines()[1:]), end="")
print(f"  {sum(b.fill == NEUTRAL and not b.hatch for b in found)} of {len(found)} grey")
