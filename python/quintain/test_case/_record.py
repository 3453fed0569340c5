"""What all classes of test cases share: checks when they are made, and their JSON."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Hashable, Mapping
from typing import Any, cast

from .._json import to_value

__all__ = ["Record", "arguments", "items", "list_of", "make", "number", "text", "values"]


class Record:
    """A dataclass whose JSON leaves out what is not set."""

    def _to_json(self, field: str, above: tuple[int, ...] = ()) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for attribute, name in _written(cast(Hashable, type(self))):
            value = getattr(self, attribute)
            if value is not None:
                out[name] = to_value(value, f"{field}.{attribute}", above)
        return out

    def _to_json_shallow(self) -> dict[str, Any]:
        """The same, but values stay as they are."""
        own = self.__dict__
        return {name: value for attribute, name in _written(cast(Hashable, type(self))) if (value := own[attribute]) is not None}

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
    names = _names(cast(Hashable, cls))
    known = {names[key]: _as_recorded(names[key], value) for key, value in data.items() if key in names}
    missing = [
        item.name
        for item in dataclasses.fields(cls)
        if item.name not in known and item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise TypeError(f"{field}: {', '.join(missing)} is required")
    return cls(**known)


def _fields(cls: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cls)


@functools.cache
def _names(cls: Hashable) -> dict[str, str]:
    """Every accepted name of a field, and the name of its attribute."""
    names: dict[str, str] = {}
    for item in _fields(cls):
        for name in (item.name, camel_case(item.name), item.metadata.get("name", item.name), *item.metadata.get("aliases", ())):
            names[name] = item.name
    return names


@functools.cache
def _written(cls: Hashable) -> tuple[tuple[str, str], ...]:
    """The attributes that JSON has, and their names in it."""
    return tuple((item.name, item.metadata.get("name", item.name)) for item in _fields(cls) if item.metadata.get("json", True))


class RecordedText(str):
    """Arguments that a model wrote and nobody could read as JSON. Recorded conversations have them, and a check reports them."""


def _as_recorded(name: str, value: Any) -> Any:
    return RecordedText(value) if name in ("args", "input_parameters") and isinstance(value, str) else value


def arguments(value: Any, field: str) -> Any:
    """The arguments of a call: a mapping, or the JSON text of an object, as models write it."""
    if value is None or isinstance(value, (Mapping, RecordedText)):
        return value
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict):
            return parsed
        raise ValueError(f"{field}: expected a dictionary or the JSON text of an object, found other text")
    raise TypeError(f"{field}: expected a dictionary, found a {type(value).__name__}")


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


def items(value: list[Any] | None, field: str) -> list[Any] | None:
    """Checks that what a server lists are dictionaries or objects, not plain values."""
    for at, item in enumerate(value or ()):
        if item is None or isinstance(item, (str, bytes, int, float, list, tuple)):
            raise TypeError(f"{field}[{at}]: expected a dictionary or an object of the MCP SDK, found a {type(item).__name__}")
    return value


def number(value: Any, field: str) -> None:
    """Checks that a value is a number or absent."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise TypeError(f"{field}: expected a number, found a {type(value).__name__}")
