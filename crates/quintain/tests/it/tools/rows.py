"""Prints what the report `out.json` says of each row."""

import json

for row in json.load(open("out.json"))["results"]["results"]:
    response, name = row["response"], row["provider"].get("label") or row["provider"]["id"]
    status = "PASS" if row["success"] else ("FAIL", "ERROR")[row["failureReason"] - 1]
    shown = {key: response.get(key) for key in ("output", "cost", "tokenUsage") if response.get(key)}
    print(status, row["score"], name, row["testCase"].get("description", ""), json.dumps(shown), sep=" | ")
    for line in (row.get("error") or "").splitlines():
        if line.endswith("Traceback: "):  # every version of an interpreter has its own
            break
        print("    " + line)
