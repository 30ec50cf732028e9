"""Checks the values of a spec against the type hints of a constructor, and reports each fault with its path."""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path as FilePath
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator, from_json, to_jsonable_python

from arena.agent import Agent
from arena.configured import SPEC_FILE, initializer, parameters_of
from arena.errors import cut, describe, listing, suggest
from arena.game import Game
from arena.identity import canonical
from arena.spec.document import Path

Report = Callable[[Path, str], None]
"""A function that takes the path of a value and a description of its fault."""
Value = TypeVar("Value")
UNKNOWN_KEY = "unknown key"


OTHER_KEYS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("iterations", "simulations", "playouts", "sims"), ("rollouts", "iterations", "simulations", "nodes")),
    **dict.fromkeys(("budget", "max_nodes", "node_limit", "nodes", "visits", "expansions", "evaluations"), ("nodes",)),
    **dict.fromkeys(("time", "seconds", "time_limit", "timeout", "movetime", "move_time", "thinking_time"), ("seconds",)),
    **dict.fromkeys(("ply", "plies", "max_depth", "search_depth", "depth_limit", "levels", "lookahead", "depth"), ("depth",)),
    **dict.fromkeys(("max_moves", "move_limit", "max_plies", "max_steps", "turns"), ("moves",)),
    **dict.fromkeys(("memory", "ram", "memory_limit"), ("memory_mb",)),
    **dict.fromkeys(("c", "cp", "uct_c", "c_uct", "c_puct", "cpuct", "exploration_constant"), ("exploration",)),
    **dict.fromkeys(("eval", "evaluation", "evaluator", "evaluation_function", "h", "value_function"), ("heuristic",)),
    **dict.fromkeys(("temp", "t0", "start_temperature", "initial_temperature"), ("start", "temperature")),
    **dict.fromkeys(("end_temperature", "final_temperature"), ("end",)),
    **dict.fromkeys(("pop", "pop_size", "population_size"), ("population",)),
    **dict.fromkeys(("mutation_rate", "mutation_probability"), ("mutation",)),
    **dict.fromkeys(("epochs", "max_generations"), ("generations", "iterations")),
    **dict.fromkeys(("beam_width", "k"), ("width",)),
    **dict.fromkeys(("n_restarts", "max_restarts", "restart"), ("restarts",)),
    **dict.fromkeys(("width", "cols", "w", "files"), ("columns",)),
    **dict.fromkeys(("height", "ranks"), ("rows",)),
    **dict.fromkeys(("size", "board_size", "n"), ("size", "n", "rows", "discs", "box")),
    **dict.fromkeys(("disks", "disk", "n_discs"), ("discs",)),
    **dict.fromkeys(("connect", "win_length", "k_in_a_row"), ("in_a_row",)),
    **dict.fromkeys(("matches", "repetitions", "repeats", "num_games", "n_games", "games_per_pair", "repeat"), ("rounds",)),
    **dict.fromkeys(("players", "bots", "engines", "participants", "entries", "competitors"), ("agents",)),
    **dict.fromkeys(("puzzle", "puzzles", "environment", "env"), ("game",)),
    **dict.fromkeys(("name", "title", "id", "alias"), ("label", "name")),
    **dict.fromkeys(("random_seed", "rng", "random_state"), ("seed",)),
    **dict.fromkeys(("type", "mode", "tournament", "tournament_type", "pairing", "pairings"), ("format",)),
    **dict.fromkeys(("starts", "start", "fen", "fens", "instances", "problems", "boards"), ("positions",)),
    **dict.fromkeys(("opening", "opening_book", "book", "random_moves"), ("openings",)),
    **dict.fromkeys(("sandbox", "process"), ("isolation",)),
}
"""Keys that other programs and textbooks use, each with the keys that arena may have for them."""


def explain_unknown(key: str, known: Iterable[str], *, beside: Iterable[str] = (), value: Any = None) -> str:
    """Return what to write instead of an unknown key of a spec, whose value is `value`.

    `known` are the keys that are expected, and `beside` those that are not part of the same list but may stand at this place.

    >>> explain_unknown("plies", ["depth"])
    "did you mean 'depth'?"
    >>> explain_unknown("time", ["exploration"], beside=["limits"], value=2)
    'known: exploration; `limits: {seconds: 2}` limits each decision'
    """
    names, others = sorted(set(known)), list(beside)
    words = OTHER_KEYS.get(key.lower().replace("-", "_"), ())
    meant = [word for word in words if word in (*names, *others)]
    nearest = [hint for hint in (suggest(key, names), suggest(key, others)) if hint.startswith("did you mean")]
    listed = f"known: {', '.join(names)}" if names else "no keys are expected here"
    limit = next((word for word in words if word in LIMITS), None) if "limits" in (*names, *others) else None
    if limit is None or limit in meant:
        return f"did you mean {meant[0]!r}?" if meant else nearest[0] if nearest and not words else listed
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else LIMITS[limit]
    whom = "each match" if limit == "moves" else "each decision"
    return f"{f'did you mean {meant[0]!r}? ' if meant else ''}{listed}; `limits: {{{limit}: {number}}}` limits {whom}"


