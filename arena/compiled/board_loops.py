"""The loops of local searches: from one board a walk, move by move."""

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from arena.compiled.board_edition import BoardSpecialiser, board_of
from arena.compiled.edition import Edition
from arena.compiled.fields import NotCompilable
from arena.compiled.loop import Loop
from arena.compiled.rules import Board
from arena.compiled.twister import WORDS, numbers_of
from arena.counting import GoPlain, Meter

FOUND, OVER = 1, 2
MOST = 1 << 26
"""The most moves that are listed."""
CHUNK = 32
"""Successors that are taken at once."""


class BoardView:
    """A board as local searches know it."""

    __slots__ = ("_known", "arguments", "board")

    def __init__(self, board: Any, arguments: tuple[Any, ...]) -> None:
        self.board = board
        self.arguments = arguments
        """What a kernel takes for its fields."""
        self._known: Any = None

    @property
    def cost(self) -> Any:
        """The cost of the state."""
        return self.board.cost[0]

    def state(self) -> Any:
        """The state as it is now; made once for as long as nothing is moved."""
        if self._known is None:
            self._known = self.board.state()
        return self._known

    def moved(self) -> None:
        """Note that the arrays may have changed."""
        self._known = None


class BoardLoop(Loop):
    """A walk from one board; what it is called with is what the plain function takes."""

    method: ClassVar[str] = "compiled_local"
    """The method of the puzzle that gives its boards."""
    replaced: ClassVar[tuple[str, ...]] = ("local",)
    """The methods of the puzzle that these stand for."""
    needed: ClassVar[tuple[str, ...]] = ("cost", "state", "propose", "delta", "apply")
    rules: BoardSpecialiser

    @classmethod
    def constants(cls, edition: Edition) -> dict[str, Any]:
        """Return what the kernel is specialised to."""
        for name in cls.needed:
            if getattr(edition.rules, name, None) is None:
                raise NotCompilable(f"{type(edition.rules).__name__} has no {name}")
        if "moves" in cls.needed and edition.width > MOST:
            raise NotCompilable(f"it has {edition.width:,} moves in a state, more than {MOST:,}")
        return {"BEGIN": _begins(edition.rules)}

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays."""
        return {"registers": 13, "numbers": 3, "twister": WORDS}

    def view(self, state: Any) -> BoardView:
        """Return a board that stands at a state of the puzzle."""
        try:
            board = board_of(self.edition.game, self.method, state)
        except NotCompilable as unfit:
            raise GoPlain(str(unfit)) from unfit
        if type(board) is not type(self.edition.rules) or board.width > self.edition.width:
            raise GoPlain("this board is of another kind or wider than that of the puzzle")
        view = BoardView(board, self.rules.arguments(board))
        if _begins(board):
            self._drive.fields = view.arguments
            self.memory["registers"][0] = -1
            self.drive(self.memory["registers"])
        return view

    @contextmanager
    def going(self, walk: Any, rng: random.Random) -> Iterator[Any]:
        """Go on with a walk for a while, with the numbers of a generator; give the registers."""
        registers, view = self.memory["registers"], walk.view
        self._drive.fields = view.arguments
        registers[0], registers[4], registers[7] = 0, 0, walk.steps
        with numbers_of(rng, self.memory["twister"]):
            try:
                yield registers
            finally:
                self._tell(walk)

    def _tell(self, walk: Any) -> None:
        walk.steps = self.memory["registers"][7]
        walk.view.moved()

    def _run(self, walk: Any, registers: Any) -> int:
        """Run the kernel, and have the walk know how far it came."""
        status = self.drive(registers)
        self._tell(walk)
        return status


def _begins(board: Any) -> bool:
    return getattr(board, "begin", None) is not None


class MinConflictsLoop(BoardLoop):
    """Takes proposals that do not raise the cost, as `_repair` of the agent does."""

    kernel = "min-conflicts"

    def __call__(self, walk: Any, rng: random.Random, patience: int, solved: Callable[[Any], bool]) -> bool:
        """Walk until a goal is met (True) or patience ends (False)."""
        with self.going(walk, rng) as registers:
            registers[8] = registers[9] = patience
            while self._run(walk, registers) == FOUND:
                if solved(walk.view):
                    return True
        return False


class AnnealingLoop(BoardLoop):
    """Takes what is worse by chance, as `_cool` of the agent does."""

    kernel = "annealing"

    def __call__(
        self, walk: Any, rng: random.Random, temperature: float, factor: float, steps: int, solved: Callable[[Any], bool]
    ) -> None:
        """Walk until a goal is met or the steps are used up."""
        rng.random()
        numbers = self.memory["numbers"]
        numbers[0], numbers[1] = temperature, factor
        with self.going(walk, rng) as registers:
            registers[8] = steps
            while True:
                numbers[2] = walk.lowest
                status = self._run(walk, registers)
                if status == OVER or (status == FOUND and solved(walk.view)):
                    return
                if status != FOUND:
                    walk.keep()


class HillClimbLoop(BoardLoop):
    """Takes the best of all moves, as `_climb` of the agent does. Options: `sideways`, and whether to take the `first` best."""

    kernel = "hill-climb"
    needed = ("cost", "state", "delta", "apply", "moves")

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays."""
        return {**super().sizes(), "moves": self.edition.width}

    def __call__(self, walk: Any, rng: random.Random, solved: Callable[[Any], bool]) -> bool:
        """Climb until a goal is met (True) or no move is better (False)."""
        with self.going(walk, rng) as registers:
            registers[8] = registers[9] = self.options["sideways"]
            registers[10] = self.options["first"]
            while self._run(walk, registers) == FOUND:
                if solved(walk.view):
                    return True
        return False


