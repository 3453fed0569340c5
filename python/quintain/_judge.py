"""Judges written in Python: a function from a prompt to a text, or an object with `generate` or `a_generate`."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["answer_all", "is_provider", "name_of", "run_coroutine"]

T = TypeVar("T")
#: Questions that are asked at once.
_CONCURRENT = 20


def is_provider(model: Any) -> bool:
    """Whether the engine knows the model by its id."""
    return isinstance(model, (str, dict))


def name_of(model: Any) -> str | None:
    """A name for results."""
    if model is None or isinstance(model, str):
        return model
    if isinstance(model, dict):
        return str(model.get("id", "model"))
    get = getattr(model, "get_model_name", None)
    name = get() if callable(get) else getattr(model, "__name__", None)
    return str(name) if name else type(model).__name__


def answer_all(model: Any, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Asks the model every question, several at once. What it raises becomes an error of its answer."""
    asynchronous: Any = getattr(model, "a_generate", None)
    if not callable(asynchronous) and inspect.iscoroutinefunction(model):
        asynchronous = model
    if callable(asynchronous):
        concurrently: Callable[..., Awaitable[Any]] = asynchronous  # type: ignore[assignment,unused-ignore] # pyright: ignore
        return run_coroutine(_ask_concurrently(concurrently, questions))
    ask: Any = getattr(model, "generate", None) or model
    if not callable(ask):
        raise TypeError(f"model: expected the id of a provider, a function or an object with generate, found a {type(model).__name__}")
    if len(questions) == 1:
        return [_answer(ask, questions[0])]
    with ThreadPoolExecutor(max_workers=min(_CONCURRENT, len(questions))) as pool:
        return list(pool.map(lambda question: _answer(ask, question), questions))


async def _ask_concurrently(ask: Callable[..., Awaitable[Any]], questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    limit = asyncio.Semaphore(_CONCURRENT)

    async def one(question: dict[str, Any]) -> dict[str, Any]:
        async with limit:
            try:
                return _output(await ask(*_arguments(ask, question)))
            except Exception as error:  # noqa: BLE001 - a judge that fails is an error of this metric only
                return {"error": f"{type(error).__name__}: {error}"}

    return list(await asyncio.gather(*(one(question) for question in questions)))


def _answer(ask: Callable[..., Any], question: dict[str, Any]) -> dict[str, Any]:
    try:
        return _output(ask(*_arguments(ask, question)))
    except Exception as error:  # noqa: BLE001 - as above
        return {"error": f"{type(error).__name__}: {error}"}


def _arguments(ask: Callable[..., Any], question: dict[str, Any]) -> tuple[Any, ...]:
    """The prompt, and the JSON Schema of the answer if the function takes a second argument called `schema`."""
    try:
        parameters = inspect.signature(ask).parameters
    except (TypeError, ValueError):
        parameters = {}  # type: ignore[assignment]
    return (question["prompt"], question["schema"]) if "json_schema" in parameters else (question["prompt"],)


def _output(answer: Any) -> dict[str, Any]:
    if isinstance(answer, tuple) and answer:
        # The text and what it cost.
        answer = answer[0]
    if isinstance(answer, str):
        return {"output": answer}
    dump = getattr(answer, "model_dump", None)
    if callable(dump):
        answer = dump(mode="json")
    try:
        json.dumps(answer, allow_nan=False)
    except (TypeError, ValueError) as error:
        return {"error": f"the answer of the judge is not JSON: {error}"}
    return {"output": answer}


def run_coroutine(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, also where an event loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    result: list[T] = []
    errors: list[BaseException] = []

    def body() -> None:
        try:
            result.append(asyncio.run(coroutine))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            errors.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return result[0]
