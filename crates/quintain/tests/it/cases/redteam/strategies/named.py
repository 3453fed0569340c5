"""The strategy of every row, in the JSON and in the table, and of every finding."""

import csv
import json

report = json.load(open("report.json", encoding="utf-8"))
for row in sorted(report["results"]["results"], key=lambda row: row["description"]):
    metadata = row["testCase"]["metadata"]
    print(row["success"], row["description"], metadata["strategyId"], metadata.get("strategiesTried"))
for finding in report["findings"]:
    print(finding["tool"], finding.get("strategies"))
rows = list(csv.DictReader(open("report.csv", encoding="utf-8")))
print(sorted(row["strategyId"] for row in rows))
