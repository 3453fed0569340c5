"""Servers that several tests talk to."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
REPOSITORY = TESTS.parent.parent
SHARED = REPOSITORY.parent / "shared"
#: The practice target of the installed package.
PRACTICE = (sys.executable, "-m", "quintain", "demo", "--stdio")
#: A server of the official SDK.
NOTES = (sys.executable, str(TESTS / "servers" / "notes.py"))


@asynccontextmanager
async def sdk_session(command):
    """A session of the official SDK."""
    mcp = pytest.importorskip("mcp")
    from mcp.client.stdio import stdio_client

    parameters = mcp.StdioServerParameters(command=command[0], args=list(command[1:]))
    async with stdio_client(parameters) as (read, write), mcp.ClientSession(read, write) as session:
        await session.initialize()
        yield session
