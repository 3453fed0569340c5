"""Judges outputs and counts how often it is asked; prints its address first."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

asked = []


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        asked.append(self.path)
        said = {"pass": True, "score": 0.5, "tokensUsed": {"total": 7, "prompt": 5, "completion": 2}}
        self.reply(json.dumps(said))

    def do_GET(self):
        self.reply(f"asked {len(asked)} times: {' '.join(sorted(asked))}\n")

    def reply(self, text):
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *arguments):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}/judge"}), flush=True)
server.serve_forever()
