"""The command compare: how entries of a store differ, with error bars."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from arena.commands.comparison_text import comparison_text, matrix_text
from arena.commands.leaderboard import format_option
from arena.console.notices import say
from arena.console.output import results_alone, room
from arena.errors import ArenaError, StoreError, UnknownName
from arena.report.comparison_page import ComparedBoard, comparison_page
from arena.report.drawing import require
from arena.report.evidence import Findings, findings
from arena.report.output_files import check_place, write_whole
from arena.results.attempts import attempts_of
from arena.results.claims import without_refuted
from arena.results.comparison import Comparison, GamesComparison, comparisons, corrected
from arena.results.layout import DEFAULT, folded
from arena.results.leaderboard import complete
from arena.results.stored_tallies import distinct_of, tallies_of
from arena.schedule.board_info import BoardInfo
from arena.store import Store

Compared = tuple[BoardInfo, list[tuple[Comparison, float]]]
"""A board, and every comparison on it with its corrected p-value."""


@click.command()
@click.argument("store")
@click.argument("agents", nargs=-1, metavar="AGENT AGENT...")
@format_option
@click.option("-o", "--output", "page", metavar="FILE", help="Write a page with plots instead of text.")
def compare(store: str, agents: tuple[str, ...], style: str, page: str | None) -> int:
    """Say how entries of STORE compare, two by two, with error bars: those that are named, or all."""
    if page is not None:
        require()
        check_place(Path(page))
    with results_alone() as out:
        with Store.open(store) as opened, opened.snapshot():
            run = opened.last()
            names = _chosen(store, run.boards, agents)
            attempts, tallies, distinct = attempts_of(opened, run.boards), tallies_of(opened, run.boards), distinct_of(opened)
            evidence = None if page is None else findings(opened)
        found: list[Compared] = [
            (sheet, corrected(comparisons(sheet, names, attempts.get(number, {}), tallies[number], distinct[number])))
            for number, sheet in enumerate([without_refuted(tally.sheet, tally.claims.refuted()) for tally in tallies])
        ]
        boards = [(sheet, pairs) for sheet, pairs in found if pairs]
        if not boards:
            raise StoreError(f"{store}: {' and '.join(names)} have met on no board yet; there is nothing to compare")
        if not all(complete(tally, ended=run.ended is not None) for tally in tallies):
            print("note: the run is not finished", file=sys.stderr)
        if page is not None and evidence is not None:
            _write_page(Path(page), evidence, found)
        elif style == "json":
            print(json.dumps([_document(sheet, pairs) for sheet, pairs in boards], indent=2, allow_nan=False), file=out)
        else:
            width = room(out) if style == DEFAULT else None
            print(folded("\n\n\n".join(_texts(boards, style, width)), width), file=out)
    return 0


def _write_page(place: Path, evidence: Findings, found: Sequence[Compared]) -> None:
    """Write the page of those boards on which entries have met."""
    boards = [
        ComparedBoard(number, _named(pairs), tuple(_texts([(sheet, pairs)], "html", None)))
        for number, (sheet, pairs) in enumerate(found)
        if pairs
    ]
    content = comparison_page(evidence, boards)
    write_whole(place, content)
    say(f"{place}: {sum(len(pairs) for _, pairs in found):,} comparisons, {len(content) / 1e6:,.1f} MB")


def _named(pairs: Sequence[tuple[Comparison, float]]) -> tuple[str, ...]:
    """The entries that are compared."""
    return tuple(dict.fromkeys([name for pair, _ in pairs for name in (pair.one, pair.other)]))


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
