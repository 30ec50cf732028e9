"""A board of `arena try`: played until its time is up, with built-in agents as rivals."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import IO, Any

from arena.agent import Agent
from arena.commands.catalogue import text_width
from arena.commands.check_process import CheckProgress
from arena.commands.trying.standing import Tried
from arena.console.output import room
from arena.errors import without_controls
from arena.game import Game
from arena.plugins.registry import Registry
from arena.results.layout import folded
from arena.results.leaderboard import leaderboard
from arena.results.tables import render
from arena.results.tally import Tally
from arena.schedule.board_info import board_info
from arena.spec import Spec, load_spec
from arena.stats.observations import Pair, swapped
from arena.tournament.results import PlayedMatch
from arena.tournament.run import run

NODES = {True: 5_000, False: 200}
"""Nodes of a decision, on a puzzle and in a game."""
MOVES = 200
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
        print(without_controls(folded(text, room(self.out))), file=self.out, flush=True)

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
            "limits": {"nodes": NODES[puzzle], "moves": MOVES},
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
        whole = played if crashes == CRASHES else _whole(played, a_round)
        tally = Tally(board_info(spec.boards[0]))
        for one in whole:
            tally.add(one.number, one.pairing, one.record)
        board = replace(leaderboard(tally, finished=True), finished=True)  # though rounds are missing
        self.say()
        self.say(render(replace(spec, name=self.file), [replace(board, cross=None)], width=room(self.out)))
        if crashes == CRASHES:
            self.say(f"{watched} crashed {CRASHES} times, which is enough.")
        elif len(whole) < ROUNDS * a_round:
            self.say(f"{_counted(len(whole), a_round)} in the time of a try.")
        return Tried(board, _pairs(tally))


def _pairs(tally: Tally) -> dict[tuple[str, str], list[Pair]]:
    """The pairs of games of every two entries, by their labels in either order."""
    labels = tally.sheet.labels
    there = {(labels[one], labels[two]): pairs for (one, two), pairs in tally.matches.pairings().items()}
    return there | {(two, one): [swapped(pair) for pair in pairs] for (one, two), pairs in there.items()}


def _whole(played: Sequence[PlayedMatch], size: int) -> Sequence[PlayedMatch]:
    """The matches of finished rounds; all matches if no round is finished."""
    return played[: max(1, len(played) // size) * size]


def _counted(matches: int, a_round: int) -> str:
    rounds = matches // a_round
    return f"{rounds} round{'s' * (rounds != 1)}" if rounds else f"{matches} of the {a_round} matches of a round"
