"""Evaluates test cases with metrics of the product and own ones."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from . import _engine
from ._judge import Judge, is_provider, name_of
from ._json import shown, to_value
from ._loop import Loop, in_thread
from ._progress import Progress
from ._quintain import QuintainError
from ._configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from .metrics.base import BaseMetric, Metric
from .results import EvaluationResult, Finding, MetricData, TestResult
from .test_case import ConversationalTestCase, LLMTestCase, MCPServer
from .test_case._record import list_of, make

__all__ = ["MetricError", "a_evaluate", "assert_test", "evaluate"]

TestCase = LLMTestCase | ConversationalTestCase


class MetricError(QuintainError):
    """A metric that could not be computed, if `ErrorConfig` says that errors are not ignored."""


def evaluate(
    test_cases: Iterable[Any],
    metrics: Iterable[Any] | None = None,
    *,
    judge: Any = None,
    mcp_servers: Sequence[Any] | None = None,
    fail_if: dict[str, Any] | None = None,
    calls: dict[str, Any] | None = None,
    show_progress: bool | None = None,
    print_results: bool | None = None,
    async_config: AsyncConfig | None = None,
    display_config: DisplayConfig | None = None,
    cache_config: CacheConfig | None = None,
    error_config: ErrorConfig | None = None,
    hyperparameters: dict[str, Any] | None = None,
    identifier: str | None = None,
) -> EvaluationResult:
    """Grades test cases.

    `metrics` are classes or instances; without any, only the checks run. `judge` is the model of metrics that name none.
    `mcp_servers` are the servers of cases that name none. `fail_if` and `calls` are the policies of `grade` in a suite.
    The configurations are those of deepeval; `hyperparameters` and `identifier` are kept in the result.
    """
    found = _items(getattr(test_cases, "test_cases", test_cases), "test_cases")
    servers = list_of(MCPServer, mcp_servers, "mcp_servers")
    cases = [_case(case, at, servers) for at, case in enumerate(found)]
    chosen = [_metric(metric, at) for at, metric in enumerate(_items(metrics, "metrics"))]
    for name, config, kind in (
        ("async_config", async_config, AsyncConfig), ("display_config", display_config, DisplayConfig),
        ("cache_config", cache_config, CacheConfig), ("error_config", error_config, ErrorConfig),
    ):
        if config is not None and not isinstance(config, kind):
            raise TypeError(f"{name}: expected {kind.__name__}, found a {type(config).__name__}")
    how = async_config or AsyncConfig()
    if display_config is not None:
        print_results = display_config.print_results if print_results is None else print_results
        show_progress = False if not display_config.show_indicator and show_progress is None else show_progress
    with Progress(len(cases), show_progress) as progress, Loop() as loop:
        evaluation = _Evaluation(cases, chosen, loop, how, progress.update)
        result = evaluation.run(judge, fail_if, calls)
    result.hyperparameters, result.identifier = hyperparameters, identifier
    if error_config is not None and not error_config.ignore_errors:
        _raise_first_error(result)
    if print_results:
        print(result)
    return result


async def a_evaluate(test_cases: Iterable[Any], metrics: Iterable[Any] | None = None, **options: Any) -> EvaluationResult:
    """The same without blocking the event loop. Coroutines of metrics and judges run in that loop."""
    return await in_thread(evaluate, test_cases, metrics, **options)


def assert_test(test_case: Any, metrics: Iterable[Any] | None = None, run_async: bool = True, **options: Any) -> None:
    """Raises AssertionError with all reasons if the test case fails."""
    __tracebackhide__ = True
    options.setdefault("async_config", AsyncConfig(run_async=run_async))
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


def _case(case: Any, at: int, servers: list[MCPServer] | None) -> TestCase:
    if isinstance(case, dict):
        kind = ConversationalTestCase if "turns" in case else LLMTestCase
        case = make(kind, case, f"test_cases[{at}]")
    if not isinstance(case, (LLMTestCase, ConversationalTestCase)):
        raise TypeError(f"test_cases[{at}]: expected a test case, found a {type(case).__name__}")
    if servers is not None and case.mcp_servers is None:
        with_servers = copy.copy(case)
        with_servers.mcp_servers = servers
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


def _raise_first_error(result: EvaluationResult) -> None:
    for case in result.test_results:
        for data in case.metrics_data:
            if data.error is not None:
                raise MetricError(f"{case.name}: {data.name}: {data.error}")


@dataclass
class _Evaluation:
    """What one evaluation is about."""

    cases: list[TestCase]
    metrics: list[BaseMetric]
    loop: Loop
    how: AsyncConfig
    progress: Callable[[int], object]

    def __post_init__(self) -> None:
        self.concurrency = self.how.max_concurrent if self.how.run_async else 1
        self.scores: list[dict[int, MetricData]] = [{} for _ in self.cases]
        self.broken: list[list[str]] = [[] for _ in self.cases]

    def run(self, judge: Any, fail_if: dict[str, Any] | None, calls: dict[str, Any] | None) -> EvaluationResult:
        # Metrics of one judge are graded together. If none has a judge, the first group runs the checks alone.
        groups: dict[int | None, tuple[Any, list[int]]] = {}
        for at, metric in enumerate(self.metrics):
            if isinstance(metric, Metric):
                model = metric.model if metric.model is not None else judge
                groups.setdefault(None if model is None else id(model), (model, []))[1].append(at)
        graded: dict[str, Any] | None = None
        for model, members in groups.values() or [(None, [])]:
            found = self._grade(members, model, fail_if, calls)
            graded = graded or found
            for case, result in enumerate(found["results"]):
                self.broken[case].extend(why for why in result.get("failedBecause", []) if why not in self.broken[case])
                for at, score in zip(members, result["metrics"], strict=True):
                    self.scores[case][at] = _data(score, self.metrics[at], name_of(model))
        if any(not isinstance(metric, Metric) for metric in self.metrics):
            self.loop.run(self._measure_own())
        assert graded is not None
        results = [self._result(at, result) for at, result in enumerate(graded["results"])]
        return EvaluationResult(results, graded.get("selection"))

    def _result(self, at: int, result: dict[str, Any]) -> TestResult:
        case = self.cases[at]
        single = case if isinstance(case, LLMTestCase) else None
        return TestResult(
            name=result["name"], success=not self.broken[at], index=at, conversational=single is None,
            metrics_data=[self.scores[at][metric] for metric in range(len(self.metrics))],
            findings=[Finding.of(finding) for finding in result["findings"]], failed_because=self.broken[at],
            input=None if single is None else single.input, actual_output=None if single is None else single.actual_output,
        )

    def _grade(
        self, members: list[int], model: Any, fail_if: dict[str, Any] | None, calls: dict[str, Any] | None
    ) -> dict[str, Any]:
        metrics = [metric for at in members if isinstance(metric := self.metrics[at], Metric)]
        if is_provider(model):
            return self._grade_by_engine(metrics, model, fail_if, calls)
        answer = None if model is None else Judge(model, self.loop, self.concurrency, self.how.throttle_value).answer_all
        return _engine.grade(self.cases, _engine.settings(metrics, fail_if, calls), answer, self.progress)

    def _grade_by_engine(
        self, metrics: list[Metric], model: Any, fail_if: dict[str, Any] | None, calls: dict[str, Any] | None
    ) -> dict[str, Any]:
        """The same with a judge that the engine knows: keys, limits, retries and the cache are its business."""
        text = _engine.encode_cases(self.cases)
        work: dict[str, Any] = {
            "kind": "grade", "inputs": [{"text": {"name": "test_cases", "text": text}}], "format": "deepeval",
            "metrics": [to_value(metric.request(), metric.id) for metric in metrics],
            "models": {"judge": model}, "concurrency": self.concurrency,
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
                self.progress(len(results))
        run.outcome()
        if len(results) != len(self.cases):
            raise QuintainError(f"the engine graded {len(results)} of {len(self.cases)} test cases")
        return {"results": results, "selection": None}

    async def _measure_own(self) -> None:
        """Runs metrics written in Python, each on a copy, so that cases do not overwrite each other's scores."""
        import asyncio

        limit = asyncio.Semaphore(self.concurrency)

        async def one(case: int, at: int) -> None:
            async with limit:
                data = await _measured(self.metrics[at], self.cases[case])
            self.scores[case][at] = data
            if data.error is not None:
                self.broken[case].append(f"{data.name} could not be computed: {data.error}")
            elif data.success is False:
                self.broken[case].append(f"{data.name}: {data.score} is below the threshold {data.threshold:g}")

        own = [at for at, metric in enumerate(self.metrics) if not isinstance(metric, Metric)]
        await asyncio.gather(*(one(case, at) for case in range(len(self.cases)) for at in own))


