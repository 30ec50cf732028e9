"""Loops that play at random: mcts, its rollouts, and whole matches. They continue the state of Python's random generator."""

import random
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice, repeat
from struct import Struct
from typing import Any, NamedTuple

from arena import Puzzle, State
from arena.api.games import gives
from arena.api.match import Stream
from arena.api.search import GoPlain
from arena.compiled import NotCompilable, Words
from arena_compiled.edition import Edition
from arena_compiled.loader import FAULT
from arena_compiled.loop import GROW, MAX_COUNT, MOST_ENDS, OVER, Loop, clip_count

TWISTER_WORDS = 625
"""The length of the state of a generator: 624 words, and the position of the next word."""


@contextmanager
def numbers_of(rng: random.Random, words: Any) -> Iterator[None]:
    """Copy the state of a generator into an array before the block, and copy it back after the block. If the block draws nothing,
    the generator stays unchanged.
    """
    version, state, gauss = random.Random(rng.first_seed).getstate() if isinstance(rng, Stream) else rng.getstate()
    given = array("q", state)
    words[:] = given
    try:
        yield
    except GoPlain:  # the numbers drawn so far do not count
        words[:] = given
        raise
    finally:
        now = tuple(words)
        if now != state:
            rng.setstate((version, now, gauss))


FIRST_TREE_ROWS = 4_096
TREE_ROW_WORDS = 7
"""The length of the row for a node of the tree: its action, the player to move, the first choice, the number of choices not tried
yet, the number of children whose values are not proven, the best child with a proven value, and the visits.
"""


class Grown(NamedTuple):
    """A child of the root, as returned by the kernel."""

    action: Any
    visits: int
    total: float
    proven: list[float] | None


class MctsLoop(Loop):
    """Grows a tree like repeated calls of `GameTree.simulate`."""

    kernel = "mcts"
    levels = FIRST_TREE_ROWS

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return the constants that are filled into the kernel."""
        if isinstance(edition.game, Puzzle):
            raise NotCompilable("it is a puzzle")
        return {"PLAYERS": edition.players, "MOST_ENDS": MOST_ENDS}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays for the current capacity, which is a number of states."""
        rows, width, words, players = self.levels, self.edition.width, self.edition.words, self.edition.players
        choices = rows * min(width, 8) + 2 * width
        return {
            "registers": 16, "numbers": 1 + players, "twister": TWISTER_WORDS,
            "states": rows * words, "rows_of": rows * TREE_ROW_WORDS,
            "totals": rows, "values": rows * (players + 1), "choices": choices, "kids": choices, "path": rows + 2,
            "walk": words, "scratch": width, "ends": MOST_ENDS + 1,
        }  # fmt: skip

    def grow(self) -> None:
        """Double the capacity, which is a number of states."""
        super().grow()
        self.memory["registers"][14] = len(self.memory["choices"])

    def __call__(self, state: Any, rng: random.Random, squared: float, longest: int, rollouts: int | None) -> None:
        """Grow a tree from a state. Afterwards the generator is in the same state as after the uncompiled search."""
        memory = self.memory
        registers = memory["registers"]
        for place, number in enumerate(self.encode(state)):
            memory["states"][place] = number
        registers[0], registers[4], registers[5], registers[14], registers[15] = -1, 0, self.levels, len(memory["choices"]), 0
        registers[10], registers[11] = MAX_COUNT if rollouts is None else rollouts, min(longest, MAX_COUNT)
        memory["numbers"][0], memory["ends"][0] = squared, 0.0
        try:
            with numbers_of(rng, memory["twister"]):
                self.drive(registers)
        except GoPlain:  # the tree is given up: the root has no children
            memory.clear("rows_of")
            memory.clear("values")
            memory["rows_of"][5] = -1
            raise

    def children(self, state: Any) -> tuple[list[Grown], Grown | None, list[float] | None, bool]:
        """Return the children of the root whose values are not proven, the best child with a proven value, the value of the root
        if it is proven, and whether states beyond the cutoff have an estimated value in the tree.
        """
        rows = self.memory["rows_of"]
        listed = [self._read_child(state, self.memory["kids"][number]) for number in range(rows[4])] if rows[6] or rows[4] else []
        best = None if rows[5] < 0 else self._read_child(state, rows[5])
        return listed, best, self._proven_values(0), self.memory["registers"][15] != 0

    def _proven_values(self, row: int) -> list[float] | None:
        players, values = self.edition.players, self.memory["values"]
        first = row * (players + 1)
        return list(values[first : first + players]) if values[first + players] > 0 else None

    def _read_child(self, state: Any, row: int) -> Grown:
        rows = self.memory["rows_of"]
        action = self.edition.action(state, rows[row * TREE_ROW_WORDS])
        return Grown(action, rows[row * TREE_ROW_WORDS + 6], self.memory["totals"][row], self._proven_values(row))


class CutOff(GoPlain):
    """A rollout has reached its depth limit. The random numbers that it has drawn do not count."""


