"""Reads which heuristics an entry requests for which games, and prepares them for a board."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from arena.errors import listing, suggest
from arena.heuristics import NO_HEURISTIC, Evaluation, bind, count_given
from arena.identity import canonical
from arena.spec.document import Path
from arena.spec.games import Rules
from arena.spec.labels import format_setting
from arena.spec.parameters import Parameters, Report, make_plain
from arena.spec.reader import SpecReader, drop_keys
from arena.spec.sweep import Variant


@dataclass(frozen=True, slots=True)
class Choice:
    """The heuristic that an entry asks for: its name, its parameters, and their place in the spec."""

    name: str
    parameters: Mapping[str, Any]
    path: Path
    report: Report
    """A function that reports faults in the parameters of the heuristic. Its paths are relative to the mapping that has them."""

    def __str__(self) -> str:
        return ", ".join([self.name, *(f"{key}={format_setting(value)}" for key, value in self.parameters.items())])


class Fitted(NamedTuple):
    """The heuristic that an entry uses on one board."""

    name: str
    parameters: Mapping[str, Any]
    """All parameters as JSON values, including defaults."""
    changed: Mapping[str, Any]
    """The parameters that differ from their defaults."""


Choices = Mapping[str | None, Choice]
"""Heuristics by the name of the game; the key None holds the heuristic for all other games."""


def read_choices(reading: SpecReader, given: Any, entry: Path, variant: Variant) -> Choices:
    """Read the heuristics of an entry: a name, a mapping {name: ..., parameters} or {game: one of these}. Faults are noted."""
    if isinstance(given, dict) and "name" not in given:
        return {
            game: choice
            for game, inner in given.items()
            if reading.known(reading.registry.game, game, (*entry, *variant.origin(("heuristic",)), game), key=True) is not None
            and (choice := _read_choice(reading, inner, entry, variant, ("heuristic", game))) is not None
        }
    choice = _read_choice(reading, given, entry, variant, ("heuristic",)) if isinstance(given, (str, dict)) else None
    return {} if choice is None else {None: choice}


def _read_choice(reading: SpecReader, given: Any, entry: Path, variant: Variant, inner: Path) -> Choice | None:
    path = (*entry, *variant.origin(inner))
    if isinstance(given, str):
        return Choice(given, {}, path, reading.report)
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        reading.faults.add(path, f"expected the name of a heuristic or {{name: ..., parameters}}, got {given!r}")
        return None
    report = reading.below(entry, variant)
    named = (*entry, *variant.origin((*inner, "name")))
    return Choice(given["name"], drop_keys(given, "name"), named, lambda where, message: report((*inner, *where), message))


def check_choices(reading: SpecReader, choices: Choices, games: Sequence[str]) -> None:
    """Report a fault for every heuristic that does not exist or does not fit any game of the spec."""
    for game, choice in choices.items():
        wanted = [name for name in games if game in (None, name)]
        if not wanted:
            reading.faults.add(choice.path, f"no board of this spec plays {game}; expected {listing(games, 'or')}")
        elif choice.name == NO_HEURISTIC:
            if choice.parameters:
                reading.faults.add(choice.path, f"{NO_HEURISTIC} stands for no heuristic, so it has no parameters")
        elif not any((name, choice.name) in reading.registry.heuristics for name in wanted):
            owners = sorted({owner for owner, name in reading.registry.heuristics if name == choice.name})
            hint = suggest(choice.name, [name for one in wanted for name in reading.registry.heuristics_of(one)])
            hint = f"{hint} ({NO_HEURISTIC} stands for no heuristic)"
            if owners:
                message = f"heuristic {choice.name} belongs to {', '.join(owners)} and fits no board of this spec; {hint}"
                reading.faults.add(choice.path, message)
            else:
                reading.unknown(choice.path, f"unknown heuristic {choice.name!r} of {', '.join(wanted)}; {hint}")


def fit_heuristic(reading: SpecReader, choices: Choices, rules: Rules, path: Path) -> tuple[Evaluation | None, Fitted | None]:
    """Return the heuristic of an entry on one board, ready to be called, and its description; (None, None) if there is none.

    If the entry names only heuristics for other games, it gets the default heuristic of the board.
    """
    choice = choices.get(rules.name) or choices.get(None)
    if choice is not None and choice.name == NO_HEURISTIC:
        return None, None
    if choice is None or (rules.name, choice.name) not in reading.registry.heuristics:
        default = rules.game.default_heuristic
        if default is None:
            return None, None
        choice = Choice(default, {}, path, reading.report)
    target = reading.known(partial(reading.registry.heuristic, rules.name), choice.name, choice.path)
    if target is None:
        return None, None
    known = Parameters(target)
    parameters = known.validate(choice.parameters, (), choice.report, skip=count_given(target))
    if parameters is None:
        return None, None
    found = Fitted(choice.name, make_plain(parameters), known.drop_defaults(parameters))
    key = canonical([found.name, found.parameters])
    if key not in rules.bound:
        made = reading.made(partial(bind, target, rules.game, parameters), {}, choice.path)
        if made is None:
            return None, None
        rules.bound[key] = made
    return rules.bound[key], found
