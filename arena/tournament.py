"""Plays whole tournaments and single matches."""

import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from arena.agent import Agent
from arena.code_check import checked
from arena.configured import name_of, settings
from arena.errors import Refused
from arena.feed import MatchQueue
from arena.fingerprint import Fingerprint, fingerprints
from arena.format import Pairing
from arena.game import Game, Puzzle
from arena.heuristic import Evaluation, bind, info_of
from arena.interrupts import user_interrupts
from arena.limits import Limits, limits_of
from arena.match import Match, Positions, Seat, match_id
from arena.plugins import Registry, load_plugins
from arena.record import Record
from arena.referee import play_match
from arena.schedule import MatchRunner, Scheduled, check_sandbox, isolated
from arena.spec import Spec, load_spec, make_seat
from arena.spec.parameters import plain
from arena.store import Store
from arena.store.run import run_of
from arena.traits import refusal
from arena.workers.pool import WorkerPool


class PlayedMatch(NamedTuple):
    """A match of a tournament that has been played."""

    number: int
    """Its place in the schedule."""
    board: int
    """The number of its board in the spec."""
    pairing: Pairing
    record: Record


class Results:
    """A tournament that has been played: its spec and its matches, in memory or in a store."""

    def __init__(self, spec: Spec, played: Sequence[PlayedMatch] = (), store: Path | None = None) -> None:
        self.spec = spec
        self._played = tuple(played)
        self.store = store
        """The file that holds the matches; None where they are in memory."""

    @property
    def name(self) -> str:
        """What the tournament is called."""
        return self.spec.name

    @property
    def seed(self) -> int:
        """What everything random in it followed from."""
        return self.spec.seed

    @property
    def played(self) -> tuple[PlayedMatch, ...]:
        """Every match, in the order of the schedule. From a store they are read anew at every call."""
        return self._played if self.store is None else tuple(stored(self.store))

    @property
    def records(self) -> tuple[Record, ...]:
        """The records alone."""
        return tuple(played.record for played in self.played)

    def of(self, board: int) -> list[PlayedMatch]:
        """The matches of one `board`, by its number in the spec."""
        return [played for played in self.played if played.board == board]

    @property
    def void(self) -> list[Record]:
        """Matches that the framework or a game spoiled; they are not scored."""
        return [record for record in self.records if record.termination == "void"]


def stored(store: Path) -> Iterator[PlayedMatch]:
    """Yield the matches of a store that are on the boards of its last run, in the order of the schedule."""
    with Store.open(store) as opened:
        for record, place in opened.records(boards=True):
            if place is not None:
                yield PlayedMatch(*place, record)


Code = Mapping[str, Fingerprint]
Observer = Callable[[PlayedMatch], None]
Matches = Generator[tuple[Scheduled, Record], None, None]
"""Somebody who plays: every match with its record, as it is finished."""


def run(
    spec: str | PathLike[str] | Mapping[str, Any] | Spec,
    *,
    workers: int = 1,
    store: str | PathLike[str] | None = None,
    observe: Observer | None = None,
) -> Results:
    """Play a tournament and return its results. `spec` is a path, its keys as a mapping, or a Spec.

    SpecError lists every fault before anything is played. With several `workers` the matches are played in that many
    processes; the records are the same. With a `store`, a path, every match is written there as it comes; what it holds
    already is not played again. `observe` is called after every match that was played. ValueError for less than one worker,
    StoreError for a store that cannot be used, PluginError for a plugin that cannot be loaded.
    """
    if workers < 1:
        raise ValueError(f"workers: expected at least 1, got {workers}")
    ready = load_spec(spec)
    if store is None:
        played: list[PlayedMatch] = []
        feed = MatchQueue(ready)

        def keep(one: PlayedMatch) -> None:
            played.append(one)
            if observe is not None:
                observe(one)

        play_all(ready, feed, workers, keep)
        return Results(ready, sorted(played, key=lambda one: one.number))
    with Store.open(Path(store), write=True) as opened:
        planned = checked(opened, ready, run_of(ready))
        opened.begin(planned)
        play_all(ready, MatchQueue(ready, opened), workers, observe or _nobody, code=planned.plugins)
        opened.end()
    return Results(ready, store=Path(store))


def _nobody(played: PlayedMatch) -> None:
    pass


def play_all(
    spec: Spec,
    feed: MatchQueue,
    workers: int,
    observe: Callable[[PlayedMatch], object],
    *,
    code: Code | None = None,
    alone: float | None = None,
    guarded: bool = False,
) -> None:
    """Play what a feed hands out, in this process or by several workers, and have it take the records as they come.

    `code` is what plays, by default as it is now. With `alone`, play that many seconds in this process first: work that is
    done by then needs no workers. With `guarded` nothing is played in this process, which an agent might take down with it.
    SandboxError where an agent wants a sandbox, and there is none that holds.
    """
    record_all(feed, _played(spec, feed, workers, code, alone, guarded), observe)


def record_all(feed: MatchQueue, played: Matches, observe: Callable[[PlayedMatch], object]) -> None:
    """Have a feed take what somebody plays, match by match; the user's interrupt ends whoever plays."""
    with user_interrupts() as interrupts, closing(played) as matches:
        for scheduled, record in matches:  # an interrupt must not leave workers behind
            with interrupts.held():
                feed.finished(scheduled, record)
                observe(PlayedMatch(*scheduled, record))
        interrupts.check()


def _played(spec: Spec, feed: MatchQueue, workers: int, code: Code | None, alone: float | None, guarded: bool) -> Matches:
    check_sandbox(spec)
    if code is None and (guarded or workers > 1 or isolated(spec)):
        code = fingerprints(spec)
    if not guarded and (workers == 1 or alone is not None):
        yield from _here(spec, feed, code, None if workers == 1 else alone)
    first = feed.take(1) if guarded or workers > 1 else []
    if first != []:
        total = spec.size - feed.held - feed.played - feed.others if spec.exact else None
        yield from WorkerPool(spec, workers, _after(first or [], feed), total=total, code=code).play()


def _after(first: list[Scheduled], feed: MatchQueue) -> Callable[[int], list[Scheduled] | None]:
    """What hands out some matches that were taken already, and then what the feed has."""
    waiting = list(first)

    def take(size: int) -> list[Scheduled] | None:
        return [waiting.pop()] if waiting else feed.take(size)

    return take


def _here(spec: Spec, feed: MatchQueue, code: Code | None, seconds: float | None) -> Iterator[tuple[Scheduled, Record]]:
    """Play in this process, for a while or to the end."""
    until = None if seconds is None else monotonic() + seconds
    with closing(MatchRunner(spec, code=code)) as stage:
        while (until is None or monotonic() < until) and (batch := feed.take(1)):
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
    `seed`. `limits` are Limits, or a mapping with their names as keys; without them a decision is unlimited. `heuristics` is
    a name or a decorated object for all seats, or a sequence with one for each; without it the game's default holds. ValueError
    says what does not fit, Refused that an agent cannot play the game.
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
