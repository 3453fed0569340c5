"""An MCP server, its authorization server at `/oauth/token` and an identity provider at `/idp`, in one.

Prints `{"url"}`. The forms that the two token endpoints got are at `/seen`, with signed assertions decoded; their
signatures are checked elsewhere, by a real authorization server.
"""

import base64
import json
import threading
import urllib.parse

from issuer import RESOURCE, SERVER, Handler, metadata, serve, start

# What the forms contain in secret, and how `/seen` calls it.
SECRETS = {"jwt-canary": "[JWT of the workload]", "id-token-canary": "[ID token]", "jag-canary": "[exchanged assertion]"}
EXCHANGED = "urn:ietf:params:oauth:token-type:id-jag"


def decoded(part):
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def readable(form):
    """A form without secrets and without what differs from run to run."""
    form = {name: SECRETS.get(value, value) for name, value in form.items()}
    if "client_assertion" in form:
        header, claims = map(decoded, form["client_assertion"].split(".")[:2])
        claims["exp"] -= claims.pop("iat")
        claims["jti"] = "..." if claims["jti"] else None
        form = {**form, "client_assertion": {"header": header, "claims": claims}}
    return json.dumps(form, sort_keys=True, indent=1)


class Grants(Handler):
    def answer(self, body):
        path = urllib.parse.urlsplit(self.path).path
        form = dict(urllib.parse.parse_qsl(body))
        if path not in ("/idp", "/oauth/token"):
            return super().answer(body)
        basic = self.headers.get("Authorization") or ""
        self.server.seen.append(f"{path} {basic.split(' ')[0]}\n{readable(form)}\n".replace(self.server.origin, "[origin]"))
        if path == "/idp":
            return self.send(200, {"access_token": "jag-canary", "issued_token_type": EXCHANGED, "token_type": "N_A"})
        return self.send(200, {"access_token": "access-canary", "token_type": "Bearer", "expires_in": 3600})


server = start(Grants)
server.documents = {
    f"{RESOURCE}/mcp": {"resource": f"{server.origin}/mcp", "authorization_servers": [server.origin]},
    SERVER: metadata(server.origin, server.origin, server.origin),
}
threading.Thread(target=server.serve_forever, daemon=True).start()
serve(f"{server.origin}/mcp")
