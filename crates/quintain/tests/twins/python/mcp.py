"""A small MCP server layer for the Python twins: stdio and streamable HTTP, protocol 2025-06-18 and 2025-11-25.

It speaks the protocol correctly and survives malformed input. It checks arguments against the schemas only with
`strict=True`, so that what a twin lets through is the doing of the twin.
"""

import argparse
import atexit
import functools
import json
import math
import os
import re
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

VERSIONS = ["2025-06-18", "2025-11-25"]
MAX_BODY = 4 << 20


class ToolError(Exception):
    """Becomes a result with `isError`."""


class RpcError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class HttpError(Exception):
    def __init__(self, status, message, headers=None):
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


class Options(argparse.Namespace):
    @functools.cached_property
    def root(self):
        """The given root, or a temporary one that is deleted at the end."""
        if self.given is None:
            self.given = tempfile.mkdtemp(prefix="twin-")
            atexit.register(shutil.rmtree, self.given, ignore_errors=True)
        return os.path.realpath(self.given)


def options(*more, **defaults):
    """The command line that all twins share; `more` are further option names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--root", dest="given")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    for name in more:
        parser.add_argument(name)
    parser.set_defaults(**defaults)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    return parser.parse_args(namespace=Options())


def seed(root, files):
    """Writes sample files below the root unless they exist."""
    for name, content in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)


def string(description, **more):
    return {"type": "string", "description": description, **more}


def integer(description, **more):
    return {"type": "integer", "description": description, **more}


def obj(properties, required=None, **more):
    schema = {"type": "object", "properties": properties, "additionalProperties": False, **more}
    if required:
        schema["required"] = required
    return schema


TYPES = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool) or isinstance(v, float) and v.is_integer(),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "null": lambda v: v is None,
}


FORMATS = {"uri": r"[A-Za-z][A-Za-z0-9+.-]*:\S*", "date": r"[0-9]{4}-[0-9]{2}-[0-9]{2}"}


def faults(schema, value, at=""):
    """What is wrong with a value: the part of JSON Schema that the twins use."""
    kind = schema.get("type")
    if kind and not TYPES[kind](value):
        return [f"{at or '/'} must be of type {kind}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at} must be one of {', '.join(map(str, schema['enum']))}")
    if isinstance(value, str):
        # In JSON Schema `$` is the very end, in Python it may be before a last newline.
        if "pattern" in schema and not re.search(re.sub(r"\$$", r"\\Z", schema["pattern"]), value):
            found.append(f"{at} must match {schema['pattern']}")
        if "format" in schema and not re.fullmatch(FORMATS[schema["format"]], value):
            found.append(f"{at} must be of the format {schema['format']}")
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 1 << 20):
            found.append(f"{at} has the wrong length")
    elif isinstance(value, (int, float)):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            found.append(f"{at} is out of range")
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 1 << 20):
            found.append(f"{at} has the wrong number of items")
        for index, item in enumerate(value):
            found += faults(schema.get("items", {}), item, f"{at}/{index}")
    elif isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        found += [f"{at}/{name} is required" for name in schema.get("required", []) if name not in value]
        for name, item in value.items():
            if name in known:
                found += faults(known[name], item, f"{at}/{name}")
            elif others is False:
                found.append(f"{at} has an unknown property")
            elif isinstance(others, dict):
                found += faults(others, item, f"{at}/{name}")
    return found


def decode(data):
    """One frame as JSON; every way in which Python's parser can fail is one error."""
    def finite(text):
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(text)
        return value

    try:
        return json.loads(data, parse_constant=finite, parse_float=finite)
    except (ValueError, RecursionError):
        raise RpcError(-32700, "Parse error") from None


def content(result):
    """The result of a handler as the result of tools/call."""
    if isinstance(result, dict) and "content" in result:
        return result
    if isinstance(result, str):
        return {"content": [{"type": "text", "text": result}]}
    shown = {"content": [{"type": "text", "text": json.dumps(result, indent=1)}]}
    if isinstance(result, dict):
        shown["structuredContent"] = result
    return shown


def failure(text):
    return {"content": [{"type": "text", "text": text}], "isError": True}


