"""The examples of the documented platform, and the journey from a generator to findings, with the real tools over stdio."""

import time

from harness import PROGRAM, Stdio, check, finish


def call(server, name, arguments):
    answer = server.ask("tools/call", {"name": name, "arguments": arguments})[0]
    check("result" in answer, f"{name}: {answer}")
    result = answer.get("result", {})
    check(not result.get("isError"), f"{name}: {result.get('content')}")
    return result.get("structuredContent", {})


def examples():
    server = Stdio()
    check(server.initialize("2024-11-05")["result"]["protocolVersion"] == "2024-11-05", "version")
    names = {tool["name"] for tool in server.ask("tools/list")[0]["result"]["tools"]}
    for name in [
        "list_generators", "create_generator", "test_generator",
        "create_orchestrator", "start_orchestrator", "get_orchestrator_results",
    ]:
        check(name in names, f"{name} is listed")
    check(len(names - {"fixture_echo"}) >= 23, "at least 23 tools")
    made = call(server, "create_generator", {"provider_type": "openai", "model_name": "gpt-4"})
    check(made["generator_id"].startswith("gen_"), f"{made}")
    sized = {"temperature": 0.7, "max_tokens": 1000}
    call(server, "create_generator", {"provider_type": "openai", "model_name": "gpt-4", "parameters": sized})
    check(call(server, "list_generators", {"provider_type": "openai"})["total"] == 2, "both are listed")
    check(call(server, "list_generators", {"provider_type": "anthropic"})["total"] == 0, "filtered")
    error = server.ask("tools/call", {"name": "create_generator", "arguments": {"model_name": "x"}})[0]["error"]
    check(error["code"] == -32602 and error["message"] == "Invalid params", f"{error}")
    check(error["data"]["validation_errors"] == ["provider_type is required"], f"{error}")
    prompt = {"name": "jailbreak_test", "arguments": {"scenario": "dan_attack", "complexity_level": "advanced"}}
    messages = server.ask("prompts/get", prompt)[0]["result"]["messages"]
    check(messages[0]["content"]["type"] == "text" and "advanced" in messages[0]["content"]["text"], "prompt")
    check(len(server.ask("prompts/list")[0]["result"]["prompts"]) >= 12, "at least 12 prompts")
    for path in ["datasets/security_prompts", "datasets/jailbreak_scenarios", "config/generators"]:
        for scheme in ["violentutf", "quintain"]:
            read = server.ask("resources/read", {"uri": f"{scheme}://{path}"})[0]
            check(read.get("result", {}).get("contents", [{}])[0].get("text"), f"{scheme}://{path}: {read}")
    check(server.end() == 0, "exit 0")


def journey():
    for weak in [True, False]:
        server = Stdio()
        server.initialize()
        twin = "vulnerable" if weak else "patched"
        connection = {"command": PROGRAM, "args": ["demo", "--stdio", *(["--vulnerable"] if weak else [])]}
        generator = call(server, "create_generator", {"provider_type": "mcp", "name": twin, "connection": connection})
        surface = call(server, "inspect_mcp_target", {"generator_id": generator["generator_id"]})
        check(len(surface.get("tools", [])) > 10, f"tools of the {twin} server")
        config = {"plugins": ["sql-injection"], "budget": {"max_seconds": 60}}
        made = call(server, "create_orchestrator", {
            "orchestrator_type": "mcp_scan", "target_generator_id": generator["generator_id"], "config": config,
        })
        orchestrator = made["orchestrator_id"]
        call(server, "start_orchestrator", {"orchestrator_id": orchestrator, "confirm": True})
        deadline = time.monotonic() + 100
        status = "running"
        while status in ("pending", "running") and time.monotonic() < deadline:
            status = call(server, "get_orchestrator", {"orchestrator_id": orchestrator, "wait_seconds": 10})["status"]
        check(status == "completed", f"{twin}: {status}")
        findings = call(server, "get_orchestrator_results", {"orchestrator_id": orchestrator}).get("findings", [])
        check(bool(findings) == weak, f"{twin}: {len(findings)} findings")
        check(all(finding.get("tool") for finding in findings), "findings name their tool")
        check(server.end() == 0, "exit 0")


examples()
journey()
finish()
