"""Starts every twin weak and fixed and proves that each planted weakness is there, and is gone.

    python3 check.py [NAME...]

One valid call per tool must succeed on both; each exploit must work on the weak twin and must not on the fixed one.
Exits with 1 on any mismatch.
"""

import importlib
import json
import os
import sys
import traceback

sys.dont_write_bytecode = True
from exploits import EXPLOITS, VALID  # noqa: E402
from exploits.client import HERE, Dead, World  # noqa: E402

for module in sorted(os.listdir(os.path.join(HERE, "exploits"))):
    if module.endswith(".py") and module not in ("__init__.py", "client.py"):
        importlib.import_module("exploits." + module[:-3])


def calls(twin, fixed):
    """What went wrong in one valid call per tool."""
    world = World(twin, fixed)
    try:
        client = world.start()
        listed = client.tools()
        wanted = dict(VALID.get(twin["name"], {}))
        wrong = [f"no valid call for {tool}" for tool in listed if tool not in wanted]
        for tool, arguments in wanted.items():
            if tool in listed:
                if callable(arguments):
                    arguments = arguments(client, world)
                result = client.call(tool, arguments)
                if result.failed:
                    wrong.append(f"{tool}: {result.text[:300]}")
        return wrong, set(listed)
    finally:
        world.close()


def works(twin, proof, fixed):
    world = World(twin, fixed)
    try:
        return bool(proof(world.start(), world))
    finally:
        world.close()


def attempt(wrong, label, action, *arguments):
    try:
        return action(*arguments)
    except (Dead, OSError, AssertionError, KeyError, IndexError, ValueError, TypeError):
        wrong.append(f"{label}: {traceback.format_exc()}")
        return None


def main():
    with open(os.path.join(HERE, "twins.json"), encoding="utf-8") as file:
        twins = json.load(file)
    names = [twin["name"] for twin in twins]
    wrong = [f"{name}: twice in twins.json" for name in set(names) if names.count(name) > 1]
    if len(sys.argv) > 1:
        twins = [twin for twin in twins if twin["name"] in sys.argv[1:]]
    planned = set()
    print(f"{'twin':22} {'weakness':70} {'weak':5} fixed")
    for twin in twins:
        listed = set()
        for fixed in (False, True):
            label = f"{twin['name']} {'fixed' if fixed else 'weak'}"
            found = attempt(wrong, label, calls, twin, fixed)
            if found:
                wrong += [f"{label}: {text}" for text in found[0]]
                listed |= found[1]
                print(f"{twin['name']:22} {len(found[1])} tools {'(fixed)' if fixed else '(weak)'}")
        wrong += [f"{twin['name']}: {tool} is not listed" for tool in VALID.get(twin["name"], {}) if tool not in listed]
        for weakness in twin["weaknesses"]:
            key = (twin["name"], weakness["attack"], weakness["tool"], weakness.get("argument"))
            planned.add(key)
            shown = f"{weakness['attack']} {weakness['tool']} {weakness.get('argument') or ''}"
            if key not in EXPLOITS:
                wrong.append(f"{twin['name']}: no exploit for {shown}")
                continue
            seen = [attempt(wrong, f"{twin['name']} {shown} fixed={f}", works, twin, EXPLOITS[key], f) for f in (False, True)]
            print(f"{'':22} {shown:70} {'yes' if seen[0] else 'NO':5} {'YES' if seen[1] else 'no'}", flush=True)
            if seen != [True, False]:
                wrong.append(f"{twin['name']}: {shown}: weak {seen[0]}, fixed {seen[1]}")
    if len(sys.argv) == 1:
        wrong += [f"{key}: exploit without a weakness in twins.json" for key in EXPLOITS if key not in planned]
        files = sorted(f"{d}/{f}" for d in ("python", "node") for f in os.listdir(os.path.join(HERE, d)))
        named = {twin["file"] for twin in twins} | {"python/mcp.py", "node/mcp.mjs", "node/sqlite.mjs"}
        wrong += [f"{file} is not in twins.json" for file in files if file not in named and "." in file]
    for text in wrong:
        print("MISMATCH", text)
    print(f"{len(twins)} twins, {len(planned)} weaknesses, {len(wrong)} mismatches")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
