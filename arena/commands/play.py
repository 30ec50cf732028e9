"""The command play: a person against agents, agents watched, a puzzle by hand."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from arena.commands.solve import show_solution
from arena.commands.terminal import human
from arena.commands.terminal.advice import Adviser
from arena.commands.terminal.defaults import DECISION, SOLUTION, sensible
from arena.commands.terminal.match_setup import MatchSetup, match_of
from arena.commands.terminal.seats import is_person
from arena.commands.terminal.session import Session
from arena.console.notices import load, say, say_problems
from arena.console.output import results_alone
from arena.console.progress import Work
from arena.console.screen import Screen
from arena.errors import ArenaError, GameError, Interrupted, describe
from arena.game import Game
from arena.isolation.agent_process import AgentProcesses
from arena.spec import Spec
from arena.tracking import listening

PAUSE = 0.5
"""Seconds between two moves of agents that somebody watches."""


@dataclass(frozen=True, slots=True)
class PlayCall:
    """What `arena play` was asked for."""

    game: str
    agents: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    position: str | None = None
    heuristic: str | None = None
    limits: Mapping[str, Any] | None = None
    """None where the call says nothing of limits."""
    delay: float | None = None
    plugins: tuple[str, ...] = ()


def play(call: PlayCall) -> int:
    """Play one match at the terminal; 1 where the game itself fails."""
    with results_alone() as out, listening(Work(sys.stderr)), AgentProcesses() as hosts:
        screen = Screen(out)
        spec, adviser = _prepared(call, hosts)
        say_problems(spec.registry)
        for note in spec.notes:
            say(f"note: {note}")
        try:
            match = match_of(spec)
            delay = call.delay if call.delay is not None else PAUSE if screen.terminal else 0.0
            if match.seats[0].solver:
                show_solution(screen, spec, delay)
            else:
                _announce(screen, spec)
                Session(match, hosts, screen, adviser, delay).play()
        except (Interrupted, OSError):
            raise
        except ArenaError as error:
            if not isinstance(error, GameError):
                raise
            return _failed(screen, error)
        except BaseException as error:  # the game is a plugin, whatever it raises
            return _failed(screen, error)
    return 0


def _failed(screen: Screen, error: BaseException) -> int:
    screen.say(f"\nthe game itself is at fault: {describe(error)}", "bad")
    return 1


def _prepared(call: PlayCall, hosts: AgentProcesses) -> tuple[Spec, Adviser | None]:
    """The match as a spec, empty seats filled, and who gives hints."""
    game, best = _first_look(call)
    puzzle = game.players == 1
    usual = SOLUTION if puzzle else DECISION
    setting = MatchSetup(
        call.game,
        call.parameters,
        call.seed,
        call.position,
        call.heuristic,
        usual if call.limits is None else call.limits,
        call.plugins,
    )
    agents = seats(call.agents, game.players, best)
    if len(agents) > game.players:
        raise ArenaError(f"{call.game} has {game.players} {'seat' if puzzle else 'seats'}, got {len(agents)} agents")
    spec = setting.load(agents)
    people = any(map(is_person, spec.boards[0].seats))
    return spec, Adviser(replace(setting, heuristic=call.heuristic), best, hosts) if people else None


def _first_look(call: PlayCall) -> tuple[Game, str]:
    """The game, which tells how many seats there are, and who plays it well."""
    registry = load(call.plugins)
    kind = registry.game(call.game)
    try:
        game = kind(**call.parameters)
    except Interrupted:
        raise
    except BaseException:  # the spec says what is wrong with the parameters, better than this
        MatchSetup(call.game, call.parameters, plugins=call.plugins).load([human.NAME] * max(1, kind.players))
        raise
    return game, sensible(registry, game, call.heuristic)


def seats(agents: Sequence[str], players: int, best: str) -> list[str]:
    """Who sits where: those who were named, then a person where nobody was, then `best` in every seat that is left."""
    found = list(agents) or [human.NAME]
    return found + [best] * (players - len(found))


def _announce(screen: Screen, spec: Spec) -> None:
    board = spec.boards[0]
    seats_ = board.seats
    labels = [seat.label for seat in seats_]
    screen.say(f"{board.title}: {' against '.join(labels)}", "bold")
    limits = next((seat.limits for seat in seats_ if not is_person(seat)), None)
    if limits is not None and limits.budget:
        most = [f"{limits.nodes:,} nodes"] if limits.nodes is not None else []
        most += [f"{limits.seconds:g} s"] if limits.seconds is not None else []
        screen.say(f"a decision of an agent may use {' and '.join(most)}; --limits changes that", "dim")
    screen.say()
