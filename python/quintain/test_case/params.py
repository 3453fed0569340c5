"""Names of fields, for metrics that are told which fields to read."""

from enum import Enum


class LLMTestCaseParams(str, Enum):
    """Fields of an `LLMTestCase`."""

    INPUT = "input"
    ACTUAL_OUTPUT = "actual_output"
    EXPECTED_OUTPUT = "expected_output"
    CONTEXT = "context"
    RETRIEVAL_CONTEXT = "retrieval_context"
    TOOLS_CALLED = "tools_called"
    EXPECTED_TOOLS = "expected_tools"
    MCP_SERVERS = "mcp_servers"
    MCP_TOOLS_CALLED = "mcp_tools_called"
    MCP_RESOURCES_CALLED = "mcp_resources_called"
    MCP_PROMPTS_CALLED = "mcp_prompts_called"


SingleTurnParams = LLMTestCaseParams


class TurnParams(str, Enum):
    """Fields of a `Turn`."""

    ROLE = "role"
    CONTENT = "content"
    SCENARIO = "scenario"
    EXPECTED_OUTCOME = "expected_outcome"
    RETRIEVAL_CONTEXT = "retrieval_context"
    TOOLS_CALLED = "tools_called"
    MCP_TOOLS = "mcp_tools_called"
    MCP_RESOURCES = "mcp_resources_called"
    MCP_PROMPTS = "mcp_prompts_called"


class ToolCallParams(str, Enum):
    """What `ToolCorrectnessMetric` compares besides names."""

    INPUT_PARAMETERS = "input-parameters"
    OUTPUT = "output"
