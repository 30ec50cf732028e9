"""The default notation of states: Python expressions, which are parsed and never run as code.

The values of Python literals have a notation. So have frozen sets, and dataclasses, named tuples and enumerations from the module
of the game, in one another to any depth. It is the same in each process: the members of a frozen set are sorted.
"""

import ast
import re
import sys
import warnings
from collections.abc import Sequence
from dataclasses import fields
from enum import Enum
from typing import Any

from arena.errors import abbreviate, describe

_SORTABLE = {bool, int, float, str, bytes}
_PLAIN = _SORTABLE | {type(None), type(...), complex}
_QUICK_CHARACTERS = 10_000
"""Python parses any text of this length in 20 ms."""
MAX_CODE_CHARACTERS = 1 << 20
"""The most characters outside strings; each string counts as one. Python needs about a second and 500 MB for so many."""
_STRING = re.compile(
    r"""\#[^\n]* | (?<![a-z])([a-z]{0,2})
    (?: \'{3}(?:\\.|[^\\])*?(?:\'{3}|\Z) | "{3}(?:\\.|[^\\])*?(?:"{3}|\Z) | '(?:\\.|[^'\\\n])*'? | "(?:\\.|[^"\\\n])*"? )""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
"""A comment, or a string with its prefix, even if its end is missing."""


def read_digits(text: str, most: int = 18) -> int | None:
    """Return the number that a text of at most `most` ASCII digits writes; None for any other text.

    `int` raises ValueError for thousands of digits, and for characters such as `²`, for which `str.isdigit` is true.

    >>> read_digits("12"), read_digits("²"), read_digits("9" * 5000)
    (12, None, None)
    """
    return int(text) if len(text) <= most and text.isascii() and text.isdecimal() else None


class NoNotation(ValueError):
    """A value has no notation."""


def write(value: Any, owner: type) -> str:
    """Return the notation of a value. `owner` is the class of the game. Raises NoNotation if the value has none.

    >>> write((1, frozenset({"b", "a"})), object)
    "(1, frozenset({'a', 'b'}))"
    """
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if kind in (tuple, list):
        inside = ", ".join([write(one, owner) for one in value])
        return f"[{inside}]" if kind is list else f"({inside},)" if len(value) == 1 else f"({inside})"
    if kind in (frozenset, set):
        shapes = {tuple(map(type, one)) if type(one) is tuple else (type(one),) for one in value}
        if len(shapes) == 1 and _SORTABLE.issuperset(*shapes):  # so that the order does not depend on hashes
            inside = ", ".join([write(one, owner) for one in sorted(value)])
        else:
            inside = ", ".join(sorted([write(one, owner) for one in value]))
        return f"{kind.__name__}()" if not value else f"{{{inside}}}" if kind is set else f"frozenset({{{inside}}})"
    if kind is dict:
        return f"{{{', '.join([f'{write(key, owner)}: {write(one, owner)}' for key, one in value.items()])}}}"
    name = kind.__qualname__
    if _find(name, owner) is not kind:
        raise NoNotation(f"{name} is not in the module of the game")
    if isinstance(value, Enum):
        return f"{name}.{value.name}" if value.name in kind.__members__ else f"{name}({write(value.value, owner)})"
    arguments = [f"{key}={write(getattr(value, key), owner)}" for key in _list_arguments(kind) or ()]
    return f"{name}({', '.join(arguments)})"


def read(text: str, owner: type) -> Any:
    """Return the value with the notation `text`. Raises ValueError with a description of the fault.

    >>> read("(1, frozenset({'a', 'b'}))", object) == (1, frozenset({"b", "a"}))
    True
    """
    # No notation has an f-string, and Python takes a minute to parse one of a megabyte.
    if len(text) > _QUICK_CHARACTERS:
        outside = len(text)
        for one in _STRING.finditer(text):
            if one[1] and "f" in one[1].lower():
                raise ValueError("expected a Python literal, got an f-string")
            outside -= len(one[0]) - 1
        if outside > MAX_CODE_CHARACTERS:
            most = f"at most {MAX_CODE_CHARACTERS:,} characters outside strings"
            raise ValueError(f"expected a Python literal with {most}, got {abbreviate(text)}")
    try:
        with warnings.catch_warnings(action="ignore"):  # such as one about the escape in "\\d", for each time that it occurs
            parsed = ast.parse(text.strip(), mode="eval").body
        return _evaluate(parsed, owner)
    except NoNotation as error:
        raise ValueError(f"{error}, got {abbreviate(text)}") from error.__cause__
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"expected a Python literal, got {abbreviate(text)}") from error


def _find(name: str, owner: type) -> type | None:
    """Return the class with this name in the module of `owner` or of one of its bases; None if its values have no notation."""
    first, *rest = name.split(".")
    for base in owner.__mro__:
        found = getattr(sys.modules.get(base.__module__), first, None)
        for part in rest:
            found = getattr(found, part, None)
        if isinstance(found, type) and (issubclass(found, Enum) or _list_arguments(found) is not None):
            return found
    return None


def _list_arguments(kind: Any) -> Sequence[str] | None:
    """Return the arguments with which a dataclass or a named tuple is made; None for another class."""
    if (parameters := getattr(kind, "__dataclass_params__", None)) is not None:
        return [field.name for field in fields(kind) if field.init] if parameters.init else None
    return kind._fields if issubclass(kind, tuple) and hasattr(kind, "_make") else None


def _evaluate(node: ast.expr, owner: type) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple([_evaluate(one, owner) for one in node.elts])
    if isinstance(node, ast.List):
        return [_evaluate(one, owner) for one in node.elts]
    if isinstance(node, ast.Set):
        return {_evaluate(one, owner) for one in node.elts}
    if isinstance(node, ast.Dict):
        pairs = [(key, one) for key, one in zip(node.keys, node.values, strict=True) if key is not None]
        if len(pairs) == len(node.keys):
            return {_evaluate(key, owner): _evaluate(one, owner) for key, one in pairs}
    if isinstance(node, ast.Attribute):
        kind = _find(ast.unparse(node.value), owner)
        if kind is not None and issubclass(kind, Enum):
            if node.attr not in kind.__members__:
                raise NoNotation(f"expected one of {', '.join(kind.__members__)} of {kind.__qualname__}")
            return kind[node.attr]
    if isinstance(node, ast.Call):
        return _call(node, owner)
    return ast.literal_eval(node)


def _call(node: ast.Call, owner: type) -> Any:
    name = ast.unparse(node.func)
    given = [_evaluate(one, owner) for one in node.args]
    named = {str(one.arg): _evaluate(one.value, owner) for one in node.keywords}
    if name in ("frozenset", "set") and not named:
        return frozenset(*given) if name == "frozenset" else set(*given)
    kind = _find(name, owner)
    if kind is None:
        raise NoNotation(f"expected a Python literal, or a dataclass, named tuple or enumeration of the game instead of {name}")
    names = ["value"] if issubclass(kind, Enum) else _list_arguments(kind) or ()
    if len(given) + len(named) > len(names):
        raise NoNotation(f"{name}: expected the arguments {', '.join(names)}")
    try:
        return kind(*given, **named)
    except Exception as error:
        raise NoNotation(f"{name}: expected the arguments {', '.join(names)} ({describe(error)})") from error
