"""Prints how the tests of a report ended."""

import json
import sys

for row in json.load(open(sys.argv[1], encoding="utf-8"))["results"]["results"]:
    kinds = [check["assertion"]["type"] for check in row["gradingResult"]["componentResults"]]
    print("PASS" if row["success"] else "FAIL", row["testCase"]["description"], kinds)
