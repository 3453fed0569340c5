"""A client for MCP servers: `connect` for scripts, `connect_async` for coroutines."""

from __future__ import annotations

import asyncio
import json
import os
from types import TracebackType
from typing import Any

from . import _quintain
from ._json import dump, to_value
from ._loop import in_coroutine
from ._target import target_request
from .test_case import LLMTestCase, MCPPromptCall, MCPResourceCall, MCPServer, MCPToolCall

__all__ = ["AsyncSession", "McpError", "Session", "connect", "connect_async"]


class McpError(_quintain.QuintainError):
    """An error that the server answered with."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code, self.message, self.data = error.get("code"), error.get("message"), error.get("data")


def connect(
    *command: Any,
    url: str | None = None,
    headers: dict[str, str] | None = None,
    env: dict[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    timeout_ms: int | None = None,
    transport: str | None = None,
    protocol: str | None = None,
) -> Session:
    """Starts a server (`connect("npx", "-y", "server")`) or connects to one (`connect(url="http://127.0.0.1:3000/mcp")`).

    `with connect(...) as session` is for scripts, `async with connect(...) as session` for coroutines.
    """
    target = target_request(
        "connect", command, url=url, headers=headers, env=env, cwd=cwd, timeout_ms=timeout_ms, transport=transport, protocol=protocol
    )
    session = Session(target)
    if not in_coroutine():
        session.open()
    return session


class Session:
    """A session. Collects its calls, so that they can become a test case."""

    def __init__(self, target: dict[str, Any]) -> None:
        self._target = dump(target)
        self._native: _quintain.Client | None = None
        self._asynchronous: AsyncSession | None = None
        self.tool_calls: list[MCPToolCall] = []
        self.resource_calls: list[MCPResourceCall] = []
        self.prompt_calls: list[MCPPromptCall] = []

    def open(self) -> None:
        """Connects. In a coroutine, `async with` does so without blocking."""
        if self._native is None:
            self._native = _quintain.Client(self._target)

    @property
    def _client(self) -> _quintain.Client:
        self.open()
        assert self._native is not None
        return self._native

    def request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Sends any request and returns its result."""
        answer = json.loads(self._client.request(method, dump(to_value(params or {}, "params"))))
        if "error" in answer:
            raise McpError(answer["error"])
        return answer["result"]

    def list_tools(self) -> list[dict[str, Any]]:
        """The tools of all pages."""
        return self._every("tools/list", "tools")

    def list_resources(self) -> list[dict[str, Any]]:
        """The resources of all pages."""
        return self._every("resources/list", "resources")

    def list_prompts(self) -> list[dict[str, Any]]:
        """The prompts of all pages."""
        return self._every("prompts/list", "prompts")

    def list_resource_templates(self) -> list[dict[str, Any]]:
        """The resource templates of all pages."""
        return self._every("resources/templates/list", "resourceTemplates")

    def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """Calls a tool. A result with `isError` is returned, not raised."""
        given = to_value(arguments or {}, "arguments")
        call = MCPToolCall(name, given)
        self.tool_calls.append(call)
        try:
            result: dict[str, Any] = self.request("tools/call", {"name": name, "arguments": given})
        except _quintain.QuintainError as error:
            call.result = {"isError": True, "content": [{"type": "text", "text": str(error)}]}
            raise
        call.result = result
        return result

    def read_resource(self, uri: str) -> dict[str, Any]:
        """Reads a resource."""
        result: dict[str, Any] = self.request("resources/read", {"uri": uri})
        self.resource_calls.append(MCPResourceCall(uri, result))
        return result

    def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> dict[str, Any]:
        """Gets a prompt."""
        params: dict[str, Any] = {"name": name}
        if arguments is not None:
            params["arguments"] = arguments
        result: dict[str, Any] = self.request("prompts/get", params)
        self.prompt_calls.append(MCPPromptCall(name, result, arguments))
        return result

    def server(self, name: str | None = None) -> MCPServer:
        """What the server offers, for test cases."""
        surfaces = json.loads(self._client.surface())
        label, surface = surfaces[0]
        return MCPServer(
            server_name=name or label, available_tools=surface.get("tools"), available_resources=surface.get("resources"),
            available_prompts=surface.get("prompts"), available_resource_templates=surface.get("templates"),
        )

    def test_case(self, input: str, actual_output: str | None = None, **fields: Any) -> LLMTestCase:
        """A test case with the server and the calls so far."""
        known: dict[str, Any] = {
            "mcp_servers": [self.server()], "mcp_tools_called": list(self.tool_calls),
            "mcp_resources_called": list(self.resource_calls), "mcp_prompts_called": list(self.prompt_calls),
        }
        return LLMTestCase(input, actual_output, **{**known, **fields})

    def close(self) -> None:
        """Ends the session and the server that it started."""
        if self._native is not None:
            self._native.close()

    def _every(self, method: str, key: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = self.request(method, {"cursor": cursor} if cursor else {})
            found.extend(page.get(key, []))
            following = page.get("nextCursor")
            # A server that repeats a cursor would never end.
            if not following or following == cursor:
                return found
            cursor = following

    def __enter__(self) -> Session:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> AsyncSession:
        await asyncio.to_thread(self.open)
        self._asynchronous = AsyncSession(self)
        return self._asynchronous

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await asyncio.to_thread(self.close)

    def __repr__(self) -> str:
        state = "not connected" if self._native is None else "closed" if self._native.closed else "open"
        return f"<Session: {state}, {len(self.tool_calls)} tool calls>"


class AsyncSession:
    """The same for coroutines: the event loop is never blocked, and calls may overlap."""

    def __init__(self, session: Session) -> None:
        #: The session that this one uses.
        self.session = session

    @property
    def tool_calls(self) -> list[MCPToolCall]:
        """The calls of tools so far."""
        return self.session.tool_calls

    async def __aenter__(self) -> AsyncSession:
        await asyncio.to_thread(self.session.open)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await asyncio.to_thread(self.session.close)

    async def request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Sends any request and returns its result."""
        return await asyncio.to_thread(self.session.request, method, params)

    async def list_tools(self) -> list[dict[str, Any]]:
        """The tools of all pages."""
        return await asyncio.to_thread(self.session.list_tools)

    async def list_resources(self) -> list[dict[str, Any]]:
        """The resources of all pages."""
        return await asyncio.to_thread(self.session.list_resources)

    async def list_prompts(self) -> list[dict[str, Any]]:
        """The prompts of all pages."""
        return await asyncio.to_thread(self.session.list_prompts)

    async def list_resource_templates(self) -> list[dict[str, Any]]:
        """The resource templates of all pages."""
        return await asyncio.to_thread(self.session.list_resource_templates)

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """Calls a tool. A result with `isError` is returned, not raised."""
        return await asyncio.to_thread(self.session.call_tool, name, arguments)

    async def read_resource(self, uri: str) -> dict[str, Any]:
        """Reads a resource."""
        return await asyncio.to_thread(self.session.read_resource, uri)

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> dict[str, Any]:
        """Gets a prompt."""
        return await asyncio.to_thread(self.session.get_prompt, name, arguments)

    async def server(self, name: str | None = None) -> MCPServer:
        """What the server offers, for test cases."""
        return await asyncio.to_thread(self.session.server, name)

    async def test_case(self, input: str, actual_output: str | None = None, **fields: Any) -> LLMTestCase:
        """A test case with the server and the calls so far."""

        def make() -> LLMTestCase:
            return self.session.test_case(input, actual_output, **fields)

        return await asyncio.to_thread(make)

    def __repr__(self) -> str:
        return f"<Async{repr(self.session)[1:]}"


def connect_async(*command: Any, **options: Any) -> AsyncSession:
    """`async with connect_async(...) as session`, with the arguments of `connect`."""
    return AsyncSession(Session(target_request("connect", command, **options)))
