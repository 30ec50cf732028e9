"""Checks the values of a spec against the hints of a constructor, and reports every fault with its path in plain words."""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError, to_jsonable_python

from arena.configured import initializer, parameters_of
from arena.errors import cut, describe, suggest
from arena.identity import canonical
from arena.spec.document import Path

Report = Callable[[Path, str], None]
"""Takes the path of a value and a description of its fault."""
UNKNOWN_KEY = "unknown key"


def add_hints(report: Report, known: Iterable[str]) -> Report:
    """Return a reporter that adds the known keys to the bare report of an unknown key."""

    def hinted(path: Path, message: str) -> None:
        report(path, f"{UNKNOWN_KEY}; {suggest(str(path[-1]), known)}" if message == UNKNOWN_KEY else message)

    return hinted


def validate_parameters(
    constructor: Callable[..., Any], given: Mapping[str, Any], path: Path, report: Report, *, skip: int = 0
) -> dict[str, Any] | None:
    """Return the parameters of `constructor` with defaults filled in, of the types of its hints; None after a reported fault.
    `skip` leaves out this number of leading parameters, which a spec cannot give.
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
            hint = suggest(name, names) if names else "none is expected here"
            fault((*path, name), f"{UNKNOWN_KEY}; {hint}")
    values: dict[str, Any] = {}
    for name, parameter in known:
        if name in given:
            try:
                validator = make_adapters(constructor)[name]
            except Exception as error:  # the hints belong to a plugin
                reason = f"the hints of {constructor.__qualname__} are at fault: {describe(error)}"
                fault((*path, name), f"cannot be checked: {reason}")
            else:
                values[name] = check_value(validator, given[name], (*path, name), fault)
        elif parameter.default is parameter.empty:
            fault(path, f"{name} is missing: it has no default")
        else:
            values[name] = _read_default(constructor, name, parameter.default)
    return None if faults else values


def _read_default(constructor: Callable[..., Any], name: str, value: Any) -> Any:
    """Return a default as if a spec had written it, such as 1.0 for a float that defaults to 1."""
    try:
        written = make_adapters(constructor)[name].validate_json(json.dumps(value))
    except Exception:  # a value that no spec could give
        return value
    return written if written == value else value


def drop_defaults(constructor: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that differ from their defaults, in the terms of JSON: ids depend only on these. So authors can add a
    parameter with a default, and every record keeps its id.
    """
    known = parameters_of(constructor)
    found = {name: make_plain(value) for name, value in values.items()}
    for name in known.keys() & found.keys():
        default = known[name].default
        if default is not inspect.Parameter.empty:
            same = (default, _read_default(constructor, name, default))
            if canonical(found[name]) in {canonical(make_plain(one)) for one in same}:
                del found[name]
    return found


@cache
def make_adapters(constructor: Callable[..., Any]) -> dict[str, TypeAdapter[Any]]:
    """Return a validator for each parameter, from its hint; a parameter without a hint accepts anything."""
    hints = get_type_hints(initializer(constructor), include_extras=True)
    return {name: make_adapter(hints.get(name, Any)) for name in parameters_of(constructor)}


def make_adapter(hint: Any) -> TypeAdapter[Any]:
    """Return a strict validator for one hint: text is not a number, and true is not an integer."""
    try:
        return TypeAdapter(hint, config=_STRICT)
    except Exception:  # a hint with its own configuration, such as a model
        return TypeAdapter(hint)


_STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)


def check_value(validator: TypeAdapter[Any], value: Any, path: Path, report: Report) -> Any:
    """Return the value converted by its hint; None after faults have been reported."""
    try:
        return validator.validate_json(json.dumps(value))
    except ValidationError as error:
        for where, message in explain_faults(error, value):
            report((*path, *where), message)
    except (TypeError, ValueError) as error:
        report(path, f"expected a plain value, got {type(value).__name__} ({error})")
    return None


