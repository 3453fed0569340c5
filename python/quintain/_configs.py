"""How an evaluation runs, as deepeval groups it. All of it is optional."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AsyncConfig", "CacheConfig", "DisplayConfig", "ErrorConfig"]


@dataclass
class AsyncConfig:
    """How many judges and own metrics run at once. `run_async=False` means one."""

    run_async: bool = True
    throttle_value: int = 0
    max_concurrent: int = 20

    def __post_init__(self) -> None:
        if self.max_concurrent < 1:
            raise ValueError("AsyncConfig.max_concurrent: expected a number above 0")


@dataclass
class DisplayConfig:
    """What is printed. `inspect_after_run` and `verbose_mode` are accepted; they change nothing."""

    show_indicator: bool = True
    print_results: bool = True
    verbose_mode: bool | None = None
    inspect_after_run: bool = False


@dataclass
class CacheConfig:
    """Accepted; it changes nothing. Results are not cached: grading again is faster than reading a cache."""

    write_cache: bool = True
    use_cache: bool = False


@dataclass
class ErrorConfig:
    """What happens if a metric cannot be computed: its case fails, or the evaluation raises `MetricError`."""

    ignore_errors: bool = False
    skip_on_missing_params: bool = False
