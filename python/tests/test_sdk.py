"""Objects and sessions of the official SDK, 1.x and 2.x, and the cases in which deepeval crashes with them."""

import asyncio
from importlib.metadata import version

import pytest

pytest.importorskip("mcp")

from conftest import NOTES, PRACTICE, sdk_session
from mcp.types import CallToolResult, TextContent

from quintain import EvaluationDataset, evaluate, record
from quintain.metrics import MCPTaskCompletionMetric, MCPUseMetric, MultiTurnMCPUseMetric, ToolCorrectnessMetric
from quintain.test_case import ConversationalTestCase, LLMTestCase, MCPPromptCall, MCPResourceCall, MCPServer, MCPToolCall, ToolCall, Turn

STRUCTURED = "structured_content" if version("mcp").startswith("2") else "structuredContent"
ADD = {"name": "add", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}
CONVERSATIONS = [MultiTurnMCPUseMetric, MCPTaskCompletionMetric]


def data_of(case, metric):
    return evaluate([case], [metric]).test_results[0].metrics_data[0]


def conversation(*calls, servers=(ADD,)):
    turns = [
        Turn(role="user", content="Add 1 to it"), Turn(role="assistant", content="calling", mcp_tools_called=list(calls)),
        Turn(role="assistant", content="It is 2."),
    ]
    return ConversationalTestCase(turns=turns, mcp_servers=[MCPServer(available_tools=list(servers))])


def test_objects_of_the_sdk_are_accepted():
    async def work():
        async with sdk_session(NOTES) as session:
            tools, resources, prompts = await session.list_tools(), await session.list_resources(), await session.list_prompts()
            uri = resources.resources[0].uri
            server = MCPServer(
                server_name="notes", transport="stdio", available_tools=tools.tools, available_resources=resources.resources,
                available_prompts=prompts.prompts,
            )
            calls = {
                "mcp_tools_called": [MCPToolCall(name="add", args={"a": 1, "b": 2}, result=await session.call_tool("add", {"a": 1, "b": 2}))],
                "mcp_resources_called": [MCPResourceCall(uri=uri, result=await session.read_resource(uri))],
                "mcp_prompts_called": [MCPPromptCall(name="greet", result=await session.get_prompt("greet", {"name": "Ada"}))],
            }
            return server, calls

    server, calls = asyncio.run(work())
    single = LLMTestCase(input="Add 1 and 2", actual_output="3", mcp_servers=[server], **calls)
    assert data_of(single, MCPUseMetric).score == 1.0
    turns = [Turn(role="user", content="Add 1 and 2"), Turn(role="assistant", content="3", **calls)]
    for metric in CONVERSATIONS:
        assert data_of(ConversationalTestCase(turns=turns, mcp_servers=[server]), metric).error is None
    # What the application was given reads as it came.
    assert calls["mcp_tools_called"][0].result.content[0].text == "3"


def test_a_call_of_a_tool_that_does_not_exist_fails():
    """deepeval has no check of this: the judge decides."""
    data = data_of(LLMTestCase("Add 1", "2", mcp_servers=[MCPServer(available_tools=[ADD])], mcp_tools_called=[MCPToolCall("ad", {"a": 1})]), MCPUseMetric)
    assert (data.success, data.findings[0].check) == (False, "tool.unknown")


@pytest.mark.parametrize("metric", CONVERSATIONS)
@pytest.mark.parametrize("structured", [None, {"total": 2}, {"result": 2}], ids=["text only", "no key `result`", "key `result`"])
def test_results_that_crash_the_original(metric, structured):
    """deepeval reads `structuredContent["result"]` of everything: TypeError, KeyError, and with SDK 2.x AttributeError."""
    more = {} if structured is None else {STRUCTURED: structured}
    result = CallToolResult(content=[TextContent(type="text", text="2")], **more)
    data = data_of(conversation(MCPToolCall("add", {"a": 1}, result)), metric)
    assert data.error is None and data.score == 1.0, data


@pytest.mark.parametrize("metric", CONVERSATIONS)
def test_a_conversation_without_calls_is_not_a_failure(metric):
    """deepeval drops tasks of two turns and scores 0.0."""
    turns = [Turn(role="user", content="Hello"), Turn(role="assistant", content="Hello, how can I help?")]
    case = ConversationalTestCase(turns=turns, mcp_servers=[MCPServer(available_tools=[ADD])])
    data = data_of(case, metric)
    assert data.score != 0.0 and data.success is not False and data.error is None, data


