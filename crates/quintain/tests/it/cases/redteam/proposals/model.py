"""A model that answers as told: calls that fit the purpose, chatter around them, and one tool that is not there."""

import http.server
import json
import sys

CALLS = [
    {"tool": "get_user_data", "args": {"user_id": "user_ada"}},
    {"tool": "search_customers", "args": {"query": "a"}},
    {"tool": "open_the_vault", "args": {}},
    {"tool": "delete_user", "args": {"user_id": "user_ada"}},
]


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        good = self.headers["authorization"] == "Bearer s3cret-of-the-model"
        prompt = asked["messages"][0]["content"]
        good = good and "payments" in prompt and "search_customers" in prompt and asked["model"] == "tiny"
        text = "Certainly! {Here} they are:\n" + json.dumps({"calls": CALLS})
        body = {"choices": [{"message": {"role": "assistant", "content": text}}]} if good else {"error": "no"}
        body = json.dumps(body).encode()
        self.send_response(200 if good and "/v1/chat/completions" == self.path else 400)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}/v1"}))
sys.stdout.flush()
server.serve_forever()
