"""Runs, sessions and conversions through the package, with the practice target that it carries."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

import quintain
from quintain import connect, connect_async, evaluate, from_anthropic, from_langchain, from_openai, record, redteam, run_suite
from quintain.metrics import MCPUseMetric
from quintain.test_case import LLMTestCase, MCPServer, MCPToolCall

# Targets inherit a short list of variables only.
ENV = {"PYTHONPATH": str(Path(quintain.__file__).parent.parent)}
PRACTICE = (sys.executable, "-m", "quintain", "demo", "--stdio")


def test_the_command_line_is_part_of_the_package():
    done = subprocess.run([sys.executable, "-m", "quintain", "--version"], env={**os.environ, **ENV}, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[0]) == (0, "quintain")


def test_a_session_collects_a_test_case():
    with connect(*PRACTICE, env=ENV) as session:
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
        async with connect_async(*PRACTICE, env=ENV) as session:
            tools = await session.list_tools()
        ticking.cancel()
        return ticks, tools

    ticks, tools = asyncio.run(work())
    assert tools and ticks > 3


def test_a_server_that_does_not_exist():
    with pytest.raises(quintain.TargetError, match="no-such-program"):
        connect("no-such-program")


def suite(value):
    server = {"command": sys.executable, "args": list(PRACTICE[1:]), "env": ENV}
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
    result = redteam(*PRACTICE, "--vulnerable", env=ENV, plugins=["sql-injection"], budget_seconds=60)
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


def test_a_session_of_the_official_sdk_is_recorded():
    mcp = pytest.importorskip("mcp")
    from mcp.client.stdio import stdio_client

    async def work():
        parameters = mcp.StdioServerParameters(command=sys.executable, args=list(PRACTICE[1:]), env={**os.environ, **ENV})
        async with stdio_client(parameters) as (read, write), mcp.ClientSession(read, write) as plain:
            await plain.initialize()
            session = record(plain, server_name="shop")
            await session.list_tools()
            await session.call_tool("get_transaction", {"transaction_id": "txn_123"})
            return session.test_case("Show txn_123", "It is completed.")

    case = asyncio.run(work())
    assert isinstance(case.mcp_tools_called[0], MCPToolCall)
    data = evaluate([case], [MCPUseMetric]).test_results[0].metrics_data[0]
    assert data.score == 1.0, data
