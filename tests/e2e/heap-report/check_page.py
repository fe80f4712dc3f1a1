"""The page has the chart, whose highest step is the peak, and the tables."""
import re
import sys

page = open(sys.argv[1]).read()
print(re.search(r'aria-label="(Live memory[^"]*)"', page).group(1))
print("tables", re.findall(r'<table id="heap-([a-z_]+)"', page))
steps = [float(y) for y in re.findall(r"V([\d.]+)", re.search(r'<path d="([^"]*)"', page).group(1))]
print("steps", len(steps), "the highest is the", steps.index(min(steps)) + 1, "th")
