"""Adds the export of a game in extensive form, the correction of returns for luck, and exact returns."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from arena import Game, State, hookimpl
from arena.api.results import BoardColumn, Export, RunMatches
from arena.api.run import Correction
from arena_solution.policies import may_tell

if TYPE_CHECKING:
    from arena import Spec


@hookimpl
def arena_exports() -> list[Export]:
    """Return the format that Gambit and open_spiel read."""

    def write(game: Game, state: State) -> Iterator[str]:
        from arena_solution.extensive_form import efg_lines

        yield from efg_lines(game, state, instead="use smaller parameters with --set")

    return [Export("efg", "game", ".efg", write)]


@hookimpl
def arena_corrections() -> list[Correction]:
    """Return the correction for the luck of chance, which uses the policies that agents give or the default heuristic
    of a game.
    """

    def open_luck(spec: "Spec") -> Callable[..., Sequence[float] | None]:
        from arena_solution.luck import Luck

        return Luck(spec)

    return [Correction("luck", open_luck)]


@hookimpl
def arena_board_columns(spec: "Spec | None", records: "RunMatches") -> list[BoardColumn]:
    """Return the column with the exact mean return of entries whose agents give their policies, in a small game."""

    def read_exact() -> Iterator[tuple[Any, ...]]:
        assert spec is not None
        if any(sum(may_tell(spec, seat) for seat in board.seats) >= board.game.players for board in spec.boards):
            from arena_solution.luck import read_exact_returns  # importing it would take longer than a short run

            yield from read_exact_returns(spec, records)

    description = "The exact mean return by the policies of the agents, if all agents give them and the game is small."
    return [BoardColumn("exact-return", "Exact return", description=description, cells=read_exact())]
