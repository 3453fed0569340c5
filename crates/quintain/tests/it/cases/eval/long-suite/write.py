"""Writes a suite with more tests than trees of them would fit into the memory of the case."""

COUNT = 12_000

with open("suite.yaml", "w", encoding="utf-8") as suite:
    suite.write("targets: [echo]\nprompts: ['{{said}}']\ntests:\n")
    for at in range(COUNT):
        wanted = "something else" if at in (5, COUNT - 1) else f"call {at}"
        suite.write(f"  - description: call {at}\n    vars:\n      said: this is call {at}\n")
        suite.write(f"    assert:\n      - {{type: contains, value: {wanted}}}\n")
