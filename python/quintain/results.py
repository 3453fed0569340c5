"""Results of an evaluation: objects, records for tables, text and HTML."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["EvaluationResult", "Finding", "MetricData", "TestResult"]


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
        return f"{self.severity} {self.check} at {place}{self.pointer}: {self.message}{hint}"


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
        lines = [f"{self.name}: {'passed' if self.success else 'failed'}"]
        for metric in self.metrics_data:
            score = "n/a" if metric.score is None else f"{metric.score:.2f}"
            mark = {True: "passed", False: "failed", None: "n/a"}[metric.success]
            why = metric.error or metric.reason or ""
            lines.append(f"  {metric.name} {score} (threshold {metric.threshold:g}): {mark}{'; ' + why if why else ''}")
        lines.extend(f"  {finding}" for finding in self.findings)
        return "\n".join(lines)


@dataclass
class EvaluationResult:
    """The verdicts on all test cases, in their order."""

    test_results: list[TestResult]
    #: The choice of tools as a classification, where cases have expected calls.
    selection: dict[str, Any] | None = None
    run_id: str | None = None

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
        records = []
        for result in self.test_results:
            base = {"case": result.name, "index": result.index, "case_success": result.success, "findings": len(result.findings)}
            fields = ("score", "threshold", "success", "reason", "error")
            for metric in result.metrics_data:
                records.append({**base, "metric": metric.name, **{name: getattr(metric, name) for name in fields}})
            if not result.metrics_data:
                records.append({**base, "metric": None, **dict.fromkeys(fields)})
        return records

    def __str__(self) -> str:
        lines = [result.describe() for result in self.test_results]
        return "\n".join([*lines, f"{self.passed} of {len(self)} passed"])

    def __repr__(self) -> str:
        return f"<EvaluationResult: {self.passed} of {len(self)} passed>"

    def _repr_html_(self) -> str:
        """A table for notebooks. All text is escaped: it comes from applications under test."""
        rows = []
        for result in self.test_results:
            for metric in result.metrics_data:
                score = "n/a" if metric.score is None else f"{metric.score:.2f}"
                mark = {True: "passed", False: "failed", None: "n/a"}[metric.success]
                cells = (result.name, metric.name, score, f"{metric.threshold:g}", mark, metric.error or metric.reason or "")
                rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
            for finding in result.findings:
                rows.append(f'<tr><td>{html.escape(result.name)}</td><td colspan="5">{html.escape(str(finding))}</td></tr>')
        head = "".join(f"<th>{name}</th>" for name in ("case", "metric", "score", "threshold", "verdict", "reason"))
        caption = html.escape(f"{self.passed} of {len(self)} passed")
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
