"""What every mode over HTTP is made of: an honest streamable-HTTP server whose parts a mode replaces.

A mode is a subclass of Handler in MODES. Every server records the requests it gets and tells them at `/seen`.
"""

import json
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from protocol import answer

MODES = {}


def mode(name):
    """Registers a handler class as a mode."""

    def register(handler):
        MODES[name] = handler
        return handler

    return register


class Handler(BaseHTTPRequestHandler):
    """An honest server at any path: streamable HTTP of the era with a handshake, JSON answers."""

    protocol_version = "HTTP/1.1"
    # Without this each small write may wait for an acknowledgement.
    disable_nagle_algorithm = True

    # Parts for modes to replace.

    def on_call(self, request):
        """Answers tools/call."""
        self.send_json(answer(request))

    def on_request(self, request):
        """Answers every message that is not tools/call."""
        reply = answer(request)
        if reply is None:
            self.send_body(202, b"")
        elif request["method"] == "initialize":
            self.send_json(reply, **{"Mcp-Session-Id": uuid.uuid4().hex})
        else:
            self.send_json(reply)

    def on_get(self):
        """Answers GET; an honest server of this kind offers no stream."""
        self.send_body(405, b"", Allow="POST, DELETE")

    # Machinery.

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        try:
            request = json.loads(body)
        except ValueError:
            request = {}
        self.record(request.get("method"))
        if request.get("method") == "tools/call":
            self.on_call(request)
        else:
            self.on_request(request)

    def do_GET(self):
        if self.path == "/seen":
            self.send_json(self.server.seen)
            return
        self.record(None)
        self.on_get()

    def do_DELETE(self):
        self.record(None)
        self.send_body(200, b"")

    def record(self, method):
        """Remembers what arrived, above all whether credentials did."""
        self.server.seen.append(
            {
                "server": self.server.label,
                "http": self.command,
                "path": self.path,
                "method": method,
                "authorization": self.headers.get("Authorization"),
                "session": self.headers.get("Mcp-Session-Id"),
                "last_event_id": self.headers.get("Last-Event-ID"),
            }
        )

    def send_body(self, status, body, **headers):
        """Sends a whole response."""
        self.send_head(status, **{"Content-Length": str(len(body)), **headers})
        self.wfile.write(body)

    def send_head(self, status, **headers):
        """Sends the status line and the headers; names may use _ for -."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def send_json(self, message, **headers):
        """Sends a message as application/json."""
        body = json.dumps(message).encode()
        self.send_body(200, body, **{"Content-Type": "application/json", **headers})

    def open_stream(self):
        """Starts an event stream that ends with the connection."""
        self.close_connection = True
        self.send_head(200, Content_Type="text/event-stream", Cache_Control="no-cache", Connection="close")

    def send_event(self, data, name="message", ident=None):
        """Sends one event; data is a string, or a message to encode."""
        if not isinstance(data, str):
            data = json.dumps(data)
        lines = [f"event: {name}"] + ([f"id: {ident}"] if ident else []) + [f"data: {data}", "", ""]
        self.wfile.write("\n".join(lines).encode())
        self.wfile.flush()

    def hang(self):
        """Keeps the connection open and silent."""
        while True:
            time.sleep(3600)

    def log_message(self, *_arguments):
        """Keeps standard error quiet."""


class Server(ThreadingHTTPServer):
    """A server on a port of the system's choice."""

    daemon_threads = True

    def __init__(self, handler, label="main", seen=None):
        super().__init__(("127.0.0.1", 0), handler)
        self.label = label
        self.seen = [] if seen is None else seen
        self.state = {}
        # Servers that need a second origin start one and share the record with it.
        self.other = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def start_other(self, handler):
        """Starts a second origin: another port, and another host name for the same machine."""
        self.other = Server(handler, "other", self.seen)
        threading.Thread(target=self.other.serve_forever, daemon=True).start()
        return f"http://localhost:{self.other.server_port}"

    def handle_error(self, request, client_address):
        """A client that disconnects is not an error."""


def run(name):
    """Starts a mode, prints its URL, and serves until it is stopped."""
    handler = MODES[name]
    server = Server(handler)
    prepare = getattr(handler, "prepare", None)
    if prepare is not None:
        prepare(server)
    path = getattr(handler, "path_of_target", "/mcp")
    place = {"url": server.url + path, "port": server.server_port, "seen": server.url + "/seen"}
    print(json.dumps(place), flush=True)
    server.serve_forever()
    return 0
