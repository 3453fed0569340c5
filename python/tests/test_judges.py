"""Judges and metrics that are written in Python."""

import asyncio
import json
import threading
import time

import pytest

from quintain import MetricError, a_evaluate, evaluate
from quintain.evaluate import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from quintain.metrics import BaseMetric, ConversationalGEval, GEval, MCPUseMetric
from quintain.models import BaseLLM, DeepEvalBaseLLM
from quintain.test_case import ConversationalTestCase, LLMTestCase, LLMTestCaseParams, MCPServer, MCPToolCall, Turn

ADD = {"name": "add", "inputSchema": {"type": "object"}}


def case(**fields):
    return LLMTestCase("Add 1 and 2", "3", mcp_servers=[MCPServer(available_tools=[ADD])], mcp_tools_called=[MCPToolCall("add", {})], **fields)


def first(result):
    return result.test_results[0].metrics_data[0]


def answer(prompt, **more):
    return json.dumps({"score": 0.75, "reason": "fine", **more})


def test_a_function_is_a_judge():
    asked = []

    def judge(prompt):
        asked.append(prompt)
        return answer(prompt)

    assert first(evaluate([case()], [MCPUseMetric(model=judge)])).score == 0.75
    assert "Add 1 and 2" in asked[0]
    assert first(evaluate([case()], [MCPUseMetric], judge=judge)).score == 0.75


def test_a_judge_of_deepeval_gets_a_class_for_its_answer():
    seen = []

    class Judge(DeepEvalBaseLLM):
        def load_model(self):
            return self

        def get_model_name(self):
            return "instant"

        def generate(self, prompt, schema):
            seen.append(schema)
            return schema(**{name: 0.75 if name == "score" else "canned" for name in schema.model_fields})

        async def a_generate(self, prompt, schema):
            return self.generate(prompt, schema)

    data = first(evaluate([case()], [MCPUseMetric(model=Judge())]))
    assert (data.score, data.evaluation_model) == (0.75, "instant"), data
    assert {"score", "reason"} <= set(seen[0].model_fields)


def test_a_judge_may_take_the_json_schema():
    def judge(prompt, json_schema):
        assert json_schema["properties"]["score"]["type"] == "number"
        return {"score": 1, "reason": "a dictionary is an answer, too"}

    assert first(evaluate([case()], [MCPUseMetric(model=judge)])).score == 1.0


def test_one_event_loop_serves_all_rounds():
    loops = set()

    class Judge(BaseLLM):
        async def a_generate(self, prompt):
            loops.add(id(asyncio.get_running_loop()))
            return answer(prompt)

    assert first(evaluate([case()] * 70, [MCPUseMetric(model=Judge())])).score == 0.75
    assert len(loops) == 1


def test_coroutines_run_in_the_loop_of_the_caller():
    loops = set()

    async def judge(prompt):
        loops.add(asyncio.get_running_loop())
        return answer(prompt)

    async def work():
        result = await a_evaluate([case()], [MCPUseMetric(model=judge)])
        # Also from a coroutine that blocks its own loop, although nobody should.
        evaluate([case()], [MCPUseMetric(model=judge)])
        score = await MCPUseMetric(model=judge).a_measure(case())
        return first(result).score, score, asyncio.get_running_loop()

    score, measured, own = asyncio.run(work())
    assert (score, measured) == (0.75, 0.75)
    assert own in loops and len(loops) == 2


def test_judges_and_metrics_wait_together():
    running, most = 0, 0

    async def judge(prompt):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return answer(prompt)

    evaluate([case()] * 30, [MCPUseMetric(model=judge)], async_config=AsyncConfig(max_concurrent=7))
    assert most == 7
    most = 0
    evaluate([case()] * 5, [MCPUseMetric(model=judge)], async_config=AsyncConfig(run_async=False))
    assert most == 1


def test_the_event_loop_is_not_blocked():
    async def work():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        def judge(prompt):
            # Ends when the loop has gone on, and not before.
            seen = ticks
            while ticks < seen + 3:
                time.sleep(0.001)
            return answer(prompt)

        ticking = asyncio.create_task(tick())
        result = await a_evaluate([case()], [MCPUseMetric(model=judge)])
        ticking.cancel()
        return result

    assert first(asyncio.run(work())).score == 0.75


def test_other_threads_run_while_rust_works():
    """With the lock of the interpreter held, the other thread could not answer, and neither would end."""
    asked, answered = threading.Event(), threading.Event()

    def other():
        asked.wait()
        answered.set()

    def judge(prompt):
        asked.set()
        answered.wait()
        return answer(prompt)

    thread = threading.Thread(target=other)
    thread.start()
    assert first(evaluate([case()], [MCPUseMetric(model=judge)])).score == 0.75
    thread.join()


