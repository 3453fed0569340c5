"""The code of the document that describes the MCP evaluation of deepeval, with the name of the package replaced.

The document is a page of the documentation of deepeval (Apache-2.0). The blocks are extracted from it; only its placeholders
(`...`) are filled in. They run against a real server.
"""

from __future__ import annotations

import ast
import asyncio
import re

import pytest
from conftest import NOTES, TESTS, sdk_session

pytest.importorskip("mcp")

DOCUMENT = TESTS / "deepeval-mcp.txt"
#: How lines of code begin in the document, which marks them by nothing else.
CODE = re.compile(r"from \S+ import|[a-z_]+ ?= ?|# |evaluate\(|\)|\]")


def blocks(text):
    """The blocks of code: lines that look like code, and everything within their brackets."""
    found, block, depth = [], [], 0
    for line in text.splitlines():
        if depth or CODE.match(line):
            block.append(line)
            code = line.split("#")[0]
            depth += sum(code.count(char) for char in "([{") - sum(code.count(char) for char in ")]}")
        elif block and line.strip():
            found.append("\n".join(block))
            block = []
    return [block for block in found if "import" in block]


#: What a reader of the document fills in.
FILLED = [
    ("session = ClientSession(...)", ""),
    ('tool_name = "..."', 'tool_name = "add"'),
    ('tool_args = "..."', 'tool_args = {"a": 1, "b": 2}'),
    ('uri = "..."', 'uri = "notes://first"'),
    ('prompt_name = "..."', 'prompt_name = "greet"'),
    ("get_prompt(prompt_name)", 'get_prompt(prompt_name, {"name": "Ada"})'),
    ('input="..."', 'input="Add 1 and 2, and read my first note"'),
    # The document lacks this comma.
    ('actual_output="..." #', 'actual_output="The sum is 3.", #'),
    ("MCPServer(...)", "mcp_server"),
    ("MCPToolCall(...)", "mcp_tool_called"),
    ("MCPResourceCall(...)", "mcp_resource_called"),
    ("MCPPromptCall(...)", "mcp_prompt_called"),
    # The value of `evaluate` is what the test looks at.
    ("\nevaluate(", "\nresults += evaluate("),
]


def test_the_examples_of_the_document_run():
    extracted = blocks(DOCUMENT.read_text().replace("deepeval", "quintain"))
    assert len(extracted) == 8, extracted
    # The example before the last one uses the turns of the last one.
    extracted[6:] = extracted[:5:-1]

    async def run():
        async with sdk_session(NOTES) as session:
            names = {"session": session, "results": []}
            exec("from quintain.test_case import ConversationalTestCase, Turn", names)
            for block in extracted:
                for placeholder, value in FILLED:
                    block = block.replace(placeholder, value)
                assert "..." not in block, block
                waiting = eval(compile(block, "the document", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
                if asyncio.iscoroutine(waiting):
                    await waiting
            return names["results"]

    single, conversation = asyncio.run(run())
    assert (single.metrics_data[0].name, single.metrics_data[0].score, single.success) == ("mcp-use", 1.0, True), single
    assert conversation.metrics_data[0].name == "multi-turn-mcp-use"
    assert conversation.metrics_data[0].error is None, conversation
