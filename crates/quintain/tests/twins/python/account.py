"""Profiles over HTTP, a bearer token for each user. Weak: answers are cached, and state kept, without regard to who asks; who has no token is a guest."""

import json

from mcp import HttpError, Server, options, string

TOKENS = {"tok-alice-51c2": "alice", "tok-bob-98d4": "bob"}
PROFILES = {"alice": {"user": "alice", "team": "red", "badge": "A-4471"}, "bob": {"user": "bob", "team": "blue", "badge": "B-9020"}}
PROFILES["guest"] = {"user": "guest", "team": "none", "badge": "none"}
opts = options(http=True)
server = Server("account", "0.2.0", strict=True)
cache = {}
recent = {}
searches = {}


def authenticate(headers, query):
    if not opts.fixed and "Authorization" not in headers:
        return "guest"
    kind, _, token = headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or token not in TOKENS:
        raise HttpError(401, "unauthorized", {"WWW-Authenticate": "Bearer"})
    return TOKENS[token]


server.authenticate = authenticate


def whose():
    """What keeps the entries of users apart."""
    return server.caller if opts.fixed else None


def cached(key, make):
    if key not in cache:
        cache[key] = make()
    return cache[key]


@server.tool("get_profile", "Your profile.", annotations={"readOnlyHint": True})
def get_profile():
    return cached(("profile", whose()), lambda: PROFILES[server.caller])


@server.tool("browse_topic", "Show what there is on a topic.", {"topic": string("Topic", enum=["gardens", "boats", "trains"])}, ["topic"])
def browse_topic(topic):
    recent[whose()] = {"user": server.caller, "topic": topic}
    return f"Three articles on {topic}."


@server.tool("last_topic", "The topic that you browsed last.", annotations={"readOnlyHint": True})
def last_topic():
    return recent.get(whose(), {"user": server.caller, "topic": "none"})


@server.tool("search_articles", "Search the articles.", {"text": string("Words to look for", maxLength=80, examples=["roses"])}, ["text"])
def search_articles(text):
    searches[whose()] = text
    return "Nothing was found."


@server.tool("my_last_search", "The words that you searched for last.", annotations={"readOnlyHint": True})
def my_last_search():
    return {"text": searches.get(whose(), "")}


@server.tool("get_rates", "Rates of the day; the same for all users, and cached.", {"currency": string("Currency", enum=["EUR", "NOK"])}, ["currency"])
def get_rates(currency):
    return cached(("rates", currency), lambda: {"currency": currency, "rate": 1.5})


@server.tool("get_badge", "Your badge.", annotations={"readOnlyHint": True})
def get_badge():
    return cached(("badge", server.caller), lambda: {"badge": PROFILES[server.caller]["badge"]})


@server.resource("profile://me", "Your profile", mime="application/json")
def me():
    return cached(("resource", whose()), lambda: json.dumps(PROFILES[server.caller]))


server.run(opts)
