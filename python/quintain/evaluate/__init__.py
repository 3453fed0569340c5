"""`evaluate` and its configurations, at the places where deepeval has them."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ..evaluation import a_evaluate, assert_test, evaluate
from ..results import EvaluationResult, MetricData, TestResult
from .configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig

__all__ = [
    "AsyncConfig",
    "CacheConfig",
    "DisplayConfig",
    "ErrorConfig",
    "EvaluationResult",
    "MetricData",
    "TestResult",
    "a_evaluate",
    "assert_test",
    "evaluate",
]


class _Evaluate(ModuleType):
    """Loading this module makes it `quintain.evaluate`, so it is called as the function of that name."""

    def __call__(self, *args: Any, **kwargs: Any) -> EvaluationResult:
        return evaluate(*args, **kwargs)


sys.modules[__name__].__class__ = _Evaluate
