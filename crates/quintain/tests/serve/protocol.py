"""The protocol on standard input and output, in both eras, against the fixtures."""

import time

from harness import Stdio, check, finish

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def modern(params=None, **capabilities):
    meta = dict(META)
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities
    return {**(params or {}), "_meta": meta}


def versions():
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]:
        server = Stdio()
        result = server.initialize(version)["result"]
        check(result["protocolVersion"] == version, f"negotiates {version}")
        check(isinstance(result["capabilities"]["tools"], dict), "capabilities are objects")
        check(len(result["instructions"].splitlines()) == 10, "ten lines of instructions")
        check(("tasks" in result["capabilities"]) == (version == "2025-11-25"), f"tasks of {version}")
        check(server.end() == 0, "exit 0 when stdin closes")


def errors():
    server = Stdio()
    server.initialize()
    for params, sentence in [
        ({"name": "fixture_echo", "arguments": {}}, "text is required"),
        ({"name": "fixture_echo"}, "text is required"),
        ({"name": "fixture_echo", "arguments": {"text": 7}}, "text must be of type string"),
        ({"name": "fixture_echo", "arguments": {"text": "x", "level": "c"}}, "level must be one of a, b"),
        ({"name": "fixture_echo", "arguments": {"text": "x", "txt": "c"}}, "txt is not an argument of this tool"),
        ({"name": "fixture_echo", "arguments": "text"}, "arguments must be an object"),
        ({"arguments": {}}, "name is required"),
        (None, "name is required"),
        ({"name": "no_such_tool", "arguments": {}}, "unknown tool `no_such_tool`"),
    ]:
        error = server.ask("tools/call", params)[0]["error"]
        check(error["code"] == -32602, f"{params}: {error}")
        check(sentence in error["data"]["validation_errors"], f"{params}: {error}")
        check(error["data"]["issues"][0]["message"], "issues for programs")
    both = server.ask("tools/call", {"name": "fixture_echo", "arguments": {"level": "z"}})[0]["error"]
    check(len(both["data"]["validation_errors"]) == 2, "all problems at once")
    check(server.ask("tools/list", {"cursor": "nonsense"})[0]["error"]["code"] == -32602, "unknown cursor")
    check(server.ask("no/such/method", {})[0]["error"]["code"] == -32601, "unknown method")
    for uri in ["quintain://nothing/here", "file:///etc/passwd"]:
        check(server.ask("resources/read", {"uri": uri})[0]["error"]["code"] == -32002, "unknown resource")
    check(server.ask("prompts/get", {"name": "nope"})[0]["error"]["code"] == -32602, "unknown prompt")
    server.send("{bad")
    check(server.read()["error"]["code"] == -32700, "parse error")
    failed = server.ask("tools/call", {"name": "fixture_fail", "arguments": {}})[0]["result"]
    check(failed["isError"] and failed["structuredContent"]["error"]["code"] == "not_found", "tool error")
    check(server.ask("ping")[0]["result"] == {}, "still alive")
    server.end()

    server = Stdio(env={"MCP_VALIDATION_ERRORS": "tool"})
    server.initialize()
    result = server.ask("tools/call", {"name": "fixture_echo", "arguments": {}})[0]["result"]
    check(result["isError"] and "text is required" in result["content"][0]["text"], "validation as tool error")
    server.end()


