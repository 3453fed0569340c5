"""Six tests at twenty a second cannot be done before a quarter of a second is over."""
import json
print(json.load(open("r.json"))["results"]["stats"]["durationMs"] >= 250)
