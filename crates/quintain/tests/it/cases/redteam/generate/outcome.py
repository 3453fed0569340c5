"""Prints how the tests of a report ended."""

import json
import sys

for row in json.load(open(sys.argv[1], encoding="utf-8"))["results"]["results"]:
    about = row["testCase"]["metadata"]
    print("PASS" if row["success"] else "FAIL", about["severity"], about["strategyId"], row["testCase"]["description"])
