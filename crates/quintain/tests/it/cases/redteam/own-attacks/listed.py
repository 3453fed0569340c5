"""Prints the attacks that the suite defines."""

import json
import subprocess

told = subprocess.run(["quintain", "redteam", "plugins", "-c", "suite.yaml", "--json"], capture_output=True, check=True)
for attack in json.loads(told.stdout):
    if attack.get("defined"):
        print(attack["id"], attack["severity"], attack["cwe"], attack["frameworks"], attack["summary"])
