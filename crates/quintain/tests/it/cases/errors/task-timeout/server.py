"""A server whose only task never ends."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    method, params = request["method"], request.get("params") or {}
    task = {"taskId": "survey", "status": "working", "pollInterval": 100}
    if method == "initialize":
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}},
            "serverInfo": {"name": "surveyor", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": [{"name": "survey", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}]}
    elif method == "tools/call":
        result = {"task": task}
    else:
        result = task
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
