"""A game or a puzzle: the agents that can play it, their leaderboard, and a match."""

from collections.abc import Iterator
from textwrap import indent, wrap
from time import monotonic

from arena import Agent, Game
from arena.api.match import Record, steps
from arena.api.results import Leaderboard, figures
from arena.api.spec import Key, references, refusal, traits
from arena.commands.catalogue import engine_lines
from arena.tournament.single import play
from arena.traits import listed, made_for, not_coped_with
from arena_check.trying.trial_board import MAX_MOVES, NODES, TrialBoard

SHOWN = 60
"""The most lines of a match whose states are all shown; of a longer one the first and the last are."""


def try_game(attempt: TrialBoard, key: Key, kind: type[Game]) -> None:
    """Print the built-in agents that can play a game, a leaderboard of some of them, and a match."""
    game = kind()
    attempt.say(f"\n{key[1]} is {listed(traits(game))}")
    for line in engine_lines(game):
        attempt.say(line)
    agents = {name: agent for name, agent in attempt.registry.agents.items() if attempt.registry.sources["agent", name].own}
    fitting = [name for name, agent in agents.items() if refusal(agent, game) is None]
    attempt.say(_wrap(f"can play it: {', '.join(fitting) or 'nobody'}", attempt.width))
    obstacles: dict[str, list[str]] = {}
    for name, agent in agents.items():
        if name not in fitting:
            obstacles.setdefault(_obstacle(agent, game), []).append(name)
    for obstacle, names in obstacles.items():
        attempt.say(_wrap(f"cannot, {obstacle}: {', '.join(names)}", attempt.width))
    rivals = references(attempt.registry, game)
    if len(rivals) < game.players:
        return
    board = attempt.play(attempt.spec(game, rivals), attempt.until - monotonic()).board
    _show_match(attempt, game, board)


def _obstacle(agent: type[Agent], game: Game) -> str:
    """Why an agent cannot play a game, in a few words that agents share."""
    missing = agent.needs - traits(game)
    if made_for(agent):
        return "made for other games"
    if missing:
        return f"for want of {listed(missing)}"
    unknown = not_coped_with(agent, game)
    return f"since it has {listed(unknown)}" if unknown else "for want of single-player"


def _wrap(text: str, width: int) -> str:
    return "\n".join(wrap(text, width, subsequent_indent="  ", break_on_hyphens=False))


def _show_match(attempt: TrialBoard, game: Game, board: Leaderboard) -> None:
    best = [row["agent"] for row in board.rows]
    seated = (best * game.players)[: game.players]
    puzzle = game.players == 1
    limits = {"nodes": NODES[puzzle], "moves": MAX_MOVES}
    record = play(game, seated, seed=attempt.seed, limits=limits)
    attempt.say(f"\na match of {' and '.join(seated)}:\n")
    attempt.say("\n\n".join(_frames(game, record, attempt.width)))
    ending = record.termination if record.termination != "normal" else "solved" if record.solved else "over"
    returns = ", ".join(map(figures.score, record.returns))
    attempt.say(f"\n{ending} after {len(record.actions)} actions, returns {returns}")


def _frames(game: Game, record: Record, width: int) -> list[str]:
    """The states of a match, each under the action before it; those in the middle left out if all take more than SHOWN lines."""
    frames = list(_states(game, record))
    lines = sum(frame.count("\n") + 2 for frame in frames)
    if lines <= SHOWN or len(frames) <= 6:
        return frames
    actions = ", ".join(record.actions[2:-3])
    return [*frames[:3], "\n".join(wrap(f"... {actions} ...", width)), *frames[-3:]]


def _states(game: Game, record: Record) -> Iterator[str]:
    for step in steps(game, record):
        who = "" if game.players == 1 or step.seat is None else f"{record.labels[step.seat]}: "
        heading = "the answer\n" if step.number < 0 else "" if step.action is None else f"{who}{step.action}\n"
        yield heading + indent(game.render(step.state), "  ")
