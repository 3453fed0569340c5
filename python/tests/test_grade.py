"""The same cases give the same results as `quintain grade`."""

import json
import subprocess
import sys

import pytest
from conftest import REPOSITORY, SHARED

from quintain import EvaluationDataset, _quintain, evaluate
from quintain import metrics as all_metrics
from quintain.metrics import ToolCorrectnessMetric
from quintain.test_case import ConversationalTestCase, LLMTestCase, ToolCall, Turn

GRADE = REPOSITORY / "crates/quintain-grade/tests/deepeval"
CASES = REPOSITORY / "crates/quintain/tests/it/cases/grade"
CORPORA = sorted([*CASES.glob("*/trace.json"), *CASES.glob("*/traces.jsonl"), *CASES.glob("*/session.jsonl"), *CASES.glob("diff/*.jsonl")])
CORPORA += [REPOSITORY / "examples/grade/conversation.json", *SHARED.glob("data/livemcpbench/traces.jsonl")]
#: Metrics that need options, and options for them; nothing for those that need a graph or, in some cases only, a judge.
REQUIRED = {
    "conversational-g-eval": {"name": "c", "criteria": "right"}, "g-eval": {"name": "g", "criteria": "right"},
    "dag": None, "json-correctness": {"expected_schema": {"type": "object"}}, "misuse": {"domain": "shop"},
    "non-advice": {"advice_types": ["financial"]}, "pattern-match": {"pattern": "[a-z]"}, "prompt-alignment": {"prompt_instructions": ["be kind"]},
    "role-violation": {"role": "clerk"}, "role-adherence": None, "topic-adherence": {"relevant_topics": ["shop"]}, "tool-permission": {"allowed_tools": ["get_transaction"]},
}


def metrics():
    """All metrics that need no judge."""
    classes = {getattr(all_metrics, name) for name in all_metrics.__all__}
    named = sorted((cls for cls in classes if getattr(cls, "id", "")), key=lambda cls: cls.id)
    made = [cls(**REQUIRED.get(cls.id, {})) for cls in named if REQUIRED.get(cls.id, {}) is not None]
    answered = evaluate([LLMTestCase("q", "a", retrieval_context=["c"], context=["c"], expected_output="a")], made).test_results[0]
    spoken = evaluate([ConversationalTestCase([Turn("user", "q"), Turn("assistant", "a")])], made).test_results[0]
    pairs = zip(made, answered.metrics_data, spoken.metrics_data)
    chosen = [metric for metric, *data in pairs if not any("judge" in (score.error or "") for score in data)]
    assert len(chosen) > 12
    return chosen


def grade(file, chosen, tmp_path):
    """What the command line says, with the metrics of a suite."""
    suite = tmp_path / "suite.json"
    suite.write_text(json.dumps({"metrics": [metric.request() for metric in chosen]}))
    out = tmp_path / "out.json"
    command = [sys.executable, "-m", "quintain", "grade", str(file), "-c", str(suite), "-o", str(out), "--format", "deepeval", "--quiet", "--no-write"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 100), done.stderr
    return json.loads(out.read_text())["results"]


def same(ours, theirs):
    """What both say about a case."""
    for mine, command in zip(ours, theirs, strict=True):
        assert [vars_of(finding) for finding in mine.findings] == [vars_of(finding) for finding in command["findings"]], mine.name
        for data, score in zip(mine.metrics_data, command["metrics"], strict=True):
            found = (data.name, data.score, data.success, data.threshold, data.reason, data.error)
            assert found == tuple(score.get(key) for key in ("name", "score", "success", "threshold", "reason", "error")), mine.name
        assert mine.success == command["success"], mine.name


def vars_of(finding):
    get = finding.get if isinstance(finding, dict) else lambda key: getattr(finding, key)
    return tuple(get(key) for key in ("check", "severity", "message", "call")) + (get("pointer") or "",)


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_command_line_says_the_same(corpus, tmp_path):
    converted = tmp_path / "cases.jsonl"
    command = [sys.executable, "-m", "quintain", "grade", str(corpus), "--save-traces", str(converted.with_suffix(".deepeval.jsonl")), "--fail-on", "never"]
    subprocess.run([*command, "--no-write"], capture_output=True, text=True, check=False)
    converted = converted.with_suffix(".deepeval.jsonl")
    if not converted.exists():
        pytest.skip("contains no traces")
    dataset = EvaluationDataset()
    dataset.add_test_cases_from_json_file(converted)
    chosen = metrics()
    same(evaluate(dataset, chosen), grade(converted, chosen, tmp_path))


def test_recorded_cases_of_all_metrics(tmp_path):
    cases = [json.loads(line)["case"] for line in (GRADE / "judged.jsonl").read_text().splitlines()]
    file = tmp_path / "cases.jsonl"
    file.write_text("".join(json.dumps(case) + "\n" for case in cases))
    chosen = metrics()
    same(evaluate(cases, chosen), grade(file, chosen, tmp_path))


def modes():
    for exact, ordered in ((False, False), (False, True), (True, False)):
        for params in ([], ["input-parameters"], ["output"], ["input-parameters", "output"]):
            yield ToolCorrectnessMetric(
                compat="deepeval", should_exact_match=exact, should_consider_ordering=ordered, evaluation_params=params
            )


def test_scores_are_those_that_deepeval_gave():
    # The tests of the engine compare all of them; here a part shows that Python hands them over as they are.
    records = [json.loads(line) for line in (GRADE / "cases.jsonl").read_text().splitlines()[::4]]

    def calls(list):
        # Name, parameters, output and type; what is at the end may be left out.
        return [
            ToolCall(name, input_parameters=args, output=output, type=kind)
            for name, args, output, kind in ((*call, *[None] * (4 - len(call))) for call in list)
            if args is None or isinstance(args, dict)
        ]

    plain = [record for record in records if all(isinstance((call + [None])[1], (dict, type(None))) for call in record["e"] + record["c"])]
    assert len(plain) > 500
    cases = [LLMTestCase("q", "a", tools_called=calls(record["c"]), expected_tools=calls(record["e"])) for record in plain]
    compared = 0
    for record, result in zip(plain, evaluate(cases, list(modes()))):
        for theirs, ours in zip(record["s"], result.metrics_data, strict=True):
            if theirs is None:
                assert ours.score is None and ours.error, record
            else:
                assert ours.score == pytest.approx(theirs, abs=1e-12), record
            compared += 1
    assert compared > 6_000


def test_every_metric_of_the_product_has_a_class():
    ids = {getattr(getattr(all_metrics, name), "id", "") for name in all_metrics.__all__} - {""}
    table = json.loads(_quintain.metrics())
    assert ids == {entry["id"] for entry in table}
    for entry in table:
        for alias in entry["aliases"]:
            if alias.endswith("Metric") or alias.endswith("GEval"):
                assert getattr(all_metrics, alias).id == entry["id"]
