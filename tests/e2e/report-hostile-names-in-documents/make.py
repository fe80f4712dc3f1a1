"""hostile.folded, and the names in it as names.json (as shown: bytes that are not text as \\x1b)."""
import json

NAMES = [b"<script>alert(1)</script>", b'"]]>', b"--></style></svg>", b"a|b", b"a`b``c", b"=cmd()", b"@x", b"-y", b"+z", b"&lt", b"'\"",
         b"\x1b[31mred", b"\xff\xfe", b"tab\there", b"std::vector<std::map<int," + b"x" * 4000 + b">>", "\ufffe".encode(), "\u202eabc".encode(),
         b"[link](http://x)", b"# head", b"**bold**", b"operator||", b"</code>", b"\\", b"${x}", b"{{x}}"]
with open("hostile.folded", "wb") as f:
    for i, name in enumerate(NAMES):
        f.write(b"main;" + name + b" %d\n" % (100 + i))


def shown(name):
    return "".join(c if c.isprintable() or c in "\u202e\ufffe" else c.encode("unicode_escape").decode() for c in name.decode(errors="backslashreplace")).replace("\\t", "\\x09")


with open("names.json", "w") as f:
    json.dump([shown(n) for n in NAMES], f)
