"""A client for MCP servers: `connect` for scripts, `connect_async` for coroutines."""

from __future__ import annotations

import asyncio
import json
from types import TracebackType
from typing import Any

from . import _quintain
from ._json import dump, to_value
from .test_case import MCPPromptCall, MCPResourceCall, MCPServer, MCPToolCall

__all__ = ["AsyncSession", "McpError", "Session", "connect", "connect_async"]


class McpError(_quintain.QuintainError):
    """An error that the server answered with."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code, self.message, self.data = error.get("code"), error.get("message"), error.get("data")


def connect(
    *command: str,
    url: str | None = None,
    headers: dict[str, str] | None = None,
    env: dict[str, str] | None = None,
    cwd: str | None = None,
    timeout_ms: int | None = None,
    transport: str | None = None,
    protocol: str | None = None,
) -> Session:
    """Starts a server (`connect("npx", "-y", "server")`) or connects to one (`connect(url="http://127.0.0.1:3000/mcp")`)."""
    if bool(command) == (url is not None):
        raise TypeError("connect: give either a command or url")
    target = {
        "command": [str(word) for word in command], "url": url, "headers": list((headers or {}).items()),
        "env": list((env or {}).items()), "cwd": cwd, "timeout_ms": timeout_ms, "transport": transport, "protocol": protocol,
    }
    return Session(_quintain.Client(dump(target)))


class Session:
    """An open session. Collects its calls, so that they can become a test case."""

    def __init__(self, client: _quintain.Client) -> None:
        self._client = client
        self.tool_calls: list[MCPToolCall] = []
        self.resource_calls: list[MCPResourceCall] = []
        self.prompt_calls: list[MCPPromptCall] = []

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

    def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """Calls a tool. A result with `isError` is returned, not raised."""
        result: dict[str, Any] = self.request("tools/call", {"name": name, "arguments": arguments or {}})
        self.tool_calls.append(MCPToolCall(name, arguments or {}, result))
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

    def close(self) -> None:
        """Ends the session and the server that it started."""
        self._client.close()

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
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class AsyncSession:
    """The same for coroutines: the event loop is never blocked."""

    def __init__(self, command: tuple[str, ...], options: dict[str, Any]) -> None:
        self._command, self._options = command, options
        self._session: Session | None = None

    @property
    def session(self) -> Session:
        """The open session."""
        if self._session is None:
            raise _quintain.QuintainError("use `async with connect_async(...) as session`")
        return self._session

    async def __aenter__(self) -> AsyncSession:
        self._session = await asyncio.to_thread(connect, *self._command, **self._options)
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

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """Calls a tool."""
        return await asyncio.to_thread(self.session.call_tool, name, arguments)

    async def read_resource(self, uri: str) -> dict[str, Any]:
        """Reads a resource."""
        return await asyncio.to_thread(self.session.read_resource, uri)

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> dict[str, Any]:
        """Gets a prompt."""
        return await asyncio.to_thread(self.session.get_prompt, name, arguments)


def connect_async(*command: str, **options: Any) -> AsyncSession:
    """`async with connect_async(...) as session`, with the arguments of `connect`."""
    return AsyncSession(command, options)
