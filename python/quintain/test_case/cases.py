"""Test cases of one turn and of several."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._record import Record, arguments, list_of, number, text, values
from .mcp import MCPPromptCall, MCPResourceCall, MCPServer, MCPToolCall

__all__ = ["ConversationalTestCase", "LLMTestCase", "ToolCall", "Turn"]


@dataclass
class ToolCall(Record):
    """A call of a tool, of any kind; also one that is expected."""

    name: str
    description: str | None = None
    reasoning: str | None = None
    output: Any = None
    input_parameters: dict[str, Any] | None = None
    type: Any = None

    def __post_init__(self) -> None:
        text(self.name, self._where("name"), optional=False)
        for name in ("description", "reasoning"):
            text(getattr(self, name), self._where(name))
        self.input_parameters = arguments(self.input_parameters, self._where("input_parameters"))


class _HasCalls(Record):
    """What a single turn and a turn of a conversation share."""

    tools_called: list[ToolCall] | None
    mcp_tools_called: list[MCPToolCall] | None
    mcp_resources_called: list[MCPResourceCall] | None
    mcp_prompts_called: list[MCPPromptCall] | None

    def _check_calls(self) -> None:
        for name, cls in (
            ("tools_called", ToolCall),
            ("mcp_tools_called", MCPToolCall),
            ("mcp_resources_called", MCPResourceCall),
            ("mcp_prompts_called", MCPPromptCall),
        ):
            setattr(self, name, list_of(cls, getattr(self, name), self._where(name)))


@dataclass
class LLMTestCase(_HasCalls):
    """One request to an application, and its answer."""

    input: str
    actual_output: str | None = None
    expected_output: str | None = None
    context: list[str] | None = None
    retrieval_context: list[str] | None = None
    metadata: dict[str, Any] | None = None
    tools_called: list[ToolCall] | None = None
    expected_tools: list[ToolCall] | None = None
    comments: str | None = None
    token_cost: float | None = None
    completion_time: float | None = None
    name: str | None = None
    tags: list[str] | None = None
    mcp_servers: list[MCPServer] | None = None
    mcp_tools_called: list[MCPToolCall] | None = None
    mcp_resources_called: list[MCPResourceCall] | None = None
    mcp_prompts_called: list[MCPPromptCall] | None = None
    additional_metadata: dict[str, Any] | None = field(default=None, metadata={"json": False})
    input_token_count: int | None = None
    output_token_count: int | None = None
    expected_labels: dict[str, Any] | None = field(default=None, metadata={"json": False})
    expectations: list[Any] | None = field(default=None, metadata={"json": False})
    custom_column_key_values: dict[str, Any] | None = field(default=None, metadata={"json": False})
    flaky: bool = field(default=False, metadata={"json": False})
    multimodal: bool = field(default=False, metadata={"json": False})

    def __post_init__(self) -> None:
        text(self.input, self._where("input"), optional=False)
        for name in ("actual_output", "expected_output", "comments", "name"):
            text(getattr(self, name), self._where(name))
        for name in ("context", "retrieval_context", "tags"):
            setattr(self, name, values(getattr(self, name), self._where(name)))
        for name in ("token_cost", "completion_time", "input_token_count", "output_token_count"):
            number(getattr(self, name), self._where(name))
        self._check_calls()
        self.expected_tools = list_of(ToolCall, self.expected_tools, self._where("expected_tools"))
        self.mcp_servers = list_of(MCPServer, self.mcp_servers, self._where("mcp_servers"))


@dataclass
class Turn(_HasCalls):
    """A message of a conversation, with the calls that were made for it."""

    role: str
    content: str
    user_id: str | None = None
    retrieval_context: list[str] | None = None
    tools_called: list[ToolCall] | None = None
    mcp_tools_called: list[MCPToolCall] | None = None
    mcp_resources_called: list[MCPResourceCall] | None = None
    mcp_prompts_called: list[MCPPromptCall] | None = None
    metadata: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        roles = ("user", "assistant", "system")
        text(self.role, self._where("role"), optional=False)
        if self.role not in roles:
            raise ValueError(f"{self._where('role')}: expected one of {', '.join(roles)}, found {self.role[:80]!r}")
        text(self.content, self._where("content"), optional=False)
        self.retrieval_context = values(self.retrieval_context, self._where("retrieval_context"))
        self._check_calls()


@dataclass
class ConversationalTestCase(Record):
    """A conversation."""

    turns: list[Turn]
    scenario: str | None = None
    context: list[str] | None = None
    name: str | None = None
    user_description: str | None = None
    expected_outcome: str | None = None
    chatbot_role: str | None = None
    metadata: dict[str, Any] | None = None
    comments: str | None = None
    tags: list[str] | None = None
    mcp_servers: list[MCPServer] | None = None
    expected_tools: list[ToolCall] | None = None
    expected_labels: dict[str, Any] | None = field(default=None, metadata={"json": False})
    expectations: list[Any] | None = field(default=None, metadata={"json": False})
    flaky: bool = field(default=False, metadata={"json": False})

    def __post_init__(self) -> None:
        self.turns = list_of(Turn, self.turns, self._where("turns"))
        if not self.turns:
            raise ValueError(f"{self._where('turns')}: a conversation has at least one turn")
        for name in ("scenario", "name", "user_description", "expected_outcome", "chatbot_role", "comments"):
            text(getattr(self, name), self._where(name))
        for name in ("context", "tags"):
            setattr(self, name, values(getattr(self, name), self._where(name)))
        self.mcp_servers = list_of(MCPServer, self.mcp_servers, self._where("mcp_servers"))
        self.expected_tools = list_of(ToolCall, self.expected_tools, self._where("expected_tools"))
