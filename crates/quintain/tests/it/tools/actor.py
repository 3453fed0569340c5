"""An MCP server whose tools do what a test needs. Every call is a line of the file `calls`."""

import json
import os
import sys
import time

# The folder of the tools, to which this file is a link, stays as it is.
sys.dont_write_bytecode = True
from serving import said, serve

PARENT = os.getppid()


def count(name):
    """How often this was called with this name, over all processes of the test."""
    with open(f"count-{name}", "a+") as file:
        file.write("x")
        return file.tell()


def act(tool, args):
    if tool == "say":
        return args.get("text", "")
    if tool == "env":
        return os.environ.get(args["name"], "")
    if tool == "count":
        return str(count(args.get("name", "")))
    if tool == "alternate":
        return args["texts"][(count(args.get("name", "")) - 1) % len(args["texts"])]
    if tool == "hold":
        # Whoever waits for an orphan waits in vain.
        while not os.path.exists("go") and os.getppid() == PARENT:
            time.sleep(0.01)
        return "let go"
    if tool == "die_once":
        if count("death") == 1:
            os._exit(1)
        return "alive"
    if tool == "big":
        return "x" * (int(args["mb"]) * 1_000_000)
    raise ValueError(args.get("text", f"no tool {tool}"))


def call(tool, args):
    with open("calls", "a") as file:
        print(tool, json.dumps(args), file=file, flush=True)
    try:
        return said(act(tool, args), isError=False)
    except ValueError as error:
        return said(str(error), isError=True)


TOOLS = ["say", "env", "count", "alternate", "hold", "die_once", "big", "fail"]

serve("actor", [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS], call)
