"""An HTTP server that exits for good after a number of tool calls."""
import json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

limit, calls = int(sys.argv[2]), 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        self.reply(200)

    def do_POST(self):
        global calls
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if request.get("id") is None:
            return self.reply(202)
        method, answer = request["method"], {"jsonrpc": "2.0", "id": request["id"]}
        if method == "initialize":
            about = {"name": "gone", "version": "1"}
            answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
        elif method == "tools/list":
            schema = {"type": "object", "properties": {"text": {"type": "string"}}}
            answer["result"] = {"tools": [{"name": "echo", "inputSchema": schema}]}
        elif method == "tools/call":
            calls += 1
            open("calls", "a").write(json.dumps(request["params"]) + "\n")
            if calls > limit:
                os._exit(1)
            answer["result"] = {"content": [{"type": "text", "text": "ok"}]}
        else:
            answer["error"] = {"code": -32601, "message": "no"}
        self.reply(200, answer)


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
