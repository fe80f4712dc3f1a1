"""25, 12 and 6 % are critical, high and medium; less is nothing. And the numbers are those of the file."""
import json
import subprocess
import sys

d = json.load(open(sys.argv[1]))
print([(f["name"], f["samples"], f["percent"]) for f in d["cpu"]["top_functions"]], d["cpu"]["total_samples"])
with open("rule.folded", "w") as f:
    f.write("a 250\nb 120\nc 60\nd 40\n" + "".join(f"e{i} 10\n" for i in range(53)))
rule = json.loads(subprocess.run(["inferom", "report", "rule.folded", "--json"], check=True, stdout=subprocess.PIPE).stdout)
print([(b["function"], b["percent"], b["severity"]) for b in rule["bottlenecks"]])
