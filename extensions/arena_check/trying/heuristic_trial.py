"""A heuristic: the same agents with it, with the default one of its game, and with none."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

from arena.api.results import Leaderboard
from arena.api.spec import Key, Spec, list_references
from arena.commands.catalogue import engine_lines
from arena.match.match import seat_identity
from arena_check.trying.standing import percent, row_of
from arena_check.trying.trial_board import TrialBoard

NONE = "none"


def try_heuristic(attempt: TrialBoard, key: Key, heuristic: Callable[..., Any]) -> None:
    """Print for every agent a leaderboard of itself with this heuristic, the default one and none, and a sentence on it."""
    game = attempt.registry.game(key[1])()
    for line in engine_lines(game, heuristic):
        attempt.say(f"\n{key[2]}: {line}")
    default = game.default_heuristic
    rivals = [default] if default not in (None, key[2]) and (key[1], default) in attempt.registry.heuristics else []
    agents = [name for name in list_references(attempt.registry, game) if attempt.registry.agents[name].wants_heuristic]
    for number, agent in enumerate(agents):
        seconds = max(0.0, attempt.until - monotonic()) / (len(agents) - number)
        names = [key[2], *rivals, NONE]
        entries = [{"agent": agent, "heuristic": name, "label": f"{agent} with {name}"} for name in names[:-1]]
        entries.append({"agent": agent, "heuristic": key[2], "label": f"{agent} with {NONE}"})
        board = attempt.play(_without(attempt.spec(game, entries), f"{agent} with {NONE}"), seconds).board
        attempt.say(f"\n{_verdict(board, agent, names)}")


def _without(spec: Spec, label: str) -> Spec:
    """The spec with no heuristic for one entry; a spec's file always gives one if the game has any."""
    board = spec.boards[0]
    seats = list(board.seats)
    for number, seat in enumerate(seats):
        if seat.label == label:
            identity = seat_identity(seat.agent, {}, None, seat.limits, label)
            seats[number] = replace(seat, evaluation=None, heuristic=None, identity=identity)
    return replace(spec, boards=(replace(board, seats=tuple(seats)),))


def _verdict(board: Leaderboard, agent: str, names: list[str]) -> str:
    labels = [f"{agent} with {name}" for name in names]
    if board.kind == "versus" and board.cross is not None:
        order = [row["agent"] for row in board.rows]
        scores = board.cross[order.index(labels[0])]
        told = [
            f"{percent(scores[order.index(other)])} against {name}" for other, name in zip(labels[1:], names[1:], strict=True)
        ]
        return f"{labels[0]} scores {', '.join(told)}."
    told = []
    for label, name in zip(labels, names, strict=True):
        row = row_of(board, label)
        told.append(f"{percent(row['solved'])} with {name} ({row['nodes_per_attempt'] or 0:,.0f} nodes each)")
    return f"{agent} solves {', '.join(told)}."
