"""Comparisons of two entries as text: sentences and tables for `arena compare`, and sentences about Elo for `arena stats`."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from arena.api.results import BoardInfo, TextTable, figures
from arena.stats import EloEstimate
from arena_compare.comparison import TOO_FEW_ROUNDS, Comparison, GamesComparison
from arena_compare.measures import MeanComparison
from arena_compare.puzzle_comparison import Means, PuzzleComparison
from arena_compare.verdicts import (
    UNLIKE_PAR2,
    advice,
    games_verdict,
    interval_name,
    p_value_text,
    p_value_words,
    puzzle_verdict,
    signed_points,
)
from arena_pairings.sprt_state import UNDECIDED
from arena_records.budgets import MIN_DEPTH

LEAST_SHARE = 0.0005
"""Bounds of a score that are nearer to 0 or 100 % are shown as such. An interval with two such bounds says nothing."""
UNMET = "The two have not played each other: the difference rests on their games against other opponents."
UNCORRECTED = " (not corrected)"
"""Follows a likelihood of superiority that stands beside p-values that are corrected for several tests."""


def correction_line(tests: int) -> str:
    """Return the sentence below the comparisons of a board whose p-values are corrected for several tests."""
    return (
        f"P-values and intervals are corrected together for all {tests:,} tests on this board (Holm's method): the probability "
        "that any claim is false is at most 5 %."
    )


def comparison_text(
    sheet: BoardInfo, found: Comparison, style: str, *, width: int | None, measure: str | None, tests: int
) -> str:
    """Return the text of a comparison. `measure` is the name that was given with `--by`, and `tests` the number of tests for
    which the board is corrected.
    """
    if isinstance(found, GamesComparison):
        return f"{sheet.title}: {found.one} against {found.other}\n\n{_games(found, sheet, tests)}"
    if isinstance(found, MeanComparison):
        by = "" if measure is None else f" by {measure}"
        heading = f"{sheet.title}: {found.one} and {found.other}{by} in {figures.amount(found.rounds, 'round')}"
        return f"{heading}\n\n{_means_text(found, tests)}"
    heading = f"{sheet.title}: {found.one} and {found.other} on {found.words}"
    texts = [heading, _add_caveat(puzzle_verdict(found, tests=tests), found), _figures(found, style, width, tests)]
    for title, rows, text in (("nodes", found.by_nodes, figures.figure), ("time", found.by_seconds, _round_duration)):
        if rows:
            cells = [[text(row.budget), figures.share(row.one), figures.share(row.other)] for row in rows]
            shown = TextTable([title.title(), found.one, found.other], cells).text(style, width)
            texts.append(f"Solved within a budget of {title}:\n\n{shown}")
    if any(len({*limits}) > 1 for limits in (found.limit_nodes, found.limit_seconds) if limits is not None):
        texts.append(UNLIKE_PAR2)
    texts += [reason for reason in (found.no_gap, found.idle, found.untimed) if reason is not None]
    return "\n\n".join(texts)


def _add_caveat(verdict: str, found: Comparison) -> str:
    return f"{verdict} {found.caveat}" if found.caveat else verdict


def _round_duration(seconds: float) -> str:
    """Return a time without zeros at the end of its decimals, because most budgets are round numbers."""
    return re.sub(r"\.?0+ ", " ", text) if "." in (text := figures.duration(seconds)) else text


def _means_text(found: MeanComparison, tests: int) -> str:
    """Return the comparison of two means in sentences."""
    rounds = f"the {found.rounds:,} rounds" if found.rounds > 1 else "the only round"
    which = "that both solved" if found.solved else f"in which {'both have' if found.paired else 'either has'} a value"
    over = f"over {rounds} {which}"
    means = (
        f"{found.one} has {figures.figure(found.mean_one)} on average, {found.other} {figures.figure(found.mean_other)}, {over}"
    )
    bounds = ""
    if found.low is not None and found.high is not None:
        bounds = (
            f", {interval_name(corrected=tests > 1)} {figures.between(figures.signed(found.low), figures.signed(found.high))}"
        )
    untested = "the rounds only repeat each other" if found.rounds > 1 else TOO_FEW_ROUNDS
    tested = p_value_words(found.p_value_holm, found.test, untested)
    sentence = f"{means}: {figures.signed(found.difference)}{bounds}, {tested}."
    if not found.test and not found.difference:
        sentence = f"{means}: +0 in every round."
    if found.withheld is not None:
        sentence = f"{means}. No verdict: {found.withheld}"
    elif not found.better:
        sentence = f"{found.one} and {found.other} cannot be told apart. {sentence}"
    return "\n".join([_add_caveat(sentence, found), *found.remarks])


# Puzzles


def _figures(found: PuzzleComparison, style: str, width: int | None, tests: int) -> str:
    """Return the table of all figures of both entries."""
    solved, both = found.solved, f"{found.count(found.observations_both, found.solved.both)} that both solved"
    shares = [figures.share((solved.both + alone) / solved.rounds) for alone in (solved.only_one, solved.only_other)]
    known = found.low is not None and found.high is not None
    bounds = figures.between(*[signed_points(bound or 0.0) if known else None for bound in (found.low, found.high)])
    if known and tests > 1 and not found.test:
        bounds = figures.Figure(f"{bounds} (95 %)")
    typical = f"{both}, geometric mean"
    places = found.count(found.branching_positions, found.branching_rounds)
    counted = f"{places} that both solved with nodes and at least {MIN_DEPTH} moves"
    unit = "positions" if found.positions == solved.rounds else "rounds"
    rows = [
        [
            "Solved",
            *shares,
            figures.Figure(f"{signed_points(found.difference)} points"),
            bounds,
            _tested(found.p_value_holm, found.test),
        ],
        [f"Solved only by this entry, {unit}", f"{solved.only_one:,}", f"{solved.only_other:,}", "", "", ""],
        *_means(f"Moves, {both}", found.moves, figures.signed),
        *_means(f"Cost, {both}", found.cost, figures.signed),
        *_means(f"Nodes, {typical}", found.nodes, figures.figure, "x "),
        *_means(f"Expanded states, {typical}", found.expanded, figures.figure, "x "),
        *_means(f"Seconds, {typical}", found.seconds, figures.figure, "x "),
        *(
            []
            if found.branching is None
            else [[f"Effective branching factor, {counted}", *map(figures.figure, found.branching), "", "", ""]]
        ),
        *_scores("nodes", found.par2_nodes, found.limit_nodes),
        *_scores("seconds", found.par2_seconds, found.limit_seconds),
    ]
    if found.gaps is not None:
        rows.append(
            [
                f"Cost above the optimum, own solutions (optima of {figures.amount(found.optima, 'position')} known)",
                *map(figures.share, found.gaps),
                "",
                "",
                "",
            ]
        )
    interval = interval_name(corrected=tests > 1).capitalize()
    return TextTable(["", found.one, found.other, "Difference, ratio", interval, "Test"], rows).text(style, width)


def _means(name: str, means: Means | None, text: Callable[[float], str], times: str = "") -> list[list[str]]:
    if means is None:
        return []
    value, low, high = means.estimate.value, means.estimate.low, means.estimate.high
    bounds = figures.NONE if low is None or high is None else figures.between(text(low), text(high))
    tested = "" if means.test is None else _tested(means.test.p_value_holm, means.test.test)
    return [
        [name, figures.figure(means.one), figures.figure(means.other), figures.Figure(f"{times}{text(value)}"), bounds, tested]
    ]


def _tested(p_value: float, test: str) -> str:
    return f"{p_value_text(p_value)}, {test}" if test else ""


def _scores(unit: str, scores: tuple[float, float] | None, limits: tuple[float, float] | None) -> list[list[str]]:
    if scores is None or limits is None:
        return []
    one, other = map(figures.figure, limits)
    limit = f"limit {one}" if limits[0] == limits[1] else f"limits {one} and {other}"
    return [[f"PAR2 {unit}, {limit}", *map(figures.figure, scores), "", "", ""]]


# Games


def _games(found: GamesComparison, sheet: BoardInfo, tests: int) -> str:
    """Return the comparison of games in sentences. If the board has only these two entries, ratings are left out, because they
    add nothing.
    """
    alone, several = found.unrated or len(sheet.labels) == 2, tests > 1
    lines = [_add_caveat(games_verdict(found), found)]
    worth, difference = found.worth, found.table
    if worth is not None and found.counts is not None:
        pairs, whole = sum(found.counts), found.games - found.lone
        details = [f"{found.distinct:,} different"] if found.distinct < found.games else []
        details += [f"{found.lone:,} without the other game of the pair"] if found.lone else []
        games = f" ({', '.join([figures.amount(found.games, 'game'), *details])})" if details else ""
        counted = f"{figures.amount(pairs, 'pair')} of games{games}"
        direct = "" if found.direct is None else f", {p_value_words(found.direct.p_value_holm, found.direct.test)}"
        tested = several and bool(found.test if found.direct is None else found.direct.test)
        score, elo = score_words(worth, corrected=tested), elo_words(worth, corrected=tested)
        lines.append(f"{found.one} scores {score} in {counted}{direct}. {elo}")
        shares = [f"{points} ({count:,})" for points, count in zip(("0", "1/2", "1", "1 1/2", "2"), found.counts, strict=True)]
        lines.append(f"Points of {found.one} per pair of games (number of pairs): {', '.join(shares)}.")
        if worth.score_low is not None and not _is_informative(worth):
            lines.append("No interval: corrected for all tests on this board, with so few pairs, every score remains possible.")
        elif worth.score_low is None and worth.score_high is None:
            few = "Fewer than three pairs of games differ" if pairs < 3 else "Nearly all pairs of games are identical"
            more = "openings with more plies" if sheet.has_openings else "openings"
            if 2 * pairs < whole:
                lines.append(f"{few}: no interval. Agents without randomness repeat their games; try {more}.")
            else:
                missing = "; games of some pairs are missing" if found.lone else ""
                lines.append(f"No interval: it needs three pairs of games{missing}.")
        elif 2 * pairs < whole:
            lines.append(f"The score counts all {found.games:,} games; the interval uses the {pairs:,} pairs that differ.")
    named = interval_name(corrected=several and bool(found.test))
    bounds = figures.elo_interval(difference.low, difference.high, named)
    if worth is None or (not alone and bounds):
        where = f"{found.one} is at {figures.elo(difference.elo)} Elo against {found.other}{bounds}"
        if difference.elo is None:
            where = f"the difference between {found.one} and {found.other} is unknown"
        sure = difference.superiority
        if worth is not None:
            lines.append(f"By the ratings of the whole leaderboard, {where}.")
        else:
            likely = (
                "" if sure is None else f"; likelihood of superiority {figures.likelihood(sure)}{UNCORRECTED if several else ''}"
            )
            lines.append(f"By the ratings of the whole leaderboard {where}{likely}.")
    if found.unmet:
        lines.append(UNMET)
    if sheet.test is not None:
        adjusted = found.adjusted
        if adjusted is not None and adjusted.elo is not None:
            interval = figures.elo_interval(adjusted.elo_low, adjusted.elo_high)
            lines.append(f"The test corrects the scores for luck: Elo {figures.elo(adjusted.elo, 1)}{interval}.")
    if found.verdict not in (None, UNDECIDED):
        lines.append(
            "A sequential test ended these games at the first look at which it could decide, so the score, the Elo and the "
            "likelihood exaggerate the difference on average."
        )
    word = None if alone else advice(found)
    return "\n".join(lines if word is None else [*lines, word])


def summary_text(
    sheet: BoardInfo, pairs: Sequence[Comparison], style: str, width: int | None, *, measure: str | None, tests: int
) -> str:
    """Return the matrix of all pairs of entries of a board, and a sentence on each pair.

    `measure` is the name that was given with `--by`, and `tests` the number of tests for which p-values are corrected.
    """
    names = list(dict.fromkeys([name for pair in pairs for name in (pair.one, pair.other)]))
    cells: dict[str, dict[str, str]] = {name: dict.fromkeys(names, figures.NONE) for name in names}
    sentences = []
    for pair in pairs:
        for (row, column), cell in zip(((pair.one, pair.other), (pair.other, pair.one)), matrix_cells(pair), strict=True):
            cells[row][column] = figures.Figure(f"{cell.text} ({cell.detail})") if cell.detail else cell.text
        if isinstance(pair, GamesComparison):
            verdict = _add_caveat(games_verdict(pair), pair)
            sentences.append(f"{verdict} {UNMET}" if pair.unmet else verdict)
        elif isinstance(pair, MeanComparison):
            sentences.append(_means_text(pair, tests).split("\n")[0])
        else:
            sentences.append(_add_caveat(puzzle_verdict(pair, tests=tests, brief=True), pair))
    matrix = TextTable.crossing(names, names, [list(cells[name].values()) for name in names], style, width)
    return "\n\n".join([f"{sheet.title}: {_describe_cells(pairs[0], measure, tests)}", matrix, "\n".join(sentences)])


class Cell(NamedTuple):
    """A cell of a matrix, which compares the entry of its row with the entry of its column."""

    text: str
    detail: str
    lead: int
    """1 if the entry of the row is significantly better, -1 if the entry of the column is, otherwise 0."""


def matrix_cells(found: Comparison) -> tuple[Cell, Cell]:
    """Return the two cells for a comparison: one in the row of `one`, and one in the row of the other entry."""
    row: tuple[str, str]
    column: tuple[str, str]
    if isinstance(found, GamesComparison):
        if found.table.elo is None:
            return Cell(figures.NONE, "", 0), Cell(figures.NONE, "", 0)
        elo, sure = found.table.elo, found.table.superiority
        likely = ["", ""] if sure is None else [figures.likelihood(one) for one in (sure, 1 - sure)]
        shown = [one.replace("above", ">").replace("below", "<") for one in likely]
        row, column = (figures.elo(elo), shown[0]), (figures.elo(-elo), shown[1])
    elif isinstance(found, MeanComparison):
        detail = p_value_text(found.p_value_holm) if found.test else ""
        row, column = [(figures.signed(found.difference * side), detail) for side in (1, -1)]
    else:
        ratio = None if found.nodes is None else found.nodes.estimate
        nodes = ["", ""] if ratio is None else [f"x {figures.figure(value)}" for value in (ratio.value, 1 / ratio.value)]
        points = [signed_points(found.difference * side, 0) for side in (1, -1)]
        row, column = zip(points, nodes, strict=True)
    return Cell(*row, found.better), Cell(*column, -found.better)


def matrix_legend(found: Comparison, measure: str | None, tests: int) -> str:
    """Return the legend for a matrix on a page, which explains its figures and colours. `measure` is the name that was given with
    `--by`, and `tests` the number of tests for which p-values are corrected.
    """
    corrected = f", corrected together for all {tests:,} tests on the board" if tests > 1 else ""
    colours = f"Colours mark differences beyond noise (significant at 5 %{corrected})"
    better = (
        "blue if the row is better by the figures that rank the board: solved attempts, else the cost of solutions, else nodes"
    )
    if isinstance(found, GamesComparison):
        better = "blue if the row is better"
    elif isinstance(found, MeanComparison):
        better = "blue if the row has more"
    return f"Each cell says {_describe_cells(found, measure, tests)}. {colours}: {better}."


def _describe_cells(found: Comparison, measure: str | None, tests: int) -> str:
    """Return what the cells of a matrix mean, as the end of a sentence."""
    if isinstance(found, GamesComparison):
        games = "the games between the two" if found.unrated else "all games of the leaderboard"
        cells = f"by how many Elo the row is stronger, from {games}, and the likelihood of superiority"
        return f"{cells}{UNCORRECTED if tests > 1 else ''}"
    if isinstance(found, MeanComparison):
        rounds = f"over the rounds {'that both solved' if found.solved else 'in which both have a value'}"
        return f"the mean {measure or 'return'} of the row minus the mean of the column, {rounds}, and the p-value"
    return (
        "the difference in solved positions in percentage points, and the ratio of its nodes to the nodes of the column on "
        "positions that both solve"
    )


# Elo


def _is_informative(worth: EloEstimate) -> bool:
    """Return whether the interval of a score, as it is shown, leaves out any score."""
    return (worth.score_low or 0.0) >= LEAST_SHARE or (1.0 if worth.score_high is None else worth.score_high) <= 1 - LEAST_SHARE


def score_words(worth: EloEstimate, *, corrected: bool = False) -> str:
    """Return the share of the points in words, with its interval if there is one; see `elo_words`."""
    known = worth.score_low is not None and worth.score_high is not None and _is_informative(worth)
    bounds = f"{figures.share(worth.score_low)} to {figures.share(worth.score_high)}"
    interval = f" ({interval_name(corrected=corrected)} {bounds})" if known else ""
    return f"{figures.share(worth.score)}{interval}"


def elo_words(worth: EloEstimate, *, corrected: bool = False) -> str:
    """Return a sentence with the Elo difference, its interval and the likelihood of superiority. `corrected` says whether the
    interval and the p-value beside it are corrected for several tests. The likelihood never is.
    """
    low, high = (None if bound is None else figures.elo(bound, 1) for bound in (worth.elo_low, worth.elo_high))
    known = (low is not None or high is not None) and _is_informative(worth)
    interval = f" ({interval_name(corrected=corrected)} {figures.between(low, high)})" if known else ""
    lead = "unknown, because all points went one way" if worth.elo is None else figures.elo(worth.elo, 1)
    likely = f"{figures.likelihood(worth.superiority)}{UNCORRECTED if corrected else ''}"
    return f"Elo {lead}{interval}; likelihood of superiority {likely}."
