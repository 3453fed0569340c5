"""MCP servers and calls of their tools, resources and prompts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ._record import Record, arguments, items, text, values

if TYPE_CHECKING:
    from .cases import ConversationalTestCase as ConversationalTestCase
    from .cases import LLMTestCase as LLMTestCase
    from .cases import ToolCall as ToolCall
    from .cases import Turn as Turn

__all__ = [
    "ConversationalTestCase",
    "LLMTestCase",
    "MCPPromptCall",
    "MCPResourceCall",
    "MCPServer",
    "MCPToolCall",
    "ToolCall",
    "Turn",
]


def __getattr__(name: str) -> Any:
    # Test cases are made of calls, so their module loads this one first.
    if name in ("ConversationalTestCase", "LLMTestCase", "ToolCall", "Turn"):
        from . import cases

        return getattr(cases, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass
class MCPServer(Record):
    """A server and what it offers. A list that is not given is not known.

    The lists come from `session.list_tools().tools` and its siblings; the results themselves are accepted as well.
    """

    server_name: str | None = None
    transport: str | None = None
    available_tools: list[Any] | None = None
    available_resources: list[Any] | None = None
    available_prompts: list[Any] | None = None
    available_resource_templates: list[Any] | None = None

    def __post_init__(self) -> None:
        text(self.server_name, self._where("server_name"))
        text(self.transport, self._where("transport"))
        for name, inner in (
            ("available_tools", "tools"),
            ("available_resources", "resources"),
            ("available_prompts", "prompts"),
            ("available_resource_templates", "resourceTemplates"),
        ):
            found = values(getattr(self, name), self._where(name), inner)
            setattr(self, name, items(found, self._where(name)))


@dataclass
class MCPToolCall(Record):
    """A call of a tool, with the result that the session returned."""

    name: str
    args: Any = None
    result: Any = None
    server: str | None = field(default=None, metadata={"aliases": ("server_name", "serverName")})
    id: str | None = None

    def __post_init__(self) -> None:
        text(self.name, self._where("name"), optional=False)
        text(self.server, self._where("server"))
        text(self.id, self._where("id"))
        self.args = arguments(self.args, self._where("args"))


@dataclass
class MCPResourceCall(Record):
    """A resource that was read."""

    uri: Any
    result: Any = None
    server: str | None = field(default=None, metadata={"aliases": ("server_name", "serverName")})

    def __post_init__(self) -> None:
        # The SDKs and pydantic have classes of their own for URIs.
        if not isinstance(self.uri, str) and type(self.uri).__name__.endswith("Url"):
            self.uri = str(self.uri)
        text(self.uri, self._where("uri"), optional=False)
        text(self.server, self._where("server"))


@dataclass
class MCPPromptCall(Record):
    """A prompt that was fetched."""

    name: str
    result: Any = None
    args: Any = None
    server: str | None = field(default=None, metadata={"aliases": ("server_name", "serverName")})

    def __post_init__(self) -> None:
        text(self.name, self._where("name"), optional=False)
        text(self.server, self._where("server"))
        self.args = arguments(self.args, self._where("args"))
