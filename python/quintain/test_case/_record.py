"""What all classes of test cases share: checks when they are made, and their JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .._json import to_value

__all__ = ["Record", "list_of", "text", "values"]


class Record:
    """A dataclass whose JSON leaves out what is not set."""

    def _to_json(self, field: str) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for item in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if value is not None and item.metadata.get("json", True):
                name = item.metadata.get("name", item.name)
                out[name] = to_value(value, f"{field}.{item.name}")
        return out

    def _where(self, name: str) -> str:
        return f"{type(self).__name__}.{name}"

    def to_dict(self) -> dict[str, Any]:
        """The test case as plain data, as `quintain grade` reads it."""
        return self._to_json(type(self).__name__)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Any:
        """The reverse of `to_dict`. Names may also be in camelCase."""
        return make(cls, data, cls.__name__)


def make(cls: type[Any], data: Any, field: str) -> Any:
    """An instance of a class from itself or from a dictionary."""
    if isinstance(data, cls):
        return data
    if not isinstance(data, Mapping):
        raise TypeError(f"{field}: expected {cls.__name__} or a dictionary, found a {type(data).__name__}")
    names: dict[str, str] = {}
    for item in dataclasses.fields(cls):
        for name in (item.name, camel_case(item.name), item.metadata.get("name", item.name), *item.metadata.get("aliases", ())):
            names[name] = item.name
    known = {names[key]: value for key, value in data.items() if key in names}
    missing = [
        item.name
        for item in dataclasses.fields(cls)
        if item.name not in known and item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise TypeError(f"{field}: {', '.join(missing)} is required")
    return cls(**known)


def camel_case(name: str) -> str:
    """`mcp_tools_called` as `mcpToolsCalled`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def text(value: Any, field: str, *, optional: bool = True) -> None:
    """Checks that a value is text."""
    if value is None and optional:
        return
    if not isinstance(value, str):
        raise TypeError(f"{field}: expected a string, found a {type(value).__name__}")


def list_of(cls: type[Any], value: Any, field: str) -> Any:
    """A list of instances, each from itself or from a dictionary. None stays None."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{field}: expected a list of {cls.__name__}, found a {type(value).__name__}")
    return [make(cls, item, f"{field}[{at}]") for at, item in enumerate(value)]


def values(value: Any, field: str, unwrap: str | None = None) -> Any:
    """A list of anything. The result of a list request is accepted for the list in it."""
    if value is None:
        return None
    if unwrap is not None and not isinstance(value, (list, tuple)):
        inner = value.get(unwrap) if isinstance(value, Mapping) else getattr(value, unwrap, None)
        if isinstance(inner, (list, tuple)):
            value = inner
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{field}: expected a list, found a {type(value).__name__}")
    return list(value)
