#!/usr/bin/env python3
"""Lets `quintain redteam run` attack twins, and counts what it finds and what it finds wrongly.

usage: measure.py --quintain PROGRAM [--table] [--full] [NAME...]

A twin is attacked by the attacks that it was made for; `--full` lets all others have a try, too, which takes minutes.

Prints one line per deviation: `missed` for a planted weakness that was not found in the weak twin, `false` for a confirmed finding that
nothing planted explains. Deviations that `known.json` lists are not printed; entries of it that did not occur are (`stale`), but for those
under `unsteady`, which come and go. Ends with 1 if anything was printed.
"""

import argparse
import json
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# A tool that is not listed and works is both.
SAME = {"hidden-tool": ("bfla",), "bfla": ("hidden-tool",)}


class Running:
    """An HTTP twin that runs until the end of the block."""

    def __init__(self, command, env):
        import os

        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**os.environ, **env}
        )
        self.url = None
        for line in self.process.stderr:
            found = re.search(r"listening on (\S+)", line)
            if found:
                self.url = found.group(1)
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def fill(value, places):
    if isinstance(value, str):
        for name, text in places.items():
            value = value.replace("{%s}" % name, text)
        return value
    if isinstance(value, list):
        return [fill(item, places) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, places) for key, item in value.items()}
    return value


def command_of(twin, args):
    program = "node" if twin["runtime"] == "node" else "python3"
    return [program, str(HERE / twin["file"]), *args]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def attack(twin, fixed, quintain, full):
    """The report of one run over the twin."""
    with tempfile.TemporaryDirectory(prefix="twin-") as folder:
        root = Path(folder) / "root"
        root.mkdir()
        listener = f"127.0.0.1:{free_port()}"
        places = {"root": str(root), "port": "0", "listener": f"http://{listener}"}
        args = fill(twin.get("args", []), places) + (["--fixed"] if fixed else [])
        env = fill(twin.get("env", {}), places)
        command = command_of(twin, args)
        redteam = {"identities": fill(twin["identities"], places)} if twin.get("identities") else {}
        # A twin that is told to trust an origin trusts that of the tester.
        if any("{listener}" in arg for arg in twin.get("args", [])):
            redteam["listener"] = listener
        # What is below the root of a twin was made for it and may be harmed.
        flags = [f"--include-destructive={twin['destructive']}"] if twin.get("destructive") else []
        if not full:
            redteam["plugins"] = sorted({weakness["attack"] for weakness in twin["weaknesses"]})
        if twin["transport"] == "http":
            with Running(command, env) as server:
                return run(quintain, {"url": server.url}, redteam, folder, flags=flags)
        server = {"command": command[0], "args": command[1:], "env": env}
        return run(quintain, server, redteam, folder, companions(twin, fixed), flags)


def companions(twin, fixed):
    others = []
    for companion in twin.get("companions", []):
        companion = {"file": companion} if isinstance(companion, str) else companion
        file, given = companion["file"], companion.get("args", [])
        program = "node" if file.endswith(".mjs") else "python3"
        args = [str(HERE / file), *given] + (["--fixed"] if fixed and "--fixed" not in given else [])
        others.append({"command": program, "args": args, "name": Path(file).stem + "-beside"})
    return others


def run(quintain, server, redteam, folder, others=(), flags=()):
    servers = [{**server, "name": "twin"}, *others]
    suite = {"targets": [{"id": "mcp", "config": {"servers": servers}}], "redteam": redteam}
    path = Path(folder) / "quintain.yaml"
    path.write_text(json.dumps(suite), encoding="utf-8")
    output = Path(folder) / "report.json"
    ran = subprocess.run(
        [quintain, "redteam", "run", "-c", str(path), "-o", str(output), "--no-write", "-q", *flags],
        capture_output=True,
        text=True,
        timeout=300,
    )
    if not output.exists() or ran.returncode not in (0, 100):
        raise SystemExit(f"{suite}\nended with {ran.returncode}: {ran.stderr}")
    return json.loads(output.read_text(encoding="utf-8"))


