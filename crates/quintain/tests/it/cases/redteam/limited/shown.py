"""Prints how far a run went: the places of each attack, and what did not run."""

import json
import sys

for file in sys.argv[1:]:
    report = json.load(open(file))["coverage"]
    for attack in report["attacks"]:
        print(file, attack["attack"], attack["trials"], attack.get("beyondLimit"), attack.get("unanswered"))
    for one in report["notRun"]:
        print(file, one["what"], "-", one["why"])
