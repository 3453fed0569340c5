"""Test cases: what an application was asked, what it answered, and how it used MCP servers.

The classes have the names and fields of deepeval's. Every field but the essential ones is optional. Objects of the official
`mcp` SDK (1.x and 2.x), dictionaries and these classes are accepted everywhere.
"""

from .cases import ConversationalTestCase, LLMTestCase, ToolCall, Turn
from .mcp import MCPPromptCall, MCPResourceCall, MCPServer, MCPToolCall
from .params import LLMTestCaseParams, SingleTurnParams, ToolCallParams, TurnParams

__all__ = [
    "ConversationalTestCase",
    "LLMTestCase",
    "LLMTestCaseParams",
    "MCPPromptCall",
    "MCPResourceCall",
    "MCPServer",
    "MCPToolCall",
    "SingleTurnParams",
    "ToolCall",
    "ToolCallParams",
    "Turn",
    "TurnParams",
]
