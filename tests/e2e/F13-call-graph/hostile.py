import sys

NAMES = [b"<script>alert(1)</script>", b'x"]]>', b"back\\slash\\n\\N\\", b"a&lt:b &amp: c", b"esc\x1b[31m", b"\xff\xfe",
         b"std::vector<" * 350, b"}", b"// no remark", "\u202e\u00e4\U0001f600".encode(), b"'", b"-->", b"\\"]
for name in NAMES:
    sys.stdout.buffer.write(b"main;" + name + b" 7\n")
