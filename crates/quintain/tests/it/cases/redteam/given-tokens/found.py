"""Prints what a red-team report holds, without what differs from run to run."""

import json

report = json.load(open("report.json", encoding="utf-8"))
for finding in report["findings"]:
    print(finding["severity"], finding["confidence"], finding["rule"], finding["title"])
for entry in report["coverage"]["notRun"]:
    print("not run:", entry["what"], entry["why"])
