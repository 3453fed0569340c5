"""The official Python SDK 2.x as client, over standard input and output and streamable HTTP, in both eras."""

import asyncio
import os
import tempfile

import httpx2
from harness import PROGRAM, Http, check, finish
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult


async def elicited(context, params):
    return ElicitResult(action="accept", content={})


async def use(client, name):
    done = await client.call_tool("fixture_confirm", {})
    check(done.structured_content["answer"] == "accepted", f"{name}: elicitation {done}")
    tools = (await client.list_tools()).tools
    check(any(tool.name == "fixture_echo" for tool in tools), f"{name}: list")
    done = await client.call_tool("fixture_echo", {"text": "hi"})
    check(done.structured_content["answer"] == "hi" and not done.is_error, f"{name}: call")
    done = await client.call_tool("fixture_fail", {})
    check(done.is_error, f"{name}: tool error")
    read = await client.read_resource("violentutf://fixtures/greeting")
    check(read.contents[0].text == "hello", f"{name}: read")
    try:
        await client.call_tool("fixture_echo", {})
        check(False, f"{name}: invalid arguments")
    except Exception as error:
        check("Invalid params" in str(error), f"{name}: {error!r}")


async def main():
    for mode in ["legacy", "auto"]:
        env = dict(os.environ, QUINTAIN_HOME=tempfile.mkdtemp())
        params = StdioServerParameters(command=PROGRAM, args=["serve", "--stdio", "--fixtures"], env=env)
        async with Client(stdio_client(params), mode=mode, elicitation_callback=elicited) as client:
            await use(client, f"stdio {mode}")
        server = Http()
        headers = {"Authorization": f"Bearer {server.token('alice')}"}
        http = httpx2.AsyncClient(headers=headers, timeout=30)
        async with Client(streamable_http_client(server.urls["url"], http_client=http), mode=mode, elicitation_callback=elicited) as client:
            await use(client, f"streamable {mode}")
        server.end()


asyncio.run(main())
finish()
