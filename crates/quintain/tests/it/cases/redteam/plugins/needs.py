"""Every plugin that cannot be run says what it needs."""

import json

plugins = json.load(open("all.json", encoding="utf-8"))
runs = [one for one in plugins if one.get("runs", True)]
others = [one for one in plugins if not one.get("runs", True)]
print("attacks that run:", len(runs) > 30)
print("others, each with its need:", len(others) > 100 and all(one["needs"] for one in others))
print(sorted({need for one in others for need in one["needs"]}))
