"""The command line of the MCP Inspector as client, over all three transports."""

import json
import os
import subprocess
import tempfile

from harness import PROGRAM, Http, check, finish

PACKAGE = os.path.join(os.environ["QUINTAIN_PEER_INSPECTOR"], "node_modules/@modelcontextprotocol/inspector")
with open(os.path.join(PACKAGE, "package.json")) as manifest:
    SCRIPT = os.path.join(PACKAGE, json.load(manifest)["bin"]["mcp-inspector"])
HOME = tempfile.mkdtemp()


def inspected(target, *words, expected=0):
    env = dict(os.environ, HOME=HOME, QUINTAIN_HOME=HOME)
    command = [os.environ["QUINTAIN_PEER_NODE"], SCRIPT, "--cli", *target, *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    check((done.returncode == 0) == (expected == 0), f"{words}: {done.returncode} {done.stdout[-500:]} {done.stderr[-500:]}")
    return json.loads(done.stdout) if expected == 0 and done.returncode == 0 else {}


def use(target, where):
    tools = inspected(target, "--method", "tools/list").get("tools", [])
    names = [tool["name"] for tool in tools]
    check("create_generator" in names and all(tool["outputSchema"] for tool in tools), f"{where}: {names}")
    call = ["--method", "tools/call", "--tool-name"]
    made = inspected(target, *call, "create_generator", "--tool-arg", "provider_type=echo", "model_name=gpt-4")
    made = made.get("structuredContent", {})
    check(str(made.get("generator_id", "")).startswith("gen_"), f"{where}: {made}")
    inspected(target, *call, "create_generator", "--tool-arg", "model_name=gpt-4", expected=1)
    prompts = inspected(target, "--method", "prompts/list").get("prompts", [])
    check(len(prompts) >= 12, f"{where}: {len(prompts)} prompts")
    words = ["--prompt-name", "jailbreak_test", "--prompt-args", "scenario=dan_attack", "complexity_level=advanced"]
    messages = inspected(target, "--method", "prompts/get", *words).get("messages", [{}])
    check("advanced" in json.dumps(messages), f"{where}: prompt")
    read = inspected(target, "--method", "resources/read", "--uri", "violentutf://datasets/security_prompts")
    check(bool(read.get("contents", [{}])[0].get("text")), f"{where}: resource")


use([PROGRAM, "serve", "--stdio"], "stdio")
server = Http()
header = f"Authorization: Bearer {server.token('alice')}"
for transport, url in [("http", server.urls["url"]), ("sse", server.urls["sse"])]:
    use([url, "--transport", transport, "--header", header], transport)
server.end()
finish()
