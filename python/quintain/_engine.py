"""Calls of the native half, with values instead of texts."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _quintain
from ._json import dump, encode, to_value

if TYPE_CHECKING:
    from .metrics import Metric

__all__ = ["RunEvents", "check_metrics", "convert", "encode_cases", "grade", "metric_table", "settings"]

#: How long to wait for an event before Python looks for signals.
_POLL_MS = 100


@functools.cache
def metric_table() -> dict[str, dict[str, Any]]:
    """The metrics of the product by id."""
    return {entry["id"]: entry for entry in json.loads(_quintain.metrics())}


def settings(metrics: Sequence[Metric], fail_if: Any = None, calls: Any = None) -> str:
    """How to grade, for the native half."""
    requests = [to_value(metric.request(), metric.id) for metric in metrics]
    value: dict[str, Any] = {"metrics": requests}
    if fail_if is not None:
        value["failIf"] = to_value(fail_if, "fail_if")
    if calls is not None:
        value["calls"] = to_value(calls, "calls")
    return dump(value)


def check_metrics(metrics: Sequence[Metric]) -> None:
    """Raises ValueError with all mistakes in the options of metrics."""
    _quintain.grade("[]", settings(metrics))


def grade(
    cases: Sequence[Any],
    settings: str,
    judge: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] | None = None,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """Grades test cases. The judge answers all questions of a round."""
    lines = encode_cases(cases)
    asked: Callable[[list[str]], list[str]] | None = None
    if judge is not None:
        answer_all = judge

        def ask(questions: list[str]) -> list[str]:
            return [dump(answer) for answer in answer_all([json.loads(question) for question in questions])]

        asked = ask

    try:
        graded: dict[str, Any] = json.loads(_quintain.grade(lines or "[]", settings, asked, progress))
    except ValueError:
        # The engine knows the place in the text; what is nested too deeply has a better name here.
        for at, case in enumerate(cases):
            to_value(case, f"test_cases[{at}]")
        raise
    return graded


def encode_cases(cases: Sequence[Any]) -> str:
    """Test cases as the engine reads them: one on every line."""
    return "\n".join(encode(case, f"test_cases[{at}]") for at, case in enumerate(cases))


def convert(conversation: Any, format: str) -> list[dict[str, Any]]:
    """Test cases from a conversation in another format."""
    return [json.loads(case) for case in _quintain.convert(dump(to_value(conversation, "messages")), format)]


class RunEvents:
    """A run of the engine: iterate over its events, then ask for its outcome. Ctrl-C stops it."""

    def __init__(self, work: dict[str, Any], *, store: bool = False, description: str | None = None) -> None:
        request = {"work": work, "stored": store, "description": description}
        self._run = _quintain.start(dump(to_value(request, "request")))
        self.id = self._run.id
        self.warnings = self._run.warnings

    def __iter__(self) -> Iterator[dict[str, Any]]:
        try:
            while (text := self._run.next_event(_POLL_MS)) is not None:
                if text:
                    yield json.loads(text)
        except BaseException:
            self._run.stop()
            raise

    def stop(self) -> None:
        """Asks the run to stop. It keeps its results so far."""
        self._run.stop()

    def outcome(self) -> dict[str, Any]:
        """Waits for the end of the run."""
        outcome: dict[str, Any] = json.loads(self._run.outcome())
        return outcome
