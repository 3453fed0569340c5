"""Our own attacks against our own server, as two users: nothing is found."""

import os
import re
import subprocess
import tempfile

from harness import PROGRAM, Http, check, finish

PLUGINS = [
    "auth-missing", "token-handling", "session-hijack", "http-host-origin", "bola", "bfla", "rbac", "hidden-tool",
    "cross-session-leak",
]
SUITE = """
targets:
  - id: mcp
    config:
      server: {{name: quintain, url: "{url}", auth: {{type: bearer, token: "{{{{env.ALICE}}}}"}}}}
redteam:
  plugins: [{plugins}]
  identities:
    - {{name: alice, auth: {{type: bearer, token: "{{{{env.ALICE}}}}"}}}}
    - {{name: bob, auth: {{type: bearer, token: "{{{{env.BOB}}}}"}}}}
"""
GROUPS = ["generators", "datasets", "texts", "orchestrators", "results"]
SCOPES = [word for group in GROUPS for access in ["read", "write"] for word in ["--scope", f"{group}:{access}"]]

server = Http(env={"QUINTAIN_SERVE_RATE_LIMIT": "0"})
folder = tempfile.mkdtemp()
env = dict(os.environ, QUINTAIN_HOME=tempfile.mkdtemp(), ALICE=server.token("alice", *SCOPES), BOB=server.token("bob", *SCOPES))
with open(os.path.join(folder, "suite.yaml"), "w") as suite:
    suite.write(SUITE.format(url=server.urls["url"], plugins=", ".join(PLUGINS)))
# Something of Alice that Bob could ask for.
session, _ = server.initialize(env["ALICE"])
for number in range(3):
    arguments = {"provider_type": "echo", "name": f"generator of alice {number}"}
    _, answer = server.ask("tools/call", {"name": "create_generator", "arguments": arguments}, env["ALICE"], session)
    check(not answer["result"].get("isError"), f"{answer}")
command = [PROGRAM, "redteam", "run", "-c", "suite.yaml", "--seed", "7", "--num-tests", "2"]
done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)
check(done.returncode == 0, f"exit {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}")
check("0 confirmed, 0 suspected" in done.stdout, done.stdout[-4000:])
for attack in ["token-handling", "session-hijack", "http-host-origin", "cross-session-leak"]:
    check(re.search(rf"{attack} +0 of [1-9]", done.stdout), f"{attack} ran: {done.stdout}")
server.end()
finish()
