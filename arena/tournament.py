"""Plays whole tournaments and single matches."""

import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, NamedTuple

from arena.agent import Agent
from arena.configured import name_of, settings
from arena.errors import Refused
from arena.format import Pairing
from arena.game import Game, Puzzle
from arena.heuristic import Evaluation, bind, info_of
from arena.interrupts import user_interrupts
from arena.limits import Limits, limits_of
from arena.match import Match, Positions, Seat, match_id
from arena.plugins import Registry, load_plugins
from arena.pool import Pool
from arena.record import Record
from arena.referee import play_match
from arena.schedule import Plan, Scheduled, Stage
from arena.spec import Spec, load_spec, make_seat
from arena.spec.parameters import plain
from arena.traits import refusal


class Played(NamedTuple):
    """A match of a tournament that has been played."""

    number: int
    """Its place in the schedule."""
    board: int
    """The number of its board in the spec."""
    pairing: Pairing
    record: Record


@dataclass(frozen=True, slots=True)
class Results:
    """A tournament that has been played: its spec and every match, in the order of the schedule."""

    spec: Spec
    played: tuple[Played, ...]

    @property
    def records(self) -> tuple[Record, ...]:
        """The records alone."""
        return tuple(played.record for played in self.played)

    def of(self, board: int) -> list[Played]:
        """The matches of one board."""
        return [played for played in self.played if played.board == board]

    @property
    def void(self) -> list[Record]:
        """Matches that the framework or a game spoiled; they are not scored."""
        return [record for record in self.records if record.termination == "void"]


Observer = Callable[[Played], None]


def run(
    spec: str | PathLike[str] | Mapping[str, Any] | Spec,
    *,
    workers: int = 1,
    store: None = None,
    observe: Observer | None = None,
) -> Results:
    """Play a tournament and return its results. `spec` is a path, its keys as a mapping, or a Spec.

    SpecError lists every fault before anything is played. With several `workers` the matches are played in that many
    processes; the records are the same. `observe` is called after every match. `store` is not part of this version.
    """
    if workers < 1:
        raise ValueError(f"workers: expected at least 1, got {workers}")
    if store is not None:
        raise NotImplementedError("stores are not part of this version")
    ready = load_spec(spec)
    with user_interrupts() as interrupts:
        played = []
        with closing(_played(ready, workers)) as matches:  # an interrupt must not leave workers behind
            for one in matches:
                interrupts.check()
                played.append(one)
                if observe is not None:
                    observe(one)
    return Results(ready, tuple(sorted(played, key=lambda one: one.number)))


def _played(spec: Spec, workers: int) -> Generator[Played, None, None]:
    plan = Plan(spec)
    for scheduled, record in Pool(spec, workers, plan.take).play() if workers > 1 else _here(spec, plan):
        plan.tell(scheduled, None if record.termination == "void" else record.returns)
        yield Played(*scheduled, record)


def _here(spec: Spec, plan: Plan) -> Iterator[tuple[Scheduled, Record]]:
    with closing(Stage(spec)) as stage:
        while batch := plan.take(1):
            yield batch[0], stage.play(batch[0])


def play(
    game: Game | str | Mapping[str, Any],
    agents: Agent | str | Mapping[str, Any] | Sequence[Agent | str | Mapping[str, Any]],
    *,
    seed: int = 0,
    position: str | None = None,
    limits: Limits | Mapping[str, Any] | None = None,
    heuristics: Any = None,
) -> Record:
    """Play one match and return its record.

    `game` and `agents` are instances, or names that the installed plugins bring; a mapping gives parameters too, as in a
    spec. There is one agent for every seat. `position` is in the game's text notation; without it one is drawn from
    `seed`. `heuristics` is a name or a decorated object for all seats, or a sequence with one for each; without it the
    game's default holds. ValueError says what does not fit, Refused that an agent cannot play the game.
    """
    lookup = _Lookup()
    rules = lookup.game(game)
    listed = [agents] if isinstance(agents, (Agent, str, Mapping)) else list(agents)
    if len(listed) != rules.players:
        raise ValueError(f"{name_of(rules)} has {rules.players} seats, got {len(listed)} agents")
    shared = isinstance(heuristics, str) or not isinstance(heuristics, Sequence)
    wanted = [heuristics] * len(listed) if shared else list(heuristics)
    if len(wanted) != len(listed):
        raise ValueError(f"expected a heuristic for each of {len(listed)} seats, got {len(wanted)}")
    most = limits_of(limits)
    seats = tuple([lookup.seat(rules, agent, choice, most) for agent, choice in zip(listed, wanted, strict=True)])
    texts = None if position is None else [rules.format_state(rules.parse_state(position))]
    where = Positions(rules, name_of(rules), plain(settings(rules)), seed, texts)[0]
    with user_interrupts() as interrupts:
        record = play_match(Match(match_id(where.key, seats, most.moves), rules, where, seats, seed))
        interrupts.check()
    return record


class _Lookup:
    """Turns what a caller of `play` gives into objects; plugins are loaded only when a name has to be looked up."""

    def __init__(self) -> None:
        self._registry: Registry | None = None

    @property
    def registry(self) -> Registry:
        if self._registry is None:
            self._registry = load_plugins()
        return self._registry

    def game(self, given: Game | str | Mapping[str, Any]) -> Game:
        if isinstance(given, Game):
            return given
        name, parameters = _named(given, "name")
        return self.registry.game(name)(**parameters)

    def seat(self, game: Game, given: Agent | str | Mapping[str, Any], heuristic: Any, limits: Limits) -> Seat:
        if isinstance(given, Agent):
            agent, options, make = type(given), settings(given), lambda: given
        else:
            name, options = _named(given, "agent")
            agent = self.registry.agent(name)
            made = agent(**options)  # a fault in the options is the caller's, not the agent's
            options = settings(made)
            make = lambda: made  # noqa: E731
        reason = refusal(agent, game)
        if reason:
            raise Refused(reason)
        evaluation, described = self.heuristic(game, heuristic, agent.wants_heuristic)
        seat = make_seat(agent, options, evaluation, described, limits, name_of(agent), isinstance(game, Puzzle))
        return replace(seat, make=make)

    def knows(self, game: Game, heuristic: str) -> bool:
        return (name_of(game), heuristic) in self.registry.heuristics

    def heuristic(self, game: Game, given: Any, wanted: bool) -> tuple[Evaluation | None, Mapping[str, Any] | None]:
        if given is None:
            given = game.default_heuristic
            if given is None or not (wanted or _beside(game, given) or self.knows(game, given)):
                return None, None
        parameters: Mapping[str, Any] = {}
        if isinstance(given, (str, Mapping)):
            name, parameters = _named(given, "name")
            given = _beside(game, name) or self.registry.heuristic(name_of(game), name)
        info = info_of(given)
        if info is None or info.game != name_of(game):
            raise ValueError(f"expected a heuristic of {name_of(game)}, got {given!r}")
        return bind(given, game, parameters), {"name": info.name, "parameters": dict(parameters)}


def _beside(game: Game, name: str) -> Any:
    """The heuristic of that name in the module of the game, for a game that no plugin brings."""
    module = sys.modules.get(type(game).__module__)
    for value in vars(module).values() if module else ():
        info = info_of(value)
        if info is not None and (info.game, info.name) == (name_of(game), name):
            return value
    return None


def _named(given: str | Mapping[str, Any], key: str) -> tuple[str, dict[str, Any]]:
    if isinstance(given, str):
        return given, {}
    if key not in given:
        raise ValueError(f"expected a key {key!r}, got {dict(given)!r}")
    return given[key], {name: value for name, value in given.items() if name != key}
