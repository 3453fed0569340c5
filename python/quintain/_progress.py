"""A progress bar on terminals and in notebooks. Prints nothing elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

__all__ = ["Progress"]

_WIDTH = 30
#: Work that ends sooner shows no bar.
_PATIENCE = 0.5


class Progress:
    """Shows how many of a known number are done."""

    def __init__(self, total: int, show: bool | None = None, what: str = "test cases") -> None:
        self.total, self._what = total, what
        self._show = _is_watched() if show is None else show
        self._started = time.monotonic()
        self._drawn = False

    def __enter__(self) -> Progress:
        return self

    def update(self, done: int) -> None:
        """Draws the bar, if the work takes long enough for one."""
        elapsed = time.monotonic() - self._started
        if not self._show or (elapsed < _PATIENCE and not self._drawn):
            return
        share = min(1.0, done / self.total) if self.total else 1.0
        bar = ("#" * int(share * _WIDTH)).ljust(_WIDTH, ".")
        rate = done / elapsed if elapsed else 0.0
        sys.stderr.write(f"\r[{bar}] {done} of {self.total} {self._what}, {rate:.0f}/s")
        sys.stderr.flush()
        self._drawn = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._drawn:
            sys.stderr.write("\n")


def _is_watched() -> bool:
    if "ipykernel" in sys.modules:
        return True
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False