class RolloutLoop(Loop):
    """Plays matches to their end, like `play_on_with_chance` in `arena_agents.playouts`. The tree stays in Python."""

    kernel = "rollout"
    in_place = True
    informed = False
    searches = False

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return the constants that are filled into the kernel."""
        if not gives(edition.game, "chance_outcomes"):
            raise NotCompilable("it has no chance events")
        if gives(edition.game, "observation"):
            raise NotCompilable("it has hidden information")
        return {"PLAYERS": edition.players, "GRID": edition.in_place}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays."""
        edition = self.edition
        return {
            "registers": 9, "gains": edition.players, "twister": TWISTER_WORDS, "walk": edition.words, "scratch": edition.width,
        }  # fmt: skip

    def __call__(self, state: State, rng: random.Random, ply: int, longest: int) -> list[float] | None:
        """Play a rollout from a state `ply` decisions after the root, and return the return of each seat; None if the rollout
        must be played uncompiled.

        This is the case if the match is not over `longest` decisions after the root. The generator and all counts are then
        unchanged.
        """
        memory, meter, nodes = self.memory, self.meter, self.meter.nodes
        registers = memory["registers"]
        try:
            memory["walk"][:] = self.encode(state)
        except OverflowError:
            raise GoPlain("the state does not fit into 64 bits") from None
        registers[4], registers[7], registers[8] = 0, ply, clip_count(longest)
        try:
            with numbers_of(rng, memory["twister"]):
                if self.drive(registers) == OVER:
                    raise CutOff
        except CutOff:
            meter.nodes = nodes
            return None
        return memory["gains"].tolist()  # type: ignore[no-any-return]


BATCH_MATCHES = 256
"""The number of matches that are played before their results are read."""
SLICE_PLIES = 1 << 15
"""The number of plies between two checks for Ctrl-C."""
FIRST_ACTIONS = 1 << 14
"""The initial capacity of a batch, in actions."""


class Playout(NamedTuple):
    """One random match."""

    plies: int
    """The number of actions in the match, including outcomes of chance."""
    returns: tuple[float, ...] | None
    """The return of each seat; None if the match was cut off."""
    words: Words | None
    """The last state as numbers, as the compiled rules encode it; without such rules, the state itself if it consists of
    integers, otherwise None.
    """
    actions: tuple[Any, ...] | None
    """The actions of the game, if they were requested."""


class RandomLoop(Loop):
    """Plays matches like the uncompiled `random_play`."""

    kernel = "random-play"
    in_place = True
    informed = False
    searches = False
    levels = FIRST_ACTIONS

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return the constants that are filled into the kernel."""
        if isinstance(edition.game, Puzzle):
            raise NotCompilable("it is a puzzle")
        return {"PLAYERS": edition.players, "GRID": edition.in_place, "CHANCE": gives(edition.game, "chance_outcomes")}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays."""
        words, width, players = self.edition.words, self.edition.width, self.edition.players
        return {
            "registers": 9, "twister": TWISTER_WORDS, "start": words, "walk": words, "scratch": width, "taken": self.levels,
            "plies": BATCH_MATCHES, "ended": BATCH_MATCHES, "gains": BATCH_MATCHES * players, "ends": BATCH_MATCHES * words,
        }  # fmt: skip

    def __call__(self, state: State, rng: random.Random, matches: int, most: int | None, *, keeps: bool) -> list[Playout]:
        """Play matches from a state. Raises GoPlain and leaves the generator unchanged if that is not possible."""
        memory, found = self.memory, list[Playout]()
        memory["start"][:] = self.encode(state)
        with numbers_of(rng, memory["twister"]):
            while len(found) < matches:
                count = min(BATCH_MATCHES, matches - len(found))
                self._play_batch(count, MAX_COUNT if most is None else most, keeps=keeps)
                found += self._read_batch(count, keeps=keeps)
        return found

    def _read_batch(self, count: int, *, keeps: bool) -> Iterator[Playout]:
        """Return the matches of a batch. Most are so short that a loop in Python would take longer than to play them."""
        memory = self.memory
        ended = memory["ended"][:count]
        returns: Iterable[Any] = Struct(f"{self.edition.players}d").iter_unpack(memory["gains"])
        if 0 in ended:
            returns = [one if over else None for one, over in zip(returns, ended, strict=False)]
        taken = iter(memory["taken"].tolist() if keeps else ())
        actions: Iterable[Any] = ([*islice(taken, number)] for number in memory["plies"]) if keeps else repeat(None)
        words = Struct(f"{self.edition.words}q").iter_unpack(memory["ends"])
        # `Playout._make` is a function in Python, which takes half as long again
        return map(tuple.__new__, repeat(Playout, count), zip(memory["plies"], returns, words, actions, strict=False))

    def _play_batch(self, count: int, most: int, *, keeps: bool) -> None:
        memory, registers = self.memory, self.memory["registers"]
        memory["walk"][:] = memory["start"]
        registers[:] = array("q", [0, 0, 0, 0, count, self.levels, most, 0, keeps])
        while registers[1] < count:
            registers[3] = SLICE_PLIES
            status = self._drive.once(memory)
            if status == FAULT:
                raise GoPlain("a number or an index was out of range")
            if status == GROW:
                self.grow()
