"""Collects the calls of a `ClientSession` of the official SDK, so that nobody writes `MCPToolCall(...)` by hand."""

from __future__ import annotations

from typing import Any

from ._json import to_value
from .test_case import ConversationalTestCase, LLMTestCase, MCPPromptCall, MCPResourceCall, MCPServer, MCPToolCall, Turn

__all__ = ["RecordedSession", "record"]


def record(session: Any, *, server_name: str | None = None) -> RecordedSession:
    """Wraps a session: use the result instead of it."""
    return RecordedSession(session, server_name)


class RecordedSession:
    """A session with a memory. Everything that is not a call is passed on unchanged."""

    def __init__(self, session: Any, server_name: str | None = None) -> None:
        self._session = session
        self._server_name = server_name
        self._listed: dict[str, list[Any]] = {}
        self.mcp_tools_called: list[MCPToolCall] = []
        self.mcp_resources_called: list[MCPResourceCall] = []
        self.mcp_prompts_called: list[MCPPromptCall] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, *args: Any, **kwargs: Any) -> Any:
        """Calls a tool and remembers the call, also if it fails."""
        call = MCPToolCall(name, to_value(arguments or {}, "arguments"), server=self._server_name)
        self.mcp_tools_called.append(call)
        try:
            call.result = await self._session.call_tool(name, arguments, *args, **kwargs)
        except Exception as error:
            call.result = _failed(error)
            raise
        return call.result

    async def read_resource(self, uri: Any, *args: Any, **kwargs: Any) -> Any:
        """Reads a resource and remembers it."""
        call = MCPResourceCall(uri, server=self._server_name)
        self.mcp_resources_called.append(call)
        call.result = await self._session.read_resource(uri, *args, **kwargs)
        return call.result

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None, *args: Any, **kwargs: Any) -> Any:
        """Gets a prompt and remembers it."""
        call = MCPPromptCall(name, args=arguments, server=self._server_name)
        self.mcp_prompts_called.append(call)
        call.result = await self._session.get_prompt(name, arguments, *args, **kwargs)
        return call.result

    async def list_tools(self, *args: Any, **kwargs: Any) -> Any:
        """Lists tools and remembers them."""
        return await self._list("list_tools", "tools", *args, **kwargs)

    async def list_resources(self, *args: Any, **kwargs: Any) -> Any:
        """Lists resources and remembers them."""
        return await self._list("list_resources", "resources", *args, **kwargs)

    async def list_prompts(self, *args: Any, **kwargs: Any) -> Any:
        """Lists prompts and remembers them."""
        return await self._list("list_prompts", "prompts", *args, **kwargs)

    async def _list(self, method: str, key: str, *args: Any, **kwargs: Any) -> Any:
        page = await getattr(self._session, method)(*args, **kwargs)
        known = self._listed.setdefault(key, [])
        names = {_name(item) for item in known}
        known.extend(item for item in getattr(page, key, []) if _name(item) not in names)
        return page

    def server(self) -> MCPServer:
        """The server with what was listed so far. What was not listed is not known."""
        return MCPServer(
            server_name=self._server_name, available_tools=self._listed.get("tools"),
            available_resources=self._listed.get("resources"), available_prompts=self._listed.get("prompts"),
        )

    def calls(self) -> dict[str, Any]:
        """The calls since the last time, by the names of the fields of a test case or a turn."""
        taken = {
            "mcp_tools_called": self.mcp_tools_called, "mcp_resources_called": self.mcp_resources_called,
            "mcp_prompts_called": self.mcp_prompts_called,
        }
        self.mcp_tools_called, self.mcp_resources_called, self.mcp_prompts_called = [], [], []
        return taken

    def test_case(self, input: str, actual_output: str | None = None, **fields: Any) -> LLMTestCase:
        """A test case with the calls since the last time."""
        return LLMTestCase(input, actual_output, **{"mcp_servers": [self.server()], **self.calls(), **fields})

    def turn(self, content: str, **fields: Any) -> Turn:
        """A turn of the application with the calls since the last time."""
        return Turn("assistant", content, **{**self.calls(), **fields})

    def conversation(self, turns: list[Turn], **fields: Any) -> ConversationalTestCase:
        """A conversation with this server."""
        return ConversationalTestCase(turns, **{"mcp_servers": [self.server()], **fields})


def _name(item: Any) -> Any:
    return getattr(item, "uri", None) or getattr(item, "name", None)


def _failed(error: Exception) -> dict[str, Any]:
    return {"isError": True, "content": [{"type": "text", "text": str(error)}]}
