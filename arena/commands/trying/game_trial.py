"""A game or a puzzle: who can play it, how they do, and a match to look at."""

from collections.abc import Iterator
from itertools import pairwise
from textwrap import indent, wrap
from time import monotonic

from arena.commands.catalogue import Key
from arena.commands.trying.trial_board import MOVES, NODES, TrialBoard
from arena.game import Game, State
from arena.match.record import Record
from arena.plugins.proposals import references
from arena.results.leaderboard import Leaderboard
from arena.tournament.single import play
from arena.traits import listed, refusal, traits

SHOWN = 60
"""Lines of states that a sample match may take; of a longer one the first and the last states are shown."""


def try_game(attempt: TrialBoard, key: Key, kind: type[Game]) -> None:
    """Print which built-in agents can play a game, a leaderboard of some of them, and a match."""
    game = kind()
    attempt.say(f"\n{key[1]} is {listed(traits(game))}")
    agents = {name: agent for name, agent in attempt.registry.agents.items() if attempt.registry.sources["agent", name].own}
    fitting = [name for name, agent in agents.items() if refusal(agent, game) is None]
    attempt.say(_listed(f"can play it: {', '.join(fitting) or 'nobody'}", attempt.width))
    missing: dict[str, list[str]] = {}
    for name, agent in agents.items():
        if name not in fitting:
            missing.setdefault(listed(agent.needs - traits(game)) or "single-player", []).append(name)
    for needs, names in missing.items():
        attempt.say(_listed(f"cannot, for want of {needs}: {', '.join(names)}", attempt.width))
    rivals = references(attempt.registry, game)
    if len(rivals) < game.players:
        return
    board = attempt.play(attempt.spec(game, rivals), attempt.until - monotonic()).board
    _show_match(attempt, game, board)


def _listed(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, subsequent_indent="  ", break_on_hyphens=False))


def _show_match(attempt: TrialBoard, game: Game, board: Leaderboard) -> None:
    best = [row["agent"] for row in board.rows]
    seated = (best * game.players)[: game.players]
    puzzle = game.players == 1
    limits = {"nodes": NODES[puzzle], "moves": MOVES}
    record = play(game, seated, seed=attempt.seed, limits=limits)
    attempt.say(f"\na match of {' and '.join(seated)}:\n")
    attempt.say("\n\n".join(_frames(game, record, attempt.width)))
    ending = record.termination if record.termination != "normal" else "solved" if record.solved else "over"
    returns = ", ".join([f"{value:g}" for value in record.returns])
    attempt.say(f"\n{ending} after {len(record.actions)} actions, returns {returns}")


def _frames(game: Game, record: Record, width: int) -> list[str]:
    """The states of a match with the actions that led to them, those in the middle left out where there are too many."""
    frames = list(_states(game, record))
    lines = sum(frame.count("\n") + 2 for frame in frames)
    if lines <= SHOWN or len(frames) <= 6:
        return frames
    actions = ", ".join(record.actions[2:-3])
    return [*frames[:3], "\n".join(wrap(f"... {actions} ...", width)), *frames[-3:]]


def _states(game: Game, record: Record) -> Iterator[str]:
    state = game.parse_state(record.position)
    states: list[State] = [state]
    for text in record.actions:
        state = game.result(state, game.parse_action(state, text))
        states.append(state)
    if record.answer is not None:
        states.append(game.parse_state(record.answer))
    yield indent(game.render(states[0]), "  ")
    told = [*record.actions, "the answer"]
    for text, (before, after) in zip(told, pairwise(states), strict=False):
        who = "" if game.players == 1 else f"{record.labels[game.to_move(before)]}: "
        yield f"{who}{text}\n{indent(game.render(after), '  ')}"
