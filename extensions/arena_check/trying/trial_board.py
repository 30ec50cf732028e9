"""A board of `arena try`: played until its time is up, with built-in agents as rivals."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import IO, Any

from arena import Agent, Game
from arena.api.cli import room
from arena.api.results import Tally, describe_board, folded, render
from arena.api.run import PlayedMatch
from arena.api.spec import Registry, Spec, load_spec
from arena.commands.catalogue import text_width
from arena.errors import escape_controls
from arena.results.leaderboard import leaderboard
from arena.stats.observations import Pair, swapped
from arena.tournament.run import run
from arena_check.check_process import CheckProgress
from arena_check.trying.standing import Tried

NODES = {True: 5_000, False: 200}
"""Nodes of a decision, on a puzzle and in a game."""
MAX_MOVES = 200
ROUNDS = 20
"""The most rounds of a board."""
CRASHES = 3
"""Crashes of the tried agent that end a board."""


class Enough(Exception):
    """Ends a board whose time is up."""


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

        Matches of an unfinished round count if it is the first, or if the entry `watched` has crashed CRASHES times.
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
            if monotonic() > until or crashes == CRASHES:
                raise Enough

        with suppress(Enough):
            run(spec, observe=note)
        a_round = spec.boards[0].size // ROUNDS
        finished_rounds = max(1, len(played) // a_round)  # all matches count if no round is finished
        whole = played if crashes == CRASHES else played[: finished_rounds * a_round]
        tally = Tally(replace(describe_board(spec.boards[0]), size=len(whole)))  # no round is missing
        for one in whole:
            tally.add(one.number, one.pairing, one.record)
        board = leaderboard(tally, finished=True)
        self.say()
        self.say(render(replace(spec, name=self.file), [replace(board, cross=None)], width=room(self.out)))
        if crashes == CRASHES:
            self.say(f"{watched} crashed {CRASHES} times, which is enough.")
        elif len(whole) < ROUNDS * a_round:
            self.say(f"{_count_matches(len(whole), a_round)} in the time of a try.")
        return Tried(board, _pairs(tally))


def _pairs(tally: Tally) -> dict[tuple[str, str], list[Pair]]:
    """The pairs of games of every two entries, by their labels in either order."""
    labels = tally.sheet.labels
    there = {(labels[one], labels[two]): pairs for (one, two), pairs in tally.matches.pairings().items()}
    return there | {(two, one): [swapped(pair) for pair in pairs] for (one, two), pairs in there.items()}


def _count_matches(matches: int, a_round: int) -> str:
    rounds = matches // a_round
    return f"{rounds} round{'s' * (rounds != 1)}" if rounds else f"{matches} of the {a_round} matches of a round"
