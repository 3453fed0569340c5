"""The options as the report tells them."""
import json
for name in ("r.json", "s.json"):
    print(json.load(open(name))["runtimeOptions"])
