"""The form of a judge's answer as a class, for judges that take `schema` as those of deepeval do."""

from __future__ import annotations

import json
from typing import Any, Literal

__all__ = ["model_of"]

_MADE: dict[str, type[Any]] = {}


def model_of(schema: dict[str, Any] | None) -> type[Any] | None:
    """A class with the properties of a JSON Schema: one of pydantic where that is installed."""
    if schema is None:
        return None
    key = json.dumps(schema, sort_keys=True)
    made = _MADE.get(key)
    if made is None:
        made = _MADE[key] = _make(schema, "Answer")
    return made


def _make(schema: dict[str, Any], name: str) -> type[Any]:
    try:
        from pydantic import create_model  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        fields = list(schema.get("properties", {}))
        return type(name, (_Answer,), {"model_fields": dict.fromkeys(fields), "_schema": schema})
    required = set(schema.get("required", schema.get("properties", {})))
    fields_of: dict[str, Any] = {
        key: (_kind(part, key), ... if key in required else None) for key, part in schema.get("properties", {}).items()
    }
    model: type[Any] = create_model(name, **fields_of)
    return model


def _kind(schema: dict[str, Any], name: str) -> Any:
    if schema.get("enum"):
        return Literal[tuple(schema["enum"])]
    kind = schema.get("type")
    if kind == "array":
        return list[_kind(schema.get("items", {}), name)]  # type: ignore[misc]
    if kind == "object":
        return _make(schema, name.capitalize())
    plain: dict[Any, Any] = {"string": str, "number": float, "integer": int, "boolean": bool}
    return plain.get(kind if isinstance(kind, str) else None, Any)


class _Answer:
    """What judges need of a class of pydantic, without pydantic."""

    model_fields: dict[str, Any] = {}
    _schema: dict[str, Any] = {}

    def __init__(self, **values: Any) -> None:
        missing = [name for name in self.model_fields if name not in values]
        if missing:
            raise ValueError(f"{', '.join(missing)} is required")
        self.__dict__.update(values)

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return cls._schema

    @classmethod
    def model_validate(cls, value: dict[str, Any]) -> _Answer:
        return cls(**value)

    @classmethod
    def model_validate_json(cls, text: str) -> _Answer:
        return cls(**json.loads(text))

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return dict(self.__dict__)
