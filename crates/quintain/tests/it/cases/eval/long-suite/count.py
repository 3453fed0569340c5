"""Prints how many rows there are and which of them failed, one row in memory at a time."""

import json

count, failed = 0, []
with open("rows.jsonl", encoding="utf-8") as rows:
    for row in map(json.loads, rows):
        count += 1
        if not row["success"]:
            failed.append(row["testIdx"])
print(count, failed)
