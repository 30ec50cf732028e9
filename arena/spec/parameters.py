"""Holds what a spec gives against the hints of a constructor: every fault with its path, in plain words."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from arena.configured import initializer, parameters_of
from arena.errors import suggestion
from arena.spec.document import Path

Report = Callable[[Path, str], None]
"""Takes the path of a value and what is wrong with it."""


def validated(
    constructor: Callable[..., Any], given: Mapping[str, Any], path: Path, report: Report, *, skip: int = 0
) -> dict[str, Any] | None:
    """The parameters of `constructor` with defaults filled in, as its hints want them; None after a reported fault.

    `skip` leaves out that many leading parameters, which are not the spec's to give.
    """
    known = list(parameters_of(constructor).items())[skip:]
    faults = 0

    def fault(where: Path, message: str) -> None:
        nonlocal faults
        faults += 1
        report(where, message)

    names = [name for name, _ in known]
    for name in given:
        if name not in names:
            fault((*path, name), f"unknown key; {suggestion(name, names)}" if names else "unknown key; none is expected here")
    values: dict[str, Any] = {}
    for name, parameter in known:
        if name in given:
            values[name] = checked(adapters(constructor)[name], given[name], (*path, name), fault)
        elif parameter.default is parameter.empty:
            fault(path, f"{name} is missing: it has no default")
        else:
            values[name] = parameter.default
    return None if faults else values


@cache
def adapters(constructor: Callable[..., Any]) -> dict[str, TypeAdapter[Any]]:
    """A validator for each parameter, from its hint; a parameter without a hint takes anything."""
    hints = get_type_hints(initializer(constructor), include_extras=True)
    return {name: adapter(hints.get(name, Any)) for name in parameters_of(constructor)}


def adapter(hint: Any) -> TypeAdapter[Any]:
    """A strict validator for one hint: text is no number, and true is no integer."""
    try:
        return TypeAdapter(hint, config=_STRICT)
    except Exception:  # a hint with a configuration of its own, such as a model
        return TypeAdapter(hint)


_STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)


def checked(validator: TypeAdapter[Any], value: Any, path: Path, report: Report) -> Any:
    """The value as the hint wants it; None after faults have been reported."""
    try:
        return validator.validate_json(json.dumps(value))
    except ValidationError as error:
        for where, message in explained(error, value):
            report((*path, *where), message)
    except (TypeError, ValueError) as error:
        report(path, f"expected a plain value, got {value!r} ({error})")
    return None


def explained(error: ValidationError, value: Any) -> list[tuple[Path, str]]:
    """Every fault of a value as (path inside it, message); alternatives at one place are joined by `or`."""
    wanted: dict[Path, list[str]] = {}
    for detail in error.errors(include_url=False):
        where = _inside(detail["loc"], value)
        words = _expected(detail["type"], detail.get("ctx", {}), detail["msg"])
        if words not in wanted.setdefault(where, []):
            wanted[where].append(words)
    deepest = {where for where in wanted if not any(other != where and other[: len(where)] == where for other in wanted)}
    return [(where, _message(words, _at(value, where))) for where, words in wanted.items() if where in deepest]


def _message(words: list[str], value: Any) -> str:
    if any(word.startswith("unknown key") for word in words):
        return words[0]
    return f"expected {' or '.join(words)}, got {_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "nothing"
    text = json.dumps(value) if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _inside(location: tuple[str | int, ...], value: Any) -> Path:
    path: list[str | int] = []
    for part in location:
        held = isinstance(value, dict) and part in value
        if held or (isinstance(value, list) and isinstance(part, int) and part < len(value)):
            value = value[part]
        else:
            continue  # the tag of an alternative, not a key
        path.append(part)
    return tuple(path)


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


_WORDS = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "int_parsing": "an integer",
    "int_parsing_size": "a smaller integer",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "none_required": "null",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "missing": "a value",
}


def _expected(kind: str, context: Mapping[str, Any], message: str) -> str:
    if kind in _WORDS:
        return _WORDS[kind]
    if kind in ("literal_error", "enum"):
        return f"one of {context['expected']}"
    if kind == "greater_than_equal":
        return f"at least {context['ge']}"
    if kind == "less_than_equal":
        return f"at most {context['le']}"
    if kind == "greater_than":
        return f"more than {context['gt']}"
    if kind == "less_than":
        return f"less than {context['lt']}"
    if kind == "too_short":
        return f"at least {context['min_length']} items"
    if kind == "too_long":
        return f"at most {context['max_length']} items"
    return message[:1].lower() + message[1:].removeprefix("Value error, ")
