"""Messages of other libraries become test cases by one call."""

import pytest

from quintain import evaluate, from_anthropic, from_langchain, from_openai
from quintain.metrics import MCPUseMetric, MultiTurnMCPUseMetric
from quintain.test_case import LLMTestCase, MCPServer

ADD = {"name": "add", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}}
CALL = {"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}
OPENAI = [
    {"role": "user", "content": "Add 1 and 2"}, {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": "3"}, {"role": "assistant", "content": "It is 3."},
]
RESPONSES = [
    {"role": "user", "content": "Add 1 and 2"}, {"type": "function_call", "call_id": "1", "name": "add", "arguments": '{"a": 1, "b": 2}'},
    {"type": "function_call_output", "call_id": "1", "output": "3"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 3."}]},
]
ANTHROPIC = [
    {"role": "user", "content": "Add 1 and 2"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1, "b": 2}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "3"}]},
    {"role": "assistant", "content": "It is 3."},
]
LANGCHAIN = [
    {"type": "human", "content": "Add 1 and 2"}, {"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "add", "args": {"a": 1, "b": 2}}]},
    {"type": "tool", "tool_call_id": "1", "content": "3"}, {"type": "ai", "content": "It is 3."},
]


class Message:
    """A message as an object with attributes, as LangChain has it."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


MANY = {
    "OpenAI chat": (from_openai, OPENAI), "OpenAI responses": (from_openai, RESPONSES), "Anthropic": (from_anthropic, ANTHROPIC),
    "LangChain dictionaries": (from_langchain, LANGCHAIN), "LangChain objects": (from_langchain, [Message(**message) for message in LANGCHAIN]),
    "state of LangGraph": (from_langchain, {"messages": LANGCHAIN}), "generator": (from_openai, OPENAI),
    "whole response": (from_openai, [*OPENAI[:1], {"choices": [{"message": OPENAI[1]}]}, *OPENAI[2:]]),
}


@pytest.mark.parametrize("convert, messages", MANY.values(), ids=MANY)
def test_one_call_makes_a_test_case(convert, messages):
    case = convert(iter(messages) if isinstance(messages, list) else messages, mcp_servers=[MCPServer(available_tools=[ADD])], name="sum")
    assert isinstance(case, LLMTestCase)
    assert (case.name, case.input, case.actual_output) == ("sum", "Add 1 and 2", "It is 3.")
    calls = [*(case.tools_called or []), *(case.mcp_tools_called or [])]
    assert [(call.name, getattr(call, "args", None) or call.input_parameters) for call in calls] == [("add", {"a": 1, "b": 2})]
    assert evaluate([case], [MCPUseMetric]).test_results[0].metrics_data[0].score == 1.0


def test_what_is_said_between_calls_is_kept():
    said = [{"type": "text", "text": "I add."}, *ANTHROPIC[1]["content"]]
    case = from_anthropic([ANTHROPIC[0], {"role": "assistant", "content": said}, *ANTHROPIC[2:]])
    assert [turn.content for turn in case.turns if turn.role == "assistant" and turn.content] == ["I add.", "It is 3."]


def test_several_requests_make_a_conversation():
    case = from_openai([*OPENAI, {"role": "user", "content": "And 4?"}, {"role": "assistant", "content": "7"}], mcp_servers=[MCPServer(available_tools=[ADD])])
    assert [turn.role for turn in case.turns].count("user") == 2
    assert evaluate([case], [MultiTurnMCPUseMetric]).test_results[0].metrics_data[0].error is None


def test_arguments_that_no_one_can_read_are_a_finding_and_no_error():
    broken = {**CALL, "function": {"name": "add", "arguments": '{"a": 1, '}}
    case = from_openai([OPENAI[0], {**OPENAI[1], "tool_calls": [broken]}, *OPENAI[2:]], mcp_servers=[MCPServer(available_tools=[ADD])])
    result = evaluate([case], [MCPUseMetric]).test_results[0]
    assert not result.success and any(finding.check.startswith("args.") for finding in result.findings), result


def test_tools_of_the_request_are_what_is_offered():
    case = from_openai(OPENAI, tools=[{"type": "function", "function": {"name": "subtract", "parameters": {"type": "object"}}}])
    assert evaluate([case]).test_results[0].findings[0].check == "tool.unknown"


@pytest.mark.parametrize("convert", [from_openai, from_anthropic, from_langchain])
@pytest.mark.parametrize("wrong", [3, None, "text", [3], [], [{}], [{"role": "robot"}], {"messages": None}])
def test_things_that_are_no_messages(convert, wrong):
    with pytest.raises((TypeError, ValueError)):
        convert(wrong)


def test_objects_of_langchain():
    messages = pytest.importorskip("langchain_core.messages")
    made = [
        messages.HumanMessage("Add 1 and 2"), messages.AIMessage(content="", tool_calls=[{"id": "1", "name": "add", "args": {"a": 1, "b": 2}}]),
        messages.ToolMessage("3", tool_call_id="1"), messages.AIMessage("It is 3."),
    ]
    assert from_langchain(made).actual_output == "It is 3."
