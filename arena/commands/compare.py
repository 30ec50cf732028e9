"""The commands that put numbers on a difference: `arena compare` of two entries of a store, `arena stats` of plain counts."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from math import ceil
from typing import Any

from arena.commands.comparison_text import comparison_text, elo_words, matrix_text, score_words
from arena.console.output import results_alone, room
from arena.errors import ArenaError, StoreError, UnknownName
from arena.results.attempts import attempts_of
from arena.results.comparison import Comparison, GamesComparison, comparisons, corrected
from arena.results.layout import DEFAULT, folded
from arena.results.leaderboard import complete
from arena.results.tally import distinct_of, tallies_of
from arena.schedule.board_info import BoardInfo
from arena.stats.calculator import Worth, worth_of_games, worth_of_pairs
from arena.stats.sprt import Sprt, expected_pairs, log_likelihood_ratio
from arena.store import Store

NOTHING = 1e-6
"""A log-likelihood ratio of a pair that says nothing."""

Compared = tuple[BoardInfo, list[tuple[Comparison, float]]]
"""A board, and every comparison on it with its corrected p-value."""


def compare(path: str, agents: Sequence[str], *, style: str) -> int:
    """Print how entries of the last run in a store compare, two by two, on every board where both play."""
    with results_alone() as out:
        with Store.open(path) as store, store.snapshot():
            run = store.last()
            names = _chosen(path, run.boards, agents)
            attempts, tallies, distinct = attempts_of(store, run.boards), tallies_of(store, run.boards), distinct_of(store)
        found: list[Compared] = [
            (sheet, corrected(comparisons(sheet, names, attempts.get(number, {}), tallies[number], distinct[number])))
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
            width = room(out) if style == DEFAULT else None
            print(folded("\n\n\n".join(_texts(boards, style, width)), width), file=out)
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


def _document(sheet: BoardInfo, pairs: list[tuple[Comparison, float]]) -> dict[str, Any]:
    """The comparisons of a board as plain values; `chance` and `chance_corrected` are older names of the p-values."""
    documents = [{**asdict(pair), "p_value_holm": holm, "chance": pair.p_value, "chance_corrected": holm} for pair, holm in pairs]
    return {"game": sheet.game, "kind": sheet.kind, "pairs": documents}


def _texts(boards: Sequence[Compared], style: str, width: int | None) -> list[str]:
    several = sum(len(pairs) for _, pairs in boards) > 1
    texts = []
    for sheet, pairs in boards:
        games = [pair for pair, _ in pairs if isinstance(pair, GamesComparison)]
        texts += [matrix_text(sheet, games, style, width)] if games and len(pairs) > 1 else []
        texts += [comparison_text(sheet, pair, p_value, style, several=several, width=width) for pair, p_value in pairs]
    return texts


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
        print(f"{what}: score {score_words(worth)}", file=out)
        margin = "" if worth.margin is None else f" Margin ± {worth.margin:.2f}."
        print(elo_words(worth).replace("Elo ", "Elo difference ", 1) + margin, file=out)
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
