"""The headings and columns that were promised, in their order."""
import sys

PROMISED = {
    "System Information": None,
    "Hot Paths (by Time)": "Rank|Method|Total Time (ms)|% of Total|Calls|Avg Time (ms)|Min (ms)|Max (ms)",
    "Top Allocators (by Memory)": "Rank|Method|Total Alloc (MB)|% of Total|Calls|Avg Alloc (KB)",
    "Most Called Methods": "Rank|Method|Calls|Total Time (ms)|Avg Time (us)",
    "Call Hierarchy": None,
    "Performance Insights": None,
}
text = open(sys.argv[1], encoding="utf-8").read()
head, *parts = text.split("\n## ")
sections = {p.partition("\n")[0]: p for p in parts}
assert head.startswith("# Performance Profile Report\n"), head
for bold in "Generated", "Total Runtime", "Total Allocations", "Methods Profiled":
    assert f"**{bold}:** " in head, bold
assert list(sections) == list(PROMISED), list(sections)
for title, columns in PROMISED.items():
    if columns:
        row = next(line for line in sections[title].splitlines() if line.startswith("| Rank"))
        got = [c.strip() for c in row.strip("|").split("|")]
        assert got[:columns.count("|") + 1] == columns.split("|"), got
print("six sections, columns as promised")
