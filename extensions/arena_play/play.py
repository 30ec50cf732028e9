"""The command `play`: a person plays against agents, watches agents, or solves a puzzle by hand."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from arena import ArenaError, GameError, Spec
from arena.api.cli import PercentLine, load, results_alone, say_notes
from arena.api.errors import Interrupted, describe
from arena.api.results import figures
from arena_isolation.agent_pool import AgentProcesses
from arena_play import human
from arena_play.advice import Adviser
from arena_play.defaults import DECISION_LIMITS, SOLUTION_LIMITS, propose_agent
from arena_play.screen import Screen
from arena_play.seats import is_person
from arena_play.session import Session
from arena_play.solve import show_solution
from arena_setup.match_setup import MatchSetup, match_of, setup_of
from arena_setup.options import match_options

MOVE_PAUSE_SECONDS = 0.5
"""Seconds between two moves when a person watches agents."""


@click.command()
@click.argument("game")
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@match_options
def play(game: str, agents: tuple[str, ...], **asked: Any) -> int:
    """Play GAME yourself, or watch agents play it.

    An AGENT is `human`, or an agent with its options, as in lookahead:depth=2. If you name no agents, you play the first seat.
    Arena fills the seats that are left.
    """
    setup = setup_of(game, asked, (human.__name__,))
    with results_alone(draws=True) as out, PercentLine(sys.stderr), AgentProcesses() as hosts:
        screen = Screen(out)
        spec, adviser = _prepare(setup, agents, hosts)
        say_notes(spec)
        try:
            match = match_of(spec)
            usual = MOVE_PAUSE_SECONDS if screen.terminal else 0.0
            pause = usual if asked["delay"] is None else asked["delay"]
            if match.seats[0].solver:
                show_solution(screen, spec, pause)
            else:
                board = spec.boards[0]
                screen.say(f"{board.title}: {' against '.join([seat.label for seat in board.seats])}", "bold")
                limits = next((seat.limits for seat in board.seats if not is_person(seat)), None)
                if limits is not None and limits.budget:
                    most = [figures.amount(limits.nodes, "node")] if limits.nodes is not None else []
                    most += [f"{limits.seconds:g} s"] if limits.seconds is not None else []
                    may = "an agent that reports moves may use" if limits.patient else "a decision of an agent may use"
                    change = "; use --limits to change this" if setup.limits is None else ""
                    screen.say(f"{may} {figures.listing(most)}{' for each' * limits.patient}{change}", "dim")
                screen.say()
                Session(match, hosts, screen, adviser, pause).play()
        except BaseException as error:  # a game of a plugin may raise anything
            if isinstance(error, Interrupted | OSError) or (isinstance(error, ArenaError) and not isinstance(error, GameError)):
                raise
            screen.say(f"\nan error in the game itself: {describe(error)}", "bad")
            return 1
    return 0


def _prepare(setup: MatchSetup, agents: Sequence[str], hosts: AgentProcesses) -> tuple[Spec, Adviser | None]:
    """Return the match as a spec in which empty seats are filled with agents, and the adviser for hints if a person plays."""
    registry = load(setup.plugins)
    kind = registry.game(setup.game)
    try:
        game = kind(**setup.parameters)
    except Interrupted:
        raise
    except BaseException:  # the spec reports wrong parameters better than this code could
        bare = MatchSetup(setup.game, setup.parameters, plugins=setup.plugins, own_plugins=setup.own_plugins)
        bare.load([human.NAME] * max(1, kind.players))
        raise
    best = propose_agent(registry, game, setup.heuristic)
    puzzle = game.players == 1
    if setup.limits is None:
        setup = replace(setup, limits=SOLUTION_LIMITS if puzzle else DECISION_LIMITS, patient=True)
    seats = list(agents) or [human.NAME]
    seats += [best] * (game.players - len(seats))
    if len(seats) > game.players:
        raise ArenaError(
            f"{setup.game} has {game.players} {'seat' if puzzle else 'seats'}, got {figures.amount(len(seats), 'agent')}"
        )
    spec = setup.load(seats)
    return spec, Adviser(setup, best, hosts) if any(map(is_person, spec.boards[0].seats)) else None
