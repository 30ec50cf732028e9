"""An agent against those that came with arena, on every game that it can play."""

from time import monotonic

from arena.agent import Agent
from arena.commands.catalogue import Key
from arena.traits import refusal
from arena.trying.attempt import Attempt
from arena.trying.standing import Tried, against_each, percent, place, row_of


def try_agent(attempt: Attempt, key: Key, agent: type[Agent]) -> None:
    """Print a leaderboard for every game that the agent can play, as far as the time goes, and where it stands."""
    games = [game for game in attempt.games() if refusal(agent, game) is None]
    for number, game in enumerate(games):
        left = attempt.until - monotonic()
        if left <= 0 and number:
            attempt.say(f"\nno time left for {', '.join(other.name for other in games[number:])}")
            break
        rivals = [name for name in attempt.rivals(game) if name != key[1]]
        tried = attempt.play(attempt.spec(game, [key[1], *rivals]), max(0.0, left) / (len(games) - number))
        attempt.say(f"\n{_standing(tried, key[1])}")
    attempt.say(
        f"\nnext: arena check {attempt.file} --watch, or a tournament of your own: arena run SPEC --plugin {attempt.file}"
    )


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