LIMITS = {"nodes": 1000, "seconds": 1, "depth": 4, "moves": 200, "memory_mb": 500}
"""Limits of a spec that replace options of other programs, each with a value for an example."""


def add_hints(report: Report, known: Iterable[str]) -> Report:
    """Return a function like `report` that also names the known keys if a key is unknown."""

    def hinted(path: Path, message: str) -> None:
        report(path, f"{UNKNOWN_KEY}; {explain_unknown(str(path[-1]), known)}" if message == UNKNOWN_KEY else message)

    return hinted


def make_plain(value: Any) -> Any:
    """Convert a value to JSON values, as far as possible, so that equal values have the same canonical text."""
    if isinstance(value, (set, frozenset)):
        return sorted(map(make_plain, value), key=canonical)
    if isinstance(value, Mapping):
        return {str(key): make_plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [make_plain(inner) for inner in value]
    try:
        return to_jsonable_python(value)
    except Exception:  # the canonical text then names the type
        return value


class Parameters:
    """The parameters that a spec can give to a class, a heuristic or a format.

    >>> class Bold:
    ...     def __init__(self, *, depth: int, greed: float = 1.0) -> None: ...
    >>> found = Parameters(Bold)
    >>> found.validate({"depth": 3}, (), print)
    {'depth': 3, 'greed': 1.0}
    >>> found.validate({"depth": "much"}, ("agents", 0), print)
    ('agents', 0, 'depth') expected an integer, got 'much'
    >>> found.drop_defaults({"depth": 3, "greed": 1.0})
    {'depth': 3}
    """

    make_plain = staticmethod(make_plain)

    def __init__(self, constructor: Callable[..., Any]) -> None:
        self.constructor = constructor
        self.known = parameters_of(constructor)
        """The parameters by name, as `inspect` describes them."""

    def adapter(self, name: str) -> TypeAdapter[Any]:
        """Return the validator of a parameter, made from its type hint. A parameter without a hint accepts any value.

        Raises any exception if the hint cannot be read; the hints of other parameters do not matter.
        """
        return _make_adapter(self.constructor, name)

    def validate(
        self, given: Mapping[str, Any], path: Path, report: Report, *, skip: int = 0, beside: Iterable[str] = ()
    ) -> dict[str, Any] | None:
        """Return the given values, converted to the types in the hints, with defaults for missing ones; None after a fault.

        `skip` is the number of leading parameters that a spec cannot set. `beside` are other keys that a spec may have at this
        place. If a key is unknown, the message suggests them, too.
        """
        known = list(self.known.items())[skip:]
        faults = 0

        def fault(where: Path, message: str) -> None:
            nonlocal faults
            faults += 1
            report(where, message)

        names = [name for name, _ in known]
        for name in given:
            if name not in names:
                fault((*path, name), f"{UNKNOWN_KEY}; {explain_unknown(name, names, beside=beside, value=given[name])}")
        values: dict[str, Any] = {}
        for name, parameter in known:
            if name in given:
                try:
                    validator = self.adapter(name)
                except Exception as error:  # the type hints of a plugin may be wrong
                    reason = f"the type hints of {self.constructor.__qualname__} cannot be read: {describe(error)}"
                    fault((*path, name), f"cannot be checked: {reason}")
                else:
                    values[name] = check_value(validator, given[name], (*path, name), fault)
            elif parameter.default is parameter.empty:
                fault(path, f"{name} is missing: it has no default")
            else:
                values[name] = _read_default(self, name, parameter.default)
        return None if faults else values

    def drop_defaults(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that differ from their defaults, as JSON values.

        Ids depend only on these values. So if an author adds a parameter with a default, every record keeps its id.
        """
        incidental = getattr(self.constructor, "incidental", ())
        found = {name: make_plain(value) for name, value in values.items() if name not in incidental}
        for name in self.known.keys() & found.keys():
            default = self.known[name].default
            if default is not inspect.Parameter.empty:
                same = (default, _read_default(self, name, default))
                if canonical(found[name]) in {canonical(make_plain(one)) for one in same}:
                    del found[name]
        return found

    def find_files(self, values: Mapping[str, Any], folder: FilePath) -> dict[str, str]:
        """Return the values with the type hint SpecFile, each with the absolute path of its file, if the file exists.

        A relative path is looked up in `folder`, the folder of the spec, and then in the current folder. In a hint such as
        `Literal["rooms"] | SpecFile`, `rooms` is a name and not a file.
        """
        found: dict[str, str] = {}
        for name, value in values.items():
            if self.names_file(name, value):
                with suppress(OSError, RuntimeError, ValueError):  # not a valid file name, or an unknown home
                    given = FilePath(value).expanduser()
                    path = next((path for path in (folder / given, given.absolute()) if path.exists()), None)
                    if path is not None:
                        found[name] = str(path)
        return found

    def names_file(self, name: str, value: Any) -> bool:
        """Return whether this value of a parameter names a file: its type hint has SpecFile, and does not list the value."""
        names = self.file_parameters.get(name)
        return names is not None and isinstance(value, str) and value not in names

    @property
    def file_parameters(self) -> dict[str, frozenset[Any]]:
        """The parameters with SpecFile anywhere in their type hints, each with the values in the hint that name no file."""
        parts: dict[str, list[Any]] = {}
        for name in self.known:
            with suppress(Exception):  # the type hints of a plugin may be wrong; the check of the values reports this
                parts[name] = list(_list_hints(_read_hint(self.constructor, name)))
        return {
            name: frozenset(one for part in found if get_origin(part) is Literal for one in get_args(part))
            for name, found in parts.items()
            if any(SPEC_FILE in getattr(part, "__metadata__", ()) for part in found)
        }


def _list_hints(hint: Any) -> Iterator[Any]:
    """Yield a type hint and all hints inside it."""
    yield hint
    for inner in () if get_origin(hint) is Literal else get_args(hint):
        yield from _list_hints(inner)


def locate_options(options: Mapping[str, Any], files: Mapping[str, str], folder: FilePath) -> dict[str, Any]:
    """Return options for a process with the working directory `folder`. Paths of files in other folders become absolute."""
    return {**options, **{name: file for name, file in files.items() if FilePath(file) != folder / options[name]}}


def _read_default(parameters: Parameters, name: str, value: Any) -> Any:
    """Return a default as if it came from the spec: for example, 1.0 for a float with the default 1."""
    try:
        written = parameters.adapter(name).validate_json(json.dumps(value))
    except Exception:  # a spec could not give this value
        return value
    return written if written == value else value


@cache
def _make_adapter(constructor: Callable[..., Any], name: str) -> TypeAdapter[Any]:
    return make_adapter(_read_hint(constructor, name))


def _read_hint(constructor: Callable[..., Any], name: str) -> Any:
    """Return the type hint of one parameter; Any if it has none. The parameters that arena sets may have hints that exist only
    for type checkers.
    """
    init = initializer(constructor)
    written = getattr(init, "__annotations__", {})
    if name not in written:
        return Any

    def alone() -> None: ...

    alone.__annotations__ = {name: written[name]}
    return get_type_hints(alone, getattr(inspect.unwrap(init), "__globals__", {}), include_extras=True)[name]


def make_adapter(hint: Any) -> TypeAdapter[Any]:
    """Return a strict validator for a type hint: text is not accepted as a number, nor true as an integer."""
    try:
        return TypeAdapter(hint, config=_STRICT)
    except Exception:  # a hint with its own configuration, such as a pydantic model
        return TypeAdapter(hint)


_STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)


def check_value(validator: TypeAdapter[Any], value: Any, path: Path, report: Report) -> Any:
    """Return the value, converted by its type hint; None if faults were reported."""
    try:
        return validator.validate_json(json.dumps(value))
    except ValidationError as error:
        for where, message in explain_faults(error, value):
            report((*path, *where), message)
    except (TypeError, ValueError) as error:
        where, got = _find_object(value) or ((), f"{type(value).__name__} ({error})")
        report((*path, *where), f"expected a plain value, as in a file, got {got}")
    return None


def _find_object(value: Any) -> tuple[Path, str] | None:
    """Return the place and the description of the first value that no file can contain; None if there is none."""
    if isinstance(value, (Mapping, list, tuple)):
        for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
            if (found := _find_object(inner)) is not None:
                return (key, *found[0]), found[1]
        return None
    if value is None or isinstance(value, (str, int, float)):
        return None
    got = f"an object of the class {type(value).__name__}"
    if callable(value):
        got = f"the {'class' if isinstance(value, type) else 'function'} {getattr(value, '__name__', '?')}"
    if callable(value) or isinstance(value, (Agent, Game)):
        got += (
            "; write its name and list its file under `plugins`, or call `arena.play`, which accepts agents and games as objects"
        )
    return (), got


def read_json(validator: TypeAdapter[Value], text: str) -> Value:
    """Return the value of a JSON text. Raises ValueError with the place of the first fault in it.

    A text that is nested too deeply, or that has surrogates, is not valid JSON.

    >>> read_json(TypeAdapter(dict[str, int]), '{"a": 1, "b": "two"}')
    Traceback (most recent call last):
    ...
    ValueError: b: expected an integer, got 'two'
    """
    try:
        return stop_at_fault(validator).validate_json(text, strict=True)  # type: ignore[no-any-return]
    except ValidationError as error:
        if error.error_count() == 1 and (first := error.errors(include_url=False)[0])["type"] == "json_invalid":
            raise ValueError(f"expected JSON, got {text!r:.60} ({first['ctx']['error']})") from None
        raise _name_fault(error, from_json(text)) from None


def read_value(validator: TypeAdapter[Value], value: Any) -> Value:
    """Return a value as the type of the validator. Raises ValueError with the place of the first fault in it."""
    try:
        return stop_at_fault(validator).validate_python(value, strict=True)  # type: ignore[no-any-return]
    except ValidationError as error:
        raise _name_fault(error, value) from None


MANY_FAULTS = 1000
"""If there are more faults, none is described, because pydantic can only describe all of them, which takes much memory."""


@cache
def stop_at_fault(validator: TypeAdapter[Any]) -> SchemaValidator:
    """Return a validator that ends at the first fault in a list or a mapping, for values that may come from a stranger.

    Pydantic keeps every fault. For a list of wrong values, they take more than a hundred times as much memory as its text.

    >>> try:
    ...     stop_at_fault(TypeAdapter(list[int])).validate_json('["one", "two"]')
    ... except ValidationError as error:
    ...     print(error.error_count())
    1
    """

    def change(schema: Any) -> Any:
        if isinstance(schema, dict):
            found = {key: change(value) for key, value in schema.items()}
            return found | {"fail_fast": True} if found.get("type") in ("list", "tuple", "set", "frozenset", "dict") else found
        return type(schema)(map(change, schema)) if type(schema) in (list, tuple) else schema

    schema = change(validator.core_schema)
    try:
        return SchemaValidator(schema, _use_prebuilt=False)  # the classes inside have their own validators, which do not stop
    except TypeError:  # before pydantic 2.11, there are none
        return SchemaValidator(schema)


def _name_fault(error: ValidationError, value: Any) -> ValueError:
    where, message = explain_faults(error, value)[0]
    return ValueError(f"{'.'.join(map(str, where))}: {message}" if where else message)


def explain_faults(error: ValidationError | Sequence[Mapping[str, Any]], value: Any) -> list[tuple[Path, str]]:
    """Return every fault in a value, each as a path inside the value and a message. Messages at one place are joined by `or`.

    `error` may be the exception or its list of details, as FastAPI has it. An error of type `refused` keeps its message. If there
    are more than MANY_FAULTS, the only message is their number.
    """
    if isinstance(error, ValidationError) and error.error_count() > MANY_FAULTS:
        return [((), f"it has {error.error_count():,} faults")]
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
    deepest = wanted.keys() - {where[:length] for where in wanted for length in range(len(where))}
    faults: list[tuple[Path, str]] = []
    for where, expected in wanted.items():
        if where in deepest:
            message = f"expected {listing(expected, 'or')}, got {_describe_value(given[where])}"
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
            continue  # this names an alternative, not a key
        path.append(part)
    return tuple(path), value


_WORDS = {
    **dict.fromkeys(("int_type", "int_from_float", "int_parsing"), "an integer"),
    "int_parsing_size": "a smaller integer",
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    "finite_number": "a finite number",
    "string_type": "text",
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    "none_required": "null",
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping"),
    "missing": "a value",
    **dict.fromkeys(("extra_forbidden", "unexpected_keyword_argument"), UNKNOWN_KEY),
}

_EXAMPLES = {
    "OpeningKeys": "{plies: 4}",
    "MatchLimits": "{nodes: 1000}",
    "DecisionLimits": "{nodes: 1000}",
    "AdjudicateKeys": "{draw: {moves: 8}}",
    "DrawKeys": "{moves: 8}",
    "ResignKeys": "{moves: 4}",
}
"""How messages describe the value of a key that takes a mapping; the keys here are the names of the models."""
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
