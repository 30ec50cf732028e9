"""A board of `arena try`: played until its time is up, with built-in agents as rivals, and an entry's place on it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import IO, Any, NamedTuple

from arena import CHANCE, Agent, ArenaError, Game, Registry, Spec, play, run
from arena.api.cli import room
from arena.api.errors import escape_controls
from arena.api.match import steps
from arena.api.results import (
    Leaderboard,
    Row,
    Tally,
    count_pairs,
    describe_board,
    estimate_score,
    figures,
    folded,
    leaderboard,
    render,
)
from arena.api.run import PlayedMatch
from arena.api.spec import load_spec
from arena.stats import Pair, swapped
from arena_catalog.catalogue import text_width
from arena_check.check_process import CheckProgress

PUZZLE_NODES = 5_000
GAME_NODES = (200, 1_500)
"""Minimum and maximum node limit of a decision in a game."""
PLIES_SEEN = 2
"""Number of plies for which the nodes of a decision suffice. `lookahead` needs this many, and has no move otherwise."""
MAX_MOVES = 200
ROUNDS = 20
"""Maximum number of rounds of a board."""
MAX_CRASHES = 3
"""A board ends after this many crashes of the tried agent."""

MIN_PAIRS = 5
"""Minimum number of game pairs to tell two entries apart: 0.05 ** (1 / 5) is above one half, 0.05 ** (1 / 4) is not."""
SURE_SUPERIORITY = 0.975
"""Likelihood of superiority that tells two entries apart if there are no game pairs: three or more at one table."""
TOO_FEW_PAIRS = "scores against"
"""Text for a result of too few pairs that differ."""


class Enough(Exception):
    """Ends a board when its time is up, or after MAX_CRASHES."""


class Tried(NamedTuple):
    """A leaderboard with the pairs of games that its tests use."""

    board: Leaderboard
    pairs: Mapping[tuple[str, str], Sequence[Pair]]
    """Game pairs of every two entries, in either order; empty for games of more than two seats."""


@dataclass(frozen=True, slots=True)
class TrialBoard:
    """The boards of one tried thing, until `until` on the monotonic clock."""

    registry: Registry
    file: str
    plugins: tuple[str, ...]
    seed: int
    out: IO[str]
    until: float
    progress: CheckProgress
    only: tuple[str, ...] = ()
    """Games for agents; empty for all that they can play."""
    told: set[str] = field(default_factory=set)
    """Remarks below the boards so far. Each is printed once."""

    def say(self, text: str = "") -> None:
        """Print a part of the result, wrapped to the terminal."""
        self.progress.clear()
        print(escape_controls(folded(text, room(self.out))), file=self.out, flush=True)

    @property
    def width(self) -> int:
        """Number of columns for text."""
        return text_width(self.out)

    def games(self, agent: type[Agent]) -> list[Game]:
        """Return the games that an agent can play with their default parameters. Raises ArenaError if there are none.

        Games of the file come first, then games of requested plugins, then the built-in ones.
        """
        fitting, sources = self.registry.games_for(agent), self.registry.sources
        asked = [name for name in fitting if sources["game", name].asked]
        asked.sort(key=lambda name: sources["game", name].name != self.file)
        if not fitting:
            raise ArenaError(f"{self.file}: no game fits; name the plugin of its game: --plugin GAME.py")
        return [fitting[name] for name in [*asked, *[name for name in fitting if sources["game", name].own]]]

    def nodes(self, game: Game) -> int:
        """Return the node limit of a decision. In a game it suffices for a search of PLIES_SEEN plies, within GAME_NODES.

        The number of actions is the maximum in a random match.
        """
        if game.players == 1:
            return PUZZLE_NODES
        record = play(game, ["random"] * game.players, seed=self.seed, limits={"moves": MAX_MOVES})
        states = [step.state for step in steps(game, record)]
        asked = [state for state in states if not game.is_terminal(state) and game.to_move(state) is not CHANCE]
        widest: int = max([len(game.actions(state)) for state in asked], default=0)
        fewest, most = GAME_NODES
        return min(most, max(fewest, sum([int(widest**ply) for ply in range(1, PLIES_SEEN + 1)])))

    def spec(self, game: Game, agents: Sequence[str | Mapping[str, Any]]) -> Spec:
        """Return the spec of a board: a game with its default parameters, ROUNDS rounds."""
        keys = {
            "name": "try",
            "game": game.name,
            "agents": list(agents),
            "rounds": ROUNDS,
            "seed": self.seed,
            "limits": {"nodes": self.nodes(game), "moves": MAX_MOVES},
        }
        return load_spec(keys, plugins=self.plugins)

    def play(self, spec: Spec, seconds: float, watched: str | None = None) -> Tried:
        """Play for `seconds`, print the leaderboard of whole rounds, and return it with its game pairs.

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
        shown = replace(board, cross=None, remarks=tuple([one for one in board.remarks if one not in self.told]))
        self.told.update(board.remarks)
        self.say(render(replace(spec, name=self.file), [shown], width=room(self.out)))
        if crashes == MAX_CRASHES:
            self.say(f"{watched} crashed {MAX_CRASHES} times, which is enough.")
        elif len(whole) < ROUNDS * a_round:
            rounds = f"{finished_rounds} round{'s' * (finished_rounds != 1)}"
            matches = rounds if len(whole) >= a_round else f"{len(whole)} of the {a_round} matches of a round"
            self.say(f"{matches} in the time of a try.")
        budget = f"Each decision has {spec.boards[0].seats[0].limits.nodes:,} nodes; `arena run SPEC` takes any `limits`."
        if budget not in self.told:
            self.told.add(budget)
            self.say(budget)
        labels = tally.sheet.labels
        there = {(labels[one], labels[two]): pairs for (one, two), pairs in tally.matches.pairings().items()}
        return Tried(board, there | {(two, one): [swapped(pair) for pair in pairs] for (one, two), pairs in there.items()})


def place(board: Leaderboard, label: str) -> str:
    """Return the place as `place 2 of 6`, and `shared` if another entry has it, too. A failed entry has none."""
    row = row_of(board, label)
    if row.get("failures"):
        matches = row["games"] if board.kind == "versus" else row["attempts"]
        what = "game" if board.kind == "versus" else "attempt"
        return f"no place, since it failed in {row['failures']:,} of {matches:,} {what}{'s' * (matches != 1)}"
    shared = sum(other["rank"] == row["rank"] for other in board.rows) > 1
    return f"place {row['rank']} of {len(board.rows)}{', shared' if shared else ''}"


def against_each(tried: Tried, label: str) -> str:
    """Return the entries that it beats, loses to and cannot be told from, with its scores. After too few pairs, only scores.

    It uses the 95 % interval of its share of the points, computed from game pairs as in `arena compare`.
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
    """Return the row of one entry."""
    return next(row for row in board.rows if row["agent"] == label)


def percent(share: float | None) -> str:
    """Format a share for a sentence."""
    return figures.share(share, 0)
