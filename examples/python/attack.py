"""Attacks the practice target and prints what was proven."""

from quintain import redteam

result = redteam("quintain", "demo", "--stdio", "--vulnerable", plugins=["sql-injection", "command-injection"])
for finding in result.at_least("high"):
    print(finding)
