"""What the tries share: a board that is played until its time is up, and who is there to play on it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import IO, Any

from arena.commands.catalogue import WIDTH
from arena.commands.trying.standing import Tried
from arena.console.output import room
from arena.game import Game
from arena.plugins.registry import Registry
from arena.results.layout import folded
from arena.results.leaderboard import leaderboard
from arena.results.tables import render
from arena.results.tally import Tally
from arena.schedule.board_info import board_info
from arena.spec import Spec, load_spec
from arena.stats.pairs import Pair, swapped
from arena.tournament.results import PlayedMatch
from arena.tournament.run import run

NODES = {True: 5_000, False: 200}
"""Nodes of a decision, on a puzzle and in a game."""
MOVES = 200
ROUNDS = 20
"""Rounds that are enough."""
CRASHES = 3
"""Crashes of the agent that is tried after which a board is not played on."""


class Enough(Exception):
    """The time of a board is up."""


@dataclass(frozen=True, slots=True)
class TrialBoard:
    """One thing that is tried, until `until` on the monotonic clock."""

    registry: Registry
    file: str
    plugins: tuple[str, ...]
    seed: int
    out: IO[str]
    until: float
    only: tuple[str, ...] = ()
    """The games that were asked for, where agents shall not play all that they can."""

    def say(self, text: str = "") -> None:
        """Write a piece of the result."""
        print(folded(text, room(self.out)), file=self.out, flush=True)

    @property
    def width(self) -> int:
        """How wide text is at most."""
        return min(WIDTH, room(self.out) or WIDTH)

    def games(self) -> list[Game]:
        """The games of the file, then those that came with arena, with their default parameters."""
        found = []
        for name, kind in self.registry.games.items():
            source = self.registry.sources["game", name]
            mine = source.name == self.file
            if mine or source.own:
                try:
                    found.append((not mine, kind()))
                except Exception:  # noqa: S112 - it needs parameters, which nobody gives here
                    continue
        return [game for _, game in sorted(found, key=lambda item: item[0])]

    def spec(self, game: Game, agents: Sequence[str | Mapping[str, Any]]) -> Spec:
        """A board for a game with its default parameters."""
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
        """Play whole rounds until the time is up, print the leaderboard, and return it with its pairs of games.

        Where the time does not allow for a round, or the entry that is `watched` has crashed again and again, what was played of
        it counts.
        """
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
        board = replace(leaderboard(tally, finished=True), finished=True)  # more is not wanted
        self.say()
        self.say(render(replace(spec, name=self.file), [replace(board, cross=None)], width=room(self.out)))
        if crashes == CRASHES:
            self.say(f"{watched} crashed {CRASHES} times, which is enough.")
        elif len(whole) < ROUNDS * a_round:
            self.say(f"{_counted(len(whole), a_round)} in the time of a try.")
        return Tried(board, _pairs(tally))


def _pairs(tally: Tally) -> dict[tuple[str, str], list[Pair]]:
    """The pairs of games of every two, by their labels in either order."""
    labels = tally.sheet.labels
    there = {(labels[int(one)], labels[int(two)]): pairs for (one, two), pairs in tally.matches.pairings().items()}
    return there | {(two, one): [swapped(pair) for pair in pairs] for (one, two), pairs in there.items()}


def _whole(played: Sequence[PlayedMatch], size: int) -> Sequence[PlayedMatch]:
    """The matches of the rounds that were played to their end."""
    return played[: max(1, len(played) // size) * size]


def _counted(matches: int, a_round: int) -> str:
    rounds = matches // a_round
    return f"{rounds} round{'s' * (rounds != 1)}" if rounds else f"{matches} of the {a_round} matches of a round"
