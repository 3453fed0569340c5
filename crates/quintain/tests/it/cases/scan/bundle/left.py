"""Prints where SARIF says the server stands, and what was left in the folder."""

import json
import os

log = json.load(open("found.sarif", encoding="utf-8"))
for result in log["runs"][0]["results"]:
    print(result["ruleId"], result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
print(sorted(name for name in os.listdir(".") if "escape" in name or "server" in name))
print(os.path.exists("../escape.txt"))
