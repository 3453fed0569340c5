"""Runs `quintain login` and does what a browser would: opens the address that it prints."""

import re
import subprocess
import sys
import urllib.request

quintain, url = sys.argv[1:]
login = subprocess.Popen([quintain, "login", url, "--no-browser"], stderr=subprocess.PIPE, text=True)
for line in login.stderr:
    address = re.search(r"http://\S+/oauth/authorize\S+", line)
    if address:
        with urllib.request.urlopen(address.group()) as page:
            print(page.status, page.read().decode())
    else:
        print(line, end="")
sys.exit(login.wait())