def calls():
    server = Stdio(env={"QUINTAIN_SERVE_PAGE_SIZE": "2"})
    server.initialize()
    names, cursor = [], None
    while True:
        page = server.ask("tools/list", {"cursor": cursor} if cursor else {})[0]["result"]
        names += [tool["name"] for tool in page["tools"]]
        check(len(page["tools"]) <= 2, "page size")
        cursor = page.get("nextCursor")
        if not cursor:
            break
    check(len(names) == len(set(names)) and "fixture_echo" in names, f"pages: {names}")
    result = server.ask("tools/call", {"name": "fixture_echo", "arguments": {"message": "hi"}})[0]["result"]
    check(result["structuredContent"]["answer"] == "hi", "alias and structured content")
    check([block["type"] for block in result["content"]] == ["text", "resource_link"], "text and link")
    check("resultType" not in result, "no modern fields for legacy clients")
    since = time.time()
    params = {"name": "fixture_slow", "arguments": {"seconds": 4}, "_meta": {"progressToken": "p"}}
    answer, before = server.ask("tools/call", params)
    values = [n["params"]["progress"] for n in before if n["method"] == "notifications/progress"]
    check(len(values) >= 3 and values == sorted(set(values)), f"progress: {values} in {time.time() - since:.1f} s")
    for scheme in ["quintain", "violentutf"]:
        contents = server.ask("resources/read", {"uri": f"{scheme}://fixtures/greeting"})[0]["result"]["contents"]
        check(contents[0]["text"] == "hello" and contents[0]["uri"].startswith(scheme), scheme)
    check(server.ask("resources/subscribe", {"uri": "quintain://fixtures/greeting"})[0]["result"] == {}, "subscribe")
    _, before = server.ask("tools/call", {"name": "fixture_slow", "arguments": {"seconds": 0}})
    if not any(n["method"] == "notifications/resources/updated" for n in before):
        check(server.read()["method"] == "notifications/resources/updated", "update")
    values = server.ask("completion/complete", {"ref": {"type": "ref/resource", "uri": "quintain://fixtures/{name}"}, "argument": {"name": "name", "value": "gr"}})
    check(values[0]["result"]["completion"]["values"] == ["greeting"], "completion")
    server.ask("logging/setLevel", {"level": "info"})
    _, before = server.ask("tools/call", {"name": "fixture_fail", "arguments": {}})
    check(any(n["method"] == "notifications/message" for n in before), "log message")
    # Cancellation: the answer of a later request comes although the slow one never ends.
    server.send({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "fixture_slow", "arguments": {"seconds": 500}}})
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}})
    check(server.ask("ping", id=78)[0]["result"] == {}, "cancelled")
    check(server.end() == 0, "ends although a call was cancelled")

    server = Stdio(env={"MCP_TOOL_TIMEOUT": "1", "MCP_ENABLE_PROMPTS": "false", "MCP_SERVER_NAME": "ViolentUTF MCP Server"})
    result = server.initialize()["result"]
    check("prompts" not in result["capabilities"], "prompts are off")
    check(result["serverInfo"]["name"] == "ViolentUTF MCP Server", "server name")
    check(server.ask("prompts/list", {})[0]["error"]["code"] == -32601, "prompts are refused")
    since = time.time()
    late = server.ask("tools/call", {"name": "fixture_slow", "arguments": {"seconds": 60}})[0]["result"]
    check(late["structuredContent"]["error"]["code"] == "timeout" and time.time() - since < 10, "MCP_TOOL_TIMEOUT")
    server.end()


