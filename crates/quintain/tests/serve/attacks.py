"""Attacks on the authentication of `quintain serve --http`. Each must be refused."""

import base64
import hashlib
import hmac
import json
import os
import time
import urllib.parse

from harness import Http, check, finish, message_of, quintain

INIT = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
BACK = "http://127.0.0.1:9/cb"


def encoded(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(part):
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def signed(header, claims, key):
    text = f"{encoded(header)}.{encoded(claims)}"
    return f"{text}.{encoded(hmac.new(key, text.encode(), hashlib.sha256).digest())}"


def tokens(server):
    good = server.token("alice")
    check(server.post(INIT, good)[0] == 200, "a good token")
    status, headers, _ = server.post(INIT)
    check(status == 401 and "resource_metadata=" in headers["WWW-Authenticate"], "no token")
    header, claims, signature = good.split(".")
    plain_header, plain = decoded(header), decoded(claims)
    with open(os.path.join(server.home, "serve", "keys.json")) as file:
        secret = json.load(file)[0]["secret"]
    key = base64.urlsafe_b64decode(secret + "=" * (-len(secret) % 4))
    check(server.post(INIT, signed(plain_header, plain, key))[0] == 200, "the test signs as the server does")
    now = int(time.time())
    bad = {
        "alg none": f"{encoded({'alg': 'none', 'typ': 'JWT', 'kid': plain_header['kid']})}.{claims}.",
        "alg None": f"{encoded({'alg': 'None', 'kid': plain_header['kid']})}.{claims}.{signature}",
        "another algorithm": signed({**plain_header, "alg": "HS384"}, plain, key),
        "asymmetric algorithm": signed({**plain_header, "alg": "RS256"}, plain, key),
        "no key id": signed({"alg": "HS256"}, plain, key),
        "unknown key id": signed({**plain_header, "kid": "x"}, plain, key),
        "wrong key": signed(plain_header, plain, b"x" * 32),
        "empty key": signed(plain_header, plain, b""),
        "changed claims": f"{header}.{encoded({**plain, 'sub': 'bob'})}.{signature}",
        "wrong audience": signed(plain_header, {**plain, "aud": "https://other.example/mcp"}, key),
        "no audience": signed(plain_header, {k: v for k, v in plain.items() if k != "aud"}, key),
        "wrong issuer": signed(plain_header, {**plain, "iss": "https://evil.example"}, key),
        "expired": signed(plain_header, {**plain, "exp": now - 60}, key),
        "no expiry": signed(plain_header, {k: v for k, v in plain.items() if k != "exp"}, key),
        "not yet valid": signed(plain_header, {**plain, "nbf": now + 600}, key),
        "garbage": "a.b.c",
        "empty": " ",
    }
    for what, token in bad.items():
        status, headers, _ = server.post(INIT, token)
        check(status == 401, f"{what}: {status}")
    check(server.post(INIT, path=f"/mcp?access_token={good}")[0] == 400, "token in query")
    check(server.post(INIT, path=f"/mcp/sse?access_token={good}")[0] == 400, "token in query of SSE")
    other = server.token("carol", "--audience", "https://other.example/mcp")
    check(server.post(INIT, other)[0] == 401, "a token for another server")
    own = server.token("carol", "--audience", f"{server.base}/mcp")
    check(server.post(INIT, own)[0] == 200, "a token for this server")
    short = server.token("dave", "--ttl", "1")
    time.sleep(7)
    check(server.post(INIT, short)[0] == 401, "a token that expired")
    check(quintain(server.home, "token", "revoke", "carol").returncode == 0, "revoke")
    check(server.post(INIT, own)[0] == 401, "a revoked token")
    listed = quintain(server.home, "token", "list").stdout
    check("carol" in listed and own not in listed and "revoked" in listed, "list")
    mode = os.stat(os.path.join(server.home, "serve", "keys.json")).st_mode & 0o777
    check(mode == 0o600, f"keys: {mode:o}")
    quintain(server.home, "token", "rotate")
    check(server.post(INIT, good)[0] == 200, "earlier keys still verify")
    quintain(server.home, "token", "rotate", "--revoke-all")
    check(server.post(INIT, good)[0] == 401, "removed keys do not")


def rebinding(server):
    token = server.token("alice")
    for name, value, expected in [
        ("Host", "evil.example", 403),
        ("Host", f"evil.example:{server.host.split(':')[1]}", 403),
        ("Origin", "https://evil.example", 403),
        ("Origin", "http://localhost.evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://localhost:1234", 200),
    ]:
        for path in ["/mcp", "/mcp/oauth/token"] if expected == 403 else ["/mcp"]:
            status = server.post(INIT, token, path=path, headers={name: value})[0]
            check(status == expected, f"{name} {value} at {path}: {status}")
    status, headers, _ = server.request("OPTIONS", "/mcp", headers={"Origin": "http://localhost:1234"})
    check(status == 204 and headers["Access-Control-Allow-Origin"] == "http://localhost:1234", "CORS")
    check(server.post("x" * 5_000_000, token)[0] == 413, "large body")


def sessions(server):
    alice, bob = server.token("alice"), server.token("bob")
    session, _ = server.initialize(alice)
    mine = {"Mcp-Session-Id": session}
    listing = {"jsonrpc": "2.0", "id": 3, "method": "tools/list"}
    check(server.post(listing, alice, headers=mine)[0] == 200, "own session")
    check(server.post(listing, bob, headers=mine)[0] == 404, "session of another principal")
    check(server.request("DELETE", "/mcp", headers=mine, token=bob)[0] == 404, "end another's session")
    check(server.request("GET", "/mcp", headers={**mine, "Accept": "text/event-stream"}, token=bob)[0] == 404, "listen to another")
    check(server.post(listing, alice, headers=mine)[0] == 200, "the session still exists")
    _, made = server.ask("tools/call", {"name": "fixture_slow", "arguments": {"seconds": 60}, "task": {}}, alice, session)
    task = made["result"]["task"]["taskId"]
    theirs, _ = server.initialize(bob)
    for method in ["tasks/get", "tasks/result", "tasks/cancel"]:
        _, answer = server.ask(method, {"taskId": task}, bob, theirs)
        check(answer["error"]["code"] == -32602, f"{method} of another's task")
    check(server.ask("tasks/list", {}, bob, theirs)[1]["result"]["tasks"] == [], "another's tasks are not listed")
    server.ask("tasks/cancel", {"taskId": task}, alice, session)
    reader = server.token("eve", "--scope", "texts:read")
    session, _ = server.initialize(reader)
    names = [tool["name"] for tool in server.ask("tools/list", {}, reader, session)[1]["result"]["tools"]]
    check("fixture_echo" in names and "fixture_slow" not in names, f"tools of a reader: {names}")
    call = {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "fixture_slow", "arguments": {}}}
    status, headers, _ = server.post(call, reader, headers={"Mcp-Session-Id": session})
    challenge = headers["WWW-Authenticate"] or ""
    check(status == 403 and 'error="insufficient_scope"' in challenge and "texts:write" in challenge, f"{status} {challenge}")


