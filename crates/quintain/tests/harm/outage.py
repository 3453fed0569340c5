"""A server with one tool. `works` runs the host in a shell; every other mode is a server that does not work."""
import json
import os
import subprocess
import sys
import time

mode = sys.argv[1]
calls = 0


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(said, failed=False):
    return {"content": [{"type": "text", "text": said}], "isError": failed}


def call(number, arguments):
    global calls
    calls += 1
    if mode == "works":
        done = subprocess.run("echo checking " + str(arguments.get("host")), shell=True, capture_output=True, text=True)
        send({"id": number, "result": text(done.stdout + done.stderr)})
    elif mode == "hang":
        time.sleep(1000)
    elif mode == "die" or (mode == "gone" and calls > 1):
        open("gone", "w").close()
        os._exit(1)
    elif mode == "rpc":
        send({"id": number, "error": {"code": -32603, "message": "internal error, database down"}})
    elif mode == "iserr":
        send({"id": number, "result": text("503 backend unavailable", failed=True)})
    elif mode == "rate":
        send({"id": number, "error": {"code": -32000, "message": "rate limit exceeded"}})
    elif mode == "bad":
        send({"id": number, "result": "x"})
    else:
        send({"id": number, "result": text("ok")})


if mode == "gone" and os.path.exists("gone"):
    sys.exit(1)
schema = {"type": "object", "properties": {"host": {"type": "string"}}, "required": ["host"]}
for line in sys.stdin:
    try:
        request = json.loads(line)
    except ValueError:
        continue
    if not isinstance(request, dict) or request.get("id") is None:
        continue
    number, method = request["id"], request.get("method")
    if method == "initialize":
        about = {"name": "outage", "version": "1"}
        send({"id": number, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}})
    elif method == "tools/list" and mode == "unlisted":
        send({"id": number, "error": {"code": 1, "message": "no list today"}})
    elif method == "tools/list":
        send({"id": number, "result": {"tools": [{"name": "check_gateway", "inputSchema": schema}]}})
    elif method == "tools/call":
        call(number, (request.get("params") or {}).get("arguments") or {})
    else:
        send({"id": number, "error": {"code": -32601, "message": "unknown method"}})
