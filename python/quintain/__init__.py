"""Tests, attacks, grades and drives anything that speaks the Model Context Protocol.

Evaluate how an application used MCP::

    from quintain import evaluate
    from quintain.metrics import MCPUseMetric
    from quintain.test_case import LLMTestCase, MCPServer, MCPToolCall

    evaluate(test_cases=[LLMTestCase(...)], metrics=[MCPUseMetric])

Nothing here needs a key or a network; a language model is an option of some metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._quintain import QuintainError, SuiteError, TargetError, __version__

if TYPE_CHECKING:
    from .client import AsyncSession, Session, connect, connect_async
    from .convert import from_anthropic, from_langchain, from_openai
    from .dataset import ConversationalGolden, EvaluationDataset, Golden
    from .evaluation import MetricError, a_evaluate, assert_test, evaluate
    from .recording import RecordedSession, record
    from .results import EvaluationResult
    from .suite import RedteamFinding, RedteamResult, Suite, SuiteResult, redteam, run_suite

__all__ = [
    "AsyncSession",
    "ConversationalGolden",
    "EvaluationDataset",
    "EvaluationResult",
    "Golden",
    "MetricError",
    "QuintainError",
    "RecordedSession",
    "RedteamFinding",
    "RedteamResult",
    "Session",
    "Suite",
    "SuiteError",
    "SuiteResult",
    "TargetError",
    "__version__",
    "a_evaluate",
    "assert_test",
    "connect",
    "connect_async",
    "evaluate",
    "from_anthropic",
    "from_langchain",
    "from_openai",
    "record",
    "redteam",
    "run_suite",
]

# Modules are loaded on first use, so that importing the package costs next to nothing.
_MODULES = {
    "AsyncSession": "client", "Session": "client", "connect": "client", "connect_async": "client",
    "from_anthropic": "convert", "from_langchain": "convert", "from_openai": "convert",
    "ConversationalGolden": "dataset", "EvaluationDataset": "dataset", "Golden": "dataset",
    "a_evaluate": "evaluation", "assert_test": "evaluation", "evaluate": "evaluation",
    "MetricError": "evaluation", "EvaluationResult": "results",
    "RecordedSession": "recording", "record": "recording",
    "RedteamFinding": "suite", "RedteamResult": "suite", "Suite": "suite", "SuiteResult": "suite", "redteam": "suite", "run_suite": "suite",
}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value
