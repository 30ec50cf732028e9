"""Checks of agents: they are set to play, with and without a budget, and played again."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from arena.agent import Agent
from arena.configured import name_of, settings
from arena.errors import Refused
from arena.game import Action, Game, Puzzle, State
from arena.heuristic import Evaluation, bind
from arena.identity import position_stream
from arena.interrupts import user_interrupts
from arena.limits import Limits
from arena.match import Match, Position, Seat
from arena.outcome import Answer, Path
from arena.plugins import Registry, load_plugins
from arena.record import FAULTS, Record
from arena.referee import play_match
from arena.search import Search
from arena.spec import make_seat
from arena.testing.trial import Trial, copied
from arena.traits import refusal

NODES = 2_000
"""Nodes that a decision may use in a check, so that it ends for every agent on every game."""
MOVES = 60


class _Anyone(Agent):
    """Plays at random against the agent that is checked."""

    name = "anyone"

    def choose(self, game: Game, state: State, search: Search) -> Action:
        return search.rng.choice(game.actions(state))


class _Watched(Agent):
    """The agent that is checked; notes the states that it changes, as they were and as they are."""

    name = "watched"

    def __init__(self, agent: Agent, changed: list[tuple[State, State]]) -> None:
        self._agent = agent
        self._changed = changed

    def choose(self, game: Game, state: State, search: Search) -> Action:
        return self._watch(self._agent.choose, game, state, search)

    def solve(self, game: Game, state: State, search: Search) -> Path | Answer | None:
        found: Path | Answer | None = self._watch(self._agent.solve, game, state, search)
        return found

    def _watch(self, decide: Callable[..., Any], game: Game, state: State, search: Search) -> Any:
        before = copied(state)
        try:
            return decide(game, state, search)
        finally:
            if state != before:
                self._changed.append((before, state))


@user_interrupts()
def check_agent(
    agent: Agent | type[Agent] | str,
    game: Game | type[Game] | str | None = None,
    *,
    seed: int = 0,
    matches: int = 5,
    registry: Registry | None = None,
) -> tuple[str, ...]:
    """Let an agent play `matches` matches on a game, or on every installed game that fits; return what was checked.

    Checked are: legal actions or solutions without an exception; the same actions from the same seed; that a budget of
    one node is survived; that no state is changed; and that the global random generator is left alone. Opponents play at
    random. AssertionError says what broke, and how to see it.
    """
    registry = registry or load_plugins()
    kind, make = _kind(agent, registry)
    games = _games(kind, game, registry)
    if not games:
        raise Refused(f"{name_of(kind)} can play no installed game; hand one in")
    for one in games:
        evaluation = _evaluation(one, registry)
        for number in range(max(1, matches)):
            trial = Trial(f"{name_of(kind)} on {name_of(one)}", seed, number)
            trial.call("a method of the game", _check_match, kind, make, one, evaluation, trial)
    return tuple(f"{name_of(one)}: plays, repeats, one node, randomness" for one in games)


def _kind(agent: Agent | type[Agent] | str, registry: Registry) -> tuple[type[Agent], Callable[[], Agent]]:
    if isinstance(agent, str):
        agent = registry.agent(agent)
    if isinstance(agent, type):
        return agent, agent
    return type(agent), partial(type(agent), **settings(agent))


def _games(kind: type[Agent], game: Game | type[Game] | str | None, registry: Registry) -> list[Game]:
    if game is None:
        made = [_default(known) for known in registry.games.values()]
        return [one for one in made if one is not None and refusal(kind, one) is None]
    if isinstance(game, str):
        game = registry.game(game)
    one = game() if isinstance(game, type) else game
    reason = refusal(kind, one)
    if reason:
        raise Refused(reason)
    return [one]


def _default(game: type[Game]) -> Game | None:
    """A game with its default parameters, None where it has none."""
    try:
        return game()
    except Exception:
        return None


def _evaluation(game: Game, registry: Registry) -> Evaluation | None:
    found = registry.heuristics.get((name_of(game), game.default_heuristic or ""))
    return None if found is None else bind(found, game)


def _check_match(kind: type[Agent], make: Callable[[], Agent], game: Game, evaluation: Evaluation | None, trial: Trial) -> None:
    state = game.initial(position_stream(f"{trial.seed}/{trial.number}"))
    copy = trial.call("states must pickle", copied, state)
    trial.expect(copy == state, "states must compare by value", state, copy)
    changed: list[tuple[State, State]] = []
    watched = partial(_watched, make, changed)
    for nodes in (NODES, 1):
        play = partial(_played, kind, watched, game, evaluation, trial, state, Limits(nodes=nodes, moves=MOVES))
        with trial.own_randomness("the agent"):
            first = play()
        trial.actions = list(first.actions)
        for before, after in changed:
            raise trial.violation("the agent changes the state it is given", before, after)
        what = "plays on with a budget of one node" if nodes == 1 else "plays without a fault"
        if first.termination in (*FAULTS, "void"):
            fault = trial.violation(what, "an ending that is nobody's fault", f"{first.termination}: {first.message}")
            fault.add_note(first.traceback or "")
            raise fault
        again = _elsewhere(play)
        trial.expect(again.actions == first.actions, "the same seed gives the same actions", first.actions, again.actions)
        trial.expect(again.answer == first.answer, "the same seed gives the same answer", first.answer, again.answer)


def _watched(make: Callable[[], Agent], changed: list[tuple[State, State]]) -> Agent:
    return _Watched(make(), changed)


def _elsewhere(play: Callable[[], Record]) -> Record:
    """Play with the global generator in another state, and put it back."""
    before = random.getstate()
    random.seed("elsewhere")
    try:
        return play()
    finally:
        random.setstate(before)


def _played(
    kind: type[Agent],
    make: Callable[[], Agent],
    game: Game,
    evaluation: Evaluation | None,
    trial: Trial,
    state: State,
    limits: Limits,
) -> Record:
    puzzle = isinstance(game, Puzzle)
    own = replace(make_seat(kind, {}, evaluation, None, limits, name_of(kind), puzzle), make=make)
    others = make_seat(_Anyone, {}, evaluation, None, limits, "anyone", puzzle)
    seats: list[Seat] = [others] * game.players
    seats[trial.number % game.players] = own
    position: Any = Position("check", state, game.format_state(state))
    return play_match(Match(f"check/{trial.seed}/{trial.number}", game, position, tuple(seats), trial.seed))