def test_a_failed_call_is_seen_in_a_conversation():
    """deepeval shows `isError` and the text of results to nobody."""

    async def work():
        async with sdk_session(NOTES) as session:
            return await session.call_tool("fail", {})

    failed = asyncio.run(work())
    turns = [Turn(role="user", content="Do it"), Turn(role="assistant", content="Done, it worked.", mcp_tools_called=[MCPToolCall("fail", {}, failed)])]
    case = ConversationalTestCase(turns=turns, mcp_servers=[MCPServer(available_tools=[{"name": "fail", "inputSchema": {"type": "object"}}])])
    result = evaluate([case], [MCPTaskCompletionMetric]).test_results[0]
    assert not result.success
    assert "recovery" in [finding.check for finding in result.findings]


def test_different_calls_are_never_the_same_case():
    """The cache of deepeval ignores calls: the score of one case is returned for the other."""
    def score(tool):
        case = LLMTestCase("q", "a", tools_called=[ToolCall(tool)], expected_tools=[ToolCall("right")])
        return data_of(case, ToolCorrectnessMetric).score

    assert [score("right"), score("wrong"), score("right")] == [1.0, 0.0, 1.0]


def test_cases_with_calls_survive_a_file(tmp_path):
    """Neither LLMTestCase nor Turn of deepeval can read what it wrote."""
    result = CallToolResult(content=[TextContent(type="text", text="2")])
    single = LLMTestCase("Add 1", "2", mcp_servers=[MCPServer(available_tools=[ADD])], mcp_tools_called=[MCPToolCall("add", {"a": 1}, result)])
    dataset = EvaluationDataset(test_cases=[single, conversation(MCPToolCall("add", {"a": 1}, result))])
    for name in ("cases.json", "cases.jsonl"):
        again = EvaluationDataset()
        again.add_test_cases_from_json_file(dataset.save_as(tmp_path / name))
        assert [case.to_dict() for case in again.test_cases] == [case.to_dict() for case in dataset.test_cases]
    camel = {"input": "Add 1", "mcpToolsCalled": [{"name": "ad"}], "mcpServers": [{"availableTools": [ADD]}]}
    assert evaluate([camel]).test_results[0].findings[0].check == "tool.unknown"


def test_metrics_without_a_model_need_no_key(monkeypatch):
    """deepeval raises when ToolCorrectnessMetric is made without a key."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for metric in (ToolCorrectnessMetric, MCPUseMetric, MultiTurnMCPUseMetric, MCPTaskCompletionMetric):
        metric()


@pytest.mark.parametrize("command", [NOTES, PRACTICE], ids=["SDK", "practice target"])
def test_a_recorded_session_becomes_a_test_case(command):
    calls = [("add", {"a": 1, "b": 2})] if command is NOTES else [("get_transaction", {"transaction_id": "txn_123"})]

    async def work():
        async with sdk_session(command) as plain, record(plain, server_name="shop") as session:
            for name, arguments in calls:
                await session.call_tool(name, arguments)
            if command is NOTES:
                await session.read_resource("notes://first")
                await session.get_prompt("greet", {"name": "Ada"})
                with pytest.raises(Exception):
                    await session.read_resource("notes://missing")
            return session.test_case("Add 1 and 2, greet Ada, and show txn_123", "3")

    case = asyncio.run(work())
    assert [(call.name, call.args) for call in case.mcp_tools_called] == calls
    assert case.mcp_servers[0].available_tools
    if command is NOTES:
        assert [call.uri for call in case.mcp_resources_called] == ["notes://first", "notes://missing"]
        assert case.mcp_resources_called[1].result["isError"]
        assert case.mcp_prompts_called[0].args == {"name": "Ada"}
    else:
        assert data_of(case, MCPUseMetric).score == 1.0


def test_turns_take_the_calls_since_the_last_turn():
    async def work():
        async with sdk_session(NOTES) as plain, record(plain) as session:
            turns = [Turn("user", "Add 1 and 2")]
            await session.call_tool("add", {"a": 1, "b": 2})
            turns += [session.turn("3"), Turn("user", "Note milk")]
            await session.call_tool("note", {"text": "milk"})
            turns.append(session.turn("Noted."))
            return session.conversation(turns)

    case = asyncio.run(work())
    assert [[call.name for call in turn.mcp_tools_called or []] for turn in case.turns] == [[], ["add"], [], ["note"]]
    assert data_of(case, MultiTurnMCPUseMetric).score == 1.0


def test_only_sessions_are_recorded():
    with pytest.raises(TypeError, match="session: expected a ClientSession"):
        record(object())
