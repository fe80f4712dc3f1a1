import os
import sys

sys.path.insert(0, os.environ["E2E"])
from flame_boxes import boxes  # noqa: E402
from make import NAMES  # noqa: E402

found = boxes(sys.argv[1])
names = {b.name for b in found}
text = open(sys.argv[1], encoding="utf-8").read()
controls = [c for c in text if (ord(c) < 32 and c != "\n") or 0x7f <= ord(c) < 0xa0 or ord(c) in (0xfffe, 0xffff)]
plain = [n.decode() for n in NAMES[:5]]
missing = [n for n in plain if n not in names]
widest = max(len(b.label) * 6.71 - b.wide * 1180 for b in found if b.label and b.label.isascii())
print(f"{len(found)} boxes of {2 + 2 * len(NAMES)}, {len(missing)} names not as they were, {len(controls)} control characters, "
      f"labels {'inside' if widest < 0 else 'outside'} their boxes")
print(sorted(n for n in names if "\\x" in n))
print(max((b.label for b in found if "map" in b.name), key=len))
