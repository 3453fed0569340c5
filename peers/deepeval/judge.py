"""Scores test cases with deepeval's MCPUseMetric and a judge that has one opinion, for `cargo xtask bench judge`.

    python judge.py CASES.json SCORES.json

Writes a list of scores. There is no network and no model.
"""
import json
import os
import sys

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
# Otherwise the end of a run asks a question.
os.environ["DEEPEVAL_NO_INSPECT_PROMPT"] = "1"

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import MCPUseMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, MCPServer, MCPToolCall
from mcp.types import CallToolResult


class Judge(DeepEvalBaseLLM):
    def load_model(self):
        return self

    def get_model_name(self):
        return "one opinion"

    def generate(self, prompt, schema=None):
        return schema(**{name: 0.75 if name == "score" else "canned" for name in schema.model_fields})

    async def a_generate(self, prompt, schema=None):
        return self.generate(prompt, schema)


def read(record):
    servers = [MCPServer(**server) for server in record.pop("mcp_servers")]
    calls = [MCPToolCall(**{**call, "result": CallToolResult(**call["result"])}) for call in record.pop("mcp_tools_called")]
    return LLMTestCase(**record, mcp_servers=servers, mcp_tools_called=calls)


def main():
    source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        cases = [read(record) for record in json.load(file)]
    results = evaluate(
        test_cases=cases,
        metrics=[MCPUseMetric(model=Judge())],
        async_config=AsyncConfig(run_async=False),
        display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
        cache_config=CacheConfig(write_cache=False, use_cache=False),
    ).test_results
    with open(target, "w", encoding="utf-8") as file:
        json.dump([result.metrics_data[0].score for result in results], file)


main()
