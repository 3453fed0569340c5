"""A small MCP server: what it was started with, and tools of the names that it is given."""

import json
import os
import sys

TOOLS = sys.argv[1:] or ["show"]

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "small", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    elif method == "tools/call":
        shown = {
            "tool": params["name"],
            "arguments": params["arguments"],
            "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith("SHOP_")},
            "cwd": os.path.basename(os.getcwd()),
        }
        result = {"content": [{"type": "text", "text": json.dumps(shown, sort_keys=True)}]}
    elif method == "ping":
        result = {}
    else:
        error = {"code": -32601, "message": "method not found"}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
