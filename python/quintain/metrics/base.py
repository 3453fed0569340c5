"""What all metrics share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ..results import MetricData
    from ..test_case import ConversationalTestCase, LLMTestCase

__all__ = ["BaseConversationalMetric", "BaseMetric", "Metric"]


class BaseMetric:
    """The base class of own metrics: implement `measure`, or `a_measure`, and set `score`, `success` and `reason`."""

    threshold: float = 0.5
    score: float | None = None
    reason: str | None = None
    success: bool | None = None
    error: str | None = None
    strict_mode: bool = False
    async_mode: bool = True
    include_reason: bool = True
    evaluation_model: str | None = None

    def measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float | None:
        """Scores a test case from 0 to 1. None if the metric is not defined for it."""
        raise NotImplementedError(f"{self.__class__.__qualname__} implements neither measure nor a_measure")

    async def a_measure(self, test_case: Any, *args: Any, **kwargs: Any) -> float | None:
        """The same without blocking the event loop."""
        import asyncio

        return await asyncio.to_thread(self.measure, test_case, *args, **kwargs)

    def is_successful(self) -> bool:
        """Whether the score reaches the threshold."""
        if self.success is not None:
            return self.success
        return self.error is None and self.score is not None and self.score >= self.threshold


class BaseConversationalMetric(BaseMetric):
    """The base class of own metrics for conversations."""


class Metric(BaseMetric):
    """A metric of the product with its options. Options are those of `quintain explain NAME`, in snake_case."""

    id: ClassVar[str] = ""

    def __init__(
        self,
        threshold: float | None = None,
        model: Any = None,
        include_reason: bool = True,
        strict_mode: bool = False,
        async_mode: bool = True,
        verbose_mode: bool = False,
        **options: Any,
    ) -> None:
        if not self.id:
            raise TypeError("use one of the metrics of quintain.metrics, or derive from BaseMetric")
        from .._engine import metric_table

        self.model = model
        self.include_reason = include_reason
        self.strict_mode = strict_mode
        self.async_mode = async_mode
        self.verbose_mode = verbose_mode
        self.options = options
        self._default: float = metric_table()[self.id]["threshold"]
        self._given = threshold is not None
        self.threshold = 1.0 if strict_mode else self._default if threshold is None else threshold
        #: The whole result of the last measurement.
        self.data: MetricData | None = None
        # Mistakes in options are found here and not in the middle of an evaluation.
        from .._engine import check_metrics

        check_metrics([self])

    def request(self) -> dict[str, Any]:
        """The metric as `metrics` of a suite writes it."""
        request: dict[str, Any] = {"type": self.id, **self.options}
        if not self.strict_mode and (self._given or self.threshold != self._default):
            request["threshold"] = self.threshold
        if self.strict_mode:
            request["strict_mode"] = True
        if not self.include_reason:
            request["include_reason"] = False
        return request

    def measure(self, test_case: LLMTestCase | ConversationalTestCase, *args: Any, **kwargs: Any) -> float | None:
        """Scores a test case. None if the metric is not defined for it."""
        from ..evaluation import measure

        return measure(self, test_case)

    async def a_measure(self, test_case: LLMTestCase | ConversationalTestCase, *args: Any, **kwargs: Any) -> float | None:
        """The same without blocking the event loop. Coroutines of the judge run in that loop."""
        from .._loop import in_thread

        return await in_thread(self.measure, test_case)

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"{type(self).__name__}(threshold={self.threshold}{options})"
