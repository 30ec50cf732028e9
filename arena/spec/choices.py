"""Reads which heuristic an entry wants on which game, and makes it ready for a board."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isclass
from typing import Any

from arena.errors import suggestion
from arena.heuristic import Evaluation, bind
from arena.identity import canonical
from arena.spec.document import Path
from arena.spec.games import Rules
from arena.spec.labels import shown
from arena.spec.parameters import validated
from arena.spec.reading import Reading, without


@dataclass(frozen=True, slots=True)
class Choice:
    """The heuristic that an entry asks for: its name and parameters, and where the spec says so."""

    name: str
    parameters: Mapping[str, Any]
    path: Path

    def __str__(self) -> str:
        return ", ".join([self.name, *(f"{key}={shown(value)}" for key, value in self.parameters.items())])


Choices = Mapping[str | None, Choice]
"""By game; under None the one that is meant for any game."""


def read_choices(reading: Reading, given: Any, path: Path) -> Choices:
    """The heuristics of an entry, from a name, {name: ..., parameters} or {game: either}; faults are noted."""
    if isinstance(given, str):
        return {None: Choice(given, {}, path)}
    if not isinstance(given, dict):
        return {}
    if "name" in given:
        choice = _choice(reading, given, path)
        return {None: choice} if choice else {}
    found: dict[str | None, Choice] = {}
    for game, inner in given.items():
        if reading.known(reading.registry.game, game, (*path, game)) is not None:
            choice = _choice(reading, {"name": inner} if isinstance(inner, str) else inner, (*path, game))
            if choice is not None:
                found[game] = choice
    return found


def _choice(reading: Reading, given: Any, path: Path) -> Choice | None:
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        reading.faults.add(path, f"expected the name of a heuristic or {{name: ..., parameters}}, got {given!r}")
        return None
    return Choice(given["name"], without(given, "name"), path)


def check_choices(reading: Reading, choices: Choices, games: Sequence[str]) -> None:
    """Note a fault for every heuristic that does not exist or fits no game of the spec."""
    for game, choice in choices.items():
        wanted = [name for name in games if game in (None, name)]
        if not any((name, choice.name) in reading.registry.heuristics for name in wanted):
            reading.faults.add(choice.path, _unfit(reading, choice.name, wanted or ([game] if game else [])))


def _unfit(reading: Reading, name: str, games: Sequence[str]) -> str:
    owners = sorted({owner for owner, known in reading.registry.heuristics if known == name})
    known = [known for game in games for known in reading.registry.heuristics_of(game)]
    if owners:
        return f"heuristic {name} belongs to {', '.join(owners)} and fits no board here; {suggestion(name, known)}"
    return f"unknown heuristic {name!r} of {', '.join(games)}; {suggestion(name, known)}"


def fitted(reading: Reading, choices: Choices, rules: Rules, path: Path) -> tuple[Evaluation | None, dict[str, Any] | None]:
    """The heuristic of an entry on one board, ready to be called, and its description for the identity of the seat.

    A heuristic of another game gives way to the board's default. (None, None) where there is none.
    """
    choice = choices.get(rules.name) or choices.get(None)
    if choice is None or (rules.name, choice.name) not in reading.registry.heuristics:
        default = rules.game.default_heuristic
        if default is None:
            return None, None
        choice = Choice(default, {}, path)
    target = reading.known(partial(reading.registry.heuristic, rules.name), choice.name, choice.path)
    parameters = None if target is None else _parameters(reading, target, choice)
    if parameters is None:
        return None, None
    described = {"name": choice.name, "parameters": parameters}
    key = canonical(described)
    if key not in rules.bound:
        made = reading.made(partial(bind, target, rules.game, parameters), {}, choice.path)
        if made is None:
            return None, None
        rules.bound[key] = made
    return rules.bound[key], described


def _parameters(reading: Reading, target: Any, choice: Choice) -> dict[str, Any] | None:
    if isclass(target):
        return validated(target, choice.parameters, choice.path, reading.report, skip=1)
    if choice.parameters:
        reading.faults.add(choice.path, f"heuristic {choice.name} takes no parameters")
        return None
    return {}
