"""The loop of genetic search: whole generations of states in one array."""

import random
from array import array
from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

from arena.compiled.board_edition import board_of
from arena.compiled.board_loops import MOST, BoardLoop
from arena.compiled.fields import NotCompilable
from arena.compiled.rules import Board
from arena.compiled.twister import WORDS, numbers_of
from arena.counting import GoPlain
from arena.game import State


class GeneticLoop(BoardLoop):
    """Breeds a population, as `_generations` of the agent does. Options: `mutation`, `generations`, and whether by `roulette`."""

    kernel = "genetic"
    replaced = ("local", "crossover", "mutate")
    needed = ("encode", "decode", "cost_of", "crossover", "mutate")
    _members = _words = 0

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays."""
        members = self._members
        return {
            "registers": 13, "numbers": 2, "twister": WORDS, "pool": self._words, "costs": members, "sums": members,
            "parents": 2 * members,
        }  # fmt: skip

    def __call__(self, population: Sequence[State], land: Any, rng: random.Random) -> Iterator[tuple[int, float, State]]:
        """Yield generations with their lowest cost and the first member of that cost: those that are cheaper than all before or
        may have a goal, and the last one.
        """
        board: Any = self._board(population[0])
        size, registers, numbers = self._fill(board, population), self.memory["registers"], self.memory["numbers"]
        members, last = len(population), self.options["generations"]
        registers[4] = registers[6] = registers[7] = registers[10] = 0
        registers[8], registers[9], registers[11], registers[12] = members, size, last, self.options["roulette"]
        numbers[0], numbers[1] = self.options["mutation"], inf
        generation = -1
        while generation != last:
            with numbers_of(rng, self.memory["twister"]):
                self.drive(registers)
            generation, cheapest = registers[7], registers[6]
            place = (registers[10] * members + cheapest) * size
            yield generation, self.memory["costs"][cheapest], board.decode(self.memory["pool"][place : place + size].tolist())

    def _board(self, state: State) -> Board:
        try:
            board = board_of(self.edition.game, self.method, state)
        except NotCompilable as unfit:
            raise GoPlain(str(unfit)) from unfit
        if type(board) is not type(self.edition.rules):
            raise GoPlain("this board is of another kind than that of the puzzle")
        self._drive.fields = self.rules.arguments(board)
        return board

    def _fill(self, board: Any, population: Sequence[State]) -> int:
        """Write the numbers of all members, and return how many each has; GoPlain where they do not fit."""
        encoded = [board.encode(member) for member in population]
        size = len(encoded[0])
        words = 2 * len(encoded) * size
        if words > MOST or any(len(one) != size for one in encoded):
            raise GoPlain("its population is too large, or of states that differ in length")
        self._members, self._words = max(self._members, len(encoded)), max(self._words, words)
        self.memory.grow(self.sizes())
        pool = self.memory["pool"]
        try:
            for member, numbers in enumerate(encoded):
                pool[member * size : (member + 1) * size] = array("q", list(numbers))
        except (OverflowError, TypeError):
            raise GoPlain("a state is no row of whole numbers of 64 bits") from None
        return size
