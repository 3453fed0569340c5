"""Checks of texts. Weak: a pattern that backtracks without end, and a parser that copies the rest for every part."""

import hashlib
import re

from mcp import Server, options, string

opts = options()
server = Server("matcher", "1.1.1", strict=True)
if opts.fixed:
    EMAIL, BOUND = re.compile(r"[A-Za-z0-9.]{1,64}@[A-Za-z0-9-]{1,63}\.[A-Za-z]{2,10}"), {"maxLength": 140}
else:
    EMAIL, BOUND = re.compile(r"([A-Za-z0-9]+\.?)+@([A-Za-z0-9-]+\.)+[A-Za-z]{2,10}"), {}


@server.tool("check_email", "Tell whether a text has the form of an e-mail address.",
             {"email": string("E-mail address", **BOUND, examples=["ada@mail.example"])}, ["email"])
def check_email(email):
    return {"valid": EMAIL.fullmatch(email) is not None}


@server.tool("parse_tags", "Count the tags of a list.", {"tags": string("Tags, separated by commas", examples=["red,green"])}, ["tags"])
def parse_tags(tags):
    if opts.fixed:
        return {"tags": len([tag for tag in tags.split(",") if tag])}
    found = 0
    while tags:
        first, *rest = tags.split(",")
        found += bool(first)
        tags = ",".join(rest)
    return {"tags": found}


@server.tool("count_words", "Count the words of a text.", {"text": string("Text", examples=["one two"])}, ["text"])
def count_words(text):
    return {"words": len(text.split())}


@server.tool("fingerprint", "Fingerprint of a text. Slow on purpose, whatever the text.", {"text": string("Text", examples=["abc"])}, ["text"])
def fingerprint(text):
    return hashlib.pbkdf2_hmac("sha256", text.encode(errors="replace"), b"twins", 150_000).hex()


@server.tool("check_phone", "Tell whether a text has the form of a phone number.", {"phone": string("Phone number", examples=["+47 555 01 00"])}, ["phone"])
def check_phone(phone):
    return {"valid": re.fullmatch(r"\+?[0-9][0-9 ]{4,18}", phone) is not None}


server.run(opts)
