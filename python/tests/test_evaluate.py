"""Evaluation through the package, as users of deepeval write it."""

import importlib

import pytest

from quintain import EvaluationDataset, Golden, assert_test, evaluate
from quintain.metrics import ExactMatchMetric, MCPUseMetric, MultiTurnMCPMetric, ToolCorrectnessMetric
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


def test_records_and_html_escape_what_applications_say():
    result = evaluate([case("<script>")], [MCPUseMetric])
    assert result.to_records()[0]["metric"] == "mcp-use"
    assert "<script>" not in result._repr_html_()
    assert evaluate([case()]).finding_records() == []


@pytest.mark.parametrize("module", ["quintain.test_case", "quintain.test_case.mcp"])
@pytest.mark.parametrize("name", [
    "MCPServer", "MCPToolCall", "MCPResourceCall", "MCPPromptCall", "ToolCall", "LLMTestCase", "ConversationalTestCase", "Turn",
])
def test_classes_are_importable_from_both_modules(module, name):
    assert getattr(importlib.import_module(module), name) is getattr(importlib.import_module("quintain.test_case"), name)


def test_everything_but_the_essential_is_optional():
    for made in (MCPServer(), MCPToolCall("t"), LLMTestCase("q"), Turn("user", "q"), ToolCall("t")):
        assert type(made).from_dict(made.to_dict()) == made


def test_results_keep_the_order_of_the_cases():
    names = [f"case {number}" for number in range(500)]
    assert [entry.name for entry in evaluate([case(name=name) for name in names], [MCPUseMetric])] == names


def test_servers_of_the_evaluation_are_those_of_cases_without_any():
    bare = LLMTestCase("q", "a", mcp_tools_called=[MCPToolCall("create_isue", {})])
    result = evaluate([bare, case()], [MCPUseMetric], mcp_servers=[MCPServer(available_tools=TOOLS)])
    assert [entry.success for entry in result] == [False, True]
    assert bare.mcp_servers is None


def test_a_threshold_may_be_set_later():
    metric = MCPUseMetric()
    metric.threshold = 0.9
    assert evaluate([case()], [metric]).test_results[0].metrics_data[0].threshold == 0.9


def test_data_sets_read_and_write_all_formats(tmp_path):
    dataset = EvaluationDataset(goldens=[Golden("q", expected_output="a", context=["one", "two"], expected_tools=[ToolCall("t")])])
    for kind, read in (("json", "json"), ("jsonl", "jsonl"), ("csv", "csv")):
        path = dataset.save_as(file_type=kind, directory=tmp_path / "data", file_name="goldens")
        again = EvaluationDataset()
        getattr(again, f"add_goldens_from_{read}_file")(path)
        assert again.goldens == dataset.goldens
    (tmp_path / "named.csv").write_text("question,answer\nq,a\n")
    named = EvaluationDataset()
    named.add_goldens_from_csv_file(tmp_path / "named.csv", input_col_name="question", expected_output_col_name="answer")
    assert (named.goldens[0].input, named.goldens[0].expected_output) == ("q", "a")
    (tmp_path / "bad.jsonl").write_text('{"input": "q"}\nnonsense\n')
    with pytest.raises(ValueError, match="bad.jsonl:2"):
        named.add_goldens_from_jsonl_file(tmp_path / "bad.jsonl")


def test_goldens_are_evaluated_as_they_are_answered():
    dataset = EvaluationDataset(goldens=[Golden("q", expected_output="a")])
    for golden in dataset.evals_iterator([ExactMatchMetric]):
        dataset.add_test_case(golden.test_case("a"))
    assert dataset.last_result.success and dataset.evaluate([ExactMatchMetric]).success


class Screen:
    """A terminal."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_progress_is_drawn_on_terminals_and_nowhere_else(monkeypatch, capsys):
    from quintain import _progress

    monkeypatch.setattr(_progress, "_PATIENCE", 0)
    evaluate([case()] * 100, [MCPUseMetric])
    assert capsys.readouterr().err == ""
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    evaluate([case()] * 100, [MCPUseMetric])
    assert "100 of 100 test cases" in screen.text
