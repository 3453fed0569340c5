"""Prints what was found, by which forms, and how often each attack was tried."""

import json

report = json.load(open("report.json", encoding="utf-8"))
for finding in sorted(report["findings"], key=lambda one: one["id"]):
    forms = sorted(proof["form"] for proof in finding["proofs"])
    print(finding["id"], finding["confidence"], finding["rule"], finding["place"]["tool"], forms)
for entry in report["coverage"]["notRun"]:
    print("not run:", entry["what"])
