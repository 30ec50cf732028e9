"""Functions whose modules are imported only when they are called."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def import_later(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module only when it is called, so that a plugin that brings the function loads fast.

    >>> import_later("math", "sqrt")(9)
    3.0
    """

    def call(*arguments: Any) -> Any:
        return getattr(import_module(module), name)(*arguments)

    return call
