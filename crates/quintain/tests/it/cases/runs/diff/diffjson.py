"""The JSON form, without what depends on the time."""
import json, subprocess
found = json.loads(subprocess.run(["quintain", "diff", "--json"], capture_output=True, check=True).stdout)
found["diff"].pop("latency")
print(json.dumps(found, indent=1))
