"""What operators of a server need: TLS, a public URL, limits, batches of earlier clients, and principals that are not trusted."""

import concurrent.futures
import json
import os
import ssl
import tempfile
import urllib.error
import urllib.request

from harness import Http, Stdio, check, finish, on_free_port, quintain

FOLDER = os.path.dirname(os.path.abspath(__file__))
INIT = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
GROUPS = ["generators", "datasets", "texts", "orchestrators", "results", "traces"]
EVERYTHING = [word for group in GROUPS for access in ["read", "write"] for word in ["--scope", f"{group}:{access}"]]


def tls():
    cert, key = (os.path.join(FOLDER, "tls", name) for name in ["cert-of-tests.pem", "key-of-tests.pem"])
    server = Http("--tls-cert", cert, "--tls-key", key, env={"MCP_REQUIRE_AUTH": "false"})
    check(server.urls["url"].startswith("https://127.0.0.1:"), f"{server.urls}")
    trusting = ssl.create_default_context(cafile=cert)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(server.urls["url"], json.dumps(INIT).encode(), headers)
    with urllib.request.urlopen(request, timeout=20, context=trusting) as answer:
        check(answer.status == 200 and b"serverInfo" in answer.read(), "initialize over HTTPS")
    try:
        urllib.request.urlopen(f"{server.base}/health", timeout=20, context=ssl.create_default_context())
        check(False, "a client that does not know the certificate")
    except urllib.error.URLError as error:
        check(isinstance(error.reason, ssl.SSLError), f"{error}")
    server.end()
    done = quintain(tempfile.mkdtemp(), "serve", "--http", "127.0.0.1:0", "--tls-cert", key, "--tls-key", cert)
    check(done.returncode == 2 and "certificate" in done.stderr, f"{done}")


def public_url():
    def start(address):
        server = Http("--public-url", "https://mcp.example/quintain", address=address)
        # A reverse proxy connects here, and passes the name on that clients used.
        server.host = address
        return server

    server = on_free_port(start)
    check(server.urls["url"] == "https://mcp.example/quintain/mcp", f"{server.urls}")
    for host, expected in [("mcp.example", 401), (server.host, 401), ("evil.example", 403)]:
        status, headers, _ = server.post(INIT, headers={"Host": host})
        check(status == expected, f"{host}: {status}")
        if status == 401:
            check("https://mcp.example/" in headers["WWW-Authenticate"], headers["WWW-Authenticate"])
    document = json.loads(server.request("GET", "/.well-known/oauth-authorization-server")[2])
    check(document["issuer"] == "https://mcp.example/quintain", f"{document}")
    check(document["token_endpoint"] == "https://mcp.example/quintain/mcp/oauth/token", f"{document}")
    server.end()


def rates():
    server = Http(env={"QUINTAIN_SERVE_RATE_LIMIT": "3"})
    alice, bob = server.token("alice"), server.token("bob")
    answers = [server.post(INIT, alice)[:2] for _ in range(5)]
    check([status for status, _ in answers] == [200] * 3 + [429] * 2, f"{[status for status, _ in answers]}")
    check(1 <= int(answers[-1][1]["Retry-After"]) <= 60, f"Retry-After: {answers[-1][1]['Retry-After']}")
    check(server.post(INIT, bob)[0] == 200, "the limit of one principal is not that of another")
    server.end()


