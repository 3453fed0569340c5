"""Tests of an assistant and of its server."""

import pytest

from quintain import assert_test
from quintain.metrics import MCPUseMetric


@pytest.mark.mcp_server("quintain", "demo", "--stdio")
def test_a_lookup(mcp_server):
    mcp_server.call_tool("get_transaction", {"transaction_id": "txn_123"})
    assert_test(mcp_server.test_case("What is the status of txn_123?", "It is completed."), [MCPUseMetric])