def make_plain(value: Any) -> Any:
    """Return a value in the terms of JSON, as far as possible, so that its canonical text is unique."""
    if isinstance(value, (set, frozenset)):
        return sorted(map(make_plain, value), key=canonical)
    if isinstance(value, Mapping):
        return {str(key): make_plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [make_plain(inner) for inner in value]
    try:
        return to_jsonable_python(value)
    except Exception:  # canonical text names its type
        return value


def make_refusal(message: str) -> PydanticCustomError:
    """Return the exception of a validator with its own message; `explain_faults` repeats the message unchanged."""
    return PydanticCustomError("refused", "{message}", {"message": message})


def explain_faults(error: ValidationError | Sequence[Mapping[str, Any]], value: Any) -> list[tuple[Path, str]]:
    """Return every fault of a value as (path inside it, message); alternatives at one place are joined by `or`.

    FastAPI has the details of an error without the error.
    """
    wanted: dict[Path, list[str]] = {}
    own: dict[Path, str] = {}
    given: dict[Path, Any] = {}
    for detail in error.errors(include_url=False) if isinstance(error, ValidationError) else error:
        where, found = _find_place(detail["loc"], value)
        if detail["type"] == "missing" and detail["loc"] and isinstance(detail["loc"][-1], str):
            where, found = (*where, detail["loc"][-1]), None
        given[where] = found
        if detail["type"] == "refused":
            own.setdefault(where, detail["msg"])
        words = _describe_expected(detail["type"], detail.get("ctx", {}), detail["msg"])
        if words not in wanted.setdefault(where, []):
            wanted[where].append(words)
    deepest = {where for where in wanted if not any(other != where and other[: len(where)] == where for other in wanted)}
    faults: list[tuple[Path, str]] = []
    for where, expected in wanted.items():
        if where in deepest:
            message = f"expected {' or '.join(expected)}, got {_describe_value(given[where])}"
            faults.append((where, own.get(where) or (UNKNOWN_KEY if UNKNOWN_KEY in expected else message)))
    return faults


def _describe_value(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if value is None:
        return "nothing"
    return cut(json.dumps(value) if isinstance(value, bool) else repr(value))


def _find_place(location: tuple[str | int, ...], value: Any) -> tuple[Path, Any]:
    path: list[str | int] = []
    for part in location:
        held = isinstance(value, dict) and part in value
        if held or (isinstance(value, list) and isinstance(part, int) and part < len(value)):
            value = value[part]
        else:
            continue  # the tag of an alternative, not a key
        path.append(part)
    return tuple(path), value


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
    "model_attributes_type": "a mapping",
    "missing": "a value",
    "extra_forbidden": UNKNOWN_KEY,
    "unexpected_keyword_argument": UNKNOWN_KEY,
}

_EXAMPLES = {
    "OpeningKeys": "{plies: 4}",
    "MatchLimits": "{nodes: 1000}",
    "DecisionLimits": "{nodes: 1000}",
    "AdjudicateKeys": "{draw: {moves: 8}}",
    "DrawKeys": "{moves: 8}",
    "ResignKeys": "{moves: 4}",
}
"""Values of keys that take a mapping, by the names of their models."""
_INSTANCES = {"str": "text", "float": "a number"}


def _describe_expected(kind: str, context: Mapping[str, Any], message: str) -> str:
    if context.get("class_name") in _EXAMPLES:
        return f"a mapping such as {_EXAMPLES[context['class_name']]}"
    if kind in _WORDS:
        return _WORDS[kind]
    if kind == "is_instance_of" and context["class"] in _INSTANCES:
        return _INSTANCES[context["class"]]
    if kind in ("literal_error", "enum"):
        return f"one of {context['expected']}"
    if kind == "greater_than_equal":
        return f"at least {_format_bound(context['ge'])}"
    if kind == "less_than_equal":
        return f"at most {_format_bound(context['le'])}"
    if kind == "greater_than":
        return f"more than {_format_bound(context['gt'])}"
    if kind == "less_than":
        return f"less than {_format_bound(context['lt'])}"
    if kind in ("too_short", "string_too_short"):
        return f"at least {_count_items(context['min_length'], kind)}"
    if kind in ("too_long", "string_too_long"):
        return f"at most {_count_items(context['max_length'], kind)}"
    if message.startswith("Input should be "):
        return message.removeprefix("Input should be ")
    return f"another value ({message.removeprefix('Value error, ')})"


def _format_bound(number: Any) -> Any:
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _count_items(number: int, kind: str) -> str:
    what = "character" if kind.startswith("string") else "item"
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
