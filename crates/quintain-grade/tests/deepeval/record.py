"""Records the scores of deepeval's ToolCorrectnessMetric for random cases.

    python -m venv venv && venv/bin/pip install deepeval==4.3.1
    PYTHONHASHSEED=0 venv/bin/python record.py > cases.jsonl

A line is `{"e": [CALL...], "c": [CALL...], "s": [SCORE...]}`: expected calls, calls, and scores. A call is `[name, params,
output, kind]`; what is missing at the end is null. Scores come in the order of MODES below; null means that deepeval raised
an exception. Names, keys and values are few, so that equal calls, nearly equal calls and equal values of different types
occur.
"""
import json
import os
import random
import sys

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
os.environ["DEEPEVAL_DISABLE_PROGRESS_BAR"] = "1"

import deepeval
from deepeval.metrics import ToolCorrectnessMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams, ToolCallType

if deepeval.__version__ != "4.3.1":
    sys.exit(f"expected deepeval 4.3.1, not {deepeval.__version__}")

CASES = 4000
PARAMS = [
    [],
    [ToolCallParams.INPUT_PARAMETERS],
    [ToolCallParams.OUTPUT],
    [ToolCallParams.INPUT_PARAMETERS, ToolCallParams.OUTPUT],
]
# Default, ordered, exact; each with every choice of parameters.
MODES = [(exact, ordered, params) for exact, ordered in [(False, False), (False, True), (True, False)] for params in PARAMS]


class NoModel(DeepEvalBaseLLM):
    """The constructor wants a model although the metric needs none."""

    def load_model(self):
        return self

    def get_model_name(self):
        return "none"

    def generate(self, *args, **kwargs):
        raise RuntimeError("the metric asked a model")

    async def a_generate(self, *args, **kwargs):
        raise RuntimeError("the metric asked a model")


METRICS = [
    ToolCorrectnessMetric(
        model=NoModel(),
        should_exact_match=exact,
        should_consider_ordering=ordered,
        evaluation_params=params,
        async_mode=False,
    )
    for exact, ordered, params in MODES
]

SCALARS = [0, 1, 1.0, 2, 2.5, -1, True, False, None, "", "1", "a", "b", "ä"]


def value(rng, depth=0):
    kind = rng.random()
    if depth < 2 and kind < 0.15:
        return {key: value(rng, depth + 1) for key in rng.sample("xyz", rng.randint(0, 2))}
    if depth < 2 and kind < 0.27:
        return [value(rng, depth + 1) for _ in range(rng.randint(0, 2))]
    return rng.choice(SCALARS)


def params(rng):
    if rng.random() < 0.12:
        return None
    return {key: value(rng) for key in rng.sample("xyzw", rng.choice([0, 1, 1, 2, 2, 3]))}


def call(rng, names):
    kind = "MCP" if rng.random() < 0.1 else None
    output = value(rng) if rng.random() < 0.25 else None
    fields = [rng.choice(names), params(rng), output, kind]
    while fields[-1] is None and len(fields) > 1:
        fields.pop()
    return fields


def changed(rng, original):
    """The same call, or one that differs in a detail."""
    fields = json.loads(json.dumps(original))
    if rng.random() < 0.5:
        return fields
    if len(fields) > 1 and fields[1]:
        key = rng.choice(sorted(fields[1]))
        if rng.random() < 0.3:
            del fields[1][key]
        else:
            fields[1][key] = value(rng)
    return fields


def case(rng):
    names = ["a", "b", "c"][: rng.choice([1, 1, 2, 3])]
    expected = [call(rng, names) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4]))]
    called = [changed(rng, one) for one in expected if rng.random() < 0.75]
    called += [call(rng, names) for _ in range(rng.choice([0, 0, 1, 2]))]
    if called and rng.random() < 0.2:
        called.append(json.loads(json.dumps(rng.choice(called))))
    if rng.random() < 0.5:
        rng.shuffle(called)
    return expected, called


def tool_call(fields):
    name, given, output, kind = fields + [None] * (4 - len(fields))
    kind = ToolCallType.MCP if kind == "MCP" else ToolCallType.FUNCTION
    return ToolCall(name=name, type=kind, input_parameters=given, output=output)


def scores(expected, called):
    test_case = LLMTestCase(
        input="x",
        actual_output="x",
        tools_called=[tool_call(one) for one in called],
        expected_tools=[tool_call(one) for one in expected],
    )
    found = []
    for metric in METRICS:
        try:
            found.append(metric.measure(test_case, _show_indicator=False))
        except AttributeError:
            found.append(None)
    return found


def main():
    rng = random.Random(4301)
    for _ in range(CASES):
        expected, called = case(rng)
        line = {"e": expected, "c": called, "s": scores(expected, called)}
        print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))


main()
