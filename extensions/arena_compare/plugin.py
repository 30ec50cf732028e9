"""Adds the measures for `arena compare --by NAME` that can be read from any store."""

from functools import partial

from arena import hookimpl
from arena.api.results import Comparison
from arena_setup.later import import_later

_find = partial(import_later, "arena_compare.measures")


@hookimpl
def arena_comparisons() -> list[Comparison]:
    """Return the measures that are read from the columns of a store."""
    return [
        Comparison("return", "The return of an entry in a match.", _find("read_returns")),
        Comparison("score", "The points of an entry in a game: 1 for a win, a half for a draw.", _find("read_points")),
        Comparison("solved", "1 if the entry solved the puzzle, else 0.", _find("read_solved")),
        *[
            Comparison(name, description, _find(reader), lower_is_better=True)
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
