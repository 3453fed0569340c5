"""Data sets: what to ask an application, and what to expect of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._json import dump
from .evaluation import evaluate
from .results import EvaluationResult
from .test_case import ConversationalTestCase, LLMTestCase, ToolCall, Turn
from .test_case._record import Record, list_of, make, text, values

__all__ = ["ConversationalGolden", "EvaluationDataset", "Golden"]


@dataclass
class Golden(Record):
    """A test case without the answer of the application."""

    input: str
    expected_output: str | None = None
    context: list[str] | None = None
    expected_tools: list[ToolCall] | None = None
    name: str | None = None
    metadata: dict[str, Any] | None = field(default=None, metadata={"aliases": ("additional_metadata", "additionalMetadata")})

    def __post_init__(self) -> None:
        text(self.input, self._where("input"), optional=False)
        text(self.expected_output, self._where("expected_output"))
        self.context = values(self.context, self._where("context"))
        self.expected_tools = list_of(ToolCall, self.expected_tools, self._where("expected_tools"))

    def test_case(self, actual_output: str | None = None, **fields: Any) -> LLMTestCase:
        """A test case with the answer of the application."""
        known = {"expected_output": self.expected_output, "context": self.context, "expected_tools": self.expected_tools}
        return LLMTestCase(self.input, actual_output, **{**known, "name": self.name, "metadata": self.metadata, **fields})


@dataclass
class ConversationalGolden(Record):
    """A conversation that is still to be had."""

    scenario: str
    expected_outcome: str | None = None
    user_description: str | None = None
    context: list[str] | None = None
    turns: list[Turn] | None = None
    name: str | None = None
    metadata: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        text(self.scenario, self._where("scenario"), optional=False)
        self.turns = list_of(Turn, self.turns, self._where("turns"))

    def test_case(self, turns: list[Turn], **fields: Any) -> ConversationalTestCase:
        """A test case with the conversation."""
        known = {"scenario": self.scenario, "expected_outcome": self.expected_outcome, "user_description": self.user_description}
        return ConversationalTestCase(turns, **{**known, "context": self.context, "name": self.name, **fields})


class EvaluationDataset:
    """Goldens and test cases, from files and to files."""

    def __init__(self, goldens: list[Any] | None = None) -> None:
        self.goldens: list[Golden | ConversationalGolden] = []
        self.test_cases: list[LLMTestCase | ConversationalTestCase] = []
        for at, golden in enumerate(goldens or []):
            self.goldens.append(_golden(golden, f"goldens[{at}]"))

    def add_golden(self, golden: Any) -> None:
        """Adds a golden."""
        self.goldens.append(_golden(golden, "golden"))

    def add_test_case(self, test_case: LLMTestCase | ConversationalTestCase) -> None:
        """Adds a test case."""
        self.test_cases.append(test_case)

    def add_goldens_from_json_file(self, file_path: str | Path) -> None:
        """Reads an array of goldens."""
        found = json.loads(Path(file_path).read_text("utf-8"))
        if not isinstance(found, list):
            raise ValueError(f"{file_path}: expected an array of goldens")
        for at, golden in enumerate(found):
            self.goldens.append(_golden(golden, f"{file_path}[{at}]"))

    def add_goldens_from_jsonl_file(self, file_path: str | Path) -> None:
        """Reads a golden from every line."""
        for number, line in enumerate(Path(file_path).read_text("utf-8").splitlines(), 1):
            if line.strip():
                try:
                    self.goldens.append(_golden(json.loads(line), f"{file_path}:{number}"))
                except json.JSONDecodeError as error:
                    raise ValueError(f"{file_path}:{number}: {error}") from None

    def add_test_cases_from_json_file(self, file_path: str | Path) -> None:
        """Reads test cases: an array, or one in every line. All fields are read, those about MCP as well."""
        content = Path(file_path).read_text("utf-8")
        found = json.loads(content) if content.lstrip().startswith("[") else [json.loads(line) for line in content.splitlines() if line.strip()]
        for at, case in enumerate(found):
            kind = ConversationalTestCase if isinstance(case, dict) and "turns" in case else LLMTestCase
            self.test_cases.append(make(kind, case, f"{file_path}[{at}]"))

    def save_as(self, file_path: str | Path) -> Path:
        """Writes all goldens and test cases, one in every line, as `quintain grade` reads them."""
        path = Path(file_path)
        lines = [dump(entry.to_dict()) + "\n" for entry in (*self.goldens, *self.test_cases)]
        path.write_text("".join(lines), "utf-8")
        return path

    def evaluate(self, metrics: Any = None, **options: Any) -> EvaluationResult:
        """Evaluates the test cases."""
        return evaluate(self.test_cases, metrics, **options)

    def __iter__(self) -> Iterator[Golden | ConversationalGolden]:
        return iter(self.goldens)

    def __len__(self) -> int:
        return len(self.goldens) + len(self.test_cases)

    def __repr__(self) -> str:
        return f"<EvaluationDataset: {len(self.goldens)} goldens, {len(self.test_cases)} test cases>"


def _golden(golden: Any, where: str) -> Golden | ConversationalGolden:
    if isinstance(golden, ConversationalGolden) or (isinstance(golden, dict) and "scenario" in golden):
        conversational: ConversationalGolden = make(ConversationalGolden, golden, where)
        return conversational
    single: Golden = make(Golden, golden, where)
    return single