@pytest.mark.parametrize("wrong", ["no JSON at all", '{"score": "much"}', "", '{"score": NaN, "reason": "x"}'])
def test_answers_that_cannot_be_read_are_errors(wrong):
    data = first(evaluate([case()], [MCPUseMetric(model=lambda prompt: wrong)]))
    assert data.success is not True and data.error, data


def test_scores_of_a_judge_stay_between_0_and_1():
    """deepeval takes 7 for 7.0, passed."""
    for given in (7, -1):
        data = first(evaluate([case()], [MCPUseMetric(model=lambda prompt, given=given: json.dumps({"score": given, "reason": "x"}))]))
        assert data.score is None or 0 <= data.score <= 1, data


def test_a_judge_that_raises_fails_its_metric_only():
    def judge(prompt):
        raise RuntimeError("no model today")

    result = evaluate([case()], [MCPUseMetric(model=judge), MCPUseMetric])
    broken, fine = result.test_results[0].metrics_data
    assert "no model today" in broken.error and fine.score == 1.0
    with pytest.raises(MetricError, match="no model today"):
        evaluate([case()], [MCPUseMetric(model=judge)], error_config=ErrorConfig(ignore_errors=False))


def test_things_that_are_no_judge():
    for model in (3, object(), BaseMetric):
        with pytest.raises(TypeError, match="model: expected"):
            evaluate([case()], [MCPUseMetric(model=model)])


def test_criteria_in_words():
    named = GEval(
        name="Polite", criteria="The answer is polite", evaluation_steps=["Look for greetings"],
        evaluation_params=[LLMTestCaseParams.INPUT, LLMTestCaseParams.ACTUAL_OUTPUT], model=lambda prompt: '{"score": 8, "reason": "ok"}',
    )
    data = first(evaluate([case()], [named]))
    assert (data.score, data.success) == (0.8, True), data
    turns = [Turn("user", "Hello"), Turn("assistant", "Hello!")]
    spoken = ConversationalGEval(name="Polite", criteria="polite", evaluation_steps=["Look"], model=lambda prompt: '{"score": 5, "reason": "ok"}')
    assert first(evaluate([ConversationalTestCase(turns)], [spoken])).score == 0.5


class Length(BaseMetric):
    def __init__(self, threshold=0.5):
        self.threshold = threshold

    def measure(self, test_case, *args, **kwargs):
        self.score = 1.0 if len(test_case.actual_output) < 5 else 0.25
        self.success = self.score >= self.threshold
        self.reason = "its length"
        return self.score

    async def a_measure(self, test_case, *args, **kwargs):
        return self.measure(test_case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Length"


def test_own_metrics_as_the_documentation_of_deepeval_writes_them():
    result = evaluate([LLMTestCase("q", "yes"), LLMTestCase("q", "a long answer")], [Length()])
    assert [(entry.metrics_data[0].name, entry.metrics_data[0].score, entry.success) for entry in result] == [
        ("Length", 1.0, True), ("Length", 0.25, False),
    ]
    assert result.test_results[0].metrics_data[0].reason == "its length"


@pytest.mark.parametrize("score", [float("nan"), 7, "much", [1], b"1"])
def test_scores_of_own_metrics_are_checked(score):
    class Wrong(BaseMetric):
        def measure(self, test_case):
            self.score = score
            return self.score

    result = evaluate([case()], [Wrong, MCPUseMetric]).test_results[0]
    assert "score: expected a number from 0 to 1" in result.metrics_data[0].error
    assert result.metrics_data[1].score == 1.0 and not result.success


def test_an_own_metric_without_a_score_says_nothing():
    class Silent(BaseMetric):
        def measure(self, test_case):
            return None

    result = evaluate([case()], [Silent]).test_results[0]
    assert (result.metrics_data[0].score, result.metrics_data[0].success, result.success) == (None, None, True)


def test_configurations_of_deepeval(capsys):
    result = evaluate(
        test_cases=[case(name="sum")], metrics=[MCPUseMetric()], async_config=AsyncConfig(run_async=True),
        display_config=DisplayConfig(show_indicator=False, print_results=True), cache_config=CacheConfig(write_cache=False),
        hyperparameters={"model": "x"}, identifier="first",
    )
    assert "sum: passed" in capsys.readouterr().out
    assert (result.hyperparameters, result.identifier) == ({"model": "x"}, "first")
    with pytest.raises(TypeError, match="async_config: expected AsyncConfig"):
        evaluate([case()], async_config=3)
