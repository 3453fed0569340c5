"""Follows a redirect with credentials, as a careless client would, and prints who got them."""

import json
import sys
import urllib.request

target, seen = sys.argv[1:]
credentials = {"Authorization": "Bearer secret", "Content-Type": "application/json"}
message = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def post(address):
    return urllib.request.urlopen(urllib.request.Request(address, message, credentials))


try:
    post(target)
except urllib.error.HTTPError as redirect:
    print(redirect.code, redirect.headers["Location"])
    post(redirect.headers["Location"])
for request in json.load(urllib.request.urlopen(seen)):
    print(request["server"], request["authorization"])
