"""Prints what the report `out.json` says about the metrics of each row."""

import json

for row in json.load(open("out.json"))["results"]["results"]:
    print(row["testCase"].get("description", ""), row["success"], row["namedScores"])
    for component in row["gradingResult"]["componentResults"]:
        print("  ", component["assertion"]["type"], component["pass"], component["reason"])
    for finding in row["findings"]:
        print("   finding", finding["check"], finding["severity"], finding["call"])
    print("   metrics", {metric["name"]: metric["score"] for metric in row["metrics"]})
