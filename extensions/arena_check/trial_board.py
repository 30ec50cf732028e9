"""A board of `arena try`: played until its time is up, with built-in agents as rivals, and the place of an entry on it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import IO, Any, NamedTuple

from arena import Agent, Game, run
from arena.api.cli import room
from arena.api.results import Leaderboard, Row, Tally, count_pairs, describe_board, estimate_score, figures, folded, render
from arena.api.run import PlayedMatch
from arena.api.spec import Registry, Spec, load_spec
from arena.commands.catalogue import text_width
from arena.errors import escape_controls
from arena.results.leaderboard import leaderboard
from arena.stats.observations import Pair, swapped
from arena_check.check_process import CheckProgress

NODES = {True: 5_000, False: 200}
"""Nodes of a decision, on a puzzle and in a game."""
MAX_MOVES = 200
ROUNDS = 20
"""The most rounds of a board."""
MAX_CRASHES = 3
"""Crashes of the tried agent that end a board."""

MIN_PAIRS = 5
"""The fewest pairs of games that can tell two entries apart: 0.05 ** (1 / 5) is above one half, 0.05 ** (1 / 4) is not."""
SURE_SUPERIORITY = 0.975
"""The likelihood of superiority that tells two entries apart if there are no pairs of games: three or more at one table."""
TOO_FEW_PAIRS = "scores against"
"""The words for a result of too few pairs that differ."""


class Enough(Exception):
    """Ends a board when its time is up, or after MAX_CRASHES."""


class Tried(NamedTuple):
    """A leaderboard with the pairs of games that its tests use."""

    board: Leaderboard
    pairs: Mapping[tuple[str, str], Sequence[Pair]]
    """The pairs of games of every two entries, in either order; empty for games of more than two seats."""


@dataclass(frozen=True, slots=True)
class TrialBoard:
    """The boards of one thing that is tried, until `until` on the monotonic clock."""

    registry: Registry
    file: str
    plugins: tuple[str, ...]
    seed: int
    out: IO[str]
    until: float
    progress: CheckProgress
    only: tuple[str, ...] = ()
    """The games that agents play instead of all that they can; empty for all."""

    def say(self, text: str = "") -> None:
        """Print a part of the result, wrapped to the terminal."""
        self.progress.clear()
        print(escape_controls(folded(text, room(self.out))), file=self.out, flush=True)

    @property
    def width(self) -> int:
        """The columns that text may take."""
        return text_width(self.out)

    def games(self, agent: type[Agent]) -> list[Game]:
        """The games that an agent can play with their default parameters: those of the file, then the built-in ones."""
        fitting, sources = self.registry.games_for(agent), self.registry.sources
        mine = [game for name, game in fitting.items() if sources["game", name].name == self.file]
        return mine + [game for name, game in fitting.items() if sources["game", name].own]

    def spec(self, game: Game, agents: Sequence[str | Mapping[str, Any]]) -> Spec:
        """The spec of a board: a game with its default parameters, ROUNDS rounds."""
        puzzle = game.players == 1
        keys = {
            "name": "try",
            "game": game.name,
            "agents": list(agents),
            "rounds": ROUNDS,
            "seed": self.seed,
            "limits": {"nodes": NODES[puzzle], "moves": MAX_MOVES},
        }
        return load_spec(keys, plugins=self.plugins)

    def play(self, spec: Spec, seconds: float, watched: str | None = None) -> Tried:
        """Play for `seconds`, print the leaderboard of whole rounds, and return it with its pairs of games.

        Matches of an unfinished round count if it is the first, or if the entry `watched` has crashed MAX_CRASHES times.
        """
        self.progress.at(f"trying {self.file} on {spec.boards[0].title}", spec.boards[0].name)
        until = monotonic() + seconds
        played: list[PlayedMatch] = []
        crashes = 0

        def note(one: PlayedMatch) -> None:
            nonlocal crashes
            played.append(one)
            record = one.record
            crashes += record.termination == "crash" and record.seat is not None and record.labels[record.seat] == watched
            if monotonic() > until or crashes == MAX_CRASHES:
                raise Enough

        with suppress(Enough):
            run(spec, observe=note)
        a_round = spec.boards[0].size // ROUNDS
        finished_rounds = max(1, len(played) // a_round)  # all matches count if no round is finished
        whole = played if crashes == MAX_CRASHES else played[: finished_rounds * a_round]
        tally = Tally(replace(describe_board(spec.boards[0]), size=len(whole)))  # no round is missing
        for one in whole:
            tally.add(one.number, one.pairing, one.record)
        board = leaderboard(tally, finished=True)
        self.say()
        self.say(render(replace(spec, name=self.file), [replace(board, cross=None)], width=room(self.out)))
        if crashes == MAX_CRASHES:
            self.say(f"{watched} crashed {MAX_CRASHES} times, which is enough.")
        elif len(whole) < ROUNDS * a_round:
            rounds = f"{finished_rounds} round{'s' * (finished_rounds != 1)}"
            matches = rounds if len(whole) >= a_round else f"{len(whole)} of the {a_round} matches of a round"
            self.say(f"{matches} in the time of a try.")
        labels = tally.sheet.labels
        there = {(labels[one], labels[two]): pairs for (one, two), pairs in tally.matches.pairings().items()}
        return Tried(board, there | {(two, one): [swapped(pair) for pair in pairs] for (one, two), pairs in there.items()})


def place(board: Leaderboard, label: str) -> str:
    """The place as `place 2 of 6`, and `shared` if another entry has it too; an entry that has failed has none."""
    row = row_of(board, label)
    if row.get("failures"):
        matches = row["games"] if board.kind == "versus" else row["attempts"]
        what = "game" if board.kind == "versus" else "attempt"
        return f"no place, since it failed in {row['failures']:,} of {matches:,} {what}{'s' * (matches != 1)}"
    shared = sum(other["rank"] == row["rank"] for other in board.rows) > 1
    return f"place {row['rank']} of {len(board.rows)}{', shared' if shared else ''}"


def against_each(tried: Tried, label: str) -> str:
    """The entries that it beats, loses to and cannot be told from, with its scores; scores alone after too few pairs.

    By the 95 % interval of its share of the points, computed from pairs of games as in `arena compare`.
    """
    board = tried.board
    labels = [row["agent"] for row in board.rows]
    scores = board.cross[labels.index(label)] if board.cross else ()
    groups: dict[str, list[str]] = {"beats": [], "loses to": [], "cannot be told from": [], TOO_FEW_PAIRS: []}
    for other, score in zip(labels, scores, strict=True):
        if score is not None:
            groups[_compare(tried, label, other)].append(f"{other} ({percent(score)})")
    results = "; ".join([f"{word} {', '.join(names)}" for word, names in groups.items() if names])
    few = ", in too few pairs that differ to tell" if groups[TOO_FEW_PAIRS] else ""
    games = row_of(board, label)["games"] // max(1, len(labels) - 1)
    number, unit = (games // 2, "pair") if tried.pairs and games > 1 else (games, "game")
    return f"{results}{few}; {number} {unit}{'s' * (number != 1)}{' of games' * (unit == 'pair')} against each"


def _compare(tried: Tried, label: str, other: str) -> str:
    pairs = tried.pairs.get((label, other))
    if pairs is None:
        sure = row_of(tried.board, label).get("superiority", {}).get(other)
        if sure is None:
            return TOO_FEW_PAIRS
        above, below = sure > SURE_SUPERIORITY, sure < 1 - SURE_SUPERIORITY
    else:
        worth = estimate_score(pairs)
        if sum(count_pairs(pairs)) < MIN_PAIRS or worth.score_low is None or worth.score_high is None:
            return TOO_FEW_PAIRS
        above, below = worth.score_low > 0.5, worth.score_high < 0.5
    return "beats" if above else "loses to" if below else "cannot be told from"


def row_of(board: Leaderboard, label: str) -> Row:
    """The row of one entry."""
    return next(row for row in board.rows if row["agent"] == label)


def percent(share: float | None) -> str:
    """A share for a sentence."""
    return figures.share(share, 0)
