"""Modes about event streams: answers that need a resume, and the older HTTP+SSE transport."""

import queue
import threading

from http_base import Handler, mode
from protocol import GiantsAmongOthers, answer, called


@mode("stream-closes-early")
class StreamClosesEarly(Handler):
    """Closes the stream before the answer, which waits for a GET with Last-Event-ID."""

    def on_call(self, request):
        self.server.state["waiting"] = called(request)
        self.open_stream()
        self.wfile.write(b"id: event-1\nretry: 100\ndata: \n\n")

    def on_get(self):
        if self.headers.get("Last-Event-ID") != "event-1":
            super().on_get()
            return
        self.open_stream()
        self.send_event(self.server.state.pop("waiting"), ident="event-2")


@mode("stream-never-resumes")
class StreamNeverResumes(StreamClosesEarly):
    """Closes the stream before the answer, and every resumed stream at once."""

    def on_get(self):
        self.open_stream()


@mode("stream-without-ids")
class StreamWithoutIds(Handler):
    """Closes the stream before the answer and gives no event id to resume from."""

    def on_call(self, request):
        self.open_stream()


class OldTransport(Handler):
    """The honest HTTP+SSE transport: GET /sse opens the stream, POST /message sends."""

    path_of_target = "/sse"

    def on_get(self):
        if self.path != "/sse":
            self.send_body(404, b"not found")
            return
        messages = self.server.state["messages"] = queue.Queue()
        self.open_stream()
        self.send_event(self.endpoint(), "endpoint")
        while True:
            self.send_event(messages.get())

    def endpoint(self):
        """The URL for POST requests of the client."""
        return "/message?sessionId=1"

    def on_request(self, request):
        if not self.path.startswith("/message"):
            # This is how a client learns that the server is of the older kind.
            self.send_body(404, b"not found")
            return
        reply = answer(request)
        if reply is not None:
            self.server.state["messages"].put(reply)
        self.send_body(202, b"Accepted")

    on_call = on_request


@mode("sse-healthy")
class SseHealthy(OldTransport):
    """Speaks the older HTTP+SSE transport and behaves well."""


@mode("sse-giants-among-others")
class SseGiantsAmongOthers(OldTransport):
    """HTTP+SSE that answers five calls at once, two of them with 40 MB."""

    together = GiantsAmongOthers()
    lock = threading.Lock()

    def on_call(self, request):
        with self.lock:
            for reply in self.together.answers(request):
                self.server.state["messages"].put(reply)
        self.send_body(202, b"Accepted")


@mode("sse-foreign-endpoint")
class SseForeignEndpoint(OldTransport):
    """HTTP+SSE whose endpoint event names another origin, which records what arrives."""

    @staticmethod
    def prepare(server):
        server.state["address"] = server.start_other(Handler) + "/message"

    def endpoint(self):
        return self.server.state["address"]


@mode("sse-post-never-answers")
class SsePostNeverAnswers(OldTransport):
    """HTTP+SSE that never answers a POST."""

    def on_request(self, request):
        self.hang()

    on_call = on_request


@mode("sse-no-endpoint")
class SseNoEndpoint(OldTransport):
    """HTTP+SSE that opens the stream and never names an endpoint."""

    def on_get(self):
        self.open_stream()
        self.hang()


@mode("sse-drops-stream")
class SseDropsStream(OldTransport):
    """HTTP+SSE that closes the stream when the tool is called."""

    def on_get(self):
        messages = self.server.state["messages"] = queue.Queue()
        self.open_stream()
        self.send_event(self.endpoint(), "endpoint")
        while (message := messages.get()) is not None:
            self.send_event(message)

    def on_call(self, request):
        self.server.state["messages"].put(None)
        self.send_body(202, b"Accepted")
