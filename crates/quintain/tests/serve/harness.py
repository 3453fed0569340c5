"""Starts `quintain serve` for the scripts in this folder. Standard library only."""

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import urllib.parse

PROGRAM = sys.argv[1]
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def finish():
    for what in failures:
        print(f"FAILED: {what}")
    print(f"{len(failures)} failed")
    sys.exit(1 if failures else 0)


def quintain(home, *words):
    env = dict(os.environ, QUINTAIN_HOME=home)
    done = subprocess.run([PROGRAM, *words], env=env, capture_output=True, text=True, timeout=60)
    return done


def on_free_port(start):
    """What `start` makes for an address of this machine. Another program may take the port in between, so that it tries again."""
    for _ in range(5):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{listener.getsockname()[1]}"
        try:
            return start(address)
        except ValueError:
            continue
    raise AssertionError("no free port")


class Stdio:
    def __init__(self, *words, env=None, home=None):
        self.home = home or tempfile.mkdtemp()
        env = dict(os.environ, QUINTAIN_HOME=self.home, **(env or {}))
        command = [PROGRAM, "serve", "--stdio", "--fixtures", *words]
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, message):
        self.process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self.process.stdin.flush()

    def read(self):
        return json.loads(self.process.stdout.readline())

    def ask(self, method, params=None, id=1):
        """The answer, and the notifications before it."""
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        before = []
        while True:
            answer = self.read()
            if answer.get("id") == id and "method" not in answer:
                return answer, before
            before.append(answer)

    def initialize(self, version="2025-11-25", capabilities=None):
        params = {
            "protocolVersion": version,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        answer, _ = self.ask("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def end(self):
        self.process.stdin.close()
        return self.process.wait(30)


class Http:
    def __init__(self, *words, env=None, home=None, address="127.0.0.1:0"):
        self.home = home or tempfile.mkdtemp()
        full = dict(os.environ, QUINTAIN_HOME=self.home, **(env or {}))
        command = [PROGRAM, "serve", "--http", address, "--fixtures", *words]
        self.process = subprocess.Popen(command, env=full, stdout=subprocess.PIPE, text=True)
        self.urls = json.loads(self.process.stdout.readline())
        self.base = self.urls["url"].removesuffix("/mcp")
        self.host = urllib.parse.urlsplit(self.base).netloc

    def token(self, subject, *words):
        done = quintain(self.home, "token", "new", "--subject", subject, *words)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("\n") == 1 and not done.stderr, done
        return done.stdout.strip()

    def request(self, method, path, body=None, headers=None, token=None):
        connection = http.client.HTTPConnection(self.host, timeout=20)
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        read = answer.read()
        connection.close()
        return answer.status, answer.headers, read

    def post(self, message, token=None, path="/mcp", headers=None):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **(headers or {})}
        body = message if isinstance(message, (str, bytes)) else json.dumps(message)
        return self.request("POST", path, body, headers, token)

    def initialize(self, token, version="2025-11-25", capabilities=None):
        """The session id and the answer."""
        params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": {"name": "t", "version": "1"}}
        status, headers, body = self.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}, token)
        assert status == 200, (status, body)
        session = headers["Mcp-Session-Id"]
        done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self.post(done, token, headers={"Mcp-Session-Id": session})
        return session, message_of(body)

    def ask(self, method, params, token, session, id=2):
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        status, _, body = self.post(message, token, headers={"Mcp-Session-Id": session})
        return status, message_of(body)

    def end(self):
        self.process.terminate()
        return self.process.wait(30)


def message_of(body):
    """The last JSON-RPC message of a JSON or SSE body."""
    text = body.decode()
    if text.lstrip().startswith("{"):
        return json.loads(text)
    found = [line[5:].strip() for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
    return json.loads(found[-1]) if found else None
