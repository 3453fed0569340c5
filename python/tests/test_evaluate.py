"""Evaluation through the package, as users of deepeval write it."""

import json

import pytest

from quintain import EvaluationDataset, Golden, assert_test, evaluate
from quintain import metrics as all_metrics
from quintain import _quintain
from quintain.metrics import BaseMetric, ExactMatchMetric, GEval, MCPUseMetric, MultiTurnMCPMetric, ToolCorrectnessMetric
from quintain.test_case import ConversationalTestCase, LLMTestCase, MCPServer, MCPToolCall, ToolCall, Turn

TOOLS = [{"name": "create_issue", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}}}]


def case(tool: str = "create_issue", **fields):
    return LLMTestCase(
        input="Open an issue about the typo", actual_output="Done.", mcp_servers=[MCPServer(available_tools=TOOLS)],
        mcp_tools_called=[MCPToolCall(name=tool, args={"title": "typo"})], **fields,
    )


def test_a_metric_may_be_a_class_or_an_instance():
    for metric in (MCPUseMetric, MCPUseMetric()):
        result = evaluate(test_cases=[case(), case("create_isue")], metrics=[metric])
        assert [entry.success for entry in result] == [True, False]
        assert result.test_results[1].findings[0].check == "tool.unknown"


def test_every_metric_of_the_product_has_a_class():
    classes = {getattr(all_metrics, name) for name in all_metrics.__all__}
    ids = {cls.id for cls in classes if issubclass(cls, all_metrics.Metric) and cls.id}
    assert ids == {entry["id"] for entry in json.loads(_quintain.metrics())}


def test_conversations():
    turns = [Turn(role="user", content="Any?"), Turn(role="assistant", content="None.", mcp_tools_called=[MCPToolCall("search", {})])]
    conversation = ConversationalTestCase(turns=turns, mcp_servers=[MCPServer(available_tools=[{"name": "search", "inputSchema": {"type": "object"}}])])
    assert evaluate([conversation], [MultiTurnMCPMetric()]).test_results[0].metrics_data[0].score == 1.0


def test_measure_sets_the_fields_of_the_metric():
    metric = ToolCorrectnessMetric()
    score = metric.measure(LLMTestCase("x", "y", tools_called=[ToolCall("a")], expected_tools=[ToolCall("a")]))
    assert (score, metric.score, metric.success) == (1.0, 1.0, True)


def test_an_undefined_score_is_none():
    data = evaluate([LLMTestCase("x", "y")], [ExactMatchMetric]).test_results[0].metrics_data[0]
    assert (data.score, data.success) == (None, None)


def test_a_judge_in_python():
    asked = []

    def judge(prompt: str) -> str:
        asked.append(prompt)
        return json.dumps({"score": 9, "reason": "good"})

    metric = GEval("correct", criteria="The answer is right", evaluation_steps=["Compare"], model=judge)
    data = evaluate([LLMTestCase("capital of France?", "Paris")], [metric]).test_results[0].metrics_data[0]
    assert data.score == 0.9
    assert asked


def test_an_asynchronous_judge_in_python():
    class Judge:
        async def a_generate(self, prompt: str) -> str:
            return json.dumps({"score": 4, "reason": "poor"})

        def get_model_name(self) -> str:
            return "own"

    metric = GEval("correct", criteria="right", evaluation_steps=["Compare"], model=Judge())
    data = evaluate([LLMTestCase("q", "a")] * 3, [metric]).test_results[2].metrics_data[0]
    assert (data.score, data.success, data.evaluation_model) == (0.4, False, "own")


def test_a_judge_that_raises_is_an_error_of_its_metric():
    def judge(prompt: str) -> str:
        raise RuntimeError("no model today")

    metric = GEval("correct", criteria="right", evaluation_steps=["Compare"], model=judge)
    result = evaluate([LLMTestCase("q", "a")], [metric, MCPUseMetric]).test_results[0]
    assert "no model today" in result.metrics_data[0].error
    assert not result.success


def test_own_metrics():
    class Short(BaseMetric):
        def measure(self, test_case, *args, **kwargs):
            self.score = 1.0 if len(test_case.actual_output) < 10 else 0.0
            self.reason = "length"
            return self.score

    class Broken(BaseMetric):
        async def a_measure(self, test_case, *args, **kwargs):
            raise KeyError("x")

    result = evaluate([LLMTestCase("q", "short"), LLMTestCase("q", "much too long an answer")], [Short(), Broken])
    first, second = result.test_results
    assert [entry.score for entry in first.metrics_data] == [1.0, None]
    assert second.metrics_data[0].success is False
    assert "KeyError" in first.metrics_data[1].error


def test_assert_test_names_the_finding_at_its_place():
    assert_test(case(), [MCPUseMetric])
    with pytest.raises(AssertionError, match=r"tool.unknown at call 0"):
        assert_test(case("create_isue"), [MCPUseMetric])


def test_data_sets_round_trip(tmp_path):
    dataset = EvaluationDataset([Golden("q", expected_output="a")])
    dataset.add_test_case(case())
    path = dataset.save_as(tmp_path / "cases.jsonl")
    again = EvaluationDataset()
    again.add_test_cases_from_json_file(path)
    assert again.test_cases[1] == dataset.test_cases[0]


@pytest.mark.parametrize("wrong, field", [
    (lambda: LLMTestCase(input=3), "LLMTestCase.input"),
    (lambda: LLMTestCase("q", mcp_tools_called=[3]), r"LLMTestCase.mcp_tools_called\[0\]"),
    (lambda: Turn(role="robot", content="x"), "Turn.role"),
    (lambda: ConversationalTestCase(turns=[]), "ConversationalTestCase.turns"),
    (lambda: evaluate([case()], [3]), r"metrics\[0\]"),
    (lambda: evaluate([3]), r"test_cases\[0\]"),
    (lambda: evaluate([LLMTestCase("q", "a", mcp_tools_called=[MCPToolCall("t", {"x": float("nan")})])]), "args.x"),
    (lambda: ToolCorrectnessMetric(treshold=1), "treshold"),
])
def test_errors_name_the_field(wrong, field):
    with pytest.raises((TypeError, ValueError), match=field):
        wrong()


def test_hostile_values():
    cyclic = {}
    cyclic["self"] = cyclic
    with pytest.raises(ValueError, match="contains itself"):
        evaluate([LLMTestCase("q", "a", mcp_tools_called=[MCPToolCall("t", cyclic)])])

    class Rude:
        def __repr__(self):
            raise RuntimeError("no")

    with pytest.raises(TypeError, match="Rude"):
        evaluate([LLMTestCase("q", "a", mcp_tools_called=[MCPToolCall("t", {"x": Rude()})])])
    with pytest.raises(TypeError, match="make a list of it"):
        evaluate([LLMTestCase("q", "a", mcp_tools_called=[MCPToolCall("t", {"x": (i for i in [1])})])])
    huge = "x" * 20_000_000
    assert evaluate([LLMTestCase("q", huge)]).success
    assert evaluate([LLMTestCase("lone \ud800 surrogate", "a")]).success


def test_records_and_html_escape_what_applications_say():
    result = evaluate([case("<script>")], [MCPUseMetric])
    assert result.to_records()[0]["metric"] == "mcp-use"
    assert "<script>" not in result._repr_html_()
