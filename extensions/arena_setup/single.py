"""Plays one match from Python."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena import Agent, Game, Limits, Puzzle, Record, Refused, Registry, load_plugins
from arena.api.games import Evaluation, ask_refusal, bind, find_refusal, info_of, move_limit, name_of, settings
from arena.api.match import Match, Positions, Seat, limits_of, match_id, play_match
from arena.api.processes import user_interrupts
from arena.api.spec import drop_defaults, make_seat


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
    one agent for every seat. `position` is in the game's text notation; by default one is drawn from `seed`. `limits` are Limits,
    or a mapping with their names as keys; without them a decision is unlimited. `heuristics` is a name or a decorated object for
    all seats, or a sequence with one for each; without it the game's default holds. `plugins` are further files and modules that
    bring names. Raises ValueError if an argument does not fit, and Refused if an agent cannot play the game.

    >>> play("tic-tac-toe", ["minimax", "minimax"], position="xx./oo./...").actions
    ('3',)
    """
    lookup = _Lookup(plugins)
    rules = lookup.game(game)
    listed = [agents] if isinstance(agents, (Agent, str, Mapping)) else list(agents)
    if len(listed) != rules.players:
        raise ValueError(f"{name_of(rules)} has {rules.players} seats, got {len(listed)} agents")
    shared = isinstance(heuristics, str) or not isinstance(heuristics, Sequence)
    wanted = [heuristics] * len(listed) if shared else list(heuristics)
    if len(wanted) != len(listed):
        raise ValueError(f"expected a heuristic for each of {len(listed)} seats, got {len(wanted)}")
    most = limits_of(limits)
    if not (isinstance(limits, Limits) or "moves" in (limits or {})):
        most = replace(most, moves=move_limit(rules))
    seats = tuple([lookup.seat(rules, agent, choice, most) for agent, choice in zip(listed, wanted, strict=True)])
    texts = None if position is None else [rules.format_state(rules.parse_state(position))]
    where = Positions(rules, name_of(rules), drop_defaults(type(rules), settings(rules)), seed, texts)[0]
    with user_interrupts() as interrupts:
        record = play_match(Match(match_id(where.key, seats, most.moves), rules, where, seats, seed))
        interrupts.check()
    return record._replace(parameters=settings(rules))


def seat_of(game: Game, given: Agent | str | Mapping[str, Any]) -> Seat:
    """Return a seat for an entry outside a match. An agent given as an instance is shared; any other is constructed each time.

    A mapping may have `limits` and `heuristic`, as in a spec. ValueError and Refused as in `play`.
    """
    limits, heuristic = Limits(), None
    if isinstance(given, Mapping):
        limits, heuristic = limits_of(given.get("limits")), given.get("heuristic")
        given = {name: value for name, value in given.items() if name not in ("limits", "heuristic")}
    seat = _Lookup().seat(game, given, heuristic, limits)
    made = seat.make()
    return seat if made is given else replace(seat, make=lambda: type(made)(**settings(made)))


class _Lookup:
    """Turns the arguments of `play` into objects. Plugins are loaded only when a name has to be looked up."""

    def __init__(self, plugins: Iterable[str | Path] = ()) -> None:
        self._plugins = tuple(plugins)
        self._registry: Registry | None = None

    @property
    def registry(self) -> Registry:
        if self._registry is None:
            self._registry = load_plugins(self._plugins)
        return self._registry

    def game(self, given: Game | str | Mapping[str, Any]) -> Game:
        if isinstance(given, Game):
            return given
        name, parameters = _split_name(given, "name")
        return self.registry.game(name)(**parameters)

    def seat(self, game: Game, given: Agent | str | Mapping[str, Any], heuristic: Any, limits: Limits) -> Seat:
        if isinstance(given, Agent):
            made = given
        else:
            name, chosen = _split_name(given, "agent")
            made = self.registry.agent(name)(**chosen)  # a fault in the options is the caller's, not the agent's
        agent, options = type(made), settings(made)
        reason = find_refusal(agent, game) or ask_refusal(made, game)
        if reason:
            raise Refused(reason)
        evaluation, described = self.heuristic(game, heuristic, agent.wants_heuristic)
        seat = make_seat(agent, options, evaluation, described, limits, name_of(agent), isinstance(game, Puzzle))
        return replace(seat, make=lambda: made)

    def knows(self, game: Game, heuristic: str) -> bool:
        return (name_of(game), heuristic) in self.registry.heuristics

    def heuristic(self, game: Game, given: Any, wanted: bool) -> tuple[Evaluation | None, Mapping[str, Any] | None]:
        if given is None:
            given = game.default_heuristic
            if given is None or not (wanted or _find_beside(game, given) or self.knows(game, given)):
                return None, None
        parameters: Mapping[str, Any] = {}
        if isinstance(given, (str, Mapping)):
            name, parameters = _split_name(given, "name")
            given = _find_beside(game, name) or self.registry.heuristic(name_of(game), name)
        info = info_of(given)
        if info is None or info.game != name_of(game):
            raise ValueError(f"expected a heuristic of {name_of(game)}, got {given!r}")
        return bind(given, game, parameters), {"name": info.name, "parameters": drop_defaults(given, parameters)}


def _find_beside(game: Game, name: str) -> Any:
    """Find a heuristic by its name in the module of a game that does not come from a plugin."""
    module = sys.modules.get(type(game).__module__)
    for value in vars(module).values() if module else ():
        info = info_of(value)
        if info is not None and (info.game, info.name) == (name_of(game), name):
            return value
    return None


def _split_name(given: str | Mapping[str, Any], key: str) -> tuple[str, dict[str, Any]]:
    if isinstance(given, str):
        return given, {}
    if key not in given:
        raise ValueError(f"expected a key {key!r}, got {dict(given)!r}")
    return given[key], {name: value for name, value in given.items() if name != key}