def form(server, path, fields, headers=None):
    headers = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
    return server.request("POST", path, urllib.parse.urlencode(fields), headers)


def registered(server, **extra):
    body = {"client_name": "<b>app</b>", "redirect_uris": [BACK], **extra}
    status, _, answer = server.request("POST", "/mcp/oauth/register", json.dumps(body), {"Content-Type": "application/json"})
    return status, json.loads(answer)


def authorized(server, client, challenge, token, decision="allow", **changes):
    """The query of the redirect after the consent page."""
    query = {"response_type": "code", "client_id": client, "redirect_uri": BACK, "state": "s1",
             "code_challenge": challenge, "code_challenge_method": "S256", **changes}
    query = {name: value for name, value in query.items() if value is not None}
    status, headers, page = server.request("GET", "/mcp/oauth/authorize?" + urllib.parse.urlencode(query))
    if status != 200:
        return status, headers, None
    check(b"<b>app" not in page, "the name of the client is escaped")
    check("frame-ancestors 'none'" in headers["Content-Security-Policy"], "no frames")
    cookie = headers["Set-Cookie"].split(";")[0]
    request = page.decode().split('name="request" value="')[1].split('"')[0]
    fields = {"request": request, "decision": decision, "token": token}
    stolen = form(server, "/mcp/oauth/authorize", fields)
    check(stolen[0] == 400, "consent from another browser")
    status, headers, _ = form(server, "/mcp/oauth/authorize", fields, {"Cookie": cookie})
    target = headers["Location"] or ""
    return status, headers, dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(target).query)) if target else None


