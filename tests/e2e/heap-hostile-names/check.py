"""What came in as a name is text on the page: no tag, no attribute, no control byte of it survives."""
import sys

page = open(sys.argv[1], "rb").read().decode()
memory = page[page.index('<section id="heap">'):]
memory = memory[:memory.index("</section>")]
assert "<script>" not in memory and "<b>" not in memory and "<img" not in memory
assert not [c for c in memory if ord(c) < 32 and c != "\n"]
assert "&lt;script&gt;alert(1)&lt;/script&gt;" in memory and "\\x1b[2J" in memory
print("text")
