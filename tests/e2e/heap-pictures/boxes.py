"""What a flame graph of memory shows: the boxes, their width and the words in their tip."""
import os
import sys

sys.path.insert(0, os.environ["E2E"])
from flame_boxes import boxes  # noqa: E402

for box in boxes(sys.argv[1]):
    print(f"{box.name:8} {box.wide:.3f}  {' | '.join(box.lines()[1:])}")