PINGS = [
    {"jsonrpc": "2.0", "id": 11, "method": "ping"},
    {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
    {"jsonrpc": "2.0", "id": 12, "method": "tools/call", "params": {"name": "fixture_echo", "arguments": {"text": "hi"}}},
    {"jsonrpc": "2.0", "id": 13, "method": "tools/call", "params": {"name": "fixture_echo", "arguments": {}}},
]


def batches():
    def check_batch(answers, where):
        by_id = {answer["id"]: answer for answer in answers}
        check(sorted(by_id) == [11, 12, 13] and len(answers) == 3, f"{where}: {answers}")
        check(by_id[11]["result"] == {}, f"{where}: {answers}")
        check(by_id[12]["result"]["structuredContent"]["answer"] == "hi", f"{where}: {answers}")
        check(by_id[13]["error"]["code"] == -32602, f"{where}: {answers}")

    server = Stdio()
    server.initialize("2025-03-26")
    server.send(json.dumps(PINGS))
    check_batch(server.read(), "stdio")
    server.send("[]")
    check(server.read()["error"]["code"] == -32600, "an empty batch")
    check(server.ask("ping")[0]["result"] == {}, "still alive")
    check(server.end() == 0, "exit 0")
    server = Stdio()
    server.initialize("2025-06-18")
    server.send(json.dumps(PINGS))
    check(server.read()["error"]["code"] == -32600, "no batches since 2025-06-18")
    server.end()

    server = Http()
    token = server.token("alice")
    session, _ = server.initialize(token, "2025-03-26")
    status, _, body = server.post(PINGS, token, headers={"Mcp-Session-Id": session})
    check(status == 200, f"batch over HTTP: {status} {body}")
    check_batch(json.loads(body), "HTTP")
    check(server.post([PINGS[1]], token, headers={"Mcp-Session-Id": session})[0] == 202, "only notifications")
    check(server.post([], token, headers={"Mcp-Session-Id": session})[0] == 400, "an empty batch")
    later = {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-06-18"}
    check(server.post(PINGS, token, headers=later)[0] == 400, "a batch of 2025-06-18")
    reader = server.token("eve", "--scope", "texts:read")
    session, _ = server.initialize(reader, "2025-03-26")
    call = {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "fixture_slow", "arguments": {}}}
    check(server.post([PINGS[0], call], reader, headers={"Mcp-Session-Id": session})[0] == 403, "scopes of a batch")
    server.end()


def outcome(server, token, session, name, arguments):
    """`ok` or the code of the error, and all of the answer as text."""
    status, answer = server.ask("tools/call", {"name": name, "arguments": arguments}, token, session)
    text = json.dumps(answer)
    if status != 200:
        return str(status), text, {}
    if "error" in answer:
        return str(answer["error"]["code"]), text, {}
    result = answer["result"]
    structured = result.get("structuredContent") or {}
    return structured.get("error", {}).get("code", "failed") if result.get("isError") else "ok", text, structured


SECRET = "canary-of-the-environment-4711"


def hostile():
    """A principal with every scope that is no operator: what it sends is data."""
    server = Http(env={"QUINTAIN_CANARY": SECRET, "OPENAI_API_KEY": SECRET, "QUINTAIN_SERVE_RATE_LIMIT": "0"})
    secret_file = os.path.join(server.home, "secret.txt")
    with open(secret_file, "w") as file:
        file.write(SECRET)
    mallory, alice = server.token("mallory", *EVERYTHING), server.token("alice")
    session, _ = server.initialize(mallory)
    port = server.host.split(":")[1]

    def call(name, arguments):
        code, text, structured = outcome(server, mallory, session, name, arguments)
        check(SECRET not in text, f"{name} {arguments} reveals a secret: {text[:300]}")
        return code, text, structured

    urls = [f"http://127.0.0.1:{port}/mcp", f"http://localhost:{port}/mcp", f"http://[::1]:{port}/mcp", "http://2130706433/",
            "http://0x7f.1/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "http://169.254.169.254/latest/meta-data",
            "http://metadata.google.internal/", "http://10.0.0.1/", "http://192.168.1.1/", "file:///etc/passwd"]
    wanted = [{"provider_type": "mcp", "connection": {"url": url}} for url in urls]
    wanted += [
        {"provider_type": "mcp", "connection": {"command": "/bin/sh", "args": ["-c", f"touch {server.home}/pwned"]}},
        {"provider_type": "command", "model_name": "x", "connection": {"command": f"touch {server.home}/pwned"}},
        {"provider_type": "openai", "model_name": "x", "parameters": {"apiBaseUrl": f"http://127.0.0.1:{port}", "api_key": "k"}},
        {"provider_type": "openai", "model_name": "{{env.QUINTAIN_CANARY}}", "parameters": {"apiBaseUrl": f"http://127.0.0.1:{port}"}},
    ]
    for arguments in wanted:
        code, text, made = call("create_generator", arguments)
        if code == "ok":
            test = {"generator_id": made["generator_id"], "test_prompts": ["hi"], "timeout_seconds": 5}
            code, text, tested = call("test_generator", test)
            check(code != "ok" or tested["ok"] is False, f"{arguments} was reached: {text[:300]}")
    _, _, echo = call("create_generator", {"provider_type": "echo", "model_name": "e"})
    for text in ["{{env.QUINTAIN_CANARY}}", f"file://{secret_file}", "{{ 6*7 }}", "{% include '/etc/passwd' %}"]:
        call("test_generator", {"generator_id": echo["generator_id"], "test_prompts": [text]})
    pwned = os.path.join(server.home, "pwned")
    for scorer in [
        {"name": "javascript", "value": "process.env.QUINTAIN_CANARY === output"},
        {"name": "python", "value": f"import os; open({pwned!r}, 'w')"},
        {"name": "ruby", "value": f"`touch {pwned}`"},
        {"name": "equals", "value": f"file://{secret_file}"},
        {"name": "contains", "value": "{{env.QUINTAIN_CANARY}}"},
        {"name": "webhook", "value": f"http://127.0.0.1:{port}/"},
    ]:
        code, text, scored = call("score_text", {"text": "x", "scorers": [scorer]})
        check(code != "ok" or scored["pass"] is False, f"{scorer}: {text[:300]}")
    check(call("create_dataset", {"name": "f", "source": {"path": secret_file}})[0] != "ok", "a file of the server")
    check(not os.path.exists(pwned), "nothing of it ran")

    # Everybody else is not affected, and sees nothing of it.
    theirs, _ = server.initialize(alice)
    code, _, listed = outcome(server, alice, theirs, "list_generators", {})
    check(code == "ok" and listed["total"] == 0, f"{listed}")
    code, _, _ = outcome(server, alice, theirs, "get_generator", {"generator_id": echo["generator_id"]})
    check(code == "not_found", f"generator of another principal: {code}")
    command = {"provider_type": "mcp", "connection": {"command": "/bin/sh", "args": ["-c", "true"]}}
    check(outcome(server, alice, theirs, "create_generator", command)[0] != "ok", "commands over HTTP must be listed")
    server.end()


def runs_are_limited():
    server = Http(env={"QUINTAIN_SERVE_RATE_LIMIT": "0"})
    mallory = server.token("mallory", *EVERYTHING)
    session, _ = server.initialize(mallory)
    slow = {"provider_type": "scripted", "model_name": "s", "parameters": {"default": {"text": "x", "delay_ms": 20000}}}
    _, _, made = outcome(server, mallory, session, "create_generator", slow)
    orchestrator = {"orchestrator_type": "prompt_sending", "target_generator_id": made["generator_id"], "dataset_id": "harmless_controls"}

    def started(_):
        session, _ = server.initialize(mallory)
        _, text, made = outcome(server, mallory, session, "create_orchestrator", orchestrator)
        if "orchestrator_id" not in made:
            return "not created", text
        start = {"orchestrator_id": made["orchestrator_id"], "confirm": True}
        return outcome(server, mallory, session, "start_orchestrator", start)[:2]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        codes = [code for code, _ in pool.map(started, range(12))]
    check("ok" in codes and "budget_exceeded" in codes, f"runs at once: {codes}")
    alice = server.token("alice")
    theirs, _ = server.initialize(alice)
    check(outcome(server, alice, theirs, "list_orchestrators", {})[0] == "ok", "others still work")
    check(server.end() == 0, "exit 0 although runs are under way")


tls()
public_url()
rates()
batches()
hostile()
runs_are_limited()
finish()
