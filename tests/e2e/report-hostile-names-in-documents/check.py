"""Each document, read by a reader of its kind, holds the names as they are and nothing that they could have become."""
import csv
import html.parser
import json
import re
import sys
import xml.etree.ElementTree as ET

prefix, enhanced = sys.argv[1:]
names = json.load(open("names.json"))
short = [n for n in names if len(n) < 100]


def raw(path):
    data = open(path, "rb").read()
    assert b"\x1b" not in data and b"\x00" not in data, path
    return data.decode("utf-8")


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts, self.codes, self.tags, self.inside = 0, [], [], None

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.inside = tag
        self.scripts += tag == "script"
        assert not any(a.startswith("on") for a, _ in attrs), attrs
        if tag == "code":
            self.codes.append("")

    def handle_data(self, data):
        if self.inside == "code":
            self.codes[-1] += data

    def handle_endtag(self, tag):
        self.inside = None


page = Page()
page.feed(raw(prefix + ".html"))
for n in short:
    assert n.replace("\ufffe", "\ufffd") in page.codes, ("html", n)
assert page.scripts == 2, page.scripts  # the page's own, and the picture's
assert page.tags.count("body") == 1 and page.tags.count("svg") == 1

rows = list(csv.reader(raw(prefix + ".csv").splitlines()))
cells = [r[1] for r in rows[1:]]
assert all(len(r) == len(rows[0]) for r in rows)
for n in names:
    assert ("'" + n if n[0] in "=+-@" else n) in cells, ("csv", n)
assert not any(c[0] in "=+-@" for r in rows[1:] for c in r if c and not re.fullmatch(r"-?[\d.e-]+", c))

functions = [f["function"] for f in json.loads(raw(prefix + ".json"))["functions"]]
assert len(functions) == len(names) + 1 and "<script>alert(1)</script>" in functions

suite = ET.fromstring(raw(prefix + ".junit.xml"))[0]
assert "<script>alert(1)</script>" in [c.get("name") for c in suite.findall("testcase")]

for path in prefix + ".md", enhanced:
    text = raw(path)
    outside = re.sub(r"`[^`\n]*`", "", text)  # what is not code
    assert not re.search(r"<(?!/?code>)", outside), re.search(r"<(?!/?code>).{20}", outside)
    for line in text.splitlines():
        if line.startswith("| ") and re.match(r"\| \d", line):
            width = {prefix + ".md": 11, enhanced: 5}[path]
            assert len(line.strip("|").split("|")) in (width, 5, 8), line
terminal = raw(prefix + ".txt")
assert "\\x1b[31mred" in terminal and "<script>alert(1)</script>" in terminal
print(len(names), "names are text in HTML, CSV, JSON, JUnit, Markdown and on the terminal")
