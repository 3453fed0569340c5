"""Collects the calls of a `ClientSession` of the official SDK, so that nobody writes `MCPToolCall(...)` by hand."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import Any

from ._json import to_value
from .test_case import ConversationalTestCase, LLMTestCase, MCPPromptCall, MCPResourceCall, MCPServer, MCPToolCall, Turn

__all__ = ["RecordedSession", "record"]


def record(session: Any, *, server_name: str | None = None) -> RecordedSession:
    """Wraps a `ClientSession`: use the result instead of it.

    `async with record(session) as recorded` also lists what the server offers.
    """
    for method in ("call_tool", "read_resource", "get_prompt"):
        if not callable(getattr(session, method, None)):
            raise TypeError(f"session: expected a ClientSession, found a {type(session).__name__} without {method}")
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

    def __enter__(self) -> RecordedSession:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    async def __aenter__(self) -> RecordedSession:
        await self.list_everything()
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def list_everything(self) -> None:
        """Lists all pages of tools, resources and prompts. What the server does not offer is left out."""
        for method, key in _LISTS:
            if key not in self._listed:
                try:
                    await self._all_pages(method, key)
                except Exception as error:  # noqa: BLE001 - the SDKs have different classes for an error of the server
                    if not _is_answer(error):
                        raise

    async def _all_pages(self, method: str, key: str) -> None:
        page = await self._list(method, key)
        seen: set[str] = set()
        while (cursor := _cursor(page)) and cursor not in seen:
            seen.add(cursor)
            page = await self._list(method, key, **self._page(method, cursor))

    def _page(self, method: str, cursor: str) -> dict[str, Any]:
        """How the SDK takes the cursor: 2.x as a part of parameters, 1.x also alone."""
        if "cursor" in inspect.signature(getattr(self._session, method)).parameters:
            return {"cursor": cursor}
        from mcp.types import PaginatedRequestParams  # type: ignore[import-not-found,unused-ignore]

        return {"params": PaginatedRequestParams(cursor=cursor)}

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, *args: Any, **kwargs: Any) -> Any:
        """Calls a tool and remembers the call, also if it fails."""
        # A copy: the application may change its arguments later.
        call = MCPToolCall(name, to_value(arguments or {}, "arguments"), server=self._server_name)
        self.mcp_tools_called.append(call)
        return await _remember(call, self._session.call_tool(name, arguments, *args, **kwargs))

    async def read_resource(self, uri: Any, *args: Any, **kwargs: Any) -> Any:
        """Reads a resource and remembers it, also if it fails."""
        call = MCPResourceCall(uri, server=self._server_name)
        self.mcp_resources_called.append(call)
        return await _remember(call, self._session.read_resource(uri, *args, **kwargs))

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None, *args: Any, **kwargs: Any) -> Any:
        """Gets a prompt and remembers it, also if it fails."""
        call = MCPPromptCall(name, args=to_value(arguments, "arguments"), server=self._server_name)
        self.mcp_prompts_called.append(call)
        return await _remember(call, self._session.get_prompt(name, arguments, *args, **kwargs))

    async def list_tools(self, *args: Any, **kwargs: Any) -> Any:
        """Lists tools and remembers them."""
        return await self._list("list_tools", "tools", *args, **kwargs)

    async def list_resources(self, *args: Any, **kwargs: Any) -> Any:
        """Lists resources and remembers them."""
        return await self._list("list_resources", "resources", *args, **kwargs)

    async def list_resource_templates(self, *args: Any, **kwargs: Any) -> Any:
        """Lists resource templates and remembers them."""
        return await self._list("list_resource_templates", "resourceTemplates", *args, **kwargs)

    async def list_prompts(self, *args: Any, **kwargs: Any) -> Any:
        """Lists prompts and remembers them."""
        return await self._list("list_prompts", "prompts", *args, **kwargs)

    async def _list(self, method: str, key: str, *args: Any, **kwargs: Any) -> Any:
        page = await getattr(self._session, method)(*args, **kwargs)
        known = self._listed.setdefault(key, [])
        names = {_name(item) for item in known}
        found = getattr(page, key, None)
        if found is None:
            found = getattr(page, "resource_templates", [])
        known.extend(item for item in found if _name(item) not in names)
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

    def __repr__(self) -> str:
        calls = len(self.mcp_tools_called) + len(self.mcp_resources_called) + len(self.mcp_prompts_called)
        return f"<RecordedSession: {calls} calls>"

    def test_case(self, input: str, actual_output: str | None = None, **fields: Any) -> LLMTestCase:
        """A test case with the calls since the last time."""
        return LLMTestCase(input, actual_output, **{"mcp_servers": [self.server()], **self.calls(), **fields})

    def turn(self, content: str, **fields: Any) -> Turn:
        """A turn of the application with the calls since the last time."""
        return Turn("assistant", content, **{**self.calls(), **fields})

    def conversation(self, turns: list[Turn], **fields: Any) -> ConversationalTestCase:
        """A conversation with this server."""
        return ConversationalTestCase(turns, **{"mcp_servers": [self.server()], **fields})


_LISTS = (
    ("list_tools", "tools"), ("list_resources", "resources"), ("list_resource_templates", "resourceTemplates"),
    ("list_prompts", "prompts"),
)


async def _remember(call: Any, pending: Awaitable[Any]) -> Any:
    try:
        call.result = await pending
    except Exception as error:
        call.result = _failed(error)
        raise
    return call.result


def _name(item: Any) -> str:
    found = getattr(item, "uri", None) or getattr(item, "uriTemplate", None) or getattr(item, "uri_template", None)
    return str(found or getattr(item, "name", None))


def _cursor(page: Any) -> str | None:
    return getattr(page, "nextCursor", None) or getattr(page, "next_cursor", None)


def _is_answer(error: Exception) -> bool:
    """Whether the server answered with an error. Anything else is a problem of the connection."""
    return getattr(error, "error", None) is not None or type(error).__name__ in ("McpError", "MCPError")


def _failed(error: Exception) -> dict[str, Any]:
    return {"isError": True, "content": [{"type": "text", "text": str(error)}]}
