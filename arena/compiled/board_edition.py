"""Finds what can be compiled of the complete-state view of a puzzle, and hands over the arrays of one board after another."""

import ctypes
import random
from array import array
from typing import Any

from arena.compiled.edition import Edition, offers
from arena.compiled.fields import NotCompilable, NumberField, field_of
from arena.compiled.loader import address, argument
from arena.compiled.rules import Board
from arena.compiled.specialiser import Specialiser
from arena.counting import GoPlain
from arena.errors import Interrupted, describe
from arena.game import Game, Puzzle, gives, overrides

KINDS = {("q", 8): "words", ("l", 8): "words", ("i", 4): "halves", ("d", 8): "reals", ("B", 1): "octets"}
"""The kinds of arrays by the format and the size of their numbers."""
LENGTH = "__length"


class BoardSpecialiser(Specialiser):
    """The methods of a board. Its arrays are handed over, not copied."""

    def __init__(self, board: Any) -> None:
        super().__init__("rules", board, {"width": board.width})
        self.changes = True
        self._paths: dict[str, tuple[str, ...]] = {"width": ("width",)}
        self._fixed: dict[tuple[str, ...], Any] = {}
        """Tables that all boards share."""

    def found(self, name: str, path: tuple[str, ...], value: Any) -> tuple[NumberField, ...]:
        """Return the field of an array that may be changed, or those of a constant."""
        if path[0] == "globals":
            return field_of(name, value)
        if not _is_array(value):
            fields = field_of(name, value)
            if fields[0].shape:
                self._fixed[path] = value
            else:
                self._paths[name] = path
            return fields
        view = memoryview(value)
        kind: Any = KINDS.get((view.format, view.itemsize))
        if kind is None or view.ndim != 1 or not view.contiguous:
            raise NotCompilable(
                f"{name}: expected an array of one dimension of 64 or 32 bits, floats or bytes, got {view.format}"
            )
        self._paths[name] = path
        return (NumberField(name, kind, value, (len(value),), written=not view.readonly),)

    def arguments(self, board: Any) -> tuple[Any, ...]:
        """Return what the entry takes for the fields, of another board of the same class. GoPlain where a constant differs."""
        if any(_at(board, path) is not table for path, table in self._fixed.items()):
            raise GoPlain("a table of this board is another one")
        return tuple([self._argument(board, field) for field in self.fields.values()])

    def _argument(self, board: Any, field: NumberField) -> Any:
        path = self._paths.get(field.name)
        if path is None:
            path = self._paths.get(field.name.removesuffix(LENGTH))
            return argument(field) if path is None else len(_at(board, path))
        value = _at(board, path)
        if not field.shape:
            return value
        if isinstance(value, array):
            return address(value)
        return ctypes.addressof(ctypes.c_char.from_buffer(value)) if len(value) else 0


def _at(board: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        board = getattr(board, part)
    return board


def _is_array(value: Any) -> bool:
    return isinstance(value, (array, bytearray)) or hasattr(value, "__array_interface__")


def settled(board: Any) -> Any:
    """Return a board whose lists of numbers, and those of its parts, are arrays: what is written there has to be seen."""
    for one in (board, *[part for part in vars(board).values() if hasattr(part, "__dict__") and not callable(part)]):
        for name, value in vars(one).items():
            if type(value) is list and value and all(type(number) in (int, float) for number in value):
                setattr(one, name, array("q" if all(type(number) is int for number in value) else "d", value))
    return board


def board_edition(game: Game, method: str, replaced: tuple[str, ...]) -> Edition:
    """Return the edition of the boards that `compiled_local` or `compiled_draw` of a puzzle gives; NotCompilable without one.

    `replaced` are the methods of the puzzle that they stand for.
    """
    if not isinstance(game, Puzzle) or gives(game, "chance_outcomes") or gives(game, "observation"):
        raise NotCompilable("it is no puzzle without chance and hidden information")
    local = method == "compiled_local"
    if local and not overrides(game, "local"):
        raise NotCompilable("it has no local view")
    if not offers(game, method, int(local), replaced):
        raise NotCompilable(f"it has no {method}()")
    own = [name for name in replaced if name in vars(game)]
    if own:
        raise NotCompilable(f"this object has a {own[0]} of its own")
    state = _sample(game) if local else None
    board = board_of(game, method, state)
    return Edition(game, board, 1, board.width, 1, _unknown, _unknown, () if state is None else (state,))


def walks(game: Game) -> bool:
    """Tell whether local searches of a puzzle run compiled."""
    try:
        return board_edition(game, "compiled_local", ("local",)) is not None
    except NotCompilable:
        return False


def board_of(game: Any, method: str, state: Any = None) -> Board:
    """Return a board of a puzzle; NotCompilable where it gives none."""
    try:
        board = game.compiled_local(state) if method == "compiled_local" else game.compiled_draw()
    except Interrupted:
        raise
    except Exception as error:
        raise NotCompilable(f"{method} raised {describe(error)}") from error
    if not isinstance(board, Board):
        raise NotCompilable("this board does not fit into whole numbers of 64 bits")
    return settled(board)  # type: ignore[no-any-return]


def _sample(game: Puzzle) -> Any:
    try:
        rng = random.Random(0)
        return game.random_state(rng) if overrides(game, "random_state") else game.initial(rng)
    except Interrupted:
        raise
    except Exception as error:
        raise NotCompilable(f"it raised {describe(error)}") from error


def _unknown(*_: Any) -> Any:
    raise NotCompilable("a board has no states of numbers")
