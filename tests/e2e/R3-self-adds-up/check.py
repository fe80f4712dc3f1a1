"""check.py PREFIX COUNT 'NAME:SELF:TOTAL ...': the same numbers in every format, and the self ones add up."""
import csv
import html.parser
import json
import re
import sys

prefix, count, truth = sys.argv[1], int(sys.argv[2]), [t.split(":") for t in sys.argv[3].split()]
truth = [(name, float(own), float(total)) for name, own, total in truth]


class Rows(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.rows, self.cell, self.inside = [], None, False

    def handle_starttag(self, tag, attrs):
        self.inside |= tag == "table" and dict(attrs).get("id") == "functions"
        if self.inside and tag == "tr":
            self.rows.append([])
        if self.inside and tag == "td":
            self.cell = ""

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        if tag == "td" and self.cell is not None:
            self.rows[-1].append(self.cell)
            self.cell = None
        self.inside &= tag != "table"


def of_markdown():
    for line in open(prefix + ".md", encoding="utf-8"):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if len(cells) == 11 and cells[0].isdigit():
            yield cells[1].strip("`"), float(cells[8]), float(cells[2])


def of_json():
    for f in json.load(open(prefix + ".json"))["functions"]:
        yield f["function"], f["self"], f["total"]


def of_csv():
    for row in csv.DictReader(open(prefix + ".csv", newline="")):
        yield row["function"], float(row["self"]), float(row["total"])


def of_text():
    for line in open(prefix + ".txt"):
        m = re.match(r" *([\d ]+?)  +[\d.]+ %  +([\d ]+?)  +[\d.]+ %  (\S+)$", line)
        if m:
            yield m[3], float(m[1]), float(m[2])


def of_html():
    reader = Rows()
    reader.feed(open(prefix + ".html", encoding="utf-8").read())
    for row in reader.rows:
        if row:
            yield row[1], float(row[3].replace(" ", "")), float(row[6].replace(" ", ""))


for form in of_markdown, of_json, of_csv, of_text, of_html:
    rows = list(form())
    assert sorted(rows) == sorted(truth), (form.__name__, rows)
    assert sum(own for _, own, _ in rows) == sum(own for _, own, _ in truth)
shares = [f["self_share"] for f in json.load(open(prefix + ".json"))["functions"]]
assert len(shares) == count and abs(sum(shares) - 1) < 1e-12, shares
print(f"{count} functions, the same in Markdown, JSON, CSV, text and HTML; self shares add up to {100 * sum(shares):.10g} %")
