"""Comparisons of two entries as text: sentences and tables for `arena compare`, and sentences about Elo for `arena stats`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from arena.api.results import BoardInfo, crossing, figures, table
from arena.stats import EloEstimate
from arena_compare.comparison import Comparison, GamesComparison
from arena_compare.measures import MeanComparison
from arena_compare.puzzle_comparison import Means, PuzzleComparison
from arena_compare.verdicts import SIGNIFICANCE_LEVEL, advice, games_verdict, puzzle_verdict

if TYPE_CHECKING:
    from arena.stats import Difference


def comparison_text(
    sheet: BoardInfo, found: Comparison, p_value: float, style: str, *, several: bool, width: int | None, measure: str | None
) -> str:
    """One comparison; its `p_value` is corrected if there are `several`. `measure` is the name after `--by`."""
    said = f"{figures.p_value(p_value)}{' after correction for several' if several else ''}"
    if isinstance(found, GamesComparison):
        sentences = _games(found, p_value, said, alone=len(sheet.labels) == 2)
        return f"{sheet.title}: {found.one} against {found.other}\n\n{sentences}"
    if isinstance(found, MeanComparison):
        by = "" if measure is None else f" by {measure}"
        means = f"{found.one} has {figures.figure(found.mean_one)} on average, {found.other} {figures.figure(found.mean_other)}"
        bounds = ""
        if found.low is not None and found.high is not None:
            bounds = f", 95 % interval {figures.between(figures.signed(found.low), figures.signed(found.high))}"
        repeats = "" if bounds or found.rounds < 2 else " The rounds only repeat each other: no interval."
        sentence = f"{means}: {figures.signed(found.difference)}{bounds}, {said}.{repeats}"
        return f"{sheet.title}: {found.one} and {found.other}{by} in {found.rounds:,} rounds\n\n{sentence}"
    heading = f"{sheet.title}: {found.one} and {found.other} on {found.solved.positions:,} positions"
    texts = [heading, puzzle_verdict(found, p_value, said), _figures(found, style, width)]
    for title, rows, unit in (("nodes", found.by_nodes, ""), ("seconds", found.by_seconds, " s")):
        if rows:
            cells = [[f"{figures.figure(row.budget)}{unit}", figures.share(row.one), figures.share(row.other)] for row in rows]
            shown = table([title.title(), found.one, found.other], cells, style, width)
            texts.append(f"Solved within a budget of {title}:\n\n{shown}")
    return "\n\n".join(texts)


# Puzzles


def _figures(found: PuzzleComparison, style: str, width: int | None) -> str:
    """The table of all figures of both entries."""
    solved, both = found.solved, f"the {found.solved.both:,} both solved"
    shares = [figures.share((solved.both + alone) / solved.positions) for alone in (solved.only_one, solved.only_other)]
    bounds = f"{figures.percentage_points(found.low)} to {figures.percentage_points(found.high)}"
    typical = f"{both}, geometric mean"
    rows = [
        ["Solved", *shares, f"{figures.signed(100 * found.difference)} points", bounds],
        ["Solved by it alone", f"{solved.only_one:,}", f"{solved.only_other:,}", "", ""],
        *_means(f"Moves, {both}", found.moves, figures.signed),
        *_means(f"Cost, {both}", found.cost, figures.signed),
        *_means(f"Nodes, {typical}", found.nodes, figures.figure, "x "),
        *_means(f"Seconds, {typical}", found.seconds, figures.figure, "x "),
        *_scores("nodes", found.par2_nodes, found.limit_nodes),
        *_scores("seconds", found.par2_seconds, found.limit_seconds),
    ]
    if found.gaps is not None:
        rows.append([f"Above optimum ({found.optima:,} known)", *map(figures.share, found.gaps), "", ""])
    return table(["", found.one, found.other, "Difference, ratio", "95 % interval"], rows, style, width)


def _means(name: str, means: Means | None, text: Callable[[float], str], times: str = "") -> list[list[str]]:
    if means is None:
        return []
    value, low, high = means.estimate.value, means.estimate.low, means.estimate.high
    bounds = figures.NONE if low is None or high is None else figures.between(text(low), text(high))
    return [[name, figures.figure(means.one), figures.figure(means.other), f"{times}{text(value)}", bounds]]


def _scores(unit: str, scores: tuple[float, float] | None, limit: float | None) -> list[list[str]]:
    return [] if scores is None else [[f"PAR2 {unit}, limit {figures.figure(limit)}", *map(figures.figure, scores), "", ""]]


# Games


def _games(found: GamesComparison, p_value: float, said: str, *, alone: bool) -> str:
    """The comparison in sentences; `alone` if the board has no other entry, so that its ratings add nothing."""
    lines = [games_verdict(found, p_value, said)]
    worth, difference = found.worth, found.table
    if worth is not None and found.counts is not None:
        pairs = sum(found.counts)
        games = f" ({found.games:,} games, {found.distinct:,} distinct)" if found.distinct < found.games else ""
        counted = f"{pairs:,} {'pair' if pairs == 1 else 'pairs'} of games{games}"
        lines.append(f"{found.one} scores {score_words(worth)} in {counted}. {elo_words(worth)}")
        lines.append(f"Pairs with 0, 1/2, 1, 1 1/2 and 2 points: {', '.join(map(str, found.counts))}.")
        if worth.score_low is None and worth.score_high is None:
            few = "Fewer than two pairs that differ" if pairs < 2 else "Nearly all games repeat one pair"
            lines.append(f"{few}: no interval. Agents that draw nothing by lot repeat themselves; try openings.")
        elif 2 * pairs < found.games - 1:
            lines.append(f"The score is that of all {found.games:,} games; the {pairs:,} pairs that differ carry the interval.")
    if difference is not None and (worth is None or (not alone and _bounds(difference))):
        where = f"{found.one} is {figures.elo(difference.elo)} Elo from {found.other}{_bounds(difference)}"
        sure = difference.superiority
        if worth is not None:
            lines.append(f"By all games of the board, on its scale (draws and the first seat taken out), {where}.")
        else:
            likely = "" if sure is None else f"; likelihood of superiority {figures.likelihood(sure)}"
            lines.append(f"By all games of the board {where}{likely}.")
    word = None if alone else advice(found, p_value)
    return "\n".join(lines if word is None else [*lines, word])


def _bounds(difference: "Difference") -> str:
    """The interval of a difference of ratings, or its one bound, if it has any."""
    low, high = difference.low, difference.high
    if low is None and high is None:
        return ""
    if low is None or high is None:
        return f" (above {figures.elo(low)}, 95 %)" if low is not None else f" (below {figures.elo(high)}, 95 %)"
    return f" ({figures.elo(low)} to {figures.elo(high)}, 95 %)"


def matrix_text(sheet: BoardInfo, pairs: Sequence[GamesComparison], style: str, width: int | None) -> str:
    """The matrix of all pairs of entries: rating differences and likelihoods of superiority."""
    names = list(dict.fromkeys([name for pair in pairs for name in (pair.one, pair.other)]))
    cells = {name: dict.fromkeys(names, figures.NONE) for name in names}
    for pair in pairs:
        if pair.table is not None and pair.table.superiority is not None:
            lead, sure = pair.table.elo, pair.table.superiority
            cells[pair.one][pair.other] = f"{figures.elo(lead)} ({figures.likelihood(sure)})"
            cells[pair.other][pair.one] = f"{figures.elo(-lead)} ({figures.likelihood(1 - sure)})"
    heading = (
        f"{sheet.title}: Elo of each row above each column by all games, on the board's scale, and the likelihood of superiority"
    )
    return f"{heading}\n\n{crossing(names, names, [list(cells[name].values()) for name in names], style, width)}"


class Cell(NamedTuple):
    """A square of a matrix: how the entry of its row compares with the entry of its column."""

    text: str
    detail: str
    lead: int
    """1 if the row is significantly better, -1 if the column is, else 0."""


def matrix_cells(found: Comparison, p_value: float) -> tuple[Cell, Cell]:
    """Return the squares of a comparison: with the one as the row, and with the other.

    The `p_value` may be corrected for several.
    """
    if isinstance(found, GamesComparison):
        if found.table is None or found.table.superiority is None:
            return Cell(figures.NONE, "", 0), Cell(figures.NONE, "", 0)
        elo, sure = found.table.elo, found.table.superiority
        lead = (sure >= 1 - SIGNIFICANCE_LEVEL / 2) - (sure <= SIGNIFICANCE_LEVEL / 2)
        likely = [figures.likelihood(one).replace("above", ">").replace("below", "<") for one in (sure, 1 - sure)]
        row, column = (figures.elo(elo), likely[0]), (figures.elo(-elo), likely[1])
    elif isinstance(found, MeanComparison):
        lead = _sign(found.difference) if p_value <= SIGNIFICANCE_LEVEL else 0
        row, column = [(figures.signed(found.difference * side), figures.p_value(p_value)) for side in (1, -1)]
    else:
        lead = _sign(found.difference) if p_value <= SIGNIFICANCE_LEVEL else 0
        ratio = None if found.nodes is None else found.nodes.estimate
        if not lead and ratio is not None and ratio.low is not None and ratio.high is not None:
            lead = (ratio.high < 1) - (ratio.low > 1)
        nodes = ["", ""] if ratio is None else [f"x {figures.figure(value)}" for value in (ratio.value, 1 / ratio.value)]
        points = [figures.percentage_points(found.difference * side) for side in (1, -1)]
        row, column = zip(points, nodes, strict=True)
    return Cell(*row, lead), Cell(*column, -lead)


def matrix_legend(found: Comparison, measure: str | None) -> str:
    """Return the legend of a matrix: its figures and colours. `measure` is the name after `--by`."""
    colours = "Colours mark differences beyond noise (95 %)"
    if isinstance(found, GamesComparison):
        cells = "how many Elo the row is above the column by all games of the board, and how likely the row is the better one"
        return f"Each cell says {cells}. {colours}: blue if the row is better."
    if isinstance(found, MeanComparison):
        cells = f"the {measure or 'return'} of the row less that of the column, as a mean over rounds, and the p-value"
        return f"Each cell says {cells}. {colours}: blue if the row has more."
    cells = "how many percentage points more of the positions the row solves, and its nodes in relation to the column's"
    return f"Each cell says {cells} where both solve. {colours}: blue if the row is better, by what it solves or else by nodes."


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


# Elo


def score_words(worth: EloEstimate) -> str:
    """The share of the points with its interval, if there is one."""
    known = worth.score_low is not None and worth.score_high is not None
    interval = f" ({figures.share(worth.score_low)} to {figures.share(worth.score_high)}, 95 %)" if known else ""
    return f"{figures.share(worth.score)}{interval}"


def elo_words(worth: EloEstimate) -> str:
    """The Elo difference with its interval and the likelihood of superiority, as a sentence."""
    low, high = (None if bound is None else figures.elo(bound, 1) for bound in (worth.elo_low, worth.elo_high))
    interval = "" if low is None and high is None else f" ({figures.between(low, high)}, 95 %)"
    lead = "none: all points went one way" if worth.elo is None else figures.elo(worth.elo, 1)
    return f"Elo {lead}{interval}; likelihood of superiority {figures.likelihood(worth.superiority)}."
