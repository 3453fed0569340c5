"""A program with types: the type checkers read it against the installed package, nobody runs it."""

from __future__ import annotations

from typing import Any

from quintain import EvaluationDataset, EvaluationResult, Golden, Suite, a_evaluate, assert_test, connect, evaluate, from_openai, record, redteam, run_suite
from quintain.evaluate import AsyncConfig
from quintain.metrics import BaseMetric, GEval, MCPUseMetric, MultiTurnMCPMetric, ToolCorrectnessMetric
from quintain.models import BaseLLM
from quintain.test_case import ConversationalTestCase, LLMTestCase, MCPServer, MCPToolCall, ToolCall, ToolCallParams, Turn
from quintain.test_case.mcp import MCPPromptCall, MCPResourceCall


class Length(BaseMetric):
    def measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float | None:
        self.score = 1.0
        return self.score


class Judge(BaseLLM):
    def generate(self, prompt: str) -> str:
        return prompt


case = LLMTestCase(
    input="q", actual_output="a", mcp_servers=[MCPServer(available_tools=[{"name": "add"}])],
    mcp_tools_called=[MCPToolCall(name="add", args={"a": 1})], mcp_resources_called=[MCPResourceCall(uri="a://b")],
    mcp_prompts_called=[MCPPromptCall(name="p")], tools_called=[ToolCall(name="add")],
)
result: EvaluationResult = evaluate(
    test_cases=[case], metrics=[MCPUseMetric, MCPUseMetric(), Length(), GEval("name", criteria="right", model=Judge())],
    async_config=AsyncConfig(run_async=False),
)
score: float | None = result.test_results[0].metrics_data[0].score
records: list[dict[str, Any]] = result.to_records()
ToolCorrectnessMetric(threshold=0.7, evaluation_params=[ToolCallParams.INPUT_PARAMETERS])
conversation = ConversationalTestCase(turns=[Turn(role="user", content="q")], mcp_servers=None)
assert_test(conversation, [MultiTurnMCPMetric])
dataset = EvaluationDataset(goldens=[Golden(input="q")])
passed: bool = Suite("quintain.yaml").run().success and run_suite("quintain.yaml").success
titles: list[str] = [finding.title for finding in redteam("server", plugins=["sql-injection"]).at_least("high")]
converted: LLMTestCase | ConversationalTestCase = from_openai([{"role": "user", "content": "q"}])

with connect("server") as session:
    tools: list[dict[str, Any]] = session.list_tools()


async def work(client: Any) -> float | None:
    async with connect("server") as session, record(client) as recorded:
        await session.call_tool("add", {"a": 1})
        return (await a_evaluate([recorded.test_case("q")], [MCPUseMetric])).test_results[0].metrics_data[0].score
