"""The well-behaved part of a server, shared by all modes: what it answers before it misbehaves."""

import json

TOOL = {
    "name": "poke",
    "description": "Returns the text it is given.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}


def result(request, value):
    """A JSON-RPC answer to the request."""
    return {"jsonrpc": "2.0", "id": request.get("id"), "result": value}


def error(request, code, message):
    """A JSON-RPC error for the request."""
    return {"jsonrpc": "2.0", "id": request.get("id"), "error": {"code": code, "message": message}}


def notification(method, **params):
    """A JSON-RPC notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def text(request, words):
    """The answer to tools/call with one text."""
    return result(request, {"content": [{"type": "text", "text": words}]})


def called(request):
    """The honest answer to a call of `poke`."""
    arguments = (request.get("params") or {}).get("arguments") or {}
    return text(request, str(arguments.get("text", "")))


def giant(request, id_last=False):
    """An answer of 40 MB, with its id before or after the large part."""
    message = text(request, "a" * 40_000_000)
    return {"result": message.pop("result"), **message} if id_last else message


class GiantsAmongOthers:
    """Collects FIVE calls and answers them at once; two of the answers are giants, and they come first."""

    FIVE = 5

    def __init__(self):
        self.calls = []

    def answers(self, request):
        """The answers to all calls so far, once there are enough."""
        self.calls.append(request)
        if len(self.calls) < self.FIVE:
            return
        for call in sorted(self.calls, key=lambda call: not self.wants(call).startswith("giant")):
            if self.wants(call).startswith("giant"):
                yield giant(call, id_last=self.wants(call) == "giant, id last")
            else:
                yield called(call)

    @staticmethod
    def wants(call):
        """The text that a call asks for."""
        return call["params"]["arguments"]["text"]


def answer(request, tools=(TOOL,)):
    """The honest answer to any request, or None for notifications and answers."""
    method = request.get("method")
    if method is None or "id" not in request:
        return None
    if method == "initialize":
        version = (request.get("params") or {}).get("protocolVersion", "2025-11-25")
        return result(
            request,
            {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "hostile", "version": "1.0.0"},
            },
        )
    if method == "ping":
        return result(request, {})
    if method == "tools/list":
        return result(request, {"tools": list(tools)})
    if method == "tools/call":
        return called(request)
    # server/discover ends here too: these servers are of the era with a handshake.
    return error(request, -32601, f"method not found: {method}")


def encode(message):
    """One message as a line of bytes."""
    return json.dumps(message).encode() + b"\n"
