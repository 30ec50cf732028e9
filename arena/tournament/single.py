"""Plays one match from Python."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from arena.agent import Agent
from arena.configured import name_of, settings
from arena.errors import Refused, expect, expect_count, expect_list
from arena.game import Game, Puzzle, gives
from arena.heuristics import NO_HEURISTIC, Evaluation, HeuristicInfo, bind, count_given
from arena.limits import Limits
from arena.match.match import Match, Positions, Seat, move_limit
from arena.match.record import Record
from arena.match.referee import play_match
from arena.plugins.registry import Registry
from arena.plugins.sources import load_plugins
from arena.processes.interrupts import user_interrupts
from arena.returns import Returns
from arena.spec import make_seat
from arena.spec.parameters import Parameters
from arena.spec.reader import format_path
from arena.traits import Abilities


def play(
    game: Game | str | Mapping[str, Any],
    agents: Agent | str | Mapping[str, Any] | Sequence[Agent | str | Mapping[str, Any]],
    *,
    seed: int = 0,
    position: str | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    heuristics: Any = None,
    plugins: Iterable[str | Path] = (),
) -> Record:
    """Play one match and return its record.

    `game` and `agents` are instances, or names from the installed plugins; a mapping gives parameters too, as in a spec. There is
    one agent for every seat. `position` is in the text notation of the game; by default, a position is drawn from `seed`.
    `limits` are Limits, or a mapping with their names as keys; without them a decision is unlimited. `heuristics` is a name, or a
    function or class with the decorator `arena.heuristic`, which all seats get; a sequence has one for each seat. By default,
    seats get the default heuristic of the game; the name `none` stands for no heuristic. `plugins` are further files and modules
    that define names. Raises TypeError or ValueError if an argument does not fit, Refused if an agent cannot play the game, and
    GameError if the bounds of its returns are impossible.

    >>> play("tic-tac-toe", ["minimax", "minimax"], position="xx./oo./...").actions
    ('3',)
    """
    seed = expect_count("seed", seed)
    if position is not None:
        expect("position", position, str, "a text in the notation of the game, or None")
    lookup = _Lookup(plugins)
    rules = lookup.game(game)
    expect("agents", agents, (Agent, str, Mapping, Iterable), "a list with an agent for each seat")
    listed = [agents] if isinstance(agents, (Agent, str, Mapping)) else list(agents)
    if len(listed) != rules.players:
        raise ValueError(f"{name_of(rules)} has {rules.players} seats, got {len(listed)} agents")
    shared = isinstance(heuristics, str) or not isinstance(heuristics, Sequence)
    wanted = [heuristics] * len(listed) if shared else list(heuristics)
    if len(wanted) != len(listed):
        raise ValueError(f"heuristics: expected a heuristic for each of {len(listed)} seats, got {len(wanted)}")
    most = Limits.of(limits)
    if not (isinstance(limits, Limits) or "moves" in (limits or {})):
        most = replace(most, moves=move_limit(rules))
    seats = tuple(
        [
            lookup.seat(rules, agent, choice, most, ("agents", number), ("heuristics",) if shared else ("heuristics", number))
            for number, (agent, choice) in enumerate(zip(listed, wanted, strict=True))
        ]
    )
    texts = None if position is None else [rules.format_state(rules.parse_state(position))]
    where = Positions(rules, name_of(rules), Parameters(type(rules)).drop_defaults(settings(rules)), seed, texts)[0]
    with user_interrupts() as interrupts:
        record = play_match(Match.of(rules, where, seats, seed))
        interrupts.check()
    return record._replace(parameters=settings(rules))


def seat_of(game: Game, given: Agent | str | Mapping[str, Any]) -> Seat:
    """Return a seat for an entry, to be used outside a match. If the agent is given as an instance, it is shared; otherwise it
    is created for each match.

    A mapping may have `limits` and `heuristic`, as in a spec. Raises ValueError and Refused like `play`.
    """
    limits, heuristic = Limits(), None
    if isinstance(given, Mapping):
        limits, heuristic = Limits.of(given.get("limits")), given.get("heuristic")
        given = {name: value for name, value in given.items() if name not in ("limits", "heuristic")}
    seat = _Lookup().seat(game, given, heuristic, limits, ("agent",), ("heuristic",))
    made = seat.make()
    return seat if made is given else replace(seat, make=lambda: type(made)(**settings(made)))


_Path = tuple[str | int, ...]


def _check(kind: Any, given: Mapping[str, Any], path: _Path, skip: int = 0) -> dict[str, Any]:
    """Return the parameters that are given for a class, with its defaults. Raises ValueError with the messages of a spec."""
    faults: list[str] = []
    values = Parameters(kind).validate(
        given, path, lambda where, message: faults.append(f"{format_path(where)}: {message}"), skip=skip
    )
    if values is None:
        raise ValueError("\n".join(faults))
    return values


class _Lookup:
    """Turns the arguments of `play` into objects. Plugins are loaded only if a name has to be looked up."""

    def __init__(self, plugins: Iterable[str | Path] = ()) -> None:
        self._plugins = expect_list("plugins", plugins, (str, PathLike), "a list of paths or modules")
        self._registry: Registry | None = None

    @property
    def registry(self) -> Registry:
        if self._registry is None:
            self._registry = load_plugins(self._plugins)
        return self._registry

    def game(self, given: Game | str | Mapping[str, Any]) -> Game:
        if isinstance(given, Game):
            made = given
        else:
            name, parameters = _split_name("game", given, Game, "name")
            kind = self.registry.game(name)
            made = kind(**_check(kind, parameters, ("game",)))
        Returns(made)  # raises GameError if no match can be played with its bounds
        return made

    def seat(
        self,
        game: Game,
        given: Agent | str | Mapping[str, Any],
        heuristic: Any,
        limits: Limits,
        path: _Path,
        heuristic_path: _Path,
    ) -> Seat:
        if isinstance(given, Agent):
            made = given
        else:
            name, chosen = _split_name("agent", given, Agent, "agent")
            kind = self.registry.agent(name)
            made = kind(**_check(kind, chosen, path))
        agent, options = type(made), settings(made)
        reason = Abilities(agent).find_refusal(game) or (made.refuses(game) if gives(made, "refuses") else None)
        if reason:
            raise Refused(reason)
        evaluation, described = self.heuristic(game, heuristic, agent.wants_heuristic, heuristic_path)
        seat = make_seat(agent, options, evaluation, described, limits, name_of(agent), isinstance(game, Puzzle))
        return replace(seat, make=lambda: made)

    def knows(self, game: Game, heuristic: str) -> bool:
        return (name_of(game), heuristic) in self.registry.heuristics

    def heuristic(self, game: Game, given: Any, wanted: bool, path: _Path) -> tuple[Evaluation | None, Mapping[str, Any] | None]:
        if given is None:
            given = game.default_heuristic
            if given is None or not (wanted or _find_beside(game, given) or self.knows(game, given)):
                return None, None
        parameters: Mapping[str, Any] = {}
        if isinstance(given, (str, Mapping)):
            name, parameters = _split_name("heuristic", given, str, "name")
            if name == NO_HEURISTIC:
                return None, None
            given = _find_beside(game, name) or self.registry.heuristic(name_of(game), name)
        info = HeuristicInfo.of(given)
        if info is None or info.game != name_of(game):
            raise ValueError(f"{format_path(path)}: expected a heuristic of {name_of(game)}, got {given!r}")
        parameters = _check(given, parameters, path, skip=count_given(given))
        return bind(given, game, parameters), {"name": info.name, "parameters": Parameters(given).drop_defaults(parameters)}


def _find_beside(game: Game, name: str) -> Any:
    """Find a heuristic by its name in the module of a game. This also finds heuristics that no plugin registers."""
    module = sys.modules.get(type(game).__module__)
    for value in vars(module).values() if module else ():
        info = HeuristicInfo.of(value)
        if info is not None and (info.game, info.name) == (name_of(game), name):
            return value
    return None


def _split_name(what: str, given: str | Mapping[str, Any], kind: type, key: str) -> tuple[str, dict[str, Any]]:
    """Return a name and its parameters. `kind` is the type of the instances that the argument `what` may be instead."""
    expect(what, given, (str, Mapping, kind), "an instance, a name or a mapping")
    if isinstance(given, str):
        return given, {}
    if key not in given:
        raise ValueError(f"{what}: expected a key {key!r}, got {dict(given)!r}")
    return given[key], {name: value for name, value in given.items() if name != key}