async def _measured(original: BaseMetric, case: TestCase) -> MetricData:
    """The score of a metric written in Python. Whatever it does wrong is an error of this score only."""
    metric = copy.copy(original)
    metric.score, metric.reason, metric.success, metric.error = None, None, None, None
    score, success, error = None, None, None
    try:
        returned = await _call(metric, case)
        score = _score(metric.score if metric.score is not None else returned)
        metric.score = score
        error = None if metric.error is None else shown(metric.error)
        success = None if score is None and error is None else error is None and bool(metric.is_successful())
    except Exception as problem:  # noqa: BLE001 - a metric that fails must not end the others
        score, success, error = None, False, f"{type(problem).__name__}: {shown(problem)}"
    name = getattr(metric, "__name__", None)
    return MetricData(
        name=shown(name() if callable(name) else name or type(metric).__name__), score=score, threshold=metric.threshold,
        success=success, reason=None if metric.reason is None else str(metric.reason), error=error,
        strict_mode=metric.strict_mode, evaluation_model=metric.evaluation_model,
    )


async def _call(metric: BaseMetric, case: TestCase) -> Any:
    cls = type(metric)
    if cls.a_measure is not BaseMetric.a_measure and (metric.async_mode or cls.measure is BaseMetric.measure):
        return await metric.a_measure(case)
    import asyncio

    return await asyncio.to_thread(metric.measure, case)


def _score(value: Any) -> float | None:
    """A score as a number from 0 to 1."""
    if value is None:
        return None
    if isinstance(value, bool):
        return float(value)
    try:
        score = float(value) if not isinstance(value, (str, bytes)) else math.nan
    except (TypeError, ValueError):
        score = math.nan
    if not 0 <= score <= 1:
        raise ValueError(f"score: expected a number from 0 to 1, found {shown(value)}")
    return score


def _data(score: dict[str, Any], metric: BaseMetric, model: str | None) -> MetricData:
    return MetricData(
        name=score["name"], score=score["score"], threshold=score["threshold"], success=score["success"],
        reason=score.get("reason"), error=score.get("error"), details=score.get("details", {}),
        findings=[Finding.of(finding) for finding in score.get("findings", [])],
        strict_mode=metric.strict_mode, evaluation_model=model, judge=score.get("judge"),
    )
