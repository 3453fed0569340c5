"""A vault over HTTP with signed tokens (HS256). Weak: algorithm none, expiry, audience and scope are not checked, tokens in the query."""

import base64
import hashlib
import hmac
import json
import os
import time

from mcp import HttpError, Server, ToolError, options, string

opts = options(http=True)
server = Server("vault", "2.0.0", strict=True)
server.metadata = {"authorization_servers": ["https://login.vault.example"], "scopes_supported": ["vault:read", "vault:write"]}
KEY = os.environ.get("VAULT_KEY", "vault-key-of-the-tests").encode()
AUDIENCE = "vault-mcp"
ENTRIES = {"wifi": "guest network", "door": "side entrance"}


def unpadded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def refuse(status, error):
    where = server.url.replace("/mcp", "/.well-known/oauth-protected-resource")
    raise HttpError(status, error, {"WWW-Authenticate": f'Bearer error="{error}", resource_metadata="{where}"'})


def claims(token):
    """What a valid token says."""
    try:
        head, body, signature = token.split(".")
        algorithm, said = json.loads(unpadded(head))["alg"], json.loads(unpadded(body))
        good = hmac.compare_digest(hmac.digest(KEY, f"{head}.{body}".encode(), hashlib.sha256), unpadded(signature))
        if opts.fixed:
            return said if algorithm == "HS256" and good and said["exp"] > time.time() and said["aud"] == AUDIENCE else None
        return said if good or algorithm == "none" else None
    except (ValueError, KeyError, TypeError):
        return None


def authenticate(headers, query):
    kind, _, token = headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer":
        token = "" if opts.fixed else query.get("access_token", [""])[0]
    said = claims(token)
    if said is None:
        refuse(401, "invalid_token")
    server.local.scopes = said.get("scope", "").split()
    return said.get("sub")


server.authenticate = authenticate


def demand(scope):
    if scope not in server.local.scopes:
        refuse(403, "insufficient_scope")


@server.tool("whoami", "Whose token this is.", annotations={"readOnlyHint": True})
def whoami():
    return {"user": server.caller}


@server.tool("list_entries", "List the names of the entries.", annotations={"readOnlyHint": True})
def list_entries():
    demand("vault:read")
    return {"entries": sorted(ENTRIES)}


@server.tool("read_entry", "Read an entry.", {"name": string("Name, from list_entries", pattern="^[a-z]{1,20}$", examples=["wifi"])}, ["name"])
def read_entry(name):
    demand("vault:read")
    if name not in ENTRIES:
        raise ToolError(f"No such entry: {name}")
    return {"name": name, "place": ENTRIES[name]}


@server.tool("rename_entry", "Rename an entry. Needs the scope vault:write.", {
    "name": string("Name, from list_entries", pattern="^[a-z]{1,20}$", examples=["door"]),
    "new_name": string("New name", enum=["gate", "hall", "yard"]),
}, ["name", "new_name"])
def rename_entry(name, new_name):
    demand("vault:write" if opts.fixed else "vault:read")
    if name not in ENTRIES:
        raise ToolError(f"No such entry: {name}")
    ENTRIES[new_name] = ENTRIES.pop(name)
    return {"name": new_name}


server.run(opts)
