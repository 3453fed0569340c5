"""told.py NAME: what the reports of a run say of its findings."""

import json
import re
import sys

name = sys.argv[1]
report = json.load(open(f"{name}.json", encoding="utf-8"))
for kind in ("findings", "suppressed"):
    for finding in report.get(kind) or []:
        print(kind, finding["id"], finding["severity"], finding["rule"], finding.get("tool"), finding["title"])
        for place in finding.get("places", []):
            proofs = len(place["proofs"])
            print("   ", place["id"], place["tool"], "with proofs" if proofs else "without proofs", place["replay"].split()[2])
for result in json.load(open(f"{name}.sarif", encoding="utf-8"))["runs"][0]["results"]:
    names = [one["logicalLocations"][0]["fullyQualifiedName"] for one in result["locations"]]
    print("sarif", result["partialFingerprints"]["quintainFingerprint/v1"][:8], names)
markdown = open(f"{name}.md", encoding="utf-8").read()
print(*[line for line in markdown.splitlines() if "schema-bypass" in line and line.startswith("| info")], sep="\n")
text = open(f"{name}.txt", encoding="utf-8").read()
print(*[line for line in text.splitlines() if line.startswith(("INFO", "          confirmed"))], sep="\n")
page = open(f"{name}.html", encoding="utf-8").read()
print("html", len(re.findall("<article class=\"finding", page)), "findings,", len(re.findall("<li id=\"F-", page)), "places")
