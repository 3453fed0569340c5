"""Tries the findings of the latest run again in another folder, and prints the commands that show them."""

import json
import subprocess
import tempfile

with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run(["quintain", "replay", "--all", "--json"], cwd=folder, stdout=subprocess.PIPE, check=False)
for finding in json.loads(done.stdout)["findings"]:
    print(finding["state"], finding["now"]["reproduce"])
