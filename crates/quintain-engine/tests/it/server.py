"""A small MCP server on standard input and output that crashes, starts slowly or answers out of order.

    server.py FOLDER NAME [wait SECONDS] [meet OTHER]

It writes one line per start to FOLDER/NAME. With `wait` it starts slowly; with `meet` it waits until the server
OTHER has started too.
"""

import json
import os
import sys
import threading
import time

FOLDER, NAME = sys.argv[1:3]
WISHES = dict(zip(sys.argv[3::2], sys.argv[4::2]))
WRITING = threading.Lock()


def say(request, **outcome):
    """Answers a request. Threads share the output."""
    with WRITING:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **outcome}), flush=True)


def called(request):
    """Answers tools/call, after a delay if the arguments have one."""
    params = request["params"]
    arguments = params.get("arguments") or {}
    if params["name"] == "crash":
        os._exit(7)
    result = {"content": [{"type": "text", "text": str(arguments.get("text"))}]}
    delay = arguments.get("delay_ms", 0) / 1000
    threading.Timer(delay, say, [request], {"result": result}).start()


def answer(request):
    """Answers any request."""
    method = request["method"]
    if method == "initialize":
        version = request["params"]["protocolVersion"]
        info = {"name": NAME, "version": "1"}
        say(request, result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "crash")]
        say(request, result={"tools": tools})
    elif method == "tools/call":
        called(request)
    else:
        say(request, error={"code": -32601, "message": "method not found"})


with open(os.path.join(FOLDER, NAME), "a", encoding="utf-8") as starts:
    starts.write("started\n")
time.sleep(float(WISHES.get("wait", 0)))
while "meet" in WISHES and not os.path.exists(os.path.join(FOLDER, WISHES["meet"])):
    time.sleep(0.01)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        answer(message)
