"""cases.py FILE...: one line per case of a JSON report."""

import json
import sys

for name in sys.argv[1:]:
    report = json.load(open(name))
    for row in report["results"]["results"]:
        quintain, response = row["quintain"], row.get("response") or {}
        answer = response.get("error") or response.get("output") or ""
        print(quintain["ordinal"], row["testIdx"], quintain["status"], row.get("description"), str(answer)[:60])
    stats = report["results"]["stats"]
    print(*(f"{stats[key]} {key}" for key in ("successes", "failures", "errors")), end=", ")
    print("interrupted" if report["quintain"]["interrupted"] else "complete", f"{report['quintain']['missing']} missing")
