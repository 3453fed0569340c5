"""Prints what a red-team report holds, without what differs from run to run."""

import json

report = json.load(open("report.json", encoding="utf-8"))
for finding in sorted(report["findings"], key=lambda one: one["id"]):
    proof = finding["proofs"][0]
    print(finding["id"], finding["severity"], finding["confidence"], finding["rule"], finding["cwe"], finding["owasp"])
    print("   ", finding["title"])
    print("   ", proof["form"])
for entry in report["coverage"]["notRun"]:
    print("not run:", entry["what"], entry["why"])
for log in json.load(open("report.sarif", encoding="utf-8"))["runs"]:
    for rule in log["tool"]["driver"]["rules"]:
        print("rule:", rule["id"], rule["shortDescription"]["text"])
