"""The official Python SDK 1.x as client, over all three transports."""

import asyncio
import os
import tempfile

from harness import PROGRAM, Http, check, finish
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.exceptions import McpError
from mcp.types import ElicitResult


async def use(streams, name):
    async def elicited(context, params):
        return ElicitResult(action="accept", content={})

    async with ClientSession(streams[0], streams[1], elicitation_callback=elicited) as session:
        greeting = await session.initialize()
        check(greeting.serverInfo.name == "quintain", f"{name}: initialize")
        tools = (await session.list_tools()).tools
        check(any(tool.name == "fixture_echo" and tool.outputSchema for tool in tools), f"{name}: list")
        done = await session.call_tool("fixture_echo", {"text": "hi"})
        check(done.structuredContent["answer"] == "hi" and not done.isError, f"{name}: call")
        seen = []

        async def progress(value, total, message):
            seen.append(value)

        done = await session.call_tool("fixture_slow", {"seconds": 3}, progress_callback=progress)
        check(done.structuredContent["answer"] == "done" and seen, f"{name}: progress {seen}")
        done = await session.call_tool("fixture_confirm", {})
        check(done.structuredContent["answer"] == "accepted", f"{name}: elicitation {done}")
        done = await session.call_tool("fixture_fail", {})
        check(done.isError and done.structuredContent["error"]["code"] == "not_found", f"{name}: tool error")
        try:
            await session.call_tool("fixture_echo", {})
            check(False, f"{name}: invalid arguments")
        except McpError as error:
            check(error.error.code == -32602, f"{name}: {error.error}")
            check(error.error.data["validation_errors"] == ["text is required"], f"{name}: {error.error}")
        read = await session.read_resource("violentutf://fixtures/greeting")
        check(read.contents[0].text == "hello", f"{name}: read")
        check((await session.list_resource_templates()).resourceTemplates, f"{name}: templates")
        await session.list_prompts()


async def main():
    env = dict(os.environ, QUINTAIN_HOME=tempfile.mkdtemp())
    params = StdioServerParameters(command=PROGRAM, args=["serve", "--stdio", "--fixtures"], env=env)
    async with stdio_client(params) as streams:
        await use(streams, "stdio")
    server = Http()
    headers = {"Authorization": f"Bearer {server.token('alice')}"}
    async with streamablehttp_client(server.urls["url"], headers=headers) as streams:
        await use(streams, "streamable")
    async with sse_client(server.urls["sse"], headers=headers) as streams:
        await use(streams, "sse")
    server.end()


asyncio.run(main())
finish()
