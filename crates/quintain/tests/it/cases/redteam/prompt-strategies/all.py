"""Writes a suite with every strategy that applies to models, as in its documentation, and checks that each of them was applied."""

import json
import subprocess
import sys

LISTED = json.loads(subprocess.run(["quintain", "list", "strategies", "--json"], capture_output=True, text=True, check=True).stdout)
NAMES = [entry["id"] for entry in LISTED if "models" in entry["suits"]]


def write():
    lines = []
    for entry in LISTED:
        if entry["id"] in NAMES:
            example = entry["docs"].split("```yaml\n")[1].split("```")[0]
            lines += ["  " + line for line in example.rstrip().split("\n")[1:]]
    with open("suite.yaml", encoding="utf-8") as file:
        head = file.read()
    with open("all.yaml", "w", encoding="utf-8") as file:
        file.write(head + "  strategies:\n" + "\n".join(lines) + "\n")


def check():
    report = json.load(open("report.json", encoding="utf-8"))
    applied = {row["testCase"]["metadata"]["strategyId"] for row in report["results"]["results"]}
    print("applied:", len(applied & set(NAMES)) > 100)
    print("not applied:", ", ".join(name for name in NAMES if name not in applied))
    for entry in report["coverage"]["notRun"]:
        print("not run:", entry["what"], "-", entry["why"])


write() if sys.argv[1] == "write" else check()
