"""A run that a budget broke off and that was gone on with comes to what a whole one comes to."""

import json


def read(name):
    with open(name, encoding="utf-8") as file:
        report = json.load(file)
    found = {(one["fingerprint"], one["confidence"]) for one in report["findings"]}
    rows = sorted(row["description"] for row in report["results"]["results"])
    return found, rows


first, second, whole = read("first.json"), read("second.json"), read("whole.json")
print("the budget broke it off:", len(first[1]) < len(whole[1]))
print("the same findings in the end:", second[0] == whole[0])
print("the same bouts in the end:", second[1] == whole[1])