class Server:
    check_host = True
    check_origin = True
    bind_session = True
    enforce_visible = True
    metadata = None  # of the protected resource (RFC 9728)

    def __init__(self, name, version="1.0.0", strict=False, instructions=None):
        self.info = {"name": name, "version": version}
        self.strict = strict
        self.instructions = instructions
        self.tools, self.resources, self.templates, self.prompts = {}, {}, {}, {}
        self.completion = None
        self.sessions = {}
        self.local = threading.local()

    @property
    def caller(self):
        """Who calls: what `authenticate` returned for this request, on stdio what it returns for no headers."""
        return getattr(self.local, "caller", None)

    @property
    def headers(self):
        return getattr(self.local, "headers", {})

    def authenticate(self, headers, query):
        return None

    # What a twin declares.

    def tool(self, name, description, properties=None, required=None, visible=None, schema=None, **more):
        def register(handler):
            shown = {"name": name, "description": description, "inputSchema": schema or obj(properties or {}, required)}
            self.tools[name] = ({**shown, **more}, handler, visible or (lambda: True))
            return handler
        return register

    def resource(self, uri, name, mime="text/plain", **more):
        def register(handler):
            self.resources[uri] = ({"uri": uri, "name": name, "mimeType": mime, **more}, handler)
            return handler
        return register

    def template(self, prefix, variable, name, mime="text/plain", **more):
        """A template `prefix{+variable}`: the handler gets what follows the prefix, as sent."""
        def register(handler):
            shown = {"uriTemplate": f"{prefix}{{+{variable}}}", "name": name, "mimeType": mime, **more}
            self.templates[prefix] = (shown, handler)
            return handler
        return register

    def prompt(self, name, description, arguments):
        def register(handler):
            shown = [{"name": n, "description": d, "required": True} for n, d in arguments.items()]
            self.prompts[name] = ({"name": name, "description": description, "arguments": shown}, handler)
            return handler
        return register

    # The protocol.

    def answer(self, data):
        """The reply to one frame, or None."""
        identity = None
        try:
            message = decode(data)
            if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                raise RpcError(-32600, "Invalid Request")
            method, params = message.get("method"), message.get("params", {})
            if method is None and ("result" in message or "error" in message) or "id" not in message:
                return None
            if isinstance(message["id"], bool) or not isinstance(message["id"], (str, int)):
                raise RpcError(-32600, "Invalid Request: id must be a string or an integer")
            identity = message["id"]
            if not isinstance(method, str):
                raise RpcError(-32600, "Invalid Request")
            if not isinstance(params, dict):
                raise RpcError(-32602, "params must be an object")
            return {"jsonrpc": "2.0", "id": identity, "result": self.dispatch(method, params)}
        except RpcError as error:
            return {"jsonrpc": "2.0", "id": identity, "error": {"code": error.code, "message": str(error)}}
        except HttpError:
            raise
        except Exception:
            return {"jsonrpc": "2.0", "id": identity, "error": {"code": -32603, "message": "Internal error"}}

    def dispatch(self, method, params):
        handlers = {
            "initialize": self.initialize,
            "ping": lambda _: {},
            "tools/list": lambda _: {"tools": [t for t, _, visible in self.tools.values() if visible()]},
            "tools/call": self.call,
            "resources/list": lambda _: {"resources": [r for r, _ in self.resources.values()]},
            "resources/templates/list": lambda _: {"resourceTemplates": [t for t, _ in self.templates.values()]},
            "resources/read": self.read,
            "prompts/list": lambda _: {"prompts": [p for p, _ in self.prompts.values()]},
            "prompts/get": self.get_prompt,
            "completion/complete": self.complete,
        }
        if method not in handlers:
            raise RpcError(-32601, "Method not found")
        return handlers[method](params)

    def initialize(self, params):
        asked = params.get("protocolVersion")
        offered = {"tools": {}}
        if self.resources or self.templates:
            offered["resources"] = {}
        if self.prompts:
            offered["prompts"] = {}
        if self.completion:
            offered["completions"] = {}
        result = {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[-1],
            "capabilities": offered,
            "serverInfo": self.info,
        }
        if self.instructions:
            result["instructions"] = self.instructions
        return result

    def call(self, params):
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise RpcError(-32602, "name must be a string and arguments an object")
        shown, handler, visible = self.tools.get(name, (None, None, None))
        if shown is None or self.enforce_visible and not visible():
            return self.unknown_tool(name)
        if self.strict:
            found = faults(shown["inputSchema"], arguments)
            if found:
                return failure("Invalid arguments: " + "; ".join(found[:5]))
        try:
            return content(handler(**arguments))
        except ToolError as error:
            return failure(str(error))
        except (RpcError, HttpError):
            raise
        except Exception as error:
            return self.crashed(error)

    def unknown_tool(self, name):
        raise RpcError(-32602, "Unknown tool")

    def crashed(self, error):
        return failure("Internal error")

    def read(self, params):
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RpcError(-32602, "uri must be a string")
        try:
            if uri in self.resources:
                shown, handler = self.resources[uri]
                text = handler()
            else:
                prefix = next((p for p in self.templates if uri.startswith(p)), None)
                if prefix is None:
                    raise RpcError(-32002, "Resource not found")
                shown, handler = self.templates[prefix]
                text = handler(uri[len(prefix):])
        except RpcError:
            raise
        except ToolError as error:
            raise RpcError(-32002, str(error)) from None
        except Exception:
            raise RpcError(-32002, "Resource not found") from None
        return {"contents": [{"uri": uri, "mimeType": shown["mimeType"], "text": text}]}

    def get_prompt(self, params):
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or name not in self.prompts:
            raise RpcError(-32602, "Unknown prompt")
        shown, handler = self.prompts[name]
        wanted = [a["name"] for a in shown["arguments"]]
        if not isinstance(arguments, dict) or not all(isinstance(arguments.get(n), str) for n in wanted):
            raise RpcError(-32602, "Missing prompt argument")
        try:
            text = handler(*(arguments[n] for n in wanted))
        except ToolError as error:
            raise RpcError(-32602, str(error)) from None
        except Exception:
            raise RpcError(-32603, "Internal error") from None
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    def complete(self, params):
        argument = params.get("argument")
        if not self.completion or not isinstance(argument, dict) or not isinstance(argument.get("value"), str):
            raise RpcError(-32602, "Nothing to complete")
        try:
            values = self.completion(argument.get("name"), argument["value"])
        except Exception:
            values = []
        return {"completion": {"values": values[:100], "total": len(values), "hasMore": len(values) > 100}}

    # Transports.

    def run(self, opts):
        if opts.http:
            self.serve(opts.port)
        else:
            self.local.caller = self.authenticate({}, {})
            for line in sys.stdin.buffer:
                self.reply(line)

    def reply(self, line):
        if line.strip() and (reply := self.answer(line)) is not None:
            sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
            sys.stdout.buffer.flush()

    def serve(self, port):
        httpd = Http(("127.0.0.1", port), Exchange)
        httpd.mcp = self
        self.url = f"http://127.0.0.1:{httpd.server_port}/mcp"
        print(f"listening on {self.url}", file=sys.stderr, flush=True)
        httpd.serve_forever()


class Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


class Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *_):
        pass

    def send(self, status, body=None, headers=None):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def attempt(self, handler):
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            return self.send(413, {"error": "body too large"})
        body = self.rfile.read(int(length))
        try:
            handler(body)
        except HttpError as error:
            self.send(error.status, {"error": str(error)}, error.headers)

    def enter(self):
        """What every request passes: path, Host, Origin, credentials."""
        mcp, port = self.server.mcp, self.server.server_port
        target = urlsplit(self.path)
        if target.path != "/mcp":
            raise HttpError(404, "not found")
        own = [f"127.0.0.1:{port}", f"localhost:{port}"]
        if mcp.check_host and self.headers.get("Host") not in own:
            raise HttpError(403, "forbidden host")
        origin = self.headers.get("Origin")
        if mcp.check_origin and origin is not None and origin not in [f"http://{o}" for o in own]:
            raise HttpError(403, "forbidden origin")
        mcp.local.headers = self.headers
        mcp.local.caller = mcp.authenticate(self.headers, parse_qs(target.query))

    def session(self):
        mcp, given = self.server.mcp, self.headers.get("Mcp-Session-Id")
        if given is None:
            raise HttpError(400, "Mcp-Session-Id is required")
        if given not in mcp.sessions or mcp.bind_session and mcp.sessions[given] != mcp.caller:
            raise HttpError(404, "no such session")
        return given

    def post(self, body):
        self.enter()
        mcp = self.server.mcp
        try:
            message = decode(body)
        except RpcError:
            message = None
        first = isinstance(message, dict) and message.get("method") == "initialize"
        headers = {}
        if first:
            name = secrets.token_urlsafe(24)
            mcp.sessions[name] = mcp.caller
            headers["Mcp-Session-Id"] = name
        elif message is not None:
            mcp.local.session = self.session()
        reply = mcp.answer(body)
        if reply is None:
            self.send(202)
        else:
            self.send(400 if message is None else 200, reply, headers)

    def delete(self, _):
        self.enter()
        del self.server.mcp.sessions[self.session()]
        self.send(200)

    def get(self, _):
        if self.server.mcp.metadata and self.path.startswith("/.well-known/oauth-protected-resource"):
            return self.send(200, {"resource": self.server.mcp.url, **self.server.mcp.metadata})
        self.enter()
        raise HttpError(405, "no stream", {"Allow": "POST, DELETE"})

    def do_POST(self):
        self.attempt(self.post)

    def do_DELETE(self):
        self.attempt(self.delete)

    def do_GET(self):
        self.attempt(self.get)
