#!/usr/bin/env python3
"""A small MCP server over standard input and output whose answers depend on nothing but the call.

    server.py [NAME...]     with names, only these tools are offered
"""

import json
import sys
import time

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class RpcError(Exception):
    """An answer that is a JSON-RPC error."""

    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.body = {"code": code, "message": message}
        if data is not None:
            self.body["data"] = data


def text(*lines):
    return {"content": [{"type": "text", "text": line} for line in lines]}


def echo(args):
    return text(str(args.get("text", "")))


def args_json(args):
    return text(json.dumps(args, sort_keys=True, ensure_ascii=False))


def add(args):
    return text(str(args["a"] + args["b"]))


def fail(args):
    return {**text(args.get("message", "it went wrong")), "isError": True}


def rpc_error(args):
    raise RpcError(args.get("code", -32000), args.get("message", "refused"), args.get("data"))


def structured(args):
    value = {"city": args.get("city", "Paris"), "degrees": args.get("degrees", 21.5), "tags": ["dry", "warm"]}
    return {**text(json.dumps(value)), "structuredContent": value}


def structured_only(args):
    return {"content": [], "structuredContent": {"n": args.get("n", 1)}}


def structured_bad(args):
    return {**text("bad"), "structuredContent": {"city": 5}}


def image(args):
    return {"content": [{"type": "image", "data": DOT, "mimeType": "image/png"}]}


def audio(args):
    return {"content": [{"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}]}


def resource(args):
    return {"content": [
        {"type": "resource", "resource": {"uri": "memo://1", "mimeType": "text/plain", "text": "a memo"}},
        {"type": "resource", "resource": {"uri": "memo://2", "mimeType": "application/octet-stream", "blob": "AAEC"}},
        {"type": "resource_link", "uri": "memo://3", "name": "third", "description": "elsewhere"},
    ]}


def mixed(args):
    return {"content": text("first")["content"] + image(args)["content"] + text("last")["content"]}


def empty(args):
    return {"content": []}


def empty_text(args):
    return text("")


def json_text(args):
    return text(json.dumps(args.get("value", {"status": "success", "items": [1, 2, 3]}), separators=(",", ":")))


def slow(args):
    time.sleep(args.get("ms", 50) / 1000)
    return text("done")


def many(args):
    return text(*[f"block {i}" for i in range(args.get("n", 3))])


def unicode(args):
    return text("naïve café — 日本語 😀 \u2028 \"quoted\" \\ back\ttab\nline")


def annotated(args):
    block = {"type": "text", "text": "seen", "annotations": {"audience": ["user"], "priority": 0.5}, "_meta": {"k": 1}}
    return {"content": [block], "_meta": {"trace": "t-1"}}


ANY = {"type": "object"}
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "number"}},
    "required": ["city"],
}
NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}
TOOLS = {
    "echo": (echo, {"type": "object", "properties": {"text": {"type": "string"}}}, None),
    "args_json": (args_json, ANY, None),
    "add": (add, NUMBERS, None),
    "fail": (fail, ANY, None),
    "rpc_error": (rpc_error, ANY, None),
    "structured": (structured, ANY, WEATHER),
    "structured_only": (structured_only, ANY, None),
    "structured_bad": (structured_bad, ANY, WEATHER),
    "image": (image, ANY, None),
    "audio": (audio, ANY, None),
    "resource": (resource, ANY, None),
    "mixed": (mixed, ANY, None),
    "empty": (empty, ANY, None),
    "empty_text": (empty_text, ANY, None),
    "json_text": (json_text, ANY, None),
    "slow": (slow, ANY, None),
    "many": (many, ANY, None),
    "unicode": (unicode, ANY, None),
    "annotated": (annotated, ANY, None),
}


def described(name):
    _, schema, output = TOOLS[name]
    tool = {"name": name, "description": f"The tool {name}", "inputSchema": schema}
    return {**tool, "outputSchema": output} if output else tool


def answer(method, params, offered):
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "corpus", "version": "1.0.0"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [described(name) for name in offered]}
    if method == "tools/call":
        name = params.get("name")
        if name not in offered:
            raise RpcError(-32602, f"unknown tool: {name}")
        try:
            return TOOLS[name][0](params.get("arguments") or {})
        except (KeyError, TypeError) as error:
            raise RpcError(-32602, f"bad arguments for {name}: {error}") from error
    raise RpcError(-32601, f"no such method: {method}")


def main():
    offered = sys.argv[1:] or list(TOOLS)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = answer(message["method"], message.get("params") or {}, offered)
        except RpcError as error:
            reply["error"] = error.body
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
