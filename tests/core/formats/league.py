"""A plugin of one file: a format with a ranking, a column and options of its own."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Annotated

from pydantic import Field as Bounds

from arena import Column, Field, Format, Outcomes, Pairing, Placing, hookimpl


class League(Format):
    """Every entry plays every other one in both seats; wins and draws bring points, as in a league."""

    name = "league"
    kind = "versus"
    columns = (
        Column("league_points", "League points", "count", "the points of all games"),
        Column("form", "Form", "text", "the last results, the latest at the end"),
    )

    def __init__(
        self,
        *,
        win: Annotated[int, Bounds(ge=1, description="points for a win")] = 3,
        draw: Annotated[int, Bounds(ge=0, description="points for a draw")] = 1,
    ) -> None:
        self.win, self.draw = win, draw

    def fewest(self, players: int) -> int:
        return 2

    def refusal(self, field: Field) -> str | None:
        return None if field.players == 2 else "a league is for games for two"

    def size(self, field: Field) -> int:
        return field.rounds * field.entries * (field.entries - 1)

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing]:
        for number in range(field.rounds):
            for seats in permutations(range(field.entries), 2):
                yield Pairing(number, seats)

    def ranking(self, entries: int, outcomes: Outcomes) -> Sequence[Placing]:
        results: list[str] = [""] * entries
        for pairing, (one, two) in sorted(outcomes.scored()):
            first, second = pairing.seats
            results[first] += "W" if one > two else "D" if one == two else "L"
            results[second] += "L" if one > two else "D" if one == two else "W"
        points = [self.win * result.count("W") + self.draw * result.count("D") for result in results]
        return [Placing((mine,), {"league_points": mine, "form": form[-3:]}) for mine, form in zip(points, results, strict=True)]


@hookimpl
def arena_formats() -> list[type[Format]]:
    return [League]
