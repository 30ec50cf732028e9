"""A board that is ready to be shown. `arena.results.leaderboard` computes it, and other modules turn it into text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from arena.columns import Column
from arena.format import Kind, Tie
from arena.results import figures
from arena.results.board_rows import Row
from arena.results.tally import Failure
from arena.schedule.board_info import BoardInfo

MAX_NAMES_OF_ZERO = 4
"""The maximum number of agents that a remark names if their mean rating is 0."""


@dataclass(frozen=True, slots=True)
class ShownBoard:
    """The rows of one board, and all that is shown with them."""

    sheet: BoardInfo
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]
    """Sentences on how far to trust the board. Failures of agents are listed elsewhere."""
    explanations: tuple[str, ...]
    """Sentences on how the ratings and intervals were computed, which `--explain` prints."""
    failures: tuple[Failure, ...]
    cross: tuple[tuple[float | None, ...], ...] | None
    """For a versus board: the score of each agent against every other agent, in rank order; None if it has too many agents."""
    cross_title: str
    """What the numbers of `cross` are. In games for three or more seats, they do not come from points."""
    games: int
    distinct_games: int
    """The number of matches that differ in seats, position, actions or result."""
    void: int
    """The number of void matches. They have no score, because the game or arena itself was at fault."""
    store: str | None
    """The file that holds the matches; None if the store is temporary."""
    test: Any
    """The state of the sequential test of the board, in the form that its format returns; None without a test."""
    unrated: frozenset[str]
    """The agents with a hidden rating, because its interval is too wide or open."""
    ranked_by: str
    """The key of the rows by which the board is ranked: `solved`, `mean_return`, `score` or `rating`; `rank` if the format ranks
    it by columns of its own.
    """
    columns: tuple[Column, ...]
    """All columns of boards of this kind and format, including the columns of plugins."""
    bracket: tuple[tuple[Tie[str], ...], ...]
    """The rounds of a knockout, the first round first; empty for other formats."""
    facts: dict[str, Any]
    """Keys that only some boards have in JSON. `cycles`: agents that beat each other in a circle, by more than chance. `zero`:
    the agents whose mean rating is 0, if these are not all. `untimed`: why times of agents are null. `pairing_spread`: how much
    leads differ from the differences of ratings, as a standard deviation in Elo. `unrated`: the agents with hidden ratings.
    `test` and `bracket`: see above. `conclusion`: what the format has found out, such as the winner of a contest.
    `finished` (false) and `size`: only if matches of the schedule are missing; then `shard`, such as `2/5`, if there are all
    matches of this shard."""

    @property
    def title(self) -> str:
        """The title of the board."""
        return self.sheet.title

    @property
    def game(self) -> dict[str, Any]:
        """The name and the parameters of the game."""
        return self.sheet.game

    @property
    def kind(self) -> Kind:
        """The kind of the board."""
        return self.sheet.kind

    @property
    def zero(self) -> str:
        """What has the rating 0, in words."""
        return describe_zero(self.anchor, self.facts.get("zero"))

    @property
    def anchor(self) -> str | None:
        """The agent whose rating is 0; None if the mean rating is 0."""
        return self.sheet.anchor if self.sheet.anchor in self.sheet.labels else None

    def explained(self) -> Self:
        """The same board, but the explanations are added to the remarks."""
        return replace(self, remarks=(*self.remarks, *self.explanations))

    def as_dict(self) -> dict[str, Any]:
        """The board as plain values, ready for JSON."""
        return {
            "game": self.game,
            "kind": self.kind,
            "distinct_games": self.distinct_games,
            "cross": None if self.cross is None else [list(row) for row in self.cross],
            "rows": [dict(row) for row in self.rows],
            **self.facts,
        }


def describe_zero(anchor: str | None, zero: Sequence[str] | None) -> str:
    """Return what has the rating 0: the anchor, or the mean of some agents (of all if `zero` is None)."""
    if anchor is not None or not zero:
        return anchor or "the mean of all agents"
    if len(zero) > MAX_NAMES_OF_ZERO:
        return f"the mean of the {len(zero)} agents that won points from each other"
    return f"the mean of {figures.listing(zero)}, which won points from each other"
