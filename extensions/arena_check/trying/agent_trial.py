"""An agent, or a program in another language, against built-in agents: a leaderboard for every game, and its place."""

from collections.abc import Mapping, Sequence
from shlex import quote
from time import monotonic
from typing import Any

from arena import Agent, ArenaError, Game
from arena.api.spec import Key, find_refusal, list_references
from arena.commands.catalogue import default_games
from arena_check.patience import CALL_SECONDS
from arena_check.trying.standing import Tried, against_each, percent, place, row_of
from arena_check.trying.trial_board import TrialBoard
from arena_isolation.command import called, need_startable

MANUAL = "docs/how-to/other-languages.md"


def try_agent(attempt: TrialBoard, key: Key, agent: type[Agent]) -> None:
    """Print a leaderboard and the agent's place for every game that it can play, or that was asked for, until the time is up."""
    asked = default_games(attempt.registry, attempt.only)
    for game in asked:
        reason = find_refusal(agent, game)
        if reason is not None:
            raise ArenaError(f"--game {game.name}: {reason}")
    _play_boards(attempt, key[1], key[1], asked or attempt.games(agent))
    attempt.say(
        f"\nnext: arena check {attempt.file} --watch, or a tournament of your own: arena run SPEC --plugin {attempt.file}"
    )


def try_program(attempt: TrialBoard, command: Sequence[str]) -> None:
    """Print a leaderboard and the program's place for every game that was asked for.

    ArenaError: no game was asked for, or the program cannot be started.
    """
    need_startable(attempt.file, command, f"arena try 'node {attempt.file}' --game tic-tac-toe; {_manual(command)}")
    if not attempt.only:
        example = f"arena try {quote(attempt.file)} --game tic-tac-toe"
        raise ArenaError(f"{attempt.file}: a program; say what it plays, as in {example}; {_manual(command)}")
    label = called(command)
    entry: dict[str, Any] = {"agent": {"command": list(command)}, "label": label, "limits": {"seconds": CALL_SECONDS}}
    _play_boards(attempt, label, entry, default_games(attempt.registry, attempt.only))
    attempt.say(f"\nnext: a tournament of your own; {_manual(command)}")


def _manual(command: Sequence[str]) -> str:
    """The entry of a program in a spec, and the page of the manual about programs."""
    return f"in a spec it is {{agent: {{command: [{', '.join(command)}]}}}}; {MANUAL} has the protocol and whole programs"


def _play_boards(attempt: TrialBoard, label: str, entry: str | Mapping[str, Any], games: Sequence[Game]) -> None:
    """Print a leaderboard of an entry and its rivals and the entry's place for every game, until the time is up.

    After several boards all places are printed once more, a line a board.
    """
    places = []
    for number, game in enumerate(games):
        left = attempt.until - monotonic()
        if left <= 0 and number:
            attempt.say(f"\nno time left for {', '.join(other.name for other in games[number:])}; --game NAME tries one alone")
            break
        rivals = [name for name in list_references(attempt.registry, game) if name != label]
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
