"""Prints what the suite of the seed finds in the practice target, without what differs from run to run."""

import json

report = json.load(open("report.json", encoding="utf-8"))
for finding in report["findings"]:
    print(finding["severity"], finding["confidence"], finding["rule"], finding.get("tool"), finding.get("argument"))
for entry in report["coverage"]["notRun"]:
    print("not run:", entry["what"], entry["why"])