class BeamLoop(BoardLoop):
    """Lists the successors of several boards, the cheapest first, as `_best_first` of the agent does."""

    kernel = "beam"
    needed = ("cost", "state", "delta", "apply", "moves")
    _places = 0

    def sizes(self) -> dict[str, int]:
        """Return the lengths of the arrays."""
        places = self._places
        return {"registers": 13, "twister": WORDS, "moves": places, "costs": places, "lots": places, "heap": places}

    def __call__(self, views: list[BoardView], land: Any, rng: random.Random) -> Iterator[BoardView]:
        """Yield a view of each successor of each board, equal ones in random order."""
        first = self._list(views, rng)
        registers, memory = self.memory["registers"], self.memory
        registers[4], left = 0, first[-1]
        while left:
            registers[0], registers[8] = 0, CHUNK
            self.drive(registers)
            taken = [memory["heap"][place] for place in range(left - 1, registers[7] - 1, -1)]
            moves, left = [memory["moves"][place] for place in taken], registers[7]
            for place, move in zip(taken, moves, strict=True):
                yield self._after(views[bisect_right(first, place) - 1], move)

    def _list(self, views: list[BoardView], rng: random.Random) -> list[int]:
        """List the moves of all boards, and return the place of the first one of each, and their number."""
        places = sum(view.board.width for view in views)
        if places > MOST:
            raise GoPlain("its boards have too many moves")
        if places > self._places:
            self._places = places
            self.memory.grow(self.sizes())
        registers, first = self.memory["registers"], [0]
        with numbers_of(rng, self.memory["twister"]):
            for view in views:
                self._drive.fields = view.arguments
                registers[0], registers[4], registers[7], registers[8] = 0, 0, first[-1], 0
                self.drive(registers)
                first.append(first[-1] + registers[9])
        registers[7] = first[-1]
        return first

    def _after(self, view: BoardView, move: int) -> BoardView:
        """Return a view of the state that a move of another board leads to."""
        successor = self.view(view.state())
        self._drive.fields, registers = successor.arguments, self.memory["registers"]
        registers[0], registers[6] = -2, move
        self.drive(registers)
        return successor


class DrawLoop(BoardLoop):
    """Fills boards at random."""

    kernel = "draw"
    method = "compiled_draw"
    replaced = ("random_state",)
    needed = ("draw",)

    def filled(self, rng: random.Random) -> Board:
        """Return a board that is filled with the numbers of a generator."""
        board = board_of(self.edition.game, self.method)
        self.begin(Meter(), {})
        self._drive.fields = self.rules.arguments(board)
        with numbers_of(rng, self.memory["twister"]):
            self.drive(self.memory["registers"])
        return board
