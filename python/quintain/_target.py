"""Which MCP server is meant: a command, a URL, or the parameters of another library."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from typing import Any

__all__ = ["target_request"]


def target_request(
    caller: str,
    command: tuple[Any, ...],
    *,
    url: str | None = None,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    **others: Any,
) -> dict[str, Any]:
    """The target as the engine reads it."""
    words: list[Any] = list(command)
    if len(words) == 1:
        only = words[0]
        if hasattr(only, "command") and hasattr(only, "args"):
            # `StdioServerParameters` of the official SDK.
            words, env, cwd = [only.command, *only.args], env or getattr(only, "env", None), cwd or getattr(only, "cwd", None)
        elif isinstance(only, (list, tuple)):
            words = list(only)
        elif isinstance(only, str) and only.startswith(("http://", "https://")) and url is None:
            words, url = [], only
        elif isinstance(only, str) and any(map(str.isspace, only)) and shutil.which(only) is None:
            words = shlex.split(only)
    for at, word in enumerate(words):
        if not isinstance(word, (str, os.PathLike)):
            raise TypeError(f"{caller}: command[{at}]: expected a string, found a {type(word).__name__}")
    if bool(words) == (url is not None):
        raise TypeError(f"{caller}: give either a command or url")
    return {
        "command": [os.fspath(word) for word in words], "url": _text(url, caller, "url"), "headers": _pairs(headers, caller, "headers"),
        "env": _pairs(env, caller, "env"), "cwd": None if cwd is None else os.fspath(cwd), **others,
    }


def _text(value: Any, caller: str, field: str) -> Any:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{caller}: {field}: expected a string, found a {type(value).__name__}")
    return value


def _pairs(value: Mapping[str, str] | None, caller: str, field: str) -> list[tuple[str, str]]:
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise TypeError(f"{caller}: {field}: expected a dictionary, found a {type(value).__name__}")
    for name, item in value.items():
        if not isinstance(name, str) or not isinstance(item, str):
            raise TypeError(f"{caller}: {field}.{name}: expected a string, found a {type(item).__name__}")
    return list(value.items())
