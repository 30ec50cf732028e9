"""The loop of random play: whole matches in batches, with the numbers of one generator."""

import random
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

from arena.compiled.drive import GROW
from arena.compiled.edition import Edition
from arena.compiled.fields import NotCompilable
from arena.compiled.loader import FAULT
from arena.compiled.loop import HUGE, Loop
from arena.compiled.rules import Words
from arena.compiled.twister import WORDS, numbers_of
from arena.counting import GoPlain
from arena.game import Puzzle, State, gives

BATCH = 256
"""Matches that are played before their results are read."""
SLICE = 1 << 15
"""Plies after which Ctrl-C is heard."""
KEPT = 1 << 14
"""Actions of a batch that there is room for at first."""


class PlayedWords(NamedTuple):
    """A match as the kernel leaves it."""

    plies: int
    returns: tuple[float, ...] | None
    words: Words
    actions: list[int]


class RandomLoop(Loop):
    """Plays matches as `random_play` does in plain Python."""

    kernel = "random-play"
    in_place = True
    informed = False
    searches = False
    levels = KEPT

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return what the kernel is specialised to."""
        if isinstance(edition.game, Puzzle):
            raise NotCompilable("it is a puzzle")
        return {"PLAYERS": edition.players, "GRID": edition.in_place, "CHANCE": gives(edition.game, "chance_outcomes")}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays."""
        words = self.edition.words
        return {
            "registers": 9, "twister": WORDS, "start": words, "walk": words, "scratch": self.edition.width, "plies": BATCH,
            "ended": BATCH, "gains": BATCH * self.edition.players, "ends": BATCH * words, "taken": self.levels,
        }  # fmt: skip

    def __call__(self, state: State, rng: random.Random, matches: int, most: int | None, *, keeps: bool) -> list[PlayedWords]:
        """Play matches from a state; GoPlain where they cannot be, with the generator as it was."""
        memory, found = self.memory, list[PlayedWords]()
        try:
            memory["start"][:] = array("q", self.edition.encode(state))
        except OverflowError:
            raise GoPlain("the state does not fit into 64 bits") from None
        with numbers_of(rng, memory["twister"]):
            while len(found) < matches:
                count = min(BATCH, matches - len(found))
                self._batch(count, HUGE if most is None else most, keeps=keeps)
                found += self._played(count, keeps=keeps)
        return found

    def _batch(self, count: int, most: int, *, keeps: bool) -> None:
        memory, registers = self.memory, self.memory["registers"]
        memory["walk"][:] = memory["start"]
        registers[:] = array("q", [0, 0, 0, 0, count, self.levels, most, 0, keeps])
        while registers[1] < count:
            registers[3] = SLICE
            status = self._drive.once(memory)
            if status == FAULT:
                raise GoPlain("a number or an index did not fit")
            if status == GROW:
                self.grow()

    def _played(self, count: int, *, keeps: bool) -> Iterator[PlayedWords]:
        memory, players, words = self.memory, self.edition.players, self.edition.words
        gains, ends = memory["gains"].tolist(), memory["ends"].tolist()
        first = 0
        for match, plies in enumerate(memory["plies"][:count]):
            returns = tuple(gains[match * players : (match + 1) * players]) if memory["ended"][match] else None
            actions = memory["taken"][first : first + plies].tolist() if keeps else []
            first += plies
            yield PlayedWords(plies, returns, tuple(ends[match * words : (match + 1) * words]), actions)
