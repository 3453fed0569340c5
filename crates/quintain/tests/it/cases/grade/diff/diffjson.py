"""The JSON form, without the names of the runs."""
import json, subprocess
found = json.loads(subprocess.run(["quintain", "diff", "--json"], capture_output=True, check=True).stdout)
print(json.dumps({key: found[key] for key in ("grade", "selection")}, indent=1))
