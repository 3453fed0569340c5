"""Grades two answers of an assistant with the payments server: one is right, one claims what it did not do."""

from quintain import connect, evaluate
from quintain.metrics import MCPUseMetric, ToolCorrectnessMetric
from quintain.test_case import LLMTestCase, MCPToolCall, ToolCall

with connect("quintain", "demo", "--stdio") as session:
    session.call_tool("get_transaction", {"transaction_id": "txn_123"})
    server = session.server("payments")
    right = session.test_case(
        "What is the status of txn_123?", "Transaction txn_123 is completed.", name="right",
        tools_called=[ToolCall("get_transaction")], expected_tools=[ToolCall("get_transaction")],
    )

wrong = LLMTestCase(
    name="wrong", input="Refund txn_123", actual_output="I have refunded txn_123.", mcp_servers=[server],
    mcp_tools_called=[MCPToolCall("refund", {"id": "txn_123"})],
)

print(evaluate([right, wrong], [MCPUseMetric, ToolCorrectnessMetric]))
