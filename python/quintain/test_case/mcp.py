"""MCP servers and calls of their tools, resources and prompts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._record import Record, text, values

__all__ = ["MCPPromptCall", "MCPResourceCall", "MCPServer", "MCPToolCall"]


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
            setattr(self, name, values(getattr(self, name), self._where(name), inner))


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


@dataclass
class MCPResourceCall(Record):
    """A resource that was read."""

    uri: Any
    result: Any = None
    server: str | None = field(default=None, metadata={"aliases": ("server_name", "serverName")})

    def __post_init__(self) -> None:
        # The SDKs have a class of their own for URIs.
        self.uri = str(self.uri) if not isinstance(self.uri, str) else self.uri
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
