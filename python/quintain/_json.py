"""Turns objects of users into JSON values: our own classes, objects of the MCP SDKs, pydantic models, plain data.

Every problem names the field at which it is, and nothing that a user passes can make this module fail otherwise: cycles,
values that are not numbers, objects that raise.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import math
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any, NoReturn

__all__ = ["dump", "to_value"]

_MAX_DEPTH = 200


def dump(value: Any) -> str:
    """Writes a JSON value on one line. Lone surrogates, which JSON cannot carry, become replacement characters."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def to_value(value: Any, field: str, _above: tuple[int, ...] = ()) -> Any:
    """The JSON value of an object. `field` names the object in errors."""
    if type(value) in (str, int, bool, type(None)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{field}: {value!r} is not a JSON number")
        return value
    if isinstance(value, enum.Enum):
        return to_value(value.value, field, _above)
    # A subclass: its plain value.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if id(value) in _above:
        raise ValueError(f"{field}: contains itself")
    if len(_above) >= _MAX_DEPTH:
        raise ValueError(f"{field}: nested more than {_MAX_DEPTH} levels deep")
    above = (*_above, id(value))
    if isinstance(value, Mapping):
        return {_key(key, field): to_value(item, f"{field}.{_shown(key)}", above) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_value(item, f"{field}[{at}]", above) for at, item in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        items = [to_value(item, f"{field}[]", above) for item in value]
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    return _of_object(value, field, above)


def _of_object(value: Any, field: str, above: tuple[int, ...]) -> Any:
    own = getattr(type(value), "_to_json", None)
    if own is not None:
        return own(value, field)
    model_dump = getattr(type(value), "model_dump", None)
    if callable(model_dump):
        # Pydantic, and so every object of the MCP SDKs. Their wire names are the aliases.
        try:
            dumped = value.model_dump(mode="json", by_alias=True, exclude_none=True)
        except Exception as error:  # noqa: BLE001 - whatever a model raises is a problem of the field
            raise TypeError(f"{field}: cannot be read: {_shown(error)}") from error
        return to_value(dumped, field, above)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
        return to_value(fields, field, above)
    if hasattr(value, "__str__") and type(value).__name__ in ("AnyUrl", "Url", "UUID", "Decimal", "PurePosixPath", "PosixPath", "WindowsPath"):
        return str(value)
    _refuse(value, field)


def _refuse(value: Any, field: str) -> NoReturn:
    kind = type(value).__name__
    hint = "; make a list of it" if kind == "generator" else ""
    raise TypeError(f"{field}: a {kind} cannot be written as JSON{hint}")


def _key(key: Any, field: str) -> str:
    if isinstance(key, str):
        return str(key)
    if isinstance(key, (int, float, bool)):
        return str(key)
    raise TypeError(f"{field}: keys must be strings, found a {type(key).__name__}")


def _shown(value: Any) -> str:
    """A short text for errors, whatever the object does when it is asked for one."""
    try:
        text = str(value)
    except Exception:  # noqa: BLE001 - an object that raises in `repr` must not hide the error
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:79] + "…"
