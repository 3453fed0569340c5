"""Runs that are killed or stopped continue without losing what is finished; the host's own model as target."""

import time

from harness import Stdio, check, finish


def call(server, name, arguments):
    answer = server.ask("tools/call", {"name": name, "arguments": arguments})[0]
    result = answer.get("result", {})
    check("result" in answer and not result.get("isError"), f"{name}: {answer}")
    return result.get("structuredContent") or {}


def until(server, orchestrator, is_reached):
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        seen = call(server, "get_orchestrator", {"orchestrator_id": orchestrator, "wait_seconds": 1})
        if is_reached(seen):
            return seen
    return seen


def done(seen):
    return (seen.get("progress") or {}).get("done") or 0


def started(server, delay_ms):
    """A run of one call after the other, with a few answers so far."""
    slow = {"provider_type": "scripted", "model_name": "s", "parameters": {"default": {"text": "I cannot help.", "delay_ms": delay_ms}}}
    generator = call(server, "create_generator", slow)["generator_id"]
    orchestrator = call(server, "create_orchestrator", {
        "orchestrator_type": "prompt_sending", "target_generator_id": generator, "dataset_id": "harmless_controls",
        "config": {"concurrency": 1},
    })["orchestrator_id"]
    call(server, "start_orchestrator", {"orchestrator_id": orchestrator, "confirm": True})
    return orchestrator, until(server, orchestrator, lambda seen: done(seen) >= 3)


def kill():
    server = Stdio()
    server.initialize()
    orchestrator, before = started(server, 300)
    check(before["status"] == "running" and done(before) >= 3, f"{before}")
    server.process.kill()
    server.process.wait(30)
    server = Stdio(home=server.home)
    server.initialize()
    after = call(server, "get_orchestrator", {"orchestrator_id": orchestrator})
    check(after["status"] == "paused", f"after kill -9: {after['status']}")
    check(done(after) >= done(before), f"nothing finished is lost: {before.get('progress')} {after.get('progress')}")
    call(server, "resume_orchestrator", {"orchestrator_id": orchestrator, "confirm": True})
    last = until(server, orchestrator, lambda seen: seen["status"] not in ("pending", "running"))
    check(last["status"] == "completed", f"resumed: {last['status']}")
    results = call(server, "get_orchestrator_results", {"orchestrator_id": orchestrator})
    check(results["summary"]["attempts"] >= done(after), f"{results['summary']}")
    check(server.end() == 0, "exit 0")


def shutdown():
    server = Stdio()
    server.initialize()
    orchestrator, before = started(server, 300)
    check(server.end() == 0, "exit 0 although a run is under way")
    server = Stdio(home=server.home)
    server.initialize()
    after = call(server, "get_orchestrator", {"orchestrator_id": orchestrator})
    check(after["status"] == "paused" and done(after) >= done(before), f"after the end of the input: {after}")
    call(server, "stop_orchestrator", {"orchestrator_id": orchestrator})
    server.end()


def sampling():
    server = Stdio()
    server.initialize(capabilities={"sampling": {}})
    host = {"provider_type": "client_sampling", "model_name": "host"}
    generator = call(server, "create_generator", host)["generator_id"]
    arguments = {"generator_id": generator, "test_prompts": ["hello"]}
    server.send({"jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": {"name": "test_generator", "arguments": arguments}})
    asked = 0
    while True:
        message = server.read()
        if message.get("id") == 50 and "method" not in message:
            break
        if message.get("method") == "sampling/createMessage":
            asked += 1
            last = message["params"]["messages"][-1]["content"]["text"]
            said = {"role": "assistant", "content": {"type": "text", "text": f"sampled: {last}"}, "model": "m"}
            server.send({"jsonrpc": "2.0", "id": message["id"], "result": said})
    tested = message["result"]["structuredContent"]
    check(asked == 1 and tested["ok"] and "sampled: hello" in str(tested), f"{asked} {tested}")
    server.end()
    server = Stdio()
    server.initialize()
    generator = call(server, "create_generator", host)["generator_id"]
    answer = server.ask("tools/call", {"name": "test_generator", "arguments": {"generator_id": generator}})[0]
    code = answer["result"]["structuredContent"].get("error", {}).get("code")
    check(code == "unsupported_capability", f"a host without sampling: {answer}")
    server.end()


kill()
shutdown()
sampling()
finish()
