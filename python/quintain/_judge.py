"""Judges written in Python: a function from a prompt to a text, or an object with `generate` or `a_generate`."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from ._json import encode, shown
from ._loop import Loop

__all__ = ["Judge", "is_provider", "name_of"]


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
    try:
        name = get() if callable(get) else getattr(model, "__name__", None)
    except Exception:  # noqa: BLE001 - a name is not worth an evaluation
        name = None
    return str(name) if name else type(model).__name__


class Judge:
    """A model in Python, asked several questions at once."""

    def __init__(self, model: Any, loop: Loop, concurrency: int, throttle: float = 0) -> None:
        self._loop = loop
        self._concurrency = concurrency
        self._throttle = throttle
        asynchronous: Any = getattr(model, "a_generate", None)
        if not callable(asynchronous) and inspect.iscoroutinefunction(model):
            asynchronous = model
        self._asynchronous: Any = asynchronous if callable(asynchronous) else None
        ask: Any = self._asynchronous or getattr(model, "generate", None) or model
        if not callable(ask) or isinstance(ask, type):
            raise TypeError(
                f"model: expected the id of a provider, a function or an object with generate, found {_found(model)}"
            )
        self._ask: Callable[..., Any] = ask
        self._wants = _wants(ask)

    def answer_all(self, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Answers every question. What the model raises becomes an error of its answer."""
        if self._asynchronous is not None:
            return self._loop.run(self._answer_concurrently(questions))
        if len(questions) == 1 or self._concurrency == 1:
            return [self._answer(question) for question in questions]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(max_workers=min(self._concurrency, len(questions))) as pool:
            asked = []
            for question in questions:
                asked.append(pool.submit(self._answer, question))
                if self._throttle:
                    time.sleep(self._throttle)
            return [answer.result() for answer in asked]

    async def _answer_concurrently(self, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        import asyncio

        limit = asyncio.Semaphore(self._concurrency)

        async def one(at: int, question: dict[str, Any]) -> dict[str, Any]:
            if self._throttle:
                await asyncio.sleep(self._throttle * at)
            async with limit:
                try:
                    answer = self._call(question)
                    return _output(await answer if inspect.isawaitable(answer) else answer)
                except Exception as error:  # noqa: BLE001 - a judge that fails is an error of this metric only
                    return _failure(error)

        return list(await asyncio.gather(*(one(at, question) for at, question in enumerate(questions))))

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = self._call(question)
            if inspect.isawaitable(answer):
                return self._loop.run(_awaited(answer))
            return _output(answer)
        except Exception as error:  # noqa: BLE001 - as above
            return _failure(error)

    def _call(self, question: dict[str, Any]) -> Any:
        prompt, schema = question["prompt"], question.get("schema")
        if self._wants == "json_schema":
            return self._ask(prompt, json_schema=schema)
        if self._wants == "schema":
            from ._schema import model_of

            return self._ask(prompt, schema=model_of(schema))
        return self._ask(prompt)


def _found(model: Any) -> str:
    return f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"


def _wants(ask: Callable[..., Any]) -> str | None:
    """How the function takes the form of the answer: as JSON Schema, as a class of pydantic, or not at all."""
    try:
        parameters = inspect.signature(ask).parameters
    except (TypeError, ValueError):
        return None
    return next((name for name in ("json_schema", "schema") if name in parameters), None)


def _failure(error: Exception) -> dict[str, Any]:
    return {"error": f"{type(error).__name__}: {shown(error)}"}


async def _awaited(answer: Awaitable[Any]) -> dict[str, Any]:
    return _output(await answer)


def _output(answer: Any) -> dict[str, Any]:
    if isinstance(answer, tuple) and answer:
        # The text and what it cost.
        answer = answer[0]
    if isinstance(answer, str):
        return {"output": str(answer)}
    try:
        return {"output": json.loads(encode(answer, "the answer of the judge"))}
    except (TypeError, ValueError) as error:
        return {"error": shown(error)}
