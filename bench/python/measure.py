"""Measures one evaluation in Python, with Quintain or with deepeval, in a process of its own.

    python measure.py PACKAGE import|tool-correctness|mcp-use CASES default|lean

Prints the processor time in seconds as JSON. `default` is what a user gets; `lean` prints nothing and writes no cache. The judge is a
function that answers at once.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time

os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="1", DEEPEVAL_NO_INSPECT_PROMPT="1")
PACKAGE, WHAT, CASES, PROFILE = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]


def module(name: str):
    return importlib.import_module(f"{PACKAGE}.{name}")


before, started = time.process_time(), time.perf_counter()
evaluate = importlib.import_module(PACKAGE).evaluate
metrics, cases = module("metrics"), module("test_case")
metrics.MCPUseMetric, cases.LLMTestCase
imported, waited = time.process_time() - before, time.perf_counter() - started
asked = 0


class Judge(module("models").DeepEvalBaseLLM if WHAT == "mcp-use" else object):
    def load_model(self):
        return self

    def get_model_name(self):
        return "instant"

    def generate(self, prompt, schema=None):
        global asked
        asked += 1
        return schema(**{name: 0.75 if name == "score" else "canned" for name in schema.model_fields})

    async def a_generate(self, prompt, schema=None):
        return self.generate(prompt, schema)


def tool(number: int) -> dict:
    properties = {"id": {"type": "string"}, "limit": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["id"]}
    return {"name": f"tool_{number}", "description": f"Tool {number}, described in one sentence of usual length.", "inputSchema": schema}


def tool_correctness(number: int):
    def calls(count: int, limit):
        names = [(f"tool_{(number + at) % 20}", {"id": f"u{number}", "limit": limit(at)}) for at in range(count)]
        return [cases.ToolCall(name=name, input_parameters=given) for name, given in names]

    return cases.LLMTestCase(
        input=f"question {number}", actual_output=f"answer {number}", tools_called=calls(4, lambda at: at), expected_tools=calls(3, lambda at: 0)
    )


def mcp_use(number: int, server):
    from mcp.types import CallToolResult, TextContent

    calls = [
        cases.MCPToolCall(
            name=f"tool_{(number + at) % 20}", args={"id": f"u{number}", "limit": at},
            result=CallToolResult(content=[TextContent(type="text", text="ok " * 40)]),
        )
        for at in range(4)
    ]
    return cases.LLMTestCase(
        input=f"question {number} about u{number}", actual_output=f"answer {number}", mcp_servers=[server], mcp_tools_called=calls
    )


spent = elapsed = 0.0
if WHAT != "import":
    if WHAT == "tool-correctness":
        made = [tool_correctness(number) for number in range(CASES)]
        # deepeval refuses to make the metric without a key or a model, which it then does not ask.
        if PACKAGE != "quintain":
            os.environ.setdefault("OPENAI_API_KEY", "unused")
        metric = metrics.ToolCorrectnessMetric(evaluation_params=[cases.ToolCallParams.INPUT_PARAMETERS])
    else:
        server = cases.MCPServer("bench", available_tools=[tool(number) for number in range(20)])
        made = [mcp_use(number, server) for number in range(CASES)]
        metric = metrics.MCPUseMetric(model=Judge("instant"))
    options = {}
    if PROFILE == "lean":
        configs = module("evaluate.configs")
        options = {
            "display_config": configs.DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
            "cache_config": configs.CacheConfig(write_cache=False, use_cache=False),
        }
    # What is printed costs time, but nobody reads it here.
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    before, started = time.process_time(), time.perf_counter()
    result = evaluate(test_cases=made, metrics=[metric], **options)
    sys.stdout.flush()
    spent, elapsed = time.process_time() - before, time.perf_counter() - started
    os.dup2(out, 1)
    assert len(result.test_results) == CASES
    assert all(test.metrics_data[0].error is None for test in result.test_results), result.test_results[0]
print(json.dumps({"import_cpu": imported, "import_wall": waited, "cpu": spent, "wall": elapsed, "asked": asked}))
