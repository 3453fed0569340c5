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
