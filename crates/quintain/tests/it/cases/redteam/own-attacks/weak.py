"""A server with weaknesses that only its owner knows of; `--fixed` has none of them."""

import json
import re
import sys

FIXED = "--fixed" in sys.argv


def text(name):
    return {"type": "object", "required": [name], "properties": {name: {"type": "string"}}}


TOOLS = {
    "quote": ("expression", "Quotes a price"),
    "note": ("text", "Keeps a note"),
    "get_order": ("sku", "Shows an order"),
}
if not FIXED:
    TOOLS["purge"] = ("table", "Purges")


def call(name, arguments):
    value = str(arguments.get(TOOLS.get(name, ("word", ""))[0], ""))
    if name == "quote":
        factors = re.search(r"(\d+)\*(\d+)", value)
        if factors and not FIXED:
            return f"that is {int(factors[1]) * int(factors[2])}"
        return f"no price for {value}"
    if name == "note":
        return f"noted: {value}"
    if name == "get_order":
        return "order for Ann, margin 40 %" if not FIXED else "order for Ann"
    if name == "backdoor" and not FIXED:
        return "welcome"
    raise KeyError(name)


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
            "serverInfo": {"name": "weak", "version": "1"},
        }
    elif method == "tools/list":
        answer["result"] = {
            "tools": [
                {"name": name, "description": about, "inputSchema": text(argument)}
                for name, (argument, about) in TOOLS.items()
            ]
        }
    elif method == "tools/call":
        try:
            said = call(params["name"], params.get("arguments") or {})
            answer["result"] = {"content": [{"type": "text", "text": said}]}
        except KeyError:
            answer["error"] = {"code": -32602, "message": "unknown tool"}
    elif method == "ping":
        answer["result"] = {}
    else:
        answer["error"] = {"code": -32601, "message": "method not found"}
    print(json.dumps(answer), flush=True)
