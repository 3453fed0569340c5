"""A server that takes 20 seconds for one thing, and does the rest at once. Nothing lives longer than two minutes.

usage: slow.py MODE [http]

MODE is what is slow: `start`, `initialize`, `list`, `call`, or `hold`: it answers no call of a tool at all, ignores SIGTERM, and keeps
writing to its standard error. Over HTTP (`call`, `list`, `drip`, `close`) it prints `listening on URL` to standard error; `drip` sends the
answer to a call byte by byte, `close` does not answer DELETE.
"""

import json
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODE = sys.argv[1]
LONG = 20
signal.alarm(120)
TEXT = {"type": "string", "description": "Any text"}
TOOLS = [
    {"name": f"tool_{number}", "description": "Does something.", "inputSchema": {
        "type": "object", "properties": {"text": TEXT, "path": TEXT, "url": TEXT}, "required": ["text", "path", "url"]}}
    for number in range(6)
]


def result(request):
    method = request.get("method")
    if MODE == {"initialize": "initialize", "tools/list": "list", "tools/call": "call"}.get(method):
        time.sleep(LONG)
    if method == "tools/call" and MODE == "hold":
        time.sleep(3600)
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "slow", "version": "1"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": "done"}]}
    return {} if method == "ping" else None


def answer(request):
    found = result(request)
    if found is None:
        return {"jsonrpc": "2.0", "id": request.get("id"), "error": {"code": -32601, "message": "Method not found"}}
    return {"jsonrpc": "2.0", "id": request.get("id"), "result": found}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in request:
            self.send_response(202)
            self.send_header("content-length", "0")
            return self.end_headers()
        body = json.dumps(answer(request)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("mcp-session-id", "s-1")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if MODE == "drip" and request.get("method") == "tools/call":
            for at in range(len(body)):
                self.wfile.write(body[at:at + 1])
                self.wfile.flush()
                time.sleep(0.5)
        else:
            self.wfile.write(body)

    def do_GET(self):
        self.send_response(405)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_DELETE(self):
        if MODE == "close":
            time.sleep(3600)
        self.do_GET()

    def log_message(self, *_):
        pass


def chatter():
    while True:
        print("still here", file=sys.stderr, flush=True)
        time.sleep(0.2)


def main():
    if sys.argv[2:] == ["http"]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(f"listening on http://127.0.0.1:{server.server_port}/mcp", file=sys.stderr, flush=True)
        return server.serve_forever()
    if MODE == "hold":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        threading.Thread(target=chatter, daemon=True).start()
    if MODE == "start":
        time.sleep(LONG)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            print(json.dumps(answer(request)), flush=True)
    if MODE == "hold":
        time.sleep(3600)


main()
