"""Plots of the ratings of language models against their cost and their tokens, with the Pareto front."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from arena.api.results import Leaderboard
from arena_web.report.palette import Palette
from arena_web.report.plot import MAX_LINES, Plot, log_axis, room_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXIS_MARGIN = 1.5
"""The factor by which the cost axis extends beyond the lowest and the highest cost."""


class Priced(NamedTuple):
    """An agent with its rating and its average cost (or number of tokens) per game."""

    agent: str
    cost: float
    rating: float
    low: float | None
    high: float | None
    in_front: bool = False
    """True if every other agent that costs at most as much is weaker."""


def frontier_plots(board: Leaderboard) -> list[Plot]:
    """Return two plots, one for the cost per game and one for the tokens per game. A plot is left out if fewer than two rated
    agents have such a value.
    """
    tokens = [(row, _tokens_per_game(row)) for row in board.rows]
    costs = [(row, row.get("cost_per_game")) for row in board.rows]
    found = [
        _make_plot("elo-cost", "Elo and cost", "Cost of a game", costs),
        _make_plot("elo-tokens", "Elo and tokens", "Tokens of a game", tokens),
    ]
    return [plot for plot in found if plot is not None]


def find_front(priced: Sequence[Priced]) -> list[Priced]:
    """Return the agents sorted by cost, the cheapest first, with `in_front` set if they are on the Pareto front."""
    found, best = [], float("-inf")
    for one in sorted(priced, key=lambda one: (one.cost, -one.rating)):
        found.append(one._replace(in_front=one.rating > best))
        best = max(best, one.rating)
    return found


def _tokens_per_game(row: Mapping[str, Any]) -> float | None:
    asked, answered, games = row.get("tokens_in"), row.get("tokens_out"), row.get("games")
    return (asked + answered) / games if asked is not None and answered is not None and games else None


def _make_plot(name: str, title: str, what: str, costs: Sequence[tuple[Mapping[str, Any], float | None]]) -> Plot | None:
    priced = [
        Priced(row["agent"], cost, row["rating"], row["rating_low"], row["rating_high"])
        for row, cost in costs
        if cost and row.get("rating") is not None
    ]
    if len(priced) < 2:
        return None
    kept, note = room_for(range(len(priced)), MAX_LINES)
    marked = find_front(priced)
    shown = [one for one in marked if one.agent in {priced[number].agent for number in kept}]
    front = [one.agent for one in marked if one.in_front]
    return Plot(
        name,
        title,
        f"{what} on average, against the rating with its 95 % interval. On the Pareto front (no other agent is stronger at "
        f"the same cost or less): {', '.join(front)}.{note}",
        ("Agent", what, "Elo", "From", "To", "Front"),
        tuple([(*one[:-1], "yes" if one.in_front else "no") for one in marked]),
        2.6,
        lambda axes, palette: _draw(axes, palette, shown, what),
        tuple([one.agent for one in shown]),
        len(priced) - len(shown),
    )


def _draw(axes: "Axes", palette: Palette, shown: Sequence[Priced], what: str) -> None:
    for number, one in enumerate(shown):
        axes.plot([one.cost], [one.rating], **{**palette.line(number), "linestyle": "none"})
    for one in shown:
        if one.low is not None and one.high is not None:
            axes.plot([one.cost, one.cost], [one.low, one.high], color=palette.muted, linewidth=0.8, zorder=0)
    front = [one for one in shown if one.in_front]
    low, high = shown[0].cost / AXIS_MARGIN, shown[-1].cost * AXIS_MARGIN
    axes.step(
        [*[one.cost for one in front], high],
        [*[one.rating for one in front], front[-1].rating],
        where="post",
        color=palette.blue,
        linewidth=0.8,
    )
    log_axis(axes.xaxis, low, high)
    axes.set_xlabel(what)
    axes.set_ylabel("Elo")
