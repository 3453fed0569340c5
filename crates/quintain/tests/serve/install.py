"""`quintain serve install`: the entry in the configuration of each client, and that nothing else changes."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
failed = 0


def check(holds, what):
    global failed
    if not holds:
        failed += 1
        print("FAILED:", what)


def install(home, *words):
    environment = {name: value for name, value in os.environ.items() if name.startswith(("PATH", "LANG"))}
    environment.update(HOME=str(home), QUINTAIN_HOME=str(home / "state"), NO_COLOR="1")
    command = [BINARY, "serve", "install", *words]
    return subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def entry_of(path, section):
    return json.loads(path.read_text())[section]["quintain"]


PLACES = [
    ("claude-code", ".claude.json", "mcpServers"),
    ("vscode", ".config/Code/User/mcp.json", "servers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers"),
]
if sys.platform == "linux":
    for client, path, section in PLACES:
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            file = home / path
            shown = install(home, "--client", client)
            check(shown.returncode == 0 and not file.exists(), f"{client}: nothing is written without consent")
            check('+   "args": [' in shown.stdout, f"{client}: the change is shown: {shown.stdout}")
            written = install(home, "--client", client, "--yes")
            check(written.returncode == 0, f"{client}: {written.stderr}")
            entry = entry_of(file, section)
            check(entry["args"] == ["serve"] and pathlib.Path(entry["command"]).name == "quintain", f"{client}: {entry}")
            again = install(home, "--client", client, "--yes")
            check("already has" in again.stdout, f"{client}: {again.stdout}")
            greeting = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
            started = subprocess.run([entry["command"], *entry["args"]], input=json.dumps(greeting) + "\n",
                                     env={**os.environ, "QUINTAIN_HOME": str(home / "state")},
                                     capture_output=True, text=True, timeout=60)
            check('"serverInfo"' in started.stdout and started.returncode == 0, f"{client}: the entry starts a server")

with tempfile.TemporaryDirectory() as folder:
    home = pathlib.Path(folder)
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    former = '{\n  // mine\n  "mcpServers": {\n    "git": {"command": "git-mcp"}\n  }\n}\n'
    file.write_text(former)
    done = install(home, "--client", "cursor", "--scope", "project", "--yes", "--url", "https://quintain.example/mcp")
    changed = file.read_text()
    check(done.returncode == 0 and "// mine" in changed and '"git": {"command": "git-mcp"}' in changed, changed)
    check('"url": "https://quintain.example/mcp"' in changed, changed)
    check((file.parent / "mcp.json.before-quintain").read_text() == former, "the former file is kept")
    check(install(home, "--client", "nobody").returncode == 2, "an unknown client is refused")
    check(install(home, "--client", "cursor", "--url", "ftp://x").returncode == 2, "a URL that is none is refused")
    file.write_text("[1, 2")
    check(install(home, "--client", "cursor", "--yes").returncode == 2, "a broken file is refused")
    check(file.read_text() == "[1, 2", "a broken file is not changed")

print(failed, "failed")
sys.exit(1 if failed else 0)
