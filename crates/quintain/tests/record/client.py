"""Drives a server with the official Python SDK and prints what a user of the SDK sees, as JSON.

Usage: client.py stdio COMMAND ARG... | client.py http URL | client.py sse URL
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
import mcp.client.streamable_http as streamable


def transport(kind, where):
    if kind == "stdio":
        return stdio_client(StdioServerParameters(command=where[0], args=where[1:], env=None))
    if kind == "sse":
        return sse_client(where[0])
    opened = getattr(streamable, "streamable_http_client", None) or streamable.streamablehttp_client
    return opened(where[0])


async def sample(context, params):
    text = types.TextContent(type="text", text="sampled text")
    return types.CreateMessageResult(role="assistant", content=text, model="none")


async def roots(context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///tmp/root", name="root")])


async def elicit(context, params):
    return types.ElicitResult(action="decline")


def plain(result):
    return json.loads(result.model_dump_json(by_alias=True, exclude_none=True))


async def attempt(work):
    try:
        return plain(await work)
    except Exception as error:
        return {"failed": str(error)}


async def main():
    seen = []
    async with transport(sys.argv[1], sys.argv[2:]) as streams:
        callbacks = {"sampling_callback": sample, "list_roots_callback": roots, "elicitation_callback": elicit}
        async with ClientSession(streams[0], streams[1], **callbacks) as session:
            seen.append(plain(await session.initialize()))
            tools = plain(await session.list_tools())
            seen.append(sorted(tool["name"] for tool in tools["tools"]))
            for number in range(2):
                seen.append(await attempt(session.call_tool("echo", {"message": f"hello {number}"})))
            seen.append(await attempt(session.call_tool("get-sum", {"a": 2, "b": 40})))
            progress = []

            async def note(done, total, message):
                progress.append([done, total])

            work = session.call_tool(
                "trigger-long-running-operation", {"duration": 0.4, "steps": 4}, progress_callback=note
            )
            seen.append(await attempt(work))
            seen.append(progress)
            seen.append(await attempt(session.call_tool("trigger-sampling-request", {"prompt": "p", "maxTokens": 5})))
            seen.append(await attempt(session.call_tool("trigger-elicitation-request", {})))
            seen.append(await attempt(session.call_tool("no-such-tool", {})))
            listed = plain(await session.list_resources())
            seen.append(listed["resources"])
            seen.append(await attempt(session.read_resource(listed["resources"][0]["uri"])))
            seen.append(await attempt(session.list_prompts()))
            seen.append(await attempt(session.get_prompt("simple-prompt")))
            seen.append(await attempt(session.send_ping()))
    print(json.dumps(seen, indent=1, sort_keys=True))


asyncio.run(main())
