"""Prints what a red-team report holds, without what differs from run to run."""

import json

report = json.load(open("report.json", encoding="utf-8"))
for finding in report["findings"]:
    forms = [proof["form"] for proof in finding["proofs"]]
    place = (finding.get("tool"), finding.get("argument"))
    print(finding["severity"], finding["confidence"], finding["rule"], *place, finding["cwe"], finding["id"], forms[:1])
for entry in report["coverage"]["notRun"]:
    print("not run:", entry["what"], entry["why"])
for entry in report["coverage"]["silent"]:
    print("silent:", entry["tool"])
