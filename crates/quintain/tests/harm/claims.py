"""A server for tests of what a report claims. `crash`: exits when the id of a note contains a quotation mark.
`silent`: answers nothing any more after the first attack."""

import json
import sys

mode = sys.argv[1]
schema = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
tools = [{"name": "get_note", "description": "Read a note", "inputSchema": schema}]
is_silent = False

for line in sys.stdin:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        continue
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        continue
    method, params = message["method"], message.get("params")
    params = params if isinstance(params, dict) else {}
    if method == "initialize":
        about = {"name": "claims", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
    elif method == "tools/list":
        result = {"tools": tools}
    elif method == "ping":
        result = {}
    else:
        text = json.dumps(params.get("arguments", {}), ensure_ascii=False)
        if mode == "crash" and "'" in text:
            sys.exit(1)
        is_silent = is_silent or mode == "silent" and "'" in text
        result = {"content": [{"type": "text", "text": "a note"}]}
    if not is_silent:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
