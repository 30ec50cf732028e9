"""Checks of agents: they are set to play, with and without a budget, and played again."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from arena.agent import Agent
from arena.configured import settings
from arena.errors import Refused
from arena.game import Action, Game, Puzzle, State
from arena.heuristic import Evaluation, bind
from arena.identity import position_stream
from arena.limits import Limits
from arena.match import Match, Position, Seat
from arena.plugins import Registry, load_plugins
from arena.record import FAULTS, Record
from arena.referee import play_match
from arena.search import Search
from arena.spec import make_seat
from arena.testing.trial import Trial
from arena.traits import refusal

NODES = 20_000
"""Nodes that a decision may use in a check, so that it ends for every agent on every game."""
MOVES = 60


class _Anyone(Agent):
    """Plays at random against the agent that is checked."""

    name = "anyone"

    def choose(self, game: Game, state: State, search: Search) -> Action:
        return search.rng.choice(game.actions(state))


def check_agent(
    agent: Agent | type[Agent] | str, game: Game | type[Game] | str | None = None, *, seed: int = 0, matches: int = 5
) -> tuple[str, ...]:
    """Let an agent play `matches` matches on a game, or on every installed game that fits; return what was checked.

    Checked are: legal actions or solutions without an exception; the same actions from the same seed; that a budget of
    one node is survived; and that the global random generator is left alone. Opponents play at random. AssertionError
    says what broke, and how to see it.
    """
    registry = load_plugins()
    kind, make = _kind(agent, registry)
    games = _games(kind, game, registry)
    if not games:
        raise Refused(f"{kind.name} can play no installed game; hand one in")
    for one in games:
        evaluation = _evaluation(one, registry)
        for number in range(max(1, matches)):
            _check_match(kind, make, one, evaluation, Trial(f"{kind.name} on {one.name}", seed, number))
    return tuple(f"{one.name}: plays, repeats, one node, randomness" for one in games)


def _kind(agent: Agent | type[Agent] | str, registry: Registry) -> tuple[type[Agent], Callable[[], Agent]]:
    if isinstance(agent, str):
        agent = registry.agent(agent)
    if isinstance(agent, type):
        return agent, agent
    return type(agent), partial(type(agent), **settings(agent))


def _games(kind: type[Agent], game: Game | type[Game] | str | None, registry: Registry) -> list[Game]:
    if game is None:
        made = [known() for known in registry.games.values()]
        return [one for one in made if refusal(kind, one) is None]
    if isinstance(game, str):
        game = registry.game(game)
    one = game() if isinstance(game, type) else game
    reason = refusal(kind, one)
    if reason:
        raise Refused(reason)
    return [one]


def _evaluation(game: Game, registry: Registry) -> Evaluation | None:
    found = registry.heuristics.get((game.name, game.default_heuristic or ""))
    return None if found is None else bind(found, game)


def _check_match(kind: type[Agent], make: Callable[[], Agent], game: Game, evaluation: Evaluation | None, trial: Trial) -> None:
    state = game.initial(position_stream(f"{trial.seed}/{trial.number}").rng)
    text = game.format_state(state)
    for nodes in (NODES, 1):
        play = partial(_played, kind, make, game, evaluation, trial, state, Limits(nodes=nodes, moves=MOVES))
        with trial.own_randomness("the agent"):
            first = play()
        trial.actions = list(first.actions)
        what = "plays on with a budget of one node" if nodes == 1 else "plays without a fault"
        fault = f"{first.termination}: {first.message}\n{first.traceback or ''}".rstrip()
        trial.expect(first.termination not in (*FAULTS, "void"), what, "an ending that is nobody's fault", fault)
        trial.expect(game.format_state(state) == text, "the agent changes the state it is given", text, game.format_state(state))
        again = _elsewhere(play)
        trial.expect(again.actions == first.actions, "the same seed gives the same actions", first.actions, again.actions)
        trial.expect(again.answer == first.answer, "the same seed gives the same answer", first.answer, again.answer)


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
    own = replace(make_seat(kind, {}, evaluation, None, limits, kind.name, puzzle), make=make)
    others = make_seat(_Anyone, {}, evaluation, None, limits, "anyone", puzzle)
    seats: list[Seat] = [others] * game.players
    seats[trial.number % game.players] = own
    position: Any = Position("check", state, game.format_state(state))
    return play_match(Match(f"check/{trial.seed}/{trial.number}", game, position, tuple(seats), trial.seed))
