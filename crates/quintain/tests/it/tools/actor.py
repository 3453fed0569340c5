"""An MCP server whose tools do what a test needs. Every call is a line of the file `calls`."""

import json
import os
import sys
import time

PARENT = os.getppid()
sys.stdout.reconfigure(line_buffering=True)


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


TOOLS = ["say", "env", "count", "alternate", "hold", "die_once", "big", "fail"]

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    method, params = request["method"], request.get("params") or {}
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    if method == "initialize":
        answer["result"] = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "actor", "version": "1"},
        }
    elif method == "tools/list":
        schema = {"type": "object"}
        answer["result"] = {"tools": [{"name": name, "inputSchema": schema} for name in TOOLS]}
    elif method == "tools/call":
        tool, args = params["name"], params.get("arguments") or {}
        with open("calls", "a") as file:
            print(tool, json.dumps(args), file=file, flush=True)
        try:
            text, failed = act(tool, args), False
        except ValueError as error:
            text, failed = str(error), True
        answer["result"] = {"content": [{"type": "text", "text": text}], "isError": failed}
    else:
        answer["error"] = {"code": -32601, "message": "method not found"}
    print(json.dumps(answer))
