"""Prints what was found, and what was not run."""

import json
import re

report = json.load(open("report.json", encoding="utf-8"))
for finding in report["findings"]:
    print(finding["severity"], finding["confidence"], finding["rule"], len(finding["proofs"]), "proofs")
for attack in report["coverage"]["attacks"]:
    print(attack["attack"], attack["hits"], "of", attack["trials"], attack.get("passAt", ""))
for entry in report["coverage"]["notRun"]:
    print("not run:", entry["what"], "-", re.sub(r"\d+ used", "N used", entry["why"]))
