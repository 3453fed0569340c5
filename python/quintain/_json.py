"""Turns objects of users into JSON: our own classes, objects of the MCP SDKs, pydantic models, plain data.

Every problem names the field at which it is, and nothing that a user passes can make this module fail otherwise: cycles,
values that are not numbers, objects that raise.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import math
import os
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from typing import Any, NoReturn

__all__ = ["dump", "encode", "shown", "to_value", "visible"]

#: What the reader of the engine accepts, with some room for the test case around a value.
_MAX_DEPTH = 100
#: What CPython converts to text without being asked for more.
_MAX_BITS = 14_000


def dump(value: Any) -> str:
    """Writes a JSON value on one line. Lone surrogates, which JSON cannot carry, become replacement characters."""
    return _without_surrogates(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def encode(value: Any, field: str) -> str:
    """Writes any object on one line. `field` names the object in errors."""
    try:
        return _without_surrogates(_ENCODER.encode(value))
    except Exception:  # noqa: BLE001 - the slow way says which field is wrong, and reads what the fast one cannot
        return dump(to_value(value, field))


def _without_surrogates(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def to_value(value: Any, field: str, _above: tuple[int, ...] = ()) -> Any:
    """The JSON value of an object. `field` names the object in errors."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if isinstance(value, enum.Enum):
        return to_value(value.value, field, _above)
    # What follows may be subclasses: their plain values count.
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{field}: {float(value)!r} is not a JSON number")
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            raise ValueError(f"{field}: an integer of more than 4,000 digits")
        return int(value)
    if id(value) in _above:
        raise ValueError(f"{field}: contains itself (a cycle)")
    if len(_above) >= _MAX_DEPTH:
        raise ValueError(f"{field}: nested more than {_MAX_DEPTH} levels deep")
    above = (*_above, id(value))
    if isinstance(value, Mapping):
        pairs = _read(value.items(), field)
        return {_key(key, field): to_value(item, f"{field}.{shown(key)}", above) for key, item in pairs}
    if isinstance(value, (list, tuple)):
        return [to_value(item, f"{field}[{at}]", above) for at, item in enumerate(_read(value, field))]
    if isinstance(value, (set, frozenset)):
        items = [to_value(item, f"{field}[]", above) for item in value]
        return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
    own = getattr(kind, "_to_json", None)
    if own is not None:
        return own(value, field, above)
    return to_value(_plain(value, field), field, above)


def _read(values: Iterable[Any], field: str) -> list[Any]:
    """The items of a collection, whose class may be the user's."""
    try:
        return list(values)
    except Exception as error:  # noqa: BLE001 - whatever a collection raises is a problem of the field
        raise TypeError(f"{field}: cannot be read: {shown(error)}") from error


def _plain(value: Any, field: str) -> Any:
    """One step from an object towards plain data."""
    kind = type(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, type) and callable(getattr(value, "model_json_schema", None)):
        # A class of pydantic stands for its schema.
        return getattr(value, "model_json_schema")()  # noqa: B009 - the class is not known here
    if callable(getattr(kind, "model_dump", None)):
        # Pydantic, and so every object of the MCP SDKs. Their wire names are the aliases.
        try:
            return value.model_dump(mode="json", by_alias=True, exclude_none=True)
        except Exception as error:  # noqa: BLE001 - whatever a model raises is a problem of the field
            raise TypeError(f"{field}: cannot be read: {shown(error)}") from error
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    if kind.__module__ == "numpy" and callable(getattr(kind, "tolist", None)):
        array: Any = value
        return array.tolist()
    if kind.__name__ in ("AnyUrl", "Url", "UUID", "Decimal"):
        return str(value)
    _refuse(value, field)


def _default(value: Any) -> Any:
    """What the encoder cannot write itself."""
    kind = type(value)
    own = getattr(kind, "_to_json_shallow", None)
    if own is not None:
        return own(value)
    if isinstance(value, (set, frozenset)):
        return to_value(value, "")
    if isinstance(value, Mapping):
        return dict(value)
    return _plain(value, "")


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_default)


def _refuse(value: Any, field: str) -> NoReturn:
    kind = type(value).__name__
    hint = "; make a list of it" if kind == "generator" else ""
    raise TypeError(f"{field}: a {kind} cannot be written as JSON{hint}")


def _key(key: Any, field: str) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    raise TypeError(f"{field}: keys must be strings, found a {type(key).__name__}")


def shown(value: Any) -> str:
    """A short text for errors, whatever the object does when it is asked for one."""
    try:
        text = str(value)
    except Exception:  # noqa: BLE001 - an object that raises in `repr` must not hide the error
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:79] + "…"


def visible(text: str) -> str:
    """Text of others, with what a terminal would obey or hide written out."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else f"\\u{{{ord(char):x}}}" for char in text)