def place_of(finding):
    """Tool and argument as twins.json writes them."""
    place = finding["place"]
    kind = place["kind"]
    if kind == "argument":
        return place["tool"], place["pointer"]
    if kind == "tool":
        return place["tool"], None
    if kind == "resource":
        return "resource " + place["uri"], None
    if kind == "variable":
        return "resource " + place["template"], "/" + place["variable"]
    if kind == "uri":
        return "resource", None
    if kind == "prompt-argument":
        return "prompt " + place["prompt"], "/" + place["argument"]
    if kind == "prompt":
        return "prompt " + place["prompt"], None
    if kind == "header":
        return "header " + place["header"], None
    if kind == "message":
        return "message " + place["message"], None
    if kind == "completion":
        return "completion " + place["of"], "/" + place["argument"]
    return kind, None


def is_at(finding, planted):
    if finding["rule"] != planted["attack"] and finding["rule"] not in SAME.get(planted["attack"], ()):
        return False
    tool, argument = place_of(finding)
    wanted = planted.get("tool")
    if wanted is None:
        return True
    if tool != wanted and tool.split(" ")[0] not in ("message", "http", "flow", "server", "header"):
        if not (wanted.startswith("resource ") and tool.startswith("resource")):
            return False
    if tool.startswith("header") and wanted.startswith("header") and tool.lower() != wanted.lower():
        return False
    pointer = planted.get("argument")
    if pointer is None or argument is None or not pointer.startswith("/"):
        return True
    ours, theirs = argument.split("/")[1:], pointer.split("/")[1:]
    # The last part of a pointer into a free map or a list stands for any.
    return ours[:1] == theirs[:1]


def deviations(twin, quintain, full):
    found = {}
    seconds = {}
    for fixed in (False, True):
        started = time.monotonic()
        report = attack(twin, fixed, quintain, full)
        seconds[fixed] = time.monotonic() - started
        # What is said of several places at once is there for each of them.
        found[fixed] = [part for one in report["findings"] for part in one.get("places") or [one]]
    planted = twin["weaknesses"]
    allowed = planted + twin.get("tolerated", [])
    rows = []
    for weakness in planted:
        if not any(is_at(finding, weakness) for finding in found[False]):
            rows.append(("missed", "weak", weakness["attack"], weakness.get("tool"), weakness.get("argument")))
    for fixed, excused in ((False, allowed), (True, twin.get("tolerated", []))):
        for finding in found[fixed]:
            counts = finding["confidence"] == "confirmed" and finding["severity"] != "info"
            if not counts or finding.get("note") or any(is_at(finding, one) for one in excused):
                continue
            tool, argument = place_of(finding)
            rows.append(("false", "fixed" if fixed else "weak", finding["rule"], tool, argument))
    return rows, len(planted), seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quintain", required=True)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    twins = json.loads((HERE / "twins.json").read_text(encoding="utf-8"))
    known = json.loads((HERE / "known.json").read_text(encoding="utf-8"))
    counts, bad = {}, False
    for twin in twins:
        name = twin["name"]
        if options.names and name not in options.names:
            continue
        rows, _, seconds = deviations(twin, options.quintain, options.full)
        listed = {tuple(row) for row in known.get(name, []) + known.get("unsteady", [])}
        for row in rows:
            if row not in listed:
                bad = True
                print(name, *row)
        for row in listed - set(rows) - {tuple(row) for row in known.get("unsteady", [])}:
            bad = True
            print(name, "stale", *row)
        for weakness in twin["weaknesses"]:
            counts.setdefault(weakness["attack"], [0, 0, 0])[0] += 1
        for kind, _, rule, *_ in rows:
            counts.setdefault(rule, [0, 0, 0])[1 if kind == "missed" else 2] += 1
        if options.table:
            print(f"# {name}: {seconds[False]:.1f} s weak, {seconds[True]:.1f} s fixed", file=sys.stderr)
    if options.table:
        print("| attack | planted | found | false positives |\n|---|---|---|---|")
        for rule, (planted, missed, false) in sorted(counts.items()):
            print(f"| {rule} | {planted} | {planted - missed} | {false} |")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
