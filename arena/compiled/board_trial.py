"""Holds compiled boards to the local view of the puzzle before they are used: uncompiled, over a few moves."""

import random
from itertools import islice
from time import perf_counter
from typing import Any

from arena.compiled.board_edition import board_of
from arena.compiled.edition import Edition
from arena.compiled.fields import NotCompilable
from arena.compiled.module import Module
from arena.compiled.rehearsal import SECONDS, Held, space_of
from arena.compiled.specialiser import Specialiser
from arena.errors import Interrupted, describe
from arena.game import Puzzle, overrides

MOVES, LISTED, DRAWN = 60, 40, 200
"""How many proposals are tried, how many listed moves, and how many random numbers of a board that is drawn."""
_RANDOM = {
    "rng_random": lambda rng: rng.random(),
    "rng_bits": lambda rng, count: Held(rng.getrandbits(count)),
    "rng_below": lambda rng, count: Held(rng.randrange(count)),
    "rng_between": lambda rng, first, beyond: Held(rng.randrange(first, beyond)),
}


class _Enough(Exception):
    """A generator has given what it had to give."""


class _Few(random.Random):
    """A generator that gives a few numbers."""

    left = DRAWN

    def _less(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Enough

    def random(self) -> float:
        self._less()
        return super().random()

    def getrandbits(self, k: int, /) -> int:
        self._less()
        return super().getrandbits(k)


def tried_board(module: Module, edition: Edition, rules: Specialiser, estimate: Specialiser) -> None:
    """Compare the boards of a module with the view of the puzzle; NotCompilable says where they differ."""
    space = space_of(module, rules, estimate) | _RANDOM
    functions: dict[str, Any] = {name.removeprefix("rules_"): one for name, one in space.items() if name.startswith("rules_")}
    for name in functions.values():
        getattr(name, "__globals__", {}).update(_RANDOM)
    trial = _BoardTrial(edition, functions, space["rules"])
    try:
        (trial.drawing if "draw" in functions else trial.breeding if "crossover" in functions else trial.walk)()
    except (Interrupted, NotCompilable):
        raise
    except Exception as error:
        raise NotCompilable(f"a board of {edition.game.name}: {describe(error)}") from error


class _BoardTrial:
    def __init__(self, edition: Edition, functions: dict[str, Any], numbers: Any) -> None:
        self._board = edition.rules
        self._edition = edition
        self._functions = functions
        self._numbers = numbers
        self._until = perf_counter() + SECONDS

    def _call(self, name: str, *arguments: Any) -> Any:
        return self._functions[name](self._numbers, *arguments)

    def _same(self, what: str, found: Any, expected: Any) -> None:
        if found != expected or type(found) is not type(expected):
            raise NotCompilable(f"{what}: the board gives {found!r:.100}, the local view gives {expected!r:.100}")

    def drawing(self) -> None:
        """The same numbers from the same generator, as far as a few lead."""
        other = board_of(self._edition.game, "compiled_draw")
        for draw in (lambda rng: self._call("draw", rng), other.draw):
            try:
                draw(_Few(1))
            except _Enough:
                continue
        for name, value in vars(self._board).items():
            self._same(name, value, getattr(other, name))

    def breeding(self) -> None:
        """The same children and mutants with the same random numbers, and their costs."""
        board: Any = self._board
        game: Any = self._edition.game
        mine, other = random.Random(1), random.Random(1)
        states = [*self._edition.samples, game.random_state(random.Random(2)) if overrides(game, "random_state") else None]
        one, another = states[0], states[0] if states[1] is None else states[1]
        for _ in range(MOVES):
            bred = [Held(0)] * len(board.encode(one))
            self._call("crossover", self._held(one), self._held(another), bred, mine)
            child = game.crossover(one, another, other)
            self._same("crossover", board.decode(list(map(int, bred))), child)
            self._priced(child)
            changed = self._held(child)
            self._call("mutate", changed, mine)
            one, another = another, game.mutate(child, other)
            self._same("mutate", board.decode(list(map(int, changed))), another)
            self._priced(another)
            self._same("the next random number after mutate", mine.random(), other.random())
            if perf_counter() > self._until:
                return

    def _held(self, state: Any) -> list[Held]:
        return [Held(number) for number in self._board.encode(state)]

    def _priced(self, state: Any) -> None:
        """The cost of a state, which it is told again only if the board has kept nothing of it."""
        game: Any = self._edition.game
        view = game.local(state)
        for _ in range(2):
            cost = self._call("cost_of", self._held(state))
            self._same("cost_of", int(cost) if isinstance(cost, int) else cost, view.cost)

    def walk(self) -> None:
        """The same costs, proposals and moves."""
        board, game = self._board, self._edition.game
        if not isinstance(game, Puzzle) or not self._edition.samples:
            return
        view = game.local(self._edition.samples[0])
        if board.long and "begin" in self._functions:
            board.begin()
        elif "begin" in self._functions:
            self._call("begin")
        self._same("cost", board.cost[0], view.cost)
        self._listed(view)
        mine, other = random.Random(1), random.Random(1)
        for _ in range(MOVES if "propose" in self._functions else 0):
            move, its = self._call("propose", mine), view.propose(other)
            self._step(move, view, its)
            self._same("the next random number after propose", mine.random(), other.random())
            if perf_counter() > self._until:
                break
        self._same("state", board.state(), view.state())

    def _listed(self, view: Any) -> None:
        if "moves" not in self._functions:
            return
        room = self._board.width
        few = min(room, LISTED)
        buffer = [0] * few
        count = self._call("moves", buffer, 0, Held(few))
        listed = list(view.moves())
        self._same("the number of moves", int(count), len(listed))
        if count > room:
            raise NotCompilable(f"moves gave {int(count)}, more than the width of {room}")
        for move, its in islice(zip(buffer, listed, strict=False), min(int(count), few)):
            self._delta(move, view, its)

    def _delta(self, move: int, view: Any, its: Any) -> None:
        change = self._call("delta", Held(move))
        self._same("delta", int(change) if isinstance(change, int) else change, view.delta(its))

    def _step(self, move: int, view: Any, its: Any) -> None:
        self._delta(move, view, its)
        self._call("apply", Held(move))
        view.apply(its)
        self._same("cost after apply", self._board.cost[0], view.cost)
