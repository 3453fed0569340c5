"""Messages over HTTP, a bearer token for each user. Weak: once a session is open, its id is all that is asked for."""

from mcp import HttpError, Server, options

TOKENS = {"tok-alice-51c2": "alice", "tok-bob-98d4": "bob"}
MESSAGES = {"alice": ["Your parcel is at the desk."], "bob": ["The meeting moved to noon."]}
opts = options(http=True)
server = Server("hub", "1.0.1", strict=True)


def authenticate(headers, query):
    session = headers.get("Mcp-Session-Id")
    if not opts.fixed and session in server.sessions:
        return server.sessions[session]
    kind, _, token = headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or token not in TOKENS:
        raise HttpError(401, "unauthorized", {"WWW-Authenticate": "Bearer"})
    return TOKENS[token]


server.authenticate = authenticate


@server.tool("whoami", "The user of this session.")
def whoami():
    return {"user": server.caller}


@server.tool("read_messages", "Your messages.")
def read_messages():
    return {"user": server.caller, "messages": MESSAGES[server.caller]}


@server.tool("opening_hours", "When the hub is open; the same for all.")
def opening_hours():
    return "Monday to Friday, 8 to 17."


server.run(opts)
