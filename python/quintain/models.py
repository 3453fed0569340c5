"""The base class of judges written in Python. A plain function from a prompt to a text is a judge as well."""

from __future__ import annotations

from typing import Any

__all__ = ["BaseLLM", "DeepEvalBaseLLM"]


class BaseLLM:
    """A judge: implement `generate`, or `a_generate`. Both may take `schema`, the class of the expected answer."""

    def __init__(self, model: str | None = None, *args: Any, **kwargs: Any) -> None:
        self.name = model
        self.model = self.load_model(*args, **kwargs)

    def load_model(self, *args: Any, **kwargs: Any) -> Any:
        """Whatever the judge needs. It is kept as `model`."""
        return None

    def get_model_name(self, *args: Any, **kwargs: Any) -> str:
        """The name in results."""
        return self.name or type(self).__name__


#: The name of the same class in deepeval.
DeepEvalBaseLLM = BaseLLM
