"""Suites and attacks: the same runs as `quintain eval` and `quintain redteam run`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from . import _engine
from ._progress import Progress
from ._quintain import TargetError

__all__ = ["CaseResult", "RedteamResult", "Suite", "SuiteResult", "redteam", "run_suite"]

_DEFAULTS = ("quintain.yaml", "quintain.yml", "promptfooconfig.yaml", "promptfooconfig.yml")
_SEVERITIES = ("info", "low", "medium", "high", "critical")


@dataclass
class CaseResult:
    """The verdict on one test of a suite."""

    description: str
    status: str
    score: float
    output: Any
    error: str | None
    latency_ms: float
    #: Everything that is known about the case.
    raw: dict[str, Any] = field(repr=False, default_factory=dict)

    @property
    def success(self) -> bool:
        """Whether the test passed."""
        return self.status == "passed"

    def describe(self) -> str:
        """Why it passed or failed, one line each."""
        lines = [f"{self.description}: {self.status}"]
        if self.error:
            lines.append(f"  {self.error}")
        for component in (self.raw.get("grade") or {}).get("components", []):
            verdict = component.get("verdict", {})
            if verdict.get("status") != "pass":
                kind = (component.get("assertion") or {}).get("type", "assertion")
                place = component.get("place")
                where = f" ({place['file']}:{place['line']})" if isinstance(place, dict) and "line" in place else ""
                lines.append(f"  {kind}: {verdict.get('reason', 'failed')}{where}")
        return "\n".join(lines)


@dataclass
class SuiteResult:
    """The results of a suite."""

    run_id: str
    cases: list[CaseResult]
    summary: dict[str, Any]
    unreachable: list[str]
    warnings: list[str]

    @property
    def success(self) -> bool:
        """Whether every test ran and passed."""
        return bool(self.cases) and not self.unreachable and all(case.success for case in self.cases)

    def __iter__(self) -> Iterator[CaseResult]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)

    def to_records(self) -> list[dict[str, Any]]:
        """One flat dictionary for every test."""
        return [
            {"description": case.description, "status": case.status, "score": case.score, "output": case.output,
             "error": case.error, "latency_ms": case.latency_ms}
            for case in self.cases
        ]

    def __repr__(self) -> str:
        passed = sum(case.success for case in self.cases)
        return f"<SuiteResult: {passed} of {len(self.cases)} passed>"


@dataclass
class RedteamResult:
    """What an attack found."""

    run_id: str
    findings: list[dict[str, Any]]
    summary: dict[str, Any]
    unreachable: list[str]
    warnings: list[str]

    def at_least(self, severity: str) -> list[dict[str, Any]]:
        """The findings of this severity and above."""
        if severity not in _SEVERITIES:
            raise ValueError(f"severity: expected one of {', '.join(_SEVERITIES)}, found {severity!r}")
        wanted = _SEVERITIES.index(severity)
        return [finding for finding in self.findings if _SEVERITIES.index(finding["severity"]) >= wanted]

    def __repr__(self) -> str:
        return f"<RedteamResult: {len(self.findings)} findings>"


class Suite:
    """A suite: a file, or a dictionary with the same content."""

    def __init__(self, source: str | Path | dict[str, Any] | None = None) -> None:
        if isinstance(source, dict):
            self.name, self.text, self.folder = "suite.yaml", json.dumps(source), Path.cwd()
            return
        path = Path(source) if source is not None else next((Path(name) for name in _DEFAULTS if Path(name).is_file()), None)
        if path is None:
            raise FileNotFoundError(f"no suite: none of {', '.join(_DEFAULTS)} exists")
        self.name, self.text, self.folder = str(path), path.read_text("utf-8"), path.resolve().parent

    def _texts(self) -> list[dict[str, Any]]:
        return [{"name": self.name, "text": self.text, "base_dir": str(self.folder)}]

    def run(
        self,
        *,
        only: str | None = None,
        concurrency: int | None = None,
        judge: Any = None,
        store: bool = False,
        show_progress: bool | None = None,
    ) -> SuiteResult:
        """Runs the tests of the suite. `only` is a pattern of test descriptions."""
        choices: dict[str, Any] = {} if only is None else {"pattern": only}
        work: dict[str, Any] = {
            "kind": "eval", "suite": self._texts(), "choices": choices,
            "overrides": {"concurrency": concurrency}, "models": {} if judge is None else {"judge": judge},
        }
        run = _engine.RunEvents(work, store=store)
        cases: list[CaseResult] = []
        total = 0
        with Progress(0, show_progress, "tests") as progress:
            for event in run:
                if event["event"] == "started":
                    total = int(event["data"].get("total", 0) or 0)
                    progress = Progress(total, show_progress, "tests")
                elif event["event"] == "case":
                    cases.append(_case(event["data"]))
                    progress.update(len(cases))
        outcome = run.outcome()
        return SuiteResult(run.id, cases, outcome["summary"], outcome["unreachable"], run.warnings)

    def redteam(self, **options: Any) -> RedteamResult:
        """Attacks the target of the suite, as `redteam` does."""
        return _attack({"suite": self._texts()}, {"name": options.pop("target", None)}, **options)


def _case(data: dict[str, Any]) -> CaseResult:
    description = data.get("description") or (data.get("prompt") or {}).get("label") or f"test {data['ordinal'] + 1}"
    return CaseResult(
        description, data["status"], data["score"], (data.get("response") or {}).get("output"), data.get("error"),
        data.get("latency_ms", 0.0), data,
    )


def run_suite(source: str | Path | dict[str, Any] | None = None, **options: Any) -> SuiteResult:
    """Runs a suite: `run_suite("quintain.yaml")`."""
    return Suite(source).run(**options)


def redteam(*command: str, url: str | None = None, headers: dict[str, str] | None = None, env: dict[str, str] | None = None,
            cwd: str | None = None, **options: Any) -> RedteamResult:
    """Attacks an MCP server: `redteam("./server")`, `redteam(url="http://127.0.0.1:3000/mcp", plugins=["sql-injection"])`."""
    if bool(command) == (url is not None):
        raise TypeError("redteam: give either a command or url")
    target = {"command": [str(word) for word in command], "url": url, "headers": list((headers or {}).items()),
              "env": list((env or {}).items()), "cwd": cwd}
    return _attack({}, target, **options)


def _attack(
    suite: dict[str, Any],
    target: dict[str, Any],
    *,
    plugins: list[str] | None = None,
    num_tests: int | None = None,
    budget_calls: int | None = None,
    budget_seconds: int | None = None,
    seed: int | None = None,
    concurrency: int | None = None,
    allow_remote: bool = False,
    judge: Any = None,
    store: bool = False,
) -> RedteamResult:
    orders = {
        "plugins": plugins or [], "num_tests": num_tests, "budget_calls": budget_calls, "budget_seconds": budget_seconds,
        "seed": seed, "concurrency": concurrency, "allow_remote": allow_remote, "today": date.today().isoformat(),
    }
    models = {} if judge is None else {"judge": judge}
    run = _engine.RunEvents({"kind": "redteam", **suite, "target": target, "orders": orders, "models": models}, store=store)
    findings = [event["data"] for event in run if event["event"] == "finding"]
    outcome = run.outcome()
    if outcome["unreachable"]:
        raise TargetError("; ".join(outcome["unreachable"]))
    return RedteamResult(run.id, findings, outcome["summary"], outcome["unreachable"], run.warnings)
