"""Results of an evaluation: objects, records for tables, text and HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from ._json import visible

__all__ = ["EvaluationResult", "Finding", "MetricData", "TestResult", "table"]

_MARKS = {True: "passed", False: "failed", None: "n/a"}


def table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table for notebooks. All text is escaped: it comes from applications and servers under test."""
    def cells(row: Iterable[object]) -> str:
        return "".join(f"<td>{html.escape(visible('' if cell is None else str(cell)))}</td>" for cell in row)

    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{cells(row)}</tr>" for row in rows)
    return f"<table><caption>{html.escape(visible(caption))}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass
class Finding:
    """What a check or a metric found in a test case, at its place."""

    check: str
    severity: str
    message: str
    call: int | None = None
    pointer: str = ""
    layer: str = ""
    evidence: Any = None
    hint: str | None = None

    @classmethod
    def of(cls, value: dict[str, Any]) -> Finding:
        known = {name: value[name] for name in cls.__dataclass_fields__ if name in value}
        return cls(**known)

    def __str__(self) -> str:
        place = "answer" if self.call is None else f"call {self.call}"
        hint = f" ({self.hint})" if self.hint else ""
        return visible(f"{self.severity} {self.check} at {place}{self.pointer}: {self.message}{hint}")


@dataclass
class MetricData:
    """The score of one metric for one test case. A score of None is *n/a*: the metric says nothing about this case."""

    name: str
    score: float | None
    threshold: float
    success: bool | None
    reason: str | None = None
    error: str | None = None
    findings: list[Finding] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    strict_mode: bool = False
    evaluation_model: str | None = None
    #: What a judge would decide beyond the score.
    judge: str | None = None

    def __str__(self) -> str:
        score = "n/a" if self.score is None else f"{self.score:.2f}"
        why = self.error or self.reason or ""
        text = f"{self.name} {score} (threshold {self.threshold:g}): {_MARKS[self.success]}{'; ' + why if why else ''}"
        return visible(text)


@dataclass
class TestResult:
    """The verdict on one test case."""

    __test__ = False

    name: str
    success: bool
    index: int
    conversational: bool
    metrics_data: list[MetricData]
    findings: list[Finding]
    failed_because: list[str]
    input: str | None = None
    actual_output: str | None = None

    def describe(self) -> str:
        """Why the test case passed or failed, one line each."""
        lines = [f"{visible(self.name)}: {'passed' if self.success else 'failed'}"]
        lines.extend(f"  {metric}" for metric in self.metrics_data)
        lines.extend(f"  {finding}" for finding in self.findings)
        return "\n".join(lines)

    def to_records(self) -> list[dict[str, Any]]:
        """One flat dictionary for every score."""
        base = {"case": self.name, "index": self.index, "case_success": self.success, "findings": len(self.findings)}
        fields = ("score", "threshold", "success", "reason", "error")
        records = [
            {**base, "metric": metric.name, **{name: getattr(metric, name) for name in fields}} for metric in self.metrics_data
        ]
        return records or [{**base, "metric": None, **dict.fromkeys(fields)}]

    def __str__(self) -> str:
        return self.describe()

    def _rows(self) -> Iterator[tuple[object, ...]]:
        for metric in self.metrics_data:
            score = "n/a" if metric.score is None else f"{metric.score:.2f}"
            why = metric.error or metric.reason
            yield self.name, metric.name, score, f"{metric.threshold:g}", _MARKS[metric.success], why
        for finding in self.findings:
            yield self.name, finding.check, "", "", finding.severity, finding

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        return table(f"{self.name}: {'passed' if self.success else 'failed'}", _HEADS, self._rows())


_HEADS = ("case", "metric or check", "score", "threshold", "verdict", "reason")


@dataclass
class EvaluationResult:
    """The verdicts on all test cases, in their order."""

    test_results: list[TestResult]
    #: The choice of tools as a classification, where cases have expected calls.
    selection: dict[str, Any] | None = None
    hyperparameters: dict[str, Any] | None = None
    identifier: str | None = None

    def __iter__(self) -> Iterator[TestResult]:
        return iter(self.test_results)

    def __len__(self) -> int:
        return len(self.test_results)

    @property
    def success(self) -> bool:
        """Whether every test case passed."""
        return all(result.success for result in self.test_results)

    @property
    def passed(self) -> int:
        """How many test cases passed."""
        return sum(result.success for result in self.test_results)

    def to_records(self) -> list[dict[str, Any]]:
        """One flat dictionary for every score, for `pandas.DataFrame(result.to_records())`."""
        return [record for result in self.test_results for record in result.to_records()]

    def finding_records(self) -> list[dict[str, Any]]:
        """One flat dictionary for every finding."""
        return [
            {"case": result.name, "index": result.index, **asdict(finding)}
            for result in self.test_results
            for finding in result.findings
        ]

    def __str__(self) -> str:
        lines = [result.describe() for result in self.test_results]
        return "\n".join([*lines, f"{self.passed} of {len(self)} passed"])

    def __repr__(self) -> str:
        return f"<EvaluationResult: {self.passed} of {len(self)} passed>"

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        rows = (row for result in self.test_results for row in result._rows())
        return table(f"{self.passed} of {len(self)} passed", _HEADS, rows)
