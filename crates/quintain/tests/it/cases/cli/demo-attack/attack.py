"""Runs the demonstration and prints what it found. What is told by time alone depends on what else the machine does, and is left out."""

import json
import subprocess
import sys

TIME = ("dos-growth", "dos-malformed")

done = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=False)
told = json.loads(done.stdout)
planted = [one for one in told["planted"] if one["rule"] not in TIME]
for one in planted:
    print("found " if one["finding"] else "MISSED", one["rule"], one["place"])
for finding in told["patched"]:
    if finding["rule"] not in TIME:
        print("WRONG", finding["rule"], finding["place"], finding["title"])
complete = told["found"] == len(told["planted"]) and not told["patched"]
print("exit code fits:", done.returncode == (0 if complete else 70))
