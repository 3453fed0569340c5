"""Evaluates test cases with metrics of the product and own ones."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import _engine
from ._judge import answer_all, is_provider, name_of, run_coroutine
from ._json import dump, to_value
from ._progress import Progress
from .metrics.base import BaseMetric, Metric
from .results import EvaluationResult, Finding, MetricData, TestResult
from .test_case import ConversationalTestCase, LLMTestCase, MCPServer
from .test_case._record import make

__all__ = ["a_evaluate", "assert_test", "evaluate", "measure"]

TestCase = LLMTestCase | ConversationalTestCase
#: Own metrics that run at once.
_CONCURRENT = 20


def evaluate(
    test_cases: Iterable[Any],
    metrics: Iterable[Any] | None = None,
    *,
    judge: Any = None,
    mcp_servers: Sequence[MCPServer] | None = None,
    fail_if: dict[str, Any] | None = None,
    calls: dict[str, Any] | None = None,
    show_progress: bool | None = None,
    print_results: bool = False,
) -> EvaluationResult:
    """Grades test cases.

    `metrics` are classes or instances; without any, only the checks run. `judge` is the model of metrics that name none.
    `mcp_servers` are the servers of cases that name none. `fail_if` and `calls` are the policies of `grade` in a suite.
    """
    cases = [_case(case, at, mcp_servers) for at, case in enumerate(_items(test_cases, "test_cases"))]
    chosen = [_metric(metric, at) for at, metric in enumerate(_items(metrics, "metrics"))]
    with Progress(len(cases), show_progress) as progress:
        result = _evaluate(cases, chosen, judge, fail_if, calls, progress.update)
    if print_results:
        print(result)
    return result


async def a_evaluate(test_cases: Iterable[Any], metrics: Iterable[Any] | None = None, **options: Any) -> EvaluationResult:
    """The same without blocking the event loop."""
    return await asyncio.to_thread(evaluate, test_cases, metrics, **options)


def assert_test(test_case: Any, metrics: Iterable[Any] | None = None, **options: Any) -> None:
    """Raises AssertionError with all reasons if the test case fails."""
    __tracebackhide__ = True
    result = evaluate([test_case], metrics, show_progress=False, **options).test_results[0]
    if not result.success:
        raise AssertionError(result.describe())


def measure(metric: Metric, test_case: Any) -> float | None:
    """Scores one test case with one metric of the product, and sets the fields of the metric."""
    result = evaluate([test_case], [metric], show_progress=False, fail_if={"severity": None})
    data = result.test_results[0].metrics_data[0]
    metric.data = data
    metric.score, metric.reason, metric.success, metric.error = data.score, data.reason, data.success, data.error
    metric.evaluation_model = data.evaluation_model
    return data.score


def _items(values: Iterable[Any] | None, name: str) -> list[Any]:
    if values is None:
        return []
    if isinstance(values, (str, bytes, dict, LLMTestCase, ConversationalTestCase, BaseMetric)):
        raise TypeError(f"{name}: expected a list, found a {type(values).__name__}")
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{name}: expected a list, found a {type(values).__name__}") from None


def _case(case: Any, at: int, servers: Sequence[MCPServer] | None) -> TestCase:
    if isinstance(case, dict):
        kind = ConversationalTestCase if "turns" in case else LLMTestCase
        case = make(kind, case, f"test_cases[{at}]")
    if not isinstance(case, (LLMTestCase, ConversationalTestCase)):
        raise TypeError(f"test_cases[{at}]: expected a test case, found a {type(case).__name__}")
    if servers is not None and case.mcp_servers is None:
        with_servers = copy.copy(case)
        with_servers.mcp_servers = list(servers)
        return with_servers
    return case


def _metric(metric: Any, at: int) -> BaseMetric:
    if isinstance(metric, type) and issubclass(metric, BaseMetric):
        metric = metric()
    if not isinstance(metric, BaseMetric):
        if isinstance(metric, type):
            found = f"the class {metric.__name__}"
        else:
            found = f"a {type(metric).__name__}"
        raise TypeError(f"metrics[{at}]: expected a metric, found {found}")
    return metric


def _evaluate(
    cases: list[TestCase],
    metrics: list[BaseMetric],
    judge: Any,
    fail_if: dict[str, Any] | None,
    calls: dict[str, Any] | None,
    progress: Callable[[int], object],
) -> EvaluationResult:
    # Metrics of one judge are graded together. The first group also runs the checks of every case.
    groups: dict[int | None, tuple[Any, list[int]]] = {None: (None, [])}
    for at, metric in enumerate(metrics):
        if isinstance(metric, Metric):
            model = metric.model if metric.model is not None else judge
            groups.setdefault(None if model is None else id(model), (model, []))[1].append(at)
    scores: list[dict[int, MetricData]] = [{} for _ in cases]
    graded: dict[str, Any] | None = None
    broken: list[list[str]] = [[] for _ in cases]
    for model, members in groups.values():
        if model is not None and not members:
            continue
        own = [metrics[at] for at in members]
        found = _grade(cases, own, model, fail_if, calls, progress)  # type: ignore[arg-type]
        graded = graded or found
        for case, result in enumerate(found["results"]):
            broken[case].extend(why for why in result.get("failedBecause", []) if why not in broken[case])
            for at, score in zip(members, result["metrics"], strict=True):
                scores[case][at] = _data(score, metrics[at], name_of(model))
    _measure_own(cases, metrics, scores, broken)
    assert graded is not None
    results = []
    for at, (test_case, result) in enumerate(zip(cases, graded["results"], strict=True)):
        results.append(TestResult(
            name=result["name"], success=not broken[at], index=at, conversational=isinstance(test_case, ConversationalTestCase),
            metrics_data=[scores[at][metric] for metric in range(len(metrics))],
            findings=[Finding.of(finding) for finding in result["findings"]], failed_because=broken[at],
            input=test_case.input if isinstance(test_case, LLMTestCase) else None,
            actual_output=test_case.actual_output if isinstance(test_case, LLMTestCase) else None,
        ))
    return EvaluationResult(results, graded.get("selection"))


def _data(score: dict[str, Any], metric: BaseMetric, model: str | None) -> MetricData:
    return MetricData(
        name=score["name"], score=score["score"], threshold=score["threshold"], success=score["success"],
        reason=score.get("reason"), error=score.get("error"), details=score.get("details", {}),
        findings=[Finding.of(finding) for finding in score.get("findings", [])],
        strict_mode=metric.strict_mode, evaluation_model=model, judge=score.get("judge"),
    )


def _grade(
    cases: list[TestCase],
    metrics: list[Metric],
    model: Any,
    fail_if: dict[str, Any] | None,
    calls: dict[str, Any] | None,
    progress: Callable[[int], object],
) -> dict[str, Any]:
    if is_provider(model):
        return _grade_by_engine(cases, metrics, model, fail_if, calls, progress)
    answer = None if model is None else lambda questions: answer_all(model, questions)
    return _engine.grade(cases, _engine.settings(metrics, fail_if, calls), answer, progress)


def _grade_by_engine(
    cases: list[TestCase],
    metrics: list[Metric],
    model: Any,
    fail_if: dict[str, Any] | None,
    calls: dict[str, Any] | None,
    progress: Callable[[int], object],
) -> dict[str, Any]:
    """The same with a judge that the engine knows: keys, limits, retries and the cache are its business."""
    text = "\n".join(dump(case._to_json(f"test_cases[{at}]")) for at, case in enumerate(cases))
    work: dict[str, Any] = {
        "kind": "grade", "inputs": [{"text": {"name": "test_cases", "text": text}}], "format": "deepeval",
        "metrics": [to_value(metric.request(), metric.id) for metric in metrics],
        "models": {"judge": model}, "concurrency": _CONCURRENT,
    }
    if fail_if is not None:
        work["fail_if"] = fail_if
    if calls is not None:
        work["calls"] = calls
    run = _engine.RunEvents(work)
    results = []
    for event in run:
        if event["event"] == "case":
            results.append(event["data"]["graded"])
            progress(len(results))
    run.outcome()
    return {"results": results, "selection": None}


def _measure_own(
    cases: list[TestCase], metrics: list[BaseMetric], scores: list[dict[int, MetricData]], broken: list[list[str]]
) -> None:
    """Runs metrics written in Python, each on a copy, so that cases do not overwrite each other's scores."""
    own = [(case, at) for case in range(len(cases)) for at, metric in enumerate(metrics) if not isinstance(metric, Metric)]
    if not own:
        return

    async def one(limit: asyncio.Semaphore, case: int, at: int) -> None:
        metric = copy.copy(metrics[at])
        async with limit:
            try:
                asynchronous = metric.async_mode or type(metric).measure is BaseMetric.measure
                score = await metric.a_measure(cases[case]) if asynchronous else metric.measure(cases[case])
                if metric.score is None and score is not None:
                    metric.score = float(score)
            except Exception as error:  # noqa: BLE001 - a metric that fails must not end the others
                metric.error = f"{type(error).__name__}: {error}"
        success = None if metric.score is None and metric.error is None else metric.is_successful() and metric.error is None
        name = str(getattr(metric, "__name__", type(metric).__name__))
        scores[case][at] = MetricData(
            name=name, score=metric.score, threshold=metric.threshold, success=success, reason=metric.reason,
            error=metric.error, strict_mode=metric.strict_mode, evaluation_model=metric.evaluation_model,
        )
        if metric.error is not None:
            broken[case].append(f"{name} could not be computed: {metric.error}")
        elif success is False:
            broken[case].append(f"{name}: {metric.score} is below the threshold {metric.threshold:g}")

    async def every() -> None:
        limit = asyncio.Semaphore(_CONCURRENT)
        await asyncio.gather(*(one(limit, case, at) for case, at in own))

    run_coroutine(every())
