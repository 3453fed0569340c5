"""Answers with what it was asked; prints its address first."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if self.path == "/moved":
            self.send_response(307)
            self.send_header("location", "/ask")
            self.end_headers()
            return
        shown = {
            "path": self.path,
            "kind": self.headers.get("content-type"),
            "key": self.headers.get("x-api-key"),
            "authorization": self.headers.get("authorization"),
            "body": body,
        }
        text = json.dumps(shown).encode()
        self.send_response(503 if self.path == "/down" else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST

    def log_message(self, *arguments):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
place = f"127.0.0.1:{server.server_port}"
print(json.dumps({"url": f"http://{place}/ask", "hostport": place}), flush=True)
server.serve_forever()
