"""Prints what came of the proposals."""

import json
import re

text = open("report.json", encoding="utf-8").read()
print("the key of the model is nowhere:", not re.search("(s3cret|wrong-key)-of-the-model", text))
report = json.loads(text)
for finding in report["findings"]:
    if finding["rule"] == "purpose":
        print(finding["severity"], finding["confidence"], finding["tool"], finding["proofs"][0]["form"])
for entry in report["coverage"]["notRun"]:
    print("not run:", entry["what"], "-", re.sub(r":\d+", ":PORT", entry["why"]))