def questions():
    server = Stdio()
    server.initialize()
    refused = server.ask("tools/call", {"name": "fixture_confirm"})[0]["result"]
    check(refused["structuredContent"]["error"]["code"] == "confirmation_required", "nobody to ask")
    server.end()
    for action, expected in [("accept", "accepted"), ("decline", "declined"), ("cancel", "declined")]:
        server = Stdio()
        server.initialize(capabilities={"elicitation": {}, "sampling": {}})
        server.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "fixture_confirm"}})
        question = server.read()
        check(question["method"] == "elicitation/create" and question["params"]["message"] == "Continue?", str(question))
        server.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": action}})
        check(server.read()["result"]["structuredContent"]["answer"] == expected, action)
        server.send({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "fixture_sample"}})
        question = server.read()
        check(question["method"] == "sampling/createMessage", str(question))
        said = {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"}
        server.send({"jsonrpc": "2.0", "id": question["id"], "result": said})
        check(server.read()["result"]["structuredContent"]["answer"]["model"] == "m", "sampling")
        server.end()


def legacy_tasks():
    server = Stdio()
    server.initialize()
    tools = server.ask("tools/list", {})[0]["result"]["tools"]
    support = {tool["name"]: tool.get("execution", {}).get("taskSupport") for tool in tools}
    check(support["fixture_slow"] == "optional" and support["fixture_echo"] is None, f"{support}")
    task = server.ask("tools/call", {"name": "fixture_slow", "arguments": {"seconds": 1}, "task": {"ttl": 60000}})[0]["result"]["task"]
    check(task["status"] == "working" and task["ttl"] == 60000, f"{task}")
    check(server.ask("tasks/get", {"taskId": task["taskId"]})[0]["result"]["status"] == "working", "tasks/get")
    check(len(server.ask("tasks/list", {})[0]["result"]["tasks"]) == 1, "tasks/list")
    result = server.ask("tasks/result", {"taskId": task["taskId"]})[0]["result"]
    check(result["structuredContent"]["answer"] == "done", f"tasks/result: {result}")
    check(result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"] == task["taskId"], "related task")
    check(server.ask("tasks/cancel", {"taskId": task["taskId"]})[0]["error"]["code"] == -32602, "finished")
    task = server.ask("tools/call", {"name": "fixture_slow", "arguments": {"seconds": 300}, "task": {}})[0]["result"]["task"]
    check(server.ask("tasks/cancel", {"taskId": task["taskId"]})[0]["result"]["status"] == "cancelled", "tasks/cancel")
    check(server.ask("tasks/get", {"taskId": "task_x"})[0]["error"]["code"] == -32602, "unknown task")
    check(server.ask("tools/call", {"name": "fixture_echo", "arguments": {"text": "x"}, "task": {}})[0]["error"]["code"] == -32601, "no task")
    server.end()


def modern_era():
    server = Stdio()
    found = server.ask("server/discover", modern())[0]["result"]
    check("2026-07-28" in found["supportedVersions"], f"{found}")
    tools = server.ask("tools/list", modern())[0]["result"]
    check(tools["resultType"] == "complete" and tools["cacheScope"] == "private" and "ttlMs" in tools, f"{tools.keys()}")
    result = server.ask("tools/call", modern({"name": "fixture_echo", "arguments": {"text": "hi"}}))[0]["result"]
    check(result["resultType"] == "complete" and result["structuredContent"]["answer"] == "hi", f"{result}")
    check(server.ask("resources/read", modern({"uri": "quintain://no/thing"}))[0]["error"]["code"] == -32602, "unknown resource")
    check(server.ask("tools/call", modern({"name": "fixture_echo", "arguments": {}}))[0]["error"]["code"] == -32602, "invalid")
    check(server.ask("tools/call", modern({"name": "fixture_echo", "arguments": "x"}))[0]["error"]["code"] == -32602, "invalid")
    call = {"name": "fixture_confirm", "arguments": {}}
    asked = server.ask("tools/call", modern(call, elicitation={"form": {}}))[0]["result"]
    check(asked["resultType"] == "input_required", f"{asked}")
    key = next(iter(asked["inputRequests"]))
    check(asked["inputRequests"][key]["method"] == "elicitation/create", f"{asked}")
    answers = {"inputResponses": {key: {"action": "accept"}}, "requestState": asked["requestState"]}
    done = server.ask("tools/call", modern({**call, **answers}, elicitation={"form": {}}))[0]["result"]
    check(done["structuredContent"]["answer"] == "accepted", f"{done}")
    again = server.ask("tools/call", modern({**call, **answers}, elicitation={"form": {}}))[0]
    check(again["error"]["code"] == -32602, "a state is valid once")
    tasks = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
    task = server.ask("tools/call", modern({"name": "fixture_slow", "arguments": {"seconds": 4}}, **tasks))[0]["result"]
    check(task["resultType"] == "task" and task["status"] == "working", f"{task}")
    for _ in range(40):
        state = server.ask("tasks/get", modern({"taskId": task["taskId"]}, **tasks))[0]["result"]
        if state["status"] == "completed":
            break
        time.sleep(0.25)
    check(state["result"]["structuredContent"]["answer"] == "done", f"{state}")
    check(server.ask("tasks/get", modern({"taskId": task["taskId"]}))[0]["error"]["code"] == -32021, "capability")
    server.send({"jsonrpc": "2.0", "id": 50, "method": "subscriptions/listen", "params": modern({"notifications": {"resourceSubscriptions": ["quintain://fixtures/greeting"]}})})
    check(server.read()["method"] == "notifications/subscriptions/acknowledged", "listen")
    _, before = server.ask("tools/call", modern({"name": "fixture_slow", "arguments": {"seconds": 0}}), id=51)
    if not any(n["method"] == "notifications/resources/updated" for n in before):
        check(server.read()["method"] == "notifications/resources/updated", "update")
    check(server.end() == 0, "exit 0")


versions()
errors()
calls()
questions()
legacy_tasks()
modern_era()
finish()
