"""Judges outputs; prints its address first."""

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path == "/slow":
            time.sleep(3)
        said = {"pass": asked["output"] == asked["context"]["vars"]["word"], "score": 0.75}
        text = b"no JSON" if self.path == "/odd" else json.dumps(said).encode()
        self.send_response(500 if self.path == "/down" else 200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}/judge"}), flush=True)
server.serve_forever()
