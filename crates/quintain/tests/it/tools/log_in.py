"""log_in.py QUINTAIN URL [OPTION...]: runs `quintain login` and does what a browser would: opens the address that it prints.

With `FORGE=1` in the environment, others try to end the login first: requests without its state, and connections
that never finish.
"""

import os
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request


def get(address):
    try:
        with urllib.request.urlopen(address) as page:
            return f"{page.status} {page.read().decode()}"
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"


def forge(address):
    """What another program or a page in the browser can send to the redirect URI."""
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)
    callback = query["redirect_uri"][0]
    parts = urllib.parse.urlsplit(callback)
    slow = [socket.create_connection((parts.hostname, parts.port)) for _ in range(100)]
    for connection in slow:
        connection.sendall(b"GET /callback?")
    for tail in ["", "?code=forged", "?code=forged&state=forged", "?error=access_denied&state="]:
        print("forged:", get(callback + tail))
    print("forged:", get(urllib.parse.urljoin(callback, "/favicon.ico")))
    return slow


quintain, url, *options = sys.argv[1:]
login = subprocess.Popen([quintain, "login", url, "--no-browser", *options], stderr=subprocess.PIPE, text=True)
for line in login.stderr:
    address = re.search(r"http://\S+/oauth/authorize\S+", line)
    if address:
        held = forge(address.group()) if os.environ.get("FORGE") else []
        print(get(address.group()))
    else:
        print(line, end="")
sys.exit(login.wait())