def oauth(server):
    for uri in ["http://evil.example/cb", "javascript:alert(1)", "https://a.example/*"]:
        check(registered(server, redirect_uris=[uri])[0] == 400, f"register {uri}")
    status, client = registered(server)
    check(status == 201, "register")
    client = client["client_id"]
    verifier = encoded(os.urandom(32))
    challenge = encoded(hashlib.sha256(verifier.encode()).digest())
    token = server.token("alice", "--scope", "texts:read", "--scope", "datasets:read")
    for changes, what in [
        ({"redirect_uri": "https://evil.example/cb"}, "foreign redirect"),
        ({"redirect_uri": BACK + "/more"}, "longer redirect"),
        ({"redirect_uri": BACK + "?x=1"}, "redirect with a query"),
        ({"client_id": "nobody"}, "unknown client"),
    ]:
        status, headers, _ = authorized(server, client, challenge, token, **changes)
        check(status in (400, 401) and not headers["Location"], f"{what}: {status}")
    for changes, error in [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
    ]:
        status, headers, _ = authorized(server, client, challenge, token, **changes)
        check(status == 303 and f"error={error}" in headers["Location"], f"{changes}: {status}")
    check(authorized(server, client, challenge, token, decision="deny")[2]["error"] == "access_denied", "deny")
    check(authorized(server, client, challenge, "wrong")[0] == 403, "consent with a wrong token")
    status, _, answer = authorized(server, client, challenge, token)
    check(status == 303 and answer["state"] == "s1" and answer["iss"] == server.base, f"{answer}")
    exchange = {"grant_type": "authorization_code", "client_id": client, "redirect_uri": BACK,
                "code": answer["code"], "code_verifier": verifier}
    status, headers, body = form(server, "/mcp/oauth/token", exchange)
    check(status == 200 and headers["Cache-Control"] == "no-store", f"exchange: {body}")
    granted = json.loads(body)
    check(granted["scope"] == "datasets:read texts:read" or set(granted["scope"].split()) == {"datasets:read", "texts:read"}, granted["scope"])
    check(server.post(INIT, granted["access_token"])[0] == 200, "the access token")
    check(server.post(INIT, granted["refresh_token"])[0] == 401, "a refresh token is no access token")
    check(form(server, "/mcp/oauth/token", exchange)[0] == 400, "replayed code")
    renew = {"grant_type": "refresh_token", "client_id": client, "refresh_token": granted["refresh_token"]}
    check(form(server, "/mcp/oauth/token", renew)[0] == 400, "a replayed code ends the tokens of the first exchange")
    for changes, what in [
        ({"code_verifier": encoded(os.urandom(32))}, "wrong verifier"),
        ({"code_verifier": None}, "no verifier"),
        ({"redirect_uri": "http://127.0.0.1:9/other"}, "another redirect"),
        ({"client_id": registered(server)[1]["client_id"]}, "another client"),
        ({"resource": "https://other.example"}, "another resource"),
    ]:
        code = authorized(server, client, challenge, token)[2]["code"]
        fields = {**exchange, "code": code, **changes}
        status = form(server, "/mcp/oauth/token", {k: v for k, v in fields.items() if v is not None})[0]
        check(status == 400, f"{what}: {status}")
    code = authorized(server, client, challenge, token)[2]["code"]
    first = json.loads(form(server, "/mcp/oauth/token", {**exchange, "code": code})[2])
    renew["refresh_token"] = first["refresh_token"]
    second = json.loads(form(server, "/mcp/oauth/token", renew)[2])
    check(server.post(INIT, second["access_token"])[0] == 200, "refreshed")
    check(form(server, "/mcp/oauth/token", renew)[0] == 400, "a used refresh token")
    renew["refresh_token"] = second["refresh_token"]
    check(form(server, "/mcp/oauth/token", renew)[0] == 400, "reuse ends the family")
    # A right that the user does not have.
    check(authorized(server, client, challenge, token, scope="admin:write")[2].get("error") == "invalid_scope", "more scope")
    for fields, expected in [
        ({"grant_type": "client_credentials", "client_id": "alice", "client_secret": token}, 200),
        ({"grant_type": "client_credentials", "client_id": "bob", "client_secret": token}, 401),
        ({"grant_type": "client_credentials", "client_id": "alice", "client_secret": "x"}, 401),
        ({"grant_type": "password", "username": "a", "password": "b"}, 400),
    ]:
        check(form(server, "/mcp/oauth/token", fields)[0] == expected, f"{fields['grant_type']} {expected}")
    check(server.request("GET", "/mcp/oauth/callback?code=x&state=y")[0] == 400, "forged callback")
    # An access token of this server is none of another one, although both have the same keys.
    other = Http(home=server.home)
    check(other.post(INIT, second["access_token"])[0] == 401, "token of another server")
    other.end()


server = Http()
rebinding(server)
sessions(server)
oauth(server)
tokens(server)
check(server.end() == 0, "exit 0 on SIGTERM")
open_server = Http(env={"MCP_REQUIRE_AUTH": "false", "QUINTAIN_SERVE_RATE_LIMIT": "5"})
statuses = [open_server.post(INIT)[0] for _ in range(8)]
check(statuses == [200] * 5 + [429] * 3, f"rate limit: {statuses}")
open_server.end()
check(quintain(server.home, "audit", "verify").returncode == 0, "the audit log is intact")
with open(os.path.join(server.home, "audit.jsonl")) as log:
    check("fixture_slow" in log.read(), "calls are in the audit log")
finish()
