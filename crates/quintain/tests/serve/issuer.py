"""An external issuer: npm's oidc-provider at the root and under a path like Keycloak's, with its tokens and its login."""

import base64
import hashlib
import http.cookiejar
import json
import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from harness import Http, check, finish, on_free_port

BACK = "http://127.0.0.1:9/back"
INIT = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def started_issuer():
    script = os.path.join(os.environ["QUINTAIN_PEER_OIDC"], "server.mjs")
    process = subprocess.Popen([os.environ["QUINTAIN_PEER_NODE"], script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    return process, json.loads(process.stdout.readline())


def posted(url, fields):
    data = urllib.parse.urlencode(fields).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data), timeout=20) as answer:
        return json.load(answer)


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def machine_token(issuer, resource, scope="texts:read"):
    fields = {"grant_type": "client_credentials", "client_id": "machine", "client_secret": "machine-secret"}
    return posted(f"{issuer}/token", {**fields, "resource": resource, "scope": scope})["access_token"]


def changed(token, header=None, claims=None, signature=None):
    parts = token.split(".")
    for place, change in [(0, header), (1, claims)]:
        if change:
            part = json.loads(base64.urlsafe_b64decode(parts[place] + "=="))
            parts[place] = encoded(json.dumps({**part, **change}).encode())
    if signature is not None:
        parts[2] = signature
    return ".".join(parts)


def tokens(issuer, other):
    server = Http(env={"QUINTAIN_SERVE_ISSUER": issuer})
    resource = server.urls["url"]
    token = machine_token(issuer, resource)
    session, answer = server.initialize(token)
    check(answer["result"]["protocolVersion"] == "2025-11-25", f"{issuer}: {answer}")
    names = [tool["name"] for tool in server.ask("tools/list", {}, token, session)[1]["result"]["tools"]]
    check("fixture_echo" in names and "fixture_slow" not in names, f"{issuer}: tools of a reader: {names}")
    for wrong, what in [
        (machine_token(issuer, resource.replace("/mcp", "/other/mcp")), "token of another audience"),
        (machine_token(other, resource), "token of another issuer"),
        (machine_token(issuer, server.base + "/mcp-protected", "mcp:read"), "opaque token"),
        (changed(token, header={"alg": "none"}, signature=""), "alg none"),
        (changed(token, header={"alg": "HS256"}), "another algorithm"),
        (changed(token, header={"kid": "unknown"}), "unknown key"),
        (changed(token, claims={"scope": "admin:write"}), "more scope"),
        (token[:-6] + "AAAAAA", "another signature"),
    ]:
        status, headers, _ = server.post(INIT, wrong)
        check(status == 401 and "resource_metadata" in (headers["WWW-Authenticate"] or ""), f"{issuer}: {what}: {status}")
    local = server.token("alice")
    check(server.post(INIT, local)[0] == 200, "a token of this machine still works")
    theirs, _ = server.initialize(local)
    status = server.post({"jsonrpc": "2.0", "id": 2, "method": "ping"}, token, headers={"Mcp-Session-Id": theirs})[0]
    check(status == 404, "session of another principal")
    document = json.loads(server.request("GET", "/.well-known/oauth-protected-resource/mcp")[2])
    check(document["authorization_servers"] == [issuer], f"{document}")
    server.end()


class Browser(urllib.request.HTTPRedirectHandler):
    """Follows redirects with cookies until one leads back to the application."""

    def __init__(self):
        self.back = None
        self.seen = []
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(self, jar)

    def redirect_request(self, request, file, code, message, headers, url):
        self.seen.append(url)
        if url.startswith(BACK):
            self.back = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
            return None
        return super().redirect_request(request, file, code, message, headers, url)

    def open(self, url, fields=None):
        data = urllib.parse.urlencode(fields).encode() if fields else None
        try:
            with self.opener.open(url, data, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


def with_client(issuer):
    """A server whose address its issuer knows."""

    def start(address):
        body = {
            "redirect_uris": [f"http://{address}/mcp/oauth/callback"],
            "grant_types": ["authorization_code"], "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_basic",
        }
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{issuer}/reg", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            client = json.load(answer)
        env = {
            "QUINTAIN_SERVE_ISSUER": issuer,
            "QUINTAIN_SERVE_OAUTH_CLIENT_ID": client["client_id"],
            "QUINTAIN_SERVE_OAUTH_CLIENT_SECRET": client["client_secret"],
        }
        return Http(env=env, address=address)

    return on_free_port(start)


def login(issuer):
    server = with_client(issuer)
    body = json.dumps({"client_name": "app", "redirect_uris": [BACK]})
    _, _, answer = server.request("POST", "/mcp/oauth/register", body, {"Content-Type": "application/json"})
    client = json.loads(answer)["client_id"]
    verifier = encoded(os.urandom(32))
    query = urllib.parse.urlencode({
        "response_type": "code", "client_id": client, "redirect_uri": BACK, "state": "s1",
        "code_challenge": encoded(hashlib.sha256(verifier.encode()).digest()), "code_challenge_method": "S256",
    })
    browser = Browser()
    status, page = browser.open(f"{server.base}/mcp/oauth/authorize?{query}")
    check(status == 200 and 'name="token"' not in page, f"{issuer}: the page asks for no token: {status}")
    request = page.split('name="request" value="')[1].split('"')[0]
    browser.open(f"{server.base}/mcp/oauth/authorize", {"request": request, "decision": "allow"})
    check(any(url.startswith(f"{issuer}/auth?") for url in browser.seen), f"{issuer}: {browser.seen}")
    back = browser.back or {}
    check(back.get("state") == "s1" and back.get("iss") == server.base, f"{issuer}: {back} {browser.seen}")
    callback = next((url for url in browser.seen if "/mcp/oauth/callback?" in url), None)
    check(callback is not None, f"{issuer}: the issuer came back: {browser.seen}")
    if callback:
        check(browser.open(callback)[0] == 400, f"{issuer}: a callback works once")
        check(Browser().open(callback)[0] == 400, f"{issuer}: the callback of another browser")
    fields = {
        "grant_type": "authorization_code", "client_id": client, "redirect_uri": BACK,
        "code": back.get("code", ""), "code_verifier": verifier,
    }
    granted = posted(f"{server.base}/mcp/oauth/token", fields)
    check(granted["scope"].split() == ["texts:read"], f"{issuer}: a role of the issuer is a scope: {granted['scope']}")
    session, _ = server.initialize(granted["access_token"])
    status, answer = server.ask("tools/call", {"name": "fixture_echo", "arguments": {"text": "hi"}}, granted["access_token"], session)
    check(status == 200 and answer["result"]["structuredContent"]["answer"] == "hi", f"{issuer}: {answer}")
    server.end()


process, issuer = started_issuer()
try:
    tokens(issuer["issuer"], issuer["realm"])
    tokens(issuer["realm"], issuer["issuer"])
    login(issuer["issuer"])
    login(issuer["realm"])
finally:
    process.stdin.close()
    process.wait(30)
finish()
