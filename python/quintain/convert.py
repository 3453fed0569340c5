"""Test cases from conversations as OpenAI, Anthropic and LangChain record them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import _engine
from ._json import to_value
from .test_case import ConversationalTestCase, LLMTestCase, MCPServer
from .test_case._record import list_of, make

__all__ = ["from_anthropic", "from_langchain", "from_openai"]

TestCase = LLMTestCase | ConversationalTestCase


def from_openai(messages: Any, *, tools: Any = None, mcp_servers: list[Any] | None = None, name: str | None = None) -> TestCase:
    """A test case from messages of a chat completion, or from the input and output items of a response."""
    items = _list(messages, "messages")
    if any(item.get("type") in ("function_call", "mcp_call", "message") for item in items):
        # Everything up to the first item of the model is its input.
        first = next(at for at, item in enumerate(items) if item.get("type") in ("function_call", "mcp_call", "message") and item.get("role") != "user")
        record: dict[str, Any] = {"input": items[:first], "output": items[first:]}
        return _only("openai-responses", _with(record, tools), mcp_servers, name)
    return _only("openai-chat", _with({"messages": items}, tools), mcp_servers, name)


def from_anthropic(
    messages: Any, *, system: str | None = None, tools: Any = None, mcp_servers: list[Any] | None = None, name: str | None = None
) -> TestCase:
    """A test case from messages of Anthropic's API."""
    record: dict[str, Any] = {"messages": _list(messages, "messages")}
    if system is not None:
        record["system"] = system
    return _only("anthropic", _with(record, tools), mcp_servers, name)


def from_langchain(messages: Any, *, tools: Any = None, mcp_servers: list[Any] | None = None, name: str | None = None) -> TestCase:
    """A test case from messages of LangChain, or from the state of a LangGraph graph."""
    if isinstance(messages, Mapping):
        messages = messages.get("messages")
    found = [_langchain(message, at) for at, message in enumerate(_listed(messages, "messages"))]
    return from_openai(found, tools=tools, mcp_servers=mcp_servers, name=name)


def _list(messages: Any, field: str) -> list[Any]:
    found: list[Any] = []
    for at, item in enumerate(to_value(_listed(messages, field), field)):
        # A whole response may stand for its message or its items.
        if isinstance(item, dict) and isinstance(item.get("choices"), list) and item["choices"]:
            item = item["choices"][0].get("message")
        if isinstance(item, dict) and item.get("object") == "response":
            found.extend(item.get("output") or [])
            continue
        if not isinstance(item, dict):
            raise TypeError(f"{field}[{at}]: expected a message, found a {type(item).__name__}")
        found.append(item)
    if not found:
        raise ValueError(f"{field}: contains no messages")
    return found


def _listed(messages: Any, field: str) -> list[Any]:
    if messages is None or isinstance(messages, (str, bytes, Mapping)):
        raise TypeError(f"{field}: expected a list of messages, found a {type(messages).__name__}")
    try:
        return list(messages)
    except TypeError:
        raise TypeError(f"{field}: expected a list of messages, found a {type(messages).__name__}") from None


def _with(record: dict[str, Any], tools: Any) -> dict[str, Any]:
    if tools is not None:
        record["tools"] = to_value(tools, "tools")
    return record


def _only(format: str, record: dict[str, Any], servers: list[Any] | None, name: str | None) -> TestCase:
    found = _engine.convert([record], format)
    if not found:
        raise ValueError("messages: contain no conversation")
    case = found[0]
    kind = ConversationalTestCase if "turns" in case else LLMTestCase
    made: TestCase = make(kind, case, "messages")
    if servers is not None:
        made.mcp_servers = list_of(MCPServer, servers, "mcp_servers")
    if name is not None:
        made.name = name
    return made


_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}


def _langchain(message: Any, at: int) -> dict[str, Any]:
    """A message in OpenAI's form."""
    if not isinstance(message, Mapping) and not hasattr(message, "type"):
        raise TypeError(f"messages[{at}]: expected a message of LangChain, found a {type(message).__name__}")
    get = message.get if isinstance(message, Mapping) else lambda key, default=None: getattr(message, key, default)
    kind = get("type") or get("role")
    role = _ROLES.get(str(kind), str(kind))
    if role not in ("user", "assistant", "system", "tool"):
        raise TypeError(f"messages[{at}]: expected a message of LangChain, found type {kind!r}")
    out: dict[str, Any] = {"role": role, "content": to_value(get("content", ""), f"messages[{at}].content")}
    calls = get("tool_calls") or []
    if calls:
        out["tool_calls"] = [
            {"id": call.get("id"), "type": "function",
             "function": {"name": call["name"], "arguments": json.dumps(to_value(call.get("args", {}), f"messages[{at}].tool_calls"))}}
            for call in calls
        ]
    if role == "tool":
        out["tool_call_id"] = get("tool_call_id")
        if get("name"):
            out["name"] = get("name")
        if get("status") == "error":
            out["is_error"] = True
    return out
