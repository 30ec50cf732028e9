"""The commands that put numbers on a difference: `arena compare` of two entries of a store, `arena stats` of plain counts."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import combinations
from math import ceil
from typing import Any

from arena.console.output import results_alone, room
from arena.errors import ArenaError, StoreError, UnknownName
from arena.games import Ranking
from arena.identity import Stream
from arena.results.attempts import Attempts, attempts_of
from arena.results.comparison import GamesComparison, Means, PuzzleComparison, attempted, met, met_among_others
from arena.results.layout import DEFAULT, crossing, folded, table
from arena.results.leaderboard import complete
from arena.results.tally import Tally, distinct_of, tallies_of
from arena.schedule.board_info import BoardInfo
from arena.stats.calculator import Worth, worth_of_games, worth_of_pairs
from arena.stats.intervals import rate
from arena.stats.paired import Estimate, holm
from arena.stats.pairs import swapped
from arena.stats.plackett_luce import rate_rankings
from arena.stats.sprt import Sprt, expected_pairs, log_likelihood_ratio
from arena.store import Store

SURE = 0.05
"""The chance of a false alarm that a difference may have."""
LEAST = 1e-15
"""The least chance that is told as a number: one is 1 less a likelihood, which has 16 digits."""
NOTHING = 1e-6
"""A log-likelihood ratio of a pair that says nothing."""

Found = PuzzleComparison | GamesComparison


def compare(path: str, agents: Sequence[str], *, style: str) -> int:
    """Print how entries of the last run in a store compare, two by two, on every board where both play."""
    with results_alone() as out:
        with Store.open(path) as store, store.snapshot():
            run = store.last()
            names = _chosen(path, run.boards, agents)
            attempts, tallies, distinct = attempts_of(store, run.boards), tallies_of(store, run.boards), distinct_of(store)
        found = [
            (sheet, _corrected(_pairs(sheet, names, attempts.get(number, {}), tallies[number], distinct[number])))
            for number, sheet in enumerate(run.boards)
        ]
        boards = [(sheet, pairs) for sheet, pairs in found if pairs]
        if not boards:
            raise StoreError(f"{path}: {' and '.join(names)} have met on no board yet; there is nothing to compare")
        if not all(complete(tally, ended=run.ended is not None) for tally in tallies):
            print("note: the run is not finished", file=sys.stderr)
        if style == "json":
            print(json.dumps([_document(sheet, pairs) for sheet, pairs in boards], indent=2, allow_nan=False), file=out)
        else:
            several = sum(len(pairs) for _, pairs in boards) > 1
            width = room(out) if style == DEFAULT else None
            texts = []
            for sheet, pairs in boards:
                games = [pair for pair, _ in pairs if isinstance(pair, GamesComparison)]
                texts += [_matrix(sheet, games, style, width)] if len(pairs) > 1 else []
                texts += [_text(one, sheet, chance, style, several, width) for one, chance in pairs]
            print(folded("\n\n\n".join(filter(None, texts)), width), file=out)
    return 0


def _chosen(path: str, sheets: Sequence[BoardInfo], agents: Sequence[str]) -> list[str]:
    """The entries to compare: those asked for, or all."""
    known = list(dict.fromkeys([label for sheet in sheets for label in sheet.labels]))
    for agent in agents:
        if agent not in known:
            raise UnknownName(f"entry of {path}", agent, known)
    if len(set(agents)) != len(agents) or len(agents) == 1:
        raise ArenaError(f"expected two different entries or more, got {', '.join(agents)}; there are {', '.join(known)}")
    return list(agents) or known


def _pairs(
    sheet: BoardInfo, names: Sequence[str], attempts: Attempts, tally: Tally, distinct: Counter[frozenset[int]]
) -> list[Found]:
    here = [(name, sheet.labels.index(name)) for name in names if name in sheet.labels]
    if sheet.kind == "puzzle":
        optima = _optima(sheet, attempts)
        return [
            attempted((one, other), (attempts.get(i, {}), attempts.get(j, {})), optima)
            for (one, i), (other, j) in combinations(here, 2)
            if attempts.get(i, {}).keys() & attempts.get(j, {}).keys()
        ]
    pairings, rankings = tally.matches.pairings(), tally.matches.rankings()
    entries = [str(entry) for entry in range(len(sheet.labels))]
    if rankings:
        ranked = rate_rankings(dict(rankings), entries)
        return [
            met_among_others((one, other), ranked.difference(str(i), str(j)))
            for (one, i), (other, j) in combinations(here, 2)
            if any({str(i), str(j)} <= set(group_of(game)) for games in rankings.values() for found in games for game in found)
        ]
    ratings = rate(pairings, entries, rng=Stream(f"bootstrap/{sheet.title}")) if pairings else None
    found: list[Found] = []
    for (one, i), (other, j) in combinations(here, 2):
        pairs = pairings.get((str(min(i, j)), str(max(i, j))), [])
        if pairs and ratings is not None:
            games = pairs if i < j else list(map(swapped, pairs))
            found.append(met((one, other), games, ratings.difference(str(i), str(j)), distinct[frozenset((i, j))]))
    return found


def group_of(ranking: Ranking) -> list[str]:
    """Who sat at the table."""
    return [agent for level in ranking for agent in level]


def _optima(sheet: BoardInfo, attempts: Attempts) -> dict[int, float]:
    """The lowest cost of every position that an entry has solved whose solutions are cheapest ones."""
    found: dict[int, float] = {}
    for label in sheet.optimal:
        for position, attempt in attempts.get(sheet.labels.index(label), {}).items():
            if attempt.solved and attempt.cost is not None:
                found[position] = min(attempt.cost, found.get(position, attempt.cost))
    return found


def _corrected(pairs: list[Found]) -> list[tuple[Found, float]]:
    """Every comparison with its chance corrected for there being many."""
    return list(zip(pairs, holm([pair.chance for pair in pairs]), strict=True))


def _document(sheet: BoardInfo, pairs: list[tuple[Found, float]]) -> dict[str, Any]:
    return {
        "game": sheet.game,
        "kind": sheet.kind,
        "pairs": [{**asdict(replace(pair)), "chance_corrected": chance} for pair, chance in pairs],
    }


def _text(found: Found, sheet: BoardInfo, chance: float, style: str, several: bool, width: int | None) -> str:
    if isinstance(found, GamesComparison):
        return f"{sheet.title}: {found.one} against {found.other}\n\n{_met(found, chance, several, alone=len(sheet.labels) == 2)}"
    heading = f"{sheet.title}: {found.one} and {found.other} on {found.solved.positions:,} positions"
    parts = [heading, _words(found, chance, several), _figures(found, style, width)]
    for title, rows, unit in (("nodes", found.by_nodes, ""), ("seconds", found.by_seconds, " s")):
        if rows:
            cells = [[f"{_figure(row.budget)}{unit}", _percent(row.one), _percent(row.other)] for row in rows]
            shown = table([title.title(), found.one, found.other], cells, style, width)
            parts.append(f"Solved within a budget of {title}:\n\n{shown}")
    return "\n\n".join(parts)


# Puzzles


def _words(found: PuzzleComparison, chance: float, several: bool) -> str:
    """The comparison in a sentence."""
    one, other, low, high = found.one, found.other, found.low, found.high
    ratio = None if found.nodes is None or found.nodes.estimate.low is None else found.nodes.estimate.value
    if found.difference < 0:
        one, other, low, high, ratio = other, one, -high, -low, None if ratio is None else 1 / ratio
    said = f"{_chance(chance)}{' after correction for several' if several else ''}"
    if chance <= SURE:
        told = f"{one} solves {_points(low)} to {_points(high)} points more than {other} (95 %), {said}"
    else:
        told = (
            f"{one} and {other} cannot be told apart by what they solve: {_points(low)} to {_points(high)} points (95 %), {said}"
        )
    if ratio is None:
        return f"{told}."
    times = f"{1 / ratio:.2g} times fewer" if ratio < 0.95 else f"{ratio:.2g} times as many" if ratio > 1.05 else "about as many"
    nodes = f"{times} nodes where both solve (geometric mean)"
    return f"{told}; {one} takes {nodes}." if chance > SURE else f"{told}, with {nodes}."


def _figures(found: PuzzleComparison, style: str, width: int | None) -> str:
    positions = found.solved.positions
    solved = found.solved
    rows = [
        [
            "Solved",
            _percent((solved.both + solved.only_one) / positions),
            _percent((solved.both + solved.only_other) / positions),
            f"{_signed(100 * found.difference)} points",
            f"{_points(found.low)} to {_points(found.high)}",
        ],
        ["Solved by it alone", f"{solved.only_one:,}", f"{solved.only_other:,}", "", ""],
    ]
    both = f"the {solved.both:,} both solved"
    for name, means in ((f"Moves, {both}", found.moves), (f"Cost, {both}", found.cost)):
        if means is not None:
            rows.append([name, _figure(means.one), _figure(means.other), _signed(means.estimate.value), _range(means, _signed)])
    typical = f"{both}, geometric mean"
    for name, means in ((f"Nodes, {typical}", found.nodes), (f"Seconds, {typical}", found.seconds)):
        if means is not None:
            times = f"x {means.estimate.value:.3g}"
            rows.append([name, _figure(means.one), _figure(means.other), times, _range(means, lambda value: f"{value:.3g}")])
    for unit, scores, limit in (
        ("nodes", found.par2_nodes, found.limit_nodes),
        ("seconds", found.par2_seconds, found.limit_seconds),
    ):
        if scores is not None:
            rows.append([f"PAR2 {unit}, limit {_figure(limit)}", _figure(scores[0]), _figure(scores[1]), "", ""])
    if found.gaps is not None:
        one, other = ["-" if gap is None else _percent(gap) for gap in found.gaps]
        rows.append([f"Above optimum ({found.optima:,} known)", one, other, "", ""])
    return table(["", found.one, found.other, "Difference, ratio", "95 % interval"], rows, style, width)


def _range(means: Means, shown: Any) -> str:
    estimate: Estimate = means.estimate
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"{shown(estimate.low)} to {shown(estimate.high)}"


# Games


def _met(found: GamesComparison, chance: float, several: bool, *, alone: bool) -> str:
    """The comparison in sentences; `alone` where nobody else is on the board, whose ratings say no more then."""
    worth = found.worth
    corrected = " after correction for several" if several else ""
    if worth is None or found.counts is None:
        return _among_others(found, chance, corrected)
    lines = [_worth_line(found.one, worth, _counted(sum(found.counts), found))]
    lines.append(f"Pairs with 0, 1/2, 1, 1 1/2 and 2 points: {', '.join(map(str, found.counts))}. {_chance(chance)}{corrected}.")
    if not alone and found.table is not None and found.table.low is not None and found.table.high is not None:
        bounds = f"{found.table.low:+.0f} to {found.table.high:+.0f}"
        lines.append(
            f"By all games of the board, on its scale (draws and the first seat taken out), {found.one} is "
            f"{found.table.elo:+.0f} Elo from {found.other} ({bounds}, 95 %)."
        )
    if sum(found.counts) < 2:
        lines.append(
            "Fewer than two pairs that differ: no interval. Agents that draw nothing by lot repeat themselves; try openings."
        )
    return "\n".join(lines)


def _among_others(found: GamesComparison, chance: float, corrected: str) -> str:
    """Two who sat at a table with others."""
    table_ = found.table
    assert table_ is not None
    bounds = "" if table_.low is None or table_.high is None else f" ({table_.low:+.0f} to {table_.high:+.0f}, 95 %)"
    sure = "" if table_.superiority is None else f"; likelihood of superiority {_sure(table_.superiority)}, {_chance(chance)}"
    return f"By all games of the board {found.one} is {table_.elo:+.0f} Elo from {found.other}{bounds}{sure}{corrected}."


def _matrix(sheet: BoardInfo, pairs: Sequence[GamesComparison], style: str, width: int | None) -> str:
    """Every two entries: by how much the row's rating is above the column's, and how sure that is."""
    if not pairs:
        return ""
    names = list(dict.fromkeys([name for pair in pairs for name in (pair.one, pair.other)]))
    cells = {name: dict.fromkeys(names, "-") for name in names}
    for pair in pairs:
        if pair.table is not None and pair.table.superiority is not None:
            elo, sure = pair.table.elo, pair.table.superiority
            cells[pair.one][pair.other] = f"{elo:+.0f} ({_sure(sure)})"
            cells[pair.other][pair.one] = f"{-elo:+.0f} ({_sure(1 - sure)})"
    heading = (
        f"{sheet.title}: Elo of each row above each column by all games, on the board's scale, and the likelihood of superiority"
    )
    return f"{heading}\n\n{crossing(names, names, [list(cells[name].values()) for name in names], style, width)}"


def _counted(pairs: int, found: GamesComparison) -> str:
    """How many pairs are counted, and of which games where some repeat others."""
    games = f" ({found.games:,} games, {found.distinct:,} distinct)" if found.distinct < found.games else ""
    return f"{pairs:,} {'pair' if pairs == 1 else 'pairs'} of games{games}"


def _worth_line(name: str, worth: Worth, counted: str) -> str:
    bounds = ""
    if worth.score_low is not None and worth.score_high is not None:
        bounds = f" ({_percent(worth.score_low)} to {_percent(worth.score_high)}, 95 %)"
    return f"{name} scores {_percent(worth.score)}{bounds} in {counted}. {_elo_words(worth)}"


def _elo_words(worth: Worth) -> str:
    low, high = worth.elo_low, worth.elo_high
    interval = (
        f" ({low:+.1f} to {high:+.1f}, 95 %)"
        if low is not None and high is not None
        else f" (above {low:+.1f}, 95 %)"
        if low is not None
        else f" (below {high:+.1f}, 95 %)"
        if high is not None
        else ""
    )
    elo = "none: all points went one way" if worth.elo is None else f"{round(worth.elo, 1) + 0.0:+.1f}"
    return f"Elo {elo}{interval}; likelihood of superiority {_sure(worth.superiority)}."


# The calculator


def of_games(wins: int, draws: int, losses: int, *, style: str) -> int:
    """Print what so many games are worth, taken as independent."""
    return _calculated(worth_of_games(wins, draws, losses), None, None, style, f"{wins} won, {draws} drawn, {losses} lost")


def of_pairs(counts: Sequence[int], *, sprt: tuple[float, float] | None, style: str) -> int:
    """Print what so many pairs of games are worth, and what a test makes of them."""
    test = None if sprt is None else Sprt(*sprt)
    ratio = None if test is None else log_likelihood_ratio(counts, test)
    return _calculated(worth_of_pairs(counts), test, ratio, style, f"{sum(counts):,} pairs")


def _calculated(worth: Worth, test: Sprt | None, ratio: float | None, style: str, what: str) -> int:
    with results_alone() as out:
        if style == "json":
            document: dict[str, Any] = {**asdict(worth), "margin": worth.margin}
            if test is not None and ratio is not None:
                document["sprt"] = {"llr": ratio, "lower": test.lower, "upper": test.upper, "verdict": test.verdict(ratio)}
            print(json.dumps(document, indent=2, allow_nan=False), file=out)
            return 0
        bounds = ""
        if worth.score_low is not None and worth.score_high is not None:
            bounds = f" ({_percent(worth.score_low)} to {_percent(worth.score_high)}, 95 %)"
        print(f"{what}: score {_percent(worth.score)}{bounds}", file=out)
        margin = "" if worth.margin is None else f" Margin ± {worth.margin:.2f}."
        print(_elo_words(worth).replace("Elo ", "Elo difference ", 1) + margin, file=out)
        if worth.normalized_elo is not None:
            print(f"Normalised Elo {worth.normalized_elo:+.2f}.", file=out)
        if test is not None and ratio is not None:
            verdict = test.verdict(ratio)
            decided = "not decided yet" if verdict is None else f"{verdict} accepted"
            print(
                f"SPRT {test.elo0:g} against {test.elo1:g} (normalised Elo): LLR {round(ratio, 2) + 0.0:.2f} "
                f"({test.lower:.2f} to {test.upper:.2f}), {decided}.",
                file=out,
            )
            likely = None if verdict is not None else _forecast(test, worth, ratio)
            if likely is not None:
                print(f"A match between such agents takes about {likely:,.0f} pairs in all.", file=out)
    return 0


def _forecast(test: Sprt, worth: Worth, ratio: float) -> float | None:
    """About how many pairs a test takes in all that go on like those so far; None where these lead nowhere."""
    pairs = worth.games / 2
    likely = None if worth.normalized_elo is None else expected_pairs(test, worth.normalized_elo)
    if likely is not None and likely > pairs:
        return likely
    if not pairs or abs(ratio) < NOTHING * pairs:
        return None
    return ceil(pairs * (test.upper if ratio > 0 else test.lower) / ratio)  # alike pairs add the same to it each


# Figures


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _sure(likelihood: float) -> str:
    return "above 99.9 %" if likelihood > 0.999 else "below 0.1 %" if likelihood < 0.001 else _percent(likelihood)


def _points(share: float) -> str:
    return f"{100 * share:.0f}".replace("-0", "0") if abs(share) < 0.005 else f"{100 * share:.0f}"


def _signed(value: float) -> str:
    return f"{value:+,.3g}" if abs(value) < 1000 else f"{value:+,.0f}"


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _chance(value: float) -> str:
    """A p-value in words; never 0, which no test gives."""
    return f"p = {value:.2g}" if value >= 0.0001 else f"p = {value:.0e}" if value >= LEAST else f"p < {LEAST:g}"
