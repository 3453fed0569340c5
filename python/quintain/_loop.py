"""Where coroutines of users run: metrics and judges that are asynchronous."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

# `asyncio` costs more than the rest of the package to load, so it is loaded by those who use it.

__all__ = ["CALLER", "Loop", "in_coroutine", "in_thread"]

T = TypeVar("T")

#: The event loop of the coroutine that asked for an evaluation. Clients that a judge keeps belong to that loop.
CALLER: contextvars.ContextVar[Any] = contextvars.ContextVar("quintain_caller", default=None)


class Loop:
    """One event loop for all coroutines of an evaluation: the caller's, or one of its own until it is closed."""

    def __init__(self) -> None:
        self._caller: asyncio.AbstractEventLoop | None = CALLER.get()
        self._own: asyncio.AbstractEventLoop | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine to its end."""
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        if self._caller is not None and self._caller.is_running():
            return asyncio.run_coroutine_threadsafe(coroutine, self._caller).result()
        # Several threads may ask, and only one can drive the loop.
        with self._lock:
            if self._own is None:
                self._own = asyncio.new_event_loop()
            if not in_coroutine():
                return self._own.run_until_complete(coroutine)
            # A loop is running in this thread, and it waits for us.
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1)
            return self._thread.submit(self._own.run_until_complete, coroutine).result()

    def __enter__(self) -> Loop:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._own is not None:
            if self._thread is not None:
                self._thread.submit(_close, self._own).result()
            else:
                _close(self._own)
        if self._thread is not None:
            self._thread.shutdown()


async def in_thread(work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Runs a function in a thread. Coroutines that it needs run in the loop of the caller."""
    import asyncio

    token = CALLER.set(asyncio.get_running_loop())
    try:
        return await asyncio.to_thread(work, *args, **kwargs)
    finally:
        CALLER.reset(token)


def in_coroutine() -> bool:
    """Whether an event loop runs in this thread."""
    loaded = sys.modules.get("asyncio")
    if loaded is None:
        return False
    try:
        loaded.get_running_loop()
    except RuntimeError:
        return False
    return True


def _close(loop: asyncio.AbstractEventLoop) -> None:
    import asyncio

    try:
        if not in_coroutine():
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            if tasks:
                loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
