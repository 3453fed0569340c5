"""Scores test cases with deepeval's ToolCorrectnessMetric, for `cargo xtask bench grade`.

    python evaluate.py version
    python evaluate.py HOW MODE CASES.json SCORES.json

HOW is `default` (`evaluate` as it is without options), `lean` (`evaluate` without display, cache and tasks) or `loop` (only
the metric, without `evaluate`). MODE is what the metric compares: `params`, `names`, `ordered` or `exact`.
Writes a list of [name, score]. There is no network and no model.
"""
import json
import os
import sys

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
# Otherwise the end of a run asks a question.
os.environ["DEEPEVAL_NO_INSPECT_PROMPT"] = "1"

import deepeval
from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import ToolCorrectnessMetric
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

PARAMS = [ToolCallParams.INPUT_PARAMETERS]
MODES = {
    "params": {"evaluation_params": PARAMS},
    "names": {},
    "ordered": {"evaluation_params": PARAMS, "should_consider_ordering": True},
    "exact": {"evaluation_params": PARAMS, "should_exact_match": True},
}
LEAN = {
    "async_config": AsyncConfig(run_async=False),
    "display_config": DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
    "cache_config": CacheConfig(write_cache=False, use_cache=False),
}


class NoModel(DeepEvalBaseLLM):
    """The constructor demands a model although the metric needs none."""

    def load_model(self):
        return self

    def get_model_name(self):
        return "none"

    def generate(self, *args, **kwargs):
        raise RuntimeError("the metric called the model")

    async def a_generate(self, *args, **kwargs):
        raise RuntimeError("the metric called the model")


def read(record):
    calls = {key: [ToolCall(**call) for call in record.pop(key)] for key in ("tools_called", "expected_tools")}
    return LLMTestCase(**record, **calls)


def scores(how, mode, cases):
    if how == "loop":
        metric = ToolCorrectnessMetric(model=NoModel(), async_mode=False, include_reason=False, **MODES[mode])
        return [[case.name, metric.measure(case, _show_indicator=False)] for case in cases]
    metric = ToolCorrectnessMetric(model=NoModel(), **MODES[mode])
    options = {"default": {}, "lean": LEAN}[how]
    results = evaluate(test_cases=cases, metrics=[metric], **options).test_results
    return [[result.name, result.metrics_data[0].score] for result in results]


def main():
    if sys.argv[1:] == ["version"]:
        print(deepeval.__version__)
        return
    how, mode, source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        cases = [read(record) for record in json.load(file)]
    found = scores(how, mode, cases)
    with open(target, "w", encoding="utf-8") as file:
        json.dump(found, file)


main()
