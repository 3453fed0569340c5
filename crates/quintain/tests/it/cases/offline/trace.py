"""Runs a command under strace and prints every address on a network that it or a child of it named.

    trace.py [declared=URL] COMMAND [ARGUMENT...]
"""

import re
import subprocess
import sys
from urllib.parse import urlsplit

ADDRESS = re.compile(r'(\w+)\(.*sa_family=AF_INET6?, sin6?_port=htons\((\d+)\), .*?"([^"]+)"')

command = sys.argv[1:]
declared = None
if command[0].startswith("declared="):
    declared = urlsplit(command.pop(0).removeprefix("declared="))
strace = ["strace", "-f", "-qq", "-e", "trace=%network", "-o", "trace.txt"]
done = subprocess.run(strace + command, stdout=subprocess.DEVNULL, check=False)
with open("trace.txt", encoding="utf-8", errors="replace") as trace:
    calls = trace.read()
# A trace that saw nothing at all would prove nothing.
print("traced:", "socket" in calls)
found = set()
for call, port, host in ADDRESS.findall(calls):
    if call in ("connect", "sendto", "sendmsg", "bind"):
        target = declared and (host, int(port)) == (declared.hostname, declared.port)
        found.add(f"{call} {'the declared target' if target else host + ' port ' + port}")
print("\n".join(sorted(found)) or "no address on a network")
sys.exit(done.returncode)
