"""The configurations of `evaluate`, at the place where deepeval has them."""

from .._configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig

__all__ = ["AsyncConfig", "CacheConfig", "DisplayConfig", "ErrorConfig"]
