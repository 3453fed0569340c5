"""Data sets: what to ask an application, and what to expect of it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
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
    actual_output: str | None = None
    expected_output: str | None = None
    context: list[str] | None = None
    retrieval_context: list[str] | None = None
    tools_called: list[ToolCall] | None = None
    expected_tools: list[ToolCall] | None = None
    comments: str | None = None
    source_file: str | None = None
    name: str | None = None
    metadata: dict[str, Any] | None = field(default=None, metadata={"aliases": ("additional_metadata", "additionalMetadata")})

    def __post_init__(self) -> None:
        text(self.input, self._where("input"), optional=False)
        for name in ("actual_output", "expected_output", "comments", "source_file", "name"):
            text(getattr(self, name), self._where(name))
        for name in ("context", "retrieval_context"):
            setattr(self, name, values(getattr(self, name), self._where(name)))
        self.tools_called = list_of(ToolCall, self.tools_called, self._where("tools_called"))
        self.expected_tools = list_of(ToolCall, self.expected_tools, self._where("expected_tools"))

    def test_case(self, actual_output: str | None = None, **fields: Any) -> LLMTestCase:
        """A test case with the answer of the application."""
        names = (
            "expected_output", "context", "retrieval_context", "tools_called", "expected_tools", "comments", "name", "metadata",
        )
        known = {name: getattr(self, name) for name in names}
        return LLMTestCase(self.input, self.actual_output if actual_output is None else actual_output, **{**known, **fields})


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

    def __init__(self, goldens: Iterable[Any] | None = None, test_cases: Iterable[Any] | None = None) -> None:
        self.goldens: list[Golden | ConversationalGolden] = []
        self.test_cases: list[LLMTestCase | ConversationalTestCase] = []
        for at, golden in enumerate(_listed(goldens, "goldens")):
            self.goldens.append(_golden(golden, f"goldens[{at}]"))
        for at, case in enumerate(_listed(test_cases, "test_cases")):
            self.test_cases.append(_test_case(case, f"test_cases[{at}]"))

    def add_golden(self, golden: Any) -> None:
        """Adds a golden."""
        self.goldens.append(_golden(golden, "golden"))

    def add_test_case(self, test_case: Any) -> None:
        """Adds a test case."""
        self.test_cases.append(_test_case(test_case, "test_case"))

    def add_goldens_from_json_file(self, file_path: str | Path, *, encoding_type: str = "utf-8", **key_names: str) -> None:
        """Reads an array of goldens. `input_key_name="question"` reads `input` from another key; so do its siblings."""
        renamed = _renamed(key_names, "_key_name")
        for at, golden in enumerate(_array(file_path, encoding_type)):
            self.goldens.append(_golden(_rename(golden, renamed), f"{file_path}[{at}]"))

    def add_goldens_from_jsonl_file(self, file_path: str | Path, *, encoding_type: str = "utf-8", **key_names: str) -> None:
        """Reads a golden from every line."""
        renamed = _renamed(key_names, "_key_name")
        for number, golden in _lines(file_path, encoding_type):
            self.goldens.append(_golden(_rename(golden, renamed), f"{file_path}:{number}"))

    def add_goldens_from_csv_file(
        self,
        file_path: str | Path,
        *,
        context_col_delimiter: str = ";",
        retrieval_context_col_delimiter: str = ";",
        encoding_type: str = "utf-8",
        **col_names: str,
    ) -> None:
        """Reads a golden from every row. `input_col_name="question"` reads `input` from another column; so do its siblings.

        Columns of tools contain JSON. Empty cells are left out.
        """
        renamed = _renamed(col_names, "_col_name")
        delimiters = {"context": context_col_delimiter, "retrieval_context": retrieval_context_col_delimiter}
        with Path(file_path).open(encoding=encoding_type, newline="") as file:
            for number, row in enumerate(csv.DictReader(file), 2):
                where = f"{file_path}:{number}"
                cells = _rename({name: cell for name, cell in row.items() if name and cell}, renamed)
                self.goldens.append(_golden(_cells(cells, delimiters, where), where))

    def add_test_cases_from_json_file(self, file_path: str | Path, *, encoding_type: str = "utf-8", **key_names: str) -> None:
        """Reads test cases: an array, or one in every line. All fields are read, those about MCP as well."""
        renamed = _renamed(key_names, "_key_name")
        content = Path(file_path).read_text(encoding_type)
        if content.lstrip().startswith("["):
            found = [(f"{file_path}[{at}]", case) for at, case in enumerate(_array(file_path, encoding_type))]
        else:
            found = [(f"{file_path}:{number}", case) for number, case in _lines(file_path, encoding_type)]
        for where, case in found:
            self.test_cases.append(_test_case(_rename(case, renamed), where))

    def save_as(
        self, file_path: str | Path | None = None, directory: str | Path | None = None, file_name: str | None = None, *, file_type: str | None = None
    ) -> Path:
        """Writes all goldens and test cases, and returns the file.

        `save_as("cases.jsonl")` decides by the suffix: `.jsonl` and `.json` keep everything, `.csv` the goldens.
        `save_as(file_type="json", directory="data")` chooses a name.
        """
        known = ("json", "jsonl", "csv")
        if file_type is None and file_path in known:
            file_type, file_path = str(file_path), None
        if file_path is None:
            if file_type not in known:
                raise ValueError(f"file_type: expected one of {', '.join(known)}, found {file_type!r}")
            folder = Path(directory if directory is not None else ".")
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{file_name or datetime.now().strftime('%Y%m%d_%H%M%S')}.{file_type}"
        else:
            path = Path(file_path)
        kind = file_type or path.suffix.lstrip(".") or "jsonl"
        if kind not in known:
            raise ValueError(f"file_path: expected a name that ends in .jsonl, .json or .csv, found {path.name!r}")
        entries = [entry.to_dict() for entry in (*self.goldens, *self.test_cases)]
        if kind == "csv":
            _write_csv(path, entries)
        elif kind == "json":
            path.write_text("[\n" + ",\n".join(map(dump, entries)) + "\n]\n", "utf-8")
        else:
            path.write_text("".join(dump(entry) + "\n" for entry in entries), "utf-8")
        return path

    def evals_iterator(self, metrics: Any = None, **options: Any) -> Iterator[Golden | ConversationalGolden]:
        """Yields every golden, then evaluates the test cases that were added meanwhile. The result is `last_result`."""
        self.last_result = None
        yield from list(self.goldens)
        if self.test_cases:
            self.last_result = evaluate(self.test_cases, metrics, **options)

    #: The result of the last `evaluate` or `evals_iterator`.
    last_result: EvaluationResult | None = None

    def evaluate(self, metrics: Any = None, **options: Any) -> EvaluationResult:
        """Evaluates the test cases."""
        self.last_result = evaluate(self.test_cases, metrics, **options)
        return self.last_result

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


def _test_case(case: Any, where: str) -> LLMTestCase | ConversationalTestCase:
    conversational = isinstance(case, ConversationalTestCase) or (isinstance(case, dict) and "turns" in case)
    made: LLMTestCase | ConversationalTestCase = make(ConversationalTestCase if conversational else LLMTestCase, case, where)
    return made


def _listed(found: Iterable[Any] | None, field: str) -> list[Any]:
    if isinstance(found, (str, bytes, dict)):
        raise TypeError(f"{field}: expected a list, found a {type(found).__name__}")
    return [] if found is None else list(found)


def _array(file_path: str | Path, encoding: str) -> list[Any]:
    try:
        found = json.loads(Path(file_path).read_text(encoding))
    except json.JSONDecodeError as error:
        raise ValueError(f"{file_path}: {error}") from None
    if not isinstance(found, list):
        raise ValueError(f"{file_path}: expected an array")
    return found


def _lines(file_path: str | Path, encoding: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(Path(file_path).read_text(encoding).split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"{file_path}:{number}: {error}") from None


def _renamed(names: dict[str, str], suffix: str) -> dict[str, str]:
    """Which key of a file stands for which field."""
    for name in names:
        if not name.endswith(suffix):
            raise TypeError(f"unexpected argument {name!r}; expected the name of a field and `{suffix}`")
    return {key: name[: -len(suffix)] for name, key in names.items()}


def _rename(entry: Any, renamed: dict[str, str]) -> Any:
    return {renamed.get(key, key): value for key, value in entry.items()} if isinstance(entry, dict) else entry


def _cells(cells: dict[str, Any], delimiters: dict[str, str], where: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, cell in cells.items():
        if name in delimiters:
            out[name] = [part.strip() for part in cell.split(delimiters[name]) if part.strip()]
        elif name in ("tools_called", "expected_tools", "metadata", "additional_metadata", "turns"):
            try:
                out[name] = json.loads(cell)
            except json.JSONDecodeError as error:
                raise ValueError(f"{where}: {name}: {error}") from None
        else:
            out[name] = cell
    return out


def _write_csv(path: Path, entries: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for entry in entries for name in entry))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for entry in entries:
            writer.writerow({name: _cell(name, value) for name, value in entry.items()})


def _cell(name: str, value: Any) -> Any:
    if name in ("context", "retrieval_context") and all(isinstance(part, str) and ";" not in part for part in value):
        return ";".join(value)
    return value if isinstance(value, str) else dump(value)
