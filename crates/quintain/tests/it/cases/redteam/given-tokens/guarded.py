"""An HTTP server that wants a token and does not look at its age."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GOOD = ("good-token-5b1f", "old-token-77ac")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(405)

    do_DELETE = do_GET

    def do_POST(self):
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Authorization", "").removeprefix("Bearer ") not in GOOD:
            return self.answer(401, {"error": "invalid_token"})
        try:
            request = json.loads(sent)
        except ValueError:
            return self.answer(400, {"error": "no JSON"})
        if "id" not in request:
            return self.answer(202)
        method, params = request.get("method"), request.get("params") or {}
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        if method == "initialize":
            answer["result"] = {
                "protocolVersion": params.get("protocolVersion"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "guarded", "version": "1"},
            }
        elif method == "tools/list":
            answer["result"] = {"tools": [{"name": "list_things", "inputSchema": {"type": "object"}}]}
        elif method == "tools/call":
            answer["result"] = {"content": [{"type": "text", "text": "one thing"}]}
        elif method == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": -32601, "message": "method not found"}
        return self.answer(200, answer)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(json.dumps({"url": f"http://127.0.0.1:{server.server_address[1]}/mcp"}), flush=True)
server.serve_forever()
