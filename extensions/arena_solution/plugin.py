"""Brings the export of a game as extensive form."""

from collections.abc import Iterator

from arena import Game, State, hookimpl
from arena.api.results import Export


@hookimpl
def arena_exports() -> list[Export]:
    """The format of Gambit and open_spiel."""

    def write(game: Game, state: State) -> Iterator[str]:
        from arena_solution.extensive_form import efg_lines

        yield from efg_lines(game, state, instead="take smaller parameters with --set")

    return [Export("efg", "game", ".efg", write)]
