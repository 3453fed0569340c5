"""Runs, sessions and conversions through the package, with the practice target that it carries."""

import asyncio
import sys
import threading

import pytest
from conftest import PRACTICE

import quintain
from quintain import connect, connect_async, evaluate, from_anthropic, from_langchain, from_openai, record, redteam, run_suite
from quintain.metrics import MCPUseMetric
from quintain.test_case import LLMTestCase, MCPServer, MCPToolCall


def test_a_session_collects_a_test_case():
    with connect(*PRACTICE) as session:
        assert any(tool["name"] == "get_transaction" for tool in session.list_tools())
        session.call_tool("get_transaction", {"transaction_id": "txn_123"})
        case = LLMTestCase("Show txn_123", "It is completed.", mcp_servers=[session.server()], mcp_tools_called=session.tool_calls)
    assert evaluate([case], [MCPUseMetric]).test_results[0].metrics_data[0].score == 1.0
    with pytest.raises(quintain.QuintainError, match="closed"):
        session.list_tools()


def test_the_event_loop_is_not_blocked():
    async def work():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        async with connect_async(*PRACTICE) as session:
            tools = await session.list_tools()
        ticking.cancel()
        return ticks, tools

    ticks, tools = asyncio.run(work())
    assert tools and ticks > 3


def test_a_server_that_does_not_exist():
    with pytest.raises(quintain.TargetError, match="no-such-program"):
        connect("no-such-program")


def suite(value):
    server = {"command": sys.executable, "args": list(PRACTICE[1:])}
    return {
        "targets": [{"id": "mcp", "config": {"server": server}}],
        "prompts": ['{"tool": "get_transaction", "args": {"transaction_id": "{{id}}"}}'],
        "tests": [{"description": "status", "vars": {"id": "txn_123"}, "assert": [{"type": "contains", "value": value}]}],
    }


def test_a_suite():
    assert run_suite(suite("completed")).success
    failed = run_suite(suite("no such status"))
    assert not failed.success
    assert "contains: Expected output" in failed.cases[0].describe()
    assert "(suite.yaml:1)" in failed.cases[0].describe()
    with pytest.raises(quintain.SuiteError):
        run_suite({"targets": [{"id": "no-such-kind"}]})


def test_an_attack():
    result = redteam(*PRACTICE, "--vulnerable", plugins=["sql-injection"], budget_seconds=60)
    assert any(finding["rule"] == "sql-injection" for finding in result.at_least("high"))


OPENAI = [
    {"role": "user", "content": "Is there an issue?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "search", "arguments": '{"q": "typo"}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": "none"},
    {"role": "assistant", "content": "There is none."},
]
ANTHROPIC = [
    {"role": "user", "content": "Is there an issue?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "search", "input": {"q": "typo"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "none"}]},
    {"role": "assistant", "content": "There is none."},
]
LANGCHAIN = [
    {"type": "human", "content": "Is there an issue?"},
    {"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "search", "args": {"q": "typo"}}]},
    {"type": "tool", "tool_call_id": "1", "content": "none"},
    {"type": "ai", "content": "There is none."},
]


@pytest.mark.parametrize("case", [from_openai(OPENAI), from_anthropic(ANTHROPIC), from_langchain(LANGCHAIN)], ids=["openai", "anthropic", "langchain"])
def test_conversations_of_other_libraries(case):
    names = [call["name"] for call in _calls(case.to_dict())]
    assert names == ["search"]
    assert evaluate([case], mcp_servers=[MCPServer(available_tools=[{"name": "find"}])]).test_results[0].findings[0].check == "tool.unknown"


def _calls(value):
    turns = value.get("turns", [value])
    return [call for turn in turns for key in ("mcp_tools_called", "tools_called") for call in turn.get(key) or []]


def test_one_function_connects_scripts_and_coroutines():
    async def work():
        async with connect(*PRACTICE) as session:
            calls = [session.call_tool("get_transaction", {"transaction_id": "txn_123"}) for _ in range(8)]
            results = await asyncio.gather(*calls)
            return results, await session.test_case("Show txn_123", "It is completed."), session

    results, case, session = asyncio.run(work())
    assert all(not result.get("isError") for result in results)
    assert len(case.mcp_tools_called) == 8 and case.mcp_servers[0].available_tools
    assert "closed" in repr(session)


@pytest.mark.parametrize("given", [[*PRACTICE], (*PRACTICE,), " ".join(PRACTICE)], ids=["list", "tuple", "text"])
def test_ways_to_name_a_server(given):
    with connect(given) as session:
        assert session.list_tools() and session.list_resources() is not None


def test_parameters_of_the_official_sdk_name_a_server():
    mcp = pytest.importorskip("mcp")
    with connect(mcp.StdioServerParameters(command=PRACTICE[0], args=list(PRACTICE[1:]))) as session:
        assert session.list_prompts() is not None


def test_calls_of_several_threads_overlap():
    with connect(*PRACTICE) as session:
        results = []
        call = lambda: results.append(session.call_tool("get_transaction", {"transaction_id": "txn_123"}))  # noqa: E731
        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == 8


def test_errors_of_a_server_are_exceptions_with_a_code():
    with connect(*PRACTICE) as session:
        with pytest.raises(quintain.QuintainError) as raised:
            session.request("no/such/method")
        assert raised.value.code == -32601
        with pytest.raises(ValueError, match="arguments.x"):
            session.call_tool("get_transaction", {"x": float("nan")})


@pytest.mark.parametrize("wrong, why", [
    (lambda: connect(), "either a command or url"), (lambda: connect("a", url="http://b"), "either a command or url"),
    (lambda: connect(3), r"command\[0\]"), (lambda: connect("a", env={"X": 3}), "env.X"), (lambda: connect(url=3), "url"),
    (lambda: redteam(), "either a command or url"), (lambda: redteam("a", plugins="sql-injection"), "plugins: expected a list"),
    (lambda: run_suite(3), "suite: expected a path"),
])
def test_errors_name_the_argument(wrong, why):
    with pytest.raises(TypeError, match=why):
        wrong()


def test_a_part_of_a_suite():
    both = suite("completed")
    both["tests"].append({"description": "other", "vars": {"id": "txn_123"}, "assert": [{"type": "contains", "value": "x"}]})
    assert [case.description for case in run_suite(both, only="other")] == ["other"]


def test_results_are_records_and_tables():
    result = run_suite(suite("no such status"))
    assert result.to_records()[0]["status"] == "failed"
    assert "<table" in result._repr_html_() and "no such status" in result._repr_html_()
    attacked = redteam(*PRACTICE, "--vulnerable", attacks=["sql-injection"], budget_seconds=60)
    assert {"rule", "severity", "title", "tool"} <= set(attacked.to_records()[0])
    assert "SQL injection" in attacked._repr_html_() and "SQL injection" in str(attacked)


def test_suites_that_cannot_be_read_say_where(tmp_path):
    (tmp_path / "bad.yaml").write_text("tests: [")
    with pytest.raises(quintain.SuiteError, match="bad.yaml:1"):
        run_suite(tmp_path / "bad.yaml")
    with pytest.raises(FileNotFoundError, match="none.yaml"):
        run_suite(tmp_path / "none.yaml")
