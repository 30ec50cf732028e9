"""The search space: options of an agent and its heuristic. It is derived from the types and bounds of these options, and `--set`
can narrow it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, floor, inf, isfinite, log, log10, prod
from re import fullmatch
from typing import TYPE_CHECKING, Any

from arena import ArenaError
from arena.api.errors import suggest
from arena.api.results import figures
from arena.api.spec import Parameters
from arena_setup.words import split_at_commas, values_of

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

HEURISTIC = "heuristic."
"""The prefix for a parameter of the heuristic that has the same name as an option of the agent."""
MAX_WHOLE_VALUES = 64
"""If a bounded option has at most this many integer values, all of them are searched. Otherwise the search stays near the
default."""
AROUND = 8.0
"""For an option without bounds, the search tries values from the default divided by this factor to the default multiplied by this
factor.
"""
FLOAT_DIGITS = 3
"""The number of significant digits of the numbers that the search tries."""
NUMBERS = ("integer", "number")

Options = dict[str, Any]
"""The values of options, by name."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One option in the search space: numbers from `low` to `high`, or a list of `choices`."""

    name: str
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    log: bool = False
    choices: tuple[Any, ...] = ()

    def describe(self) -> str:
        """Return the values as `--set` writes them.

        >>> Dimension("weight", 0.1, 10, log=True).describe()
        'weight=0.1..10:log'
        """
        if self.choices:
            return f"{self.name}={','.join(map(format_value, self.choices))}"
        return f"{self.name}={self.low:g}..{self.high:g}{':log' if self.log else ''}"

    def distribution(self) -> "BaseDistribution":
        """Return the values as a distribution of Optuna. A choice is represented by its index in the list."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        if self.choices:
            return CategoricalDistribution(range(len(self.choices)))
        if self.whole:
            return IntDistribution(int(self.low), int(self.high), log=self.log)
        return FloatDistribution(self.low, self.high, log=self.log)

    def value_at(self, place: float) -> Any:
        """Return the value for a position on a scale from 0 to 1."""
        if self.choices:
            return self.choices[min(len(self.choices) - 1, int(place * len(self.choices)))]
        if self.whole:  # every value has the same share of the (possibly logarithmic) scale
            low, high = self.low - 0.5, self.high + 0.5
            value = exp(log(low) + place * (log(high) - log(low))) if self.log else low + place * (high - low)
            return int(min(self.high, max(self.low, round(value))))
        if self.log:
            return self.tidy(exp(log(self.low) + place * (log(self.high) - log(self.low))))
        return self.tidy(self.low + place * (self.high - self.low))

    def tidy(self, value: Any) -> Any:
        """Round a value to one that can be tried: a number with few digits, within the bounds."""
        if self.choices or self.whole:
            return value
        scale = abs(value) if self.log else self.high - self.low
        digits = FLOAT_DIGITS - 1 - floor(log10(scale)) if scale > 0 else 0
        return min(self.high, max(self.low, round(float(value), digits)))

    def raw_of(self, value: Any) -> Any:
        """Return a value as Optuna represents it; a choice is represented by its index in the list."""
        return next(number for number, one in enumerate(self.choices) if same(one, value)) if self.choices else value

    def place_of(self, value: Any) -> float | None:
        """Return the position of a value on the scale from 0 to 1; None for a value out of bounds."""
        if self.choices:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not self.low <= value <= self.high:
            return None
        if self.low == self.high:
            return 0.5
        if self.log:
            return (log(value) - log(self.low)) / (log(self.high) - log(self.low))
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Space:
    """All options that are searched."""

    dimensions: tuple[Dimension, ...]

    @property
    def size(self) -> float:
        """Return the number of different options; infinite when an option is neither an integer nor a choice."""
        return prod([len(one.choices) or (one.high - one.low + 1 if one.whole else inf) for one in self.dimensions])

    def encode(self, options: Mapping[str, Any]) -> list[float] | None:
        """Return options as a point. An option becomes a number from -1 to 1, or one number for each choice. The result is None
        if a value is out of bounds.
        """
        point: list[float] = []
        for one in self.dimensions:
            if one.name not in options:
                return None
            value = options[one.name]
            if one.choices:
                if value not in one.choices:
                    return None
                point += [1.0 if same(choice, value) else -1.0 for choice in one.choices]
            elif (place := one.place_of(value)) is not None:
                point.append(2 * place - 1)
            else:
                return None
        return point

    def encode_places(self, cube: Any) -> Any:
        """Return points for positions in the unit cube, one per row, encoded like the result of `encode`."""
        import numpy as np

        columns = []
        for number, one in enumerate(self.dimensions):
            places = cube[:, number]
            if one.choices:
                chosen = np.minimum(len(one.choices) - 1, (places * len(one.choices)).astype(int))
                columns += [np.where(chosen == choice, 1.0, -1.0) for choice in range(len(one.choices))]
            elif one.whole:
                known = {value: one.place_of(value) for value in {one.value_at(place) for place in places.tolist()}}
                columns.append(np.array([2 * (known[one.value_at(place)] or 0.0) - 1 for place in places.tolist()]))
            else:
                columns.append(2 * places - 1)
        return np.stack(columns, axis=1)

    def at(self, places: Sequence[float]) -> Options:
        """Return the options at a point of the unit cube."""
        return {one.name: one.value_at(place) for one, place in zip(self.dimensions, places, strict=True)}

    def describe(self) -> str:
        """Return all options with their values."""
        return ", ".join([one.describe() for one in self.dimensions])


def same(one: Any, other: Any) -> bool:
    """Return True if two values are the same; true and 1 are different."""
    return type(one) is type(other) and bool(one == other)


def format_value(value: Any) -> str:
    """Return a value as it is written in a spec."""
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def describe_options(options: Mapping[str, Any]) -> str:
    """Return options in words, such as `depth 4, weight 0.83`."""
    return ", ".join([f"{name.removeprefix(HEURISTIC)} {format_value(value)}" for name, value in options.items()])


@dataclass(frozen=True, slots=True)
class Option:
    """An option as the class of the agent or the heuristic declares it."""

    name: str
    parameters: Parameters
    parameter: str
    default: Any
    """The value in the entry, or else the default of the class, or else None."""

    def schema(self) -> list[Mapping[str, Any]]:
        """Return the alternatives in the type of the option as JSON Schemas."""
        try:
            found = self.parameters.adapter(self.parameter).json_schema()
        except Exception:  # this type has no schema
            return []
        return list(found.get("anyOf", [found]))

    def bounds(self, kind: Mapping[str, Any]) -> tuple[float, float]:
        """Return the bounds of a number; a missing bound is infinite."""
        whole = kind["type"] == "integer"
        low, high = kind.get("minimum", -inf), kind.get("maximum", inf)
        if "exclusiveMinimum" in kind:
            low = kind["exclusiveMinimum"] + (1 if whole else 0)
        if "exclusiveMaximum" in kind:
            high = kind["exclusiveMaximum"] - (1 if whole else 0)
        return float(low), float(high)

    def describe(self) -> str:
        """Return its type and bounds in words."""
        words = []
        for kind in self.schema():
            if kind.get("type") in NUMBERS:
                whole = kind["type"] == "integer"
                low, high = self.bounds(kind)
                lead = "above" if "exclusiveMinimum" in kind and not whole else "from"
                end = "below" if "exclusiveMaximum" in kind and not whole else "to" if lead == "from" else "up to"
                within = [f"{lead} {low:g}" if isfinite(low) else "", f"{end} {high:g}" if isfinite(high) else ""]
                words.append(" ".join(["whole numbers" if whole else "numbers", *filter(None, within)]))
            elif kind.get("type") == "boolean":
                words.append("true and false")
            elif "enum" in kind or "const" in kind:
                words.append(figures.listing([*map(format_value, kind.get("enum", [kind.get("const")]))]))
            elif kind.get("type") == "null":
                words.append("null")
            else:
                words.append(str(kind.get("type", "other values")))
        return figures.listing(words, "or") or "any value"

    def check(self, value: Any, given: str) -> Any:
        """Return a value converted to the type. For a wrong value, an ArenaError names the option, its bounds and the value."""
        faults: list[str] = []
        known = list(self.parameters.known)
        found = self.parameters.validate(
            {self.parameter: value},
            (),
            lambda path, message: faults.append(message) if self.parameter in path else None,
        )
        if faults:
            raise ArenaError(f"--set {given}: {self.name} takes {self.describe()}, got {value!r}")
        return value if found is None or self.parameter not in known else found[self.parameter]

    def guess(self) -> Dimension | None:
        """Return the values to try by default; None when they do not follow from the type of the option."""
        kinds = [kind for kind in self.schema() if kind.get("type") != "null"]
        if len(kinds) != 1:
            return None
        (kind,) = kinds
        if kind.get("type") == "boolean":
            return Dimension(self.name, choices=(False, True))
        if len(kind.get("enum", ())) > 1:
            return Dimension(self.name, choices=tuple(kind["enum"]))
        if kind.get("type") not in NUMBERS:
            return None
        whole, (low, high) = kind["type"] == "integer", self.bounds(kind)
        if whole and high - low < MAX_WHOLE_VALUES:
            return Dimension(self.name, low, high, whole=True)
        value = self.default
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value == 0:
            return None
        if not whole and isfinite(low) and isfinite(high) and high - low <= 2 * AROUND * abs(value):
            return Dimension(self.name, low, high)
        ends = sorted((value / AROUND, value * AROUND))
        low, high = max(low, ends[0]), min(high, ends[1])
        if whole:
            low, high = max(1.0, -(-low // 1)) if value > 0 else -(-low // 1), high // 1
        return Dimension(self.name, low, high, whole=whole, log=low > 0)


def list_options(
    agent: Callable[..., Any], heuristic: Callable[..., Any] | None, given: Mapping[str, Any], parameters: Mapping[str, Any]
) -> dict[str, Option]:
    """Return the options of an agent and of its heuristic by name. `given` and `parameters` are the values in the entry of the
    agent.
    """
    found: dict[str, Option] = {}
    own = Parameters(agent)
    for name, one in own.known.items():
        found[name] = Option(name, own, name, given.get(name, None if one.default is one.empty else one.default))
    if heuristic is not None:
        more = Parameters(heuristic)
        for name, one in more.known.items():
            if one.kind is one.KEYWORD_ONLY:
                key = f"{HEURISTIC}{name}" if name in found else name
                found[key] = Option(key, more, name, parameters.get(name, None if one.default is one.empty else one.default))
    return found


def read_space(words: Iterable[str], options: Mapping[str, Option]) -> tuple[Space, list[str]]:
    """Return the search space, and the words of `--set` that are not about options.

    Examples of words are `depth=1..6`, `weight=0.1..10:log` and `order=game,heuristic`. Without words about options, the search
    uses all options whose types determine the values to try.
    """
    found: list[Dimension] = []
    rest: list[str] = []
    for word in words:
        for text in _split(word):
            key, equals, values = text.partition("=")
            key = key.strip()
            if not equals:
                raise ArenaError(f"--set: expected OPTION=VALUES, as in depth=1..6 or order=game,heuristic, got {text!r}")
            if any(one.name == key for one in found):
                raise ArenaError(f"--set: {key} is given twice")
            if key in options:
                found.append(_read_dimension(options[key], values.strip(), text))
            elif ".." in values or len(list(split_at_commas(values))) > 1:
                raise ArenaError(f"--set: no option {key!r}; {suggest(key, options)}")
            else:
                rest.append(text)
    if not found:
        found = [one for option in options.values() if (one := option.guess()) is not None]
    if not found:
        names = ", ".join([f"{one.name} ({one.describe()})" for one in options.values()])
        given = f"set values with --set, as in {next(iter(options))}=1..6; the agent has {names}"
        hint = given if names else "the agent has no options"
        raise ArenaError(f"nothing to search: {hint}")
    return Space(tuple(found)), rest


def _split(word: str) -> list[str]:
    groups: list[str] = []
    for piece in split_at_commas(word):
        if groups and not fullmatch(r"\s*[A-Za-z_][\w.]*\s*=.*", piece):
            groups[-1] += f",{piece}"
        else:
            groups.append(piece)
    return groups


def _read_dimension(option: Option, text: str, given: str) -> Dimension:
    """Return the values of one option, written as `1..6`, `0.1..10:log`, or a list."""
    number = r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
    match = fullmatch(rf"({number})\.\.({number})(:log)?", text)
    if match is None:
        if ".." in text:
            raise ArenaError(f"--set {given}: expected LOW..HIGH or LOW..HIGH:log, as in weight=0.1..10:log, got {text!r}")
        values = [values_of([f"value={one}"], what=f"--set {option.name}")["value"] for one in split_at_commas(text)]
        checked = tuple([option.check(value, given) for value in values])
        if len({repr(value) for value in checked}) < len(checked):
            raise ArenaError(f"--set {given}: {option.name} has the same value twice")
        return Dimension(option.name, choices=checked)
    types = [kind.get("type") for kind in option.schema()]
    if not set(types) & set(NUMBERS):
        raise ArenaError(f"--set {given}: {option.name} takes {option.describe()}, got a range of numbers")
    ends = [float(match[1]), float(match[2])]
    whole = "number" not in types
    if whole and not all(end.is_integer() for end in ends):
        raise ArenaError(f"--set {given}: {option.name} takes {option.describe()}, got {text}")
    low, high = [option.check(int(end) if whole else end, given) for end in ends]
    if not low < high:
        raise ArenaError(f"--set {given}: expected LOW below HIGH, got {text}")
    if match[3] and low <= 0:
        raise ArenaError(f"--set {given}: a logarithmic range begins above 0, got {low:g}")
    return Dimension(option.name, float(low), float(high), whole=whole, log=bool(match[3]))
