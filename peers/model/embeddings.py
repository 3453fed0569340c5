"""Real embeddings on loopback, in OpenAI's form: the mean of the vectors of a text's tokens.

    PORT=8080 embeddings.py

Started by `serve.py`, which chooses the port. It answers at /v1/embeddings.
"""

import importlib.util
import json
import os
import pathlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from safetensors.numpy import load_file
from tokenizers import Tokenizer

# The package is not imported: it needs more than is installed. Its files are all that is used.
HOME = pathlib.Path(importlib.util.find_spec("wordllama").submodule_search_locations[0])
VECTORS = next(iter(load_file(next((HOME / "weights").glob("*.safetensors"))).values()))
TOKENIZER = Tokenizer.from_file(str(next((HOME / "tokenizers").glob("*.json"))))


def embed(text):
    ids = TOKENIZER.encode(text, add_special_tokens=False).ids
    if not ids:
        return [0.0] * VECTORS.shape[1]
    return VECTORS[ids].astype("float32").mean(axis=0).tolist()


class Handler(BaseHTTPRequestHandler):
    """Answers one request; errors have OpenAI's form, too."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        data = [{"object": "embedding", "index": at, "embedding": embed(text)} for at, text in enumerate(texts)]
        usage = {"prompt_tokens": sum(len(text) for text in texts), "total_tokens": sum(len(text) for text in texts)}
        reply = json.dumps({"object": "list", "data": data, "model": "static-256", "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        """Nobody reads a log."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
