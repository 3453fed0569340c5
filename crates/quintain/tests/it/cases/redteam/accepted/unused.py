"""Prints what the report says of entries that excuse nothing."""

import json

report = json.load(open("report.json", encoding="utf-8"))
print([finding["id"] for finding in report["suppressed"]])
print(json.dumps(report["unusedSuppressions"]))
