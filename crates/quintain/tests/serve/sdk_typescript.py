"""Starts the server for the client in TypeScript."""

import os
import subprocess

from harness import PROGRAM, Http, check, finish

server = Http()
node = os.environ["QUINTAIN_PEER_NODE"]
script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sdk_typescript.mjs")
command = [node, script, PROGRAM, server.urls["url"], server.urls["sse"], server.token("alice")]
done = subprocess.run(command, capture_output=True, text=True, timeout=120)
check(done.returncode == 0, f"{done.stdout}\n{done.stderr}")
server.end()
finish()
