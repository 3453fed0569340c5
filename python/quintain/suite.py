"""Suites and attacks: the same runs as `quintain eval` and `quintain redteam run`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from . import _engine
from ._json import encode, visible
from ._progress import Progress
from ._quintain import TargetError
from ._target import target_request
from .results import table

__all__ = ["CaseResult", "RedteamFinding", "RedteamResult", "Suite", "SuiteResult", "redteam", "run_suite"]

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
        return visible("\n".join(lines))

    def __str__(self) -> str:
        return self.describe()


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
        return f"<SuiteResult: {self.passed} of {len(self.cases)} passed>"

    @property
    def passed(self) -> int:
        """How many tests passed."""
        return sum(case.success for case in self.cases)

    def __str__(self) -> str:
        lines = [*map(visible, self.unreachable), *(case.describe() for case in self.cases)]
        return "\n".join([*lines, f"{self.passed} of {len(self.cases)} passed"])

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        rows = [(case.description, case.status, f"{case.score:.2f}", f"{case.latency_ms:.0f} ms", case.describe()) for case in self.cases]
        return table(f"{self.passed} of {len(self.cases)} passed", ("test", "status", "score", "latency", "reason"), rows)


@dataclass
class RedteamFinding:
    """A weakness that an attack found, with its proof in `raw`."""

    rule: str
    title: str
    severity: str
    confidence: str
    target: str | None = None
    tool: str | None = None
    argument: str | None = None
    cwe: Any = None
    fingerprint: str | None = None
    #: The whole finding: proofs, advice, framework ids, how to reproduce it.
    raw: dict[str, Any] = field(repr=False, default_factory=dict)

    @classmethod
    def of(cls, value: dict[str, Any]) -> RedteamFinding:
        known = {name: value[name] for name in cls.__dataclass_fields__ if name in value and name != "raw"}
        return cls(**known, raw=value)

    def __getitem__(self, name: str) -> Any:
        return self.raw[name]

    def __str__(self) -> str:
        proof = next((str(part["what"]) for part in self.raw.get("proofs") or [] if part.get("what")), "")
        return visible(f"{self.severity} {self.title} ({self.confidence}){': ' + proof if proof else ''}")


@dataclass
class RedteamResult:
    """What an attack found."""

    run_id: str
    findings: list[RedteamFinding]
    summary: dict[str, Any]
    unreachable: list[str]
    warnings: list[str]

    def at_least(self, severity: str) -> list[RedteamFinding]:
        """The findings of this severity and above."""
        if severity not in _SEVERITIES:
            raise ValueError(f"severity: expected one of {', '.join(_SEVERITIES)}, found {severity!r}")
        wanted = _SEVERITIES.index(severity)
        return [finding for finding in self.findings if _SEVERITIES.index(finding.severity) >= wanted]

    @property
    def success(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __iter__(self) -> Iterator[RedteamFinding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def to_records(self) -> list[dict[str, Any]]:
        """One flat dictionary for every finding."""
        names = [name for name in RedteamFinding.__dataclass_fields__ if name != "raw"]
        return [{name: getattr(finding, name) for name in names} for finding in self.findings]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.findings), f"{len(self.findings)} findings"])

    def __repr__(self) -> str:
        return f"<RedteamResult: {len(self.findings)} findings>"

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        rows = [(found.severity, found.confidence, found.title, found.rule, found.tool, found.argument) for found in self.findings]
        return table(f"{len(rows)} findings", ("severity", "confidence", "title", "rule", "tool", "argument"), rows)


class Suite:
    """A suite: a file, or a dictionary with the same content."""

    def __init__(self, source: str | os.PathLike[str] | dict[str, Any] | None = None) -> None:
        if isinstance(source, dict):
            self.name, self.text, self.folder = "suite.yaml", encode(source, "suite"), Path.cwd()
            return
        if source is not None and not isinstance(source, (str, os.PathLike)):
            raise TypeError(f"suite: expected a path or a dictionary, found a {type(source).__name__}")
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
        choices: dict[str, Any] = {} if only is None else {"filterPattern": only}
        work: dict[str, Any] = {
            "kind": "eval", "suite": self._texts(), "choices": choices,
            "overrides": {"concurrency": concurrency}, "models": {} if judge is None else {"judge": judge},
        }
        run = _engine.RunEvents(work, store=store)
        cases: list[CaseResult] = []
        with Progress(0, show_progress, "tests") as progress:
            for event in run:
                if event["event"] == "started":
                    progress.total = int(event["data"].get("total", 0) or 0)
                elif event["event"] == "case":
                    cases.append(_case(event["data"]))
                    progress.update(len(cases))
        outcome = run.outcome()
        return SuiteResult(run.id, cases, outcome["summary"], outcome["unreachable"], run.warnings)

    def redteam(self, **options: Any) -> RedteamResult:
        """Attacks the target of the suite, as `redteam` does. `target` is its name, if there are several."""
        return _attack({"suite": self._texts()}, {"name": options.pop("target", None)}, **options)

    def __repr__(self) -> str:
        return f"Suite({self.name!r})"


def _case(data: dict[str, Any]) -> CaseResult:
    description = data.get("description") or (data.get("prompt") or {}).get("label") or f"test {data['ordinal'] + 1}"
    return CaseResult(
        description, data["status"], data["score"], (data.get("response") or {}).get("output"), data.get("error"),
        data.get("latency_ms", 0.0), data,
    )


def run_suite(source: Suite | str | os.PathLike[str] | dict[str, Any] | None = None, **options: Any) -> SuiteResult:
    """Runs a suite: `run_suite("quintain.yaml")`."""
    suite = source if isinstance(source, Suite) else Suite(source)
    return suite.run(**options)


def redteam(*command: Any, url: str | None = None, headers: dict[str, str] | None = None, env: dict[str, str] | None = None,
            cwd: str | os.PathLike[str] | None = None, **options: Any) -> RedteamResult:
    """Attacks an MCP server: `redteam("./server")`, `redteam(url="http://127.0.0.1:3000/mcp", plugins=["sql-injection"])`.

    A suite, or a path that ends in `.yaml`, names the target of that suite.
    """
    if len(command) == 1 and url is None:
        only = command[0]
        if isinstance(only, (Suite, dict)):
            return (only if isinstance(only, Suite) else Suite(only)).redteam(**options)
        if isinstance(only, (str, os.PathLike)) and str(only).endswith((".yaml", ".yml")):
            return Suite(only).redteam(**options)
    return _attack({}, target_request("redteam", command, url=url, headers=headers, env=env, cwd=cwd), **options)


def _attack(
    suite: dict[str, Any],
    target: dict[str, Any],
    *,
    plugins: Sequence[str] | None = None,
    attacks: Sequence[str] | None = None,
    num_tests: int | None = None,
    budget_calls: int | None = None,
    budget_seconds: int | None = None,
    seed: int | None = None,
    concurrency: int | None = None,
    allow_remote: bool = False,
    judge: Any = None,
    store: bool = False,
) -> RedteamResult:
    if plugins is not None and attacks is not None:
        raise TypeError("redteam: attacks is another name of plugins; give one of them")
    named = plugins if plugins is not None else attacks or ()
    if isinstance(named, str):
        raise TypeError("redteam: plugins: expected a list of names, found a str")
    orders = {
        "plugins": list(named), "num_tests": num_tests, "budget_calls": budget_calls, "budget_seconds": budget_seconds,
        "seed": seed, "concurrency": concurrency, "allow_remote": allow_remote, "today": date.today().isoformat(),
    }
    models = {} if judge is None else {"judge": judge}
    run = _engine.RunEvents({"kind": "redteam", **suite, "target": target, "orders": orders, "models": models}, store=store)
    findings = [RedteamFinding.of(event["data"]) for event in run if event["event"] == "finding"]
    outcome = run.outcome()
    if outcome["unreachable"]:
        raise TargetError("; ".join(outcome["unreachable"]))
    return RedteamResult(run.id, findings, outcome["summary"], outcome["unreachable"], run.warnings)
