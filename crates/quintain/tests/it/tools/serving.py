"""The loop that small MCP servers of the tests share."""

import json
import sys


def said(text, **more):
    """The result of a call that says this."""
    return {"content": [{"type": "text", "text": text}], **more}


def takes(*names):
    """The schema of a tool that takes these texts."""
    return {"type": "object", "required": list(names), "properties": {name: {"type": "string"} for name in names}}


def serve(name, tools, call):
    """Lists tools, and answers calls with what `call` returns for name and arguments; for a KeyError of it, with one of the protocol."""
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
                "serverInfo": {"name": name, "version": "1"},
            }
        elif method == "tools/list":
            answer["result"] = {"tools": tools}
        elif method == "tools/call":
            try:
                answer["result"] = call(params["name"], params.get("arguments") or {})
            except KeyError:
                answer["error"] = {"code": -32602, "message": "unknown tool"}
        elif method == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": -32601, "message": "method not found"}
        print(json.dumps(answer), flush=True)
