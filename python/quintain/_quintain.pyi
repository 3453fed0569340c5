"""The native half of the package. Values cross the border as JSON text."""

from collections.abc import Callable, Sequence
from typing import final

__all__ = [
    "Client", "QuintainError", "Run", "SuiteError", "TargetError",
    "__version__", "convert", "grade", "main", "metrics", "start",
]

__version__: str

class QuintainError(Exception):
    """Anything that Quintain cannot do."""

class SuiteError(QuintainError):
    """A suite or a request that is not valid."""

class TargetError(QuintainError):
    """A target that cannot be reached or used."""

def main(arguments: Sequence[str], program: str) -> int: ...
def metrics() -> str: ...
def grade(
    cases: str,
    settings: str,
    judge: Callable[[list[str]], list[str]] | None = None,
    progress: Callable[[int], object] | None = None,
) -> str: ...
def convert(text: str, format: str) -> list[str]: ...
def start(request: str) -> Run: ...

@final
class Run:
    @property
    def id(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    def next_event(self, milliseconds: int) -> str | None: ...
    def stop(self) -> None: ...
    def outcome(self) -> str: ...

@final
class Client:
    def __new__(cls, target: str) -> Client: ...
    def request(self, method: str, params: str) -> str: ...
    def surface(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
