"""Adds the measures for `arena compare --by NAME` that can be read from any store."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from arena import hookimpl
from arena.api.results import Comparison, Measured

if TYPE_CHECKING:
    from arena.api.store import Store


def _import_later(name: str) -> Callable[["Store"], Iterable[Measured]]:
    """Return a function in `arena_compare.measures`. The module is imported only when the function is called, so that plugins
    load fast.
    """

    def read(store: "Store") -> Iterable[Measured]:
        found: Iterable[Measured] = getattr(import_module("arena_compare.measures"), name)(store)
        return found

    return read


@hookimpl
def arena_comparisons() -> list[Comparison]:
    """Return the measures that are read from the columns of a store."""
    return [
        Comparison("return", "The return of an entry in a match.", _import_later("read_returns")),
        Comparison("score", "The points of an entry in a game: 1 for a win, a half for a draw.", _import_later("read_points")),
        Comparison("solved", "1 if the entry solved the puzzle, else 0.", _import_later("read_solved")),
        *[
            Comparison(name, description, _import_later(reader), lower_is_better=True)
            for name, description, reader in (
                ("moves", "The moves of a solution.", "read_moves"),
                ("cost", "The cost of a solution.", "read_costs"),
                (
                    "branching-factor",
                    "The effective branching factor b* of a search, at the depth of the shortest solution.",
                    "read_branching",
                ),
                ("nodes", "The nodes of all decisions of an entry in a match.", "read_nodes"),
                ("expanded", "The states that a solver expanded.", "read_expanded"),
                ("seconds", "The seconds of all decisions of an entry in a match.", "read_seconds"),
            )
        ],
    ]
