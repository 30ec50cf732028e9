"""An agent against those that came with arena, on every game that it can play, or on those that were asked for."""

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

from arena.agent import Agent
from arena.commands.catalogue import Key
from arena.commands.trying.standing import Tried, against_each, percent, place, row_of
from arena.commands.trying.trial_board import TrialBoard
from arena.errors import ArenaError
from arena.game import Game
from arena.plugins.proposals import references
from arena.plugins.registry import Registry
from arena.traits import refusal


def try_agent(attempt: TrialBoard, key: Key, agent: type[Agent]) -> None:
    """Print a leaderboard for every game that the agent can play, as far as the time goes, and where it stands."""
    asked = games_asked(attempt.registry, attempt.only)
    for game in asked:
        reason = refusal(agent, game)
        if reason is not None:
            raise ArenaError(f"--game {game.name}: {reason}")
    boards_of(attempt, key[1], key[1], asked or [game for game in attempt.games() if refusal(agent, game) is None])
    attempt.say(
        f"\nnext: arena check {attempt.file} --watch, or a tournament of your own: arena run SPEC --plugin {attempt.file}"
    )


def games_asked(registry: Registry, names: Sequence[str]) -> list[Game]:
    """The games of these names with their default parameters; ArenaError where one is unknown or needs to be told some."""
    found = []
    for name in dict.fromkeys(names):
        try:
            found.append(registry.game(name)())
        except TypeError as error:
            raise ArenaError(f"--game {name}: it cannot be made without parameters: {error}") from error
    return found


def boards_of(attempt: TrialBoard, label: str, entry: str | Mapping[str, Any], games: Sequence[Game]) -> None:
    """Print a leaderboard of an entry and its rivals for every game, as far as the time goes, and where it stands.

    After several boards its places are told once more, a line a board.
    """
    places = []
    for number, game in enumerate(games):
        left = attempt.until - monotonic()
        if left <= 0 and number:
            attempt.say(f"\nno time left for {', '.join(other.name for other in games[number:])}; --game NAME tries one alone")
            break
        rivals = [name for name in references(attempt.registry, game) if name != label]
        tried = attempt.play(attempt.spec(game, [entry, *rivals]), max(0.0, left) / (len(games) - number), watched=label)
        attempt.say(f"\n{_standing(tried, label)}")
        places.append(f"{label} at {game.name}: {place(tried.board, label)}")
    if len(places) > 1:
        attempt.say("\n" + "\n".join(places))


def _standing(tried: Tried, name: str) -> str:
    board = tried.board
    game = board.game["name"]
    if board.kind == "versus":
        words = f"{name} at {game}: {place(board, name)}; it {against_each(tried, name)}."
    else:
        row = row_of(board, name)
        solved = f"it solves {percent(row['solved'])} of {row['attempts']}"
        words = f"{name} at {game}: {place(board, name)}; {solved}, with {row['nodes_per_attempt'] or 0:,.0f} nodes each."
    faults = [failure for failure in board.failures if failure.agent == name]
    return " ".join([words, *[f"It lost {fault.count} by {fault.kind}: {fault.message}." for fault in faults]])
