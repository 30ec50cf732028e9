"""The command compare: how entries of a store differ, with error bars."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from arena import ArenaError, UnknownName, load_plugins
from arena.api.cli import format_option, is_given, load, plugin_option, results_alone, room, say
from arena.api.errors import ExtensionMissing, StoreError
from arena.api.results import DEFAULT, BoardInfo, Comparison as Measure, Export, Tally, complete, folded, tallies_of
from arena.api.store import Run, Store
from arena_compare.comparison import Comparison, GamesComparison, comparisons, corrected, distinct_of, without_refuted
from arena_compare.measures import compare_means, gather_rounds
from arena_compare.puzzle_comparison import attempts_of
from arena_compare.texts import comparison_text, matrix_cells, matrix_legend, matrix_text

Compared = tuple[BoardInfo, list[tuple[Comparison, float]]]
"""A board, and every comparison on it with its corrected p-value."""


@click.command()
@click.argument("store")
@click.argument("agents", nargs=-1, metavar="AGENT AGENT...")
@format_option
@click.option("-o", "--output", "page", metavar="FILE", help="Write a page with plots instead of text.")
@click.option("--by", metavar="NAME", help="Compare by one measure, such as nodes: its mean difference, round by round.")
@plugin_option
def compare(store: str, agents: tuple[str, ...], style: str, page: str | None, by: str | None, plugins: tuple[str, ...]) -> int:
    """Say how entries of STORE compare, two by two, with error bars: those that are named, or all."""
    if is_given("plugins") and by is None:
        raise click.UsageError("--plugin goes with --by")
    writer = None if page is None else _writer(Path(page))
    measure = None
    if by is not None:
        measures: dict[str, Measure] = load(plugins).parts["comparison"]
        if by not in measures:
            raise UnknownName("measure", by, list(measures))
        measure = measures[by]
    with results_alone() as out:
        with Store.open(store) as opened, opened.snapshot():
            run = opened.last()
            known = list(dict.fromkeys([label for sheet in run.boards for label in sheet.labels]))
            for agent in agents:
                if agent not in known:
                    raise UnknownName(f"entry of {store}", agent, known)
            if len(set(agents)) != len(agents) or len(agents) == 1:
                given = f"got {', '.join(agents)}; there are {', '.join(known)}"
                raise ArenaError(f"expected two different entries or more, {given}")
            names = list(agents) or known
            tallies = tallies_of(opened, run.boards)
            found = _compare_boards(opened, run, tallies, names, measure)
            boards = [(sheet, pairs) for sheet, pairs in found if pairs]
            if not boards:
                raise StoreError(f"{store}: {' and '.join(names)} have met on no board yet; there is nothing to compare")
            if not all(complete(tally, ended=run.ended is not None) for tally in tallies):
                print("note: the run is not finished", file=sys.stderr)
            if page is not None and writer is not None:
                size = writer.write(Path(page), opened, _boards_of_page(found, by))
                say(f"{page}: {sum(len(pairs) for _, pairs in found):,} comparisons, {size / 1e6:,.1f} MB")
                return 0
        if style == "json":
            documents = []
            for sheet, pairs in boards:
                plain = [{**asdict(pair), "p_value_holm": holm} for pair, holm in pairs]
                documents.append({"game": sheet.game, "kind": sheet.kind, **({"by": by} if by else {}), "pairs": plain})
            print(json.dumps(documents, indent=2, allow_nan=False), file=out)
        else:
            width = room(out) if style == DEFAULT else None
            print(folded("\n\n\n".join(_texts(boards, style, width, by)), width), file=out)
    return 0


def _writer(place: Path) -> Export:
    """Return the export that writes a page of comparisons, after checking that it can write to `place`."""
    found = [export for export in load_plugins().parts["export"].values() if export.of == "comparison"]
    if not found:
        raise ExtensionMissing("a page of comparisons needs the extension arena_web, which is not installed")
    chosen: Export = next((export for export in found if export.suffix == place.suffix), found[0])
    chosen.needs(place)
    return chosen


def _compare_boards(
    store: Store, run: Run, tallies: Sequence[Tally], names: Sequence[str], measure: Measure | None
) -> list[Compared]:
    """Compare entries on every board by one measure, or by the default of the board's kind."""
    if measure is None:
        attempts, distinct = attempts_of(store, run.boards), distinct_of(store)
        sheets = [without_refuted(tally.sheet, tally.claims.refuted()) for tally in tallies]
        return [
            (sheet, corrected(comparisons(sheet, names, attempts.get(number, {}), tallies[number], distinct[number])))
            for number, sheet in enumerate(sheets)
        ]
    sheets = [tally.sheet for tally in tallies]
    rounds = gather_rounds(measure, store, sheets)
    found: list[Compared] = []
    for number, sheet in enumerate(sheets):
        entries = [(name, rounds[number, sheet.labels.index(name)]) for name in names if name in sheet.labels]
        found.append((sheet, corrected(list(compare_means(entries, repeated=tallies[number].matches.folded)))))
    return found


def _boards_of_page(found: Sequence[Compared], measure: str | None) -> dict[int, dict[str, Any]]:
    """Return the comparisons of each board, by its number, as plain values and HTML tables for a page."""
    shown: dict[int, dict[str, Any]] = {}
    for number, (sheet, pairs) in enumerate(found):
        if not pairs:
            continue
        several, told = len(pairs) > 1, []
        for pair, p_value in pairs:
            text = comparison_text(sheet, pair, p_value, "html", several=several, width=None, measure=measure)
            told.append({"one": pair.one, "other": pair.other, "text": text, "cells": matrix_cells(pair, p_value)})
        names = list(dict.fromkeys([name for pair, _ in pairs for name in (pair.one, pair.other)]))
        shown[number] = {"names": names, "legend": matrix_legend(pairs[0][0], measure), "pairs": told}
    return shown


def _texts(boards: Sequence[Compared], style: str, width: int | None, measure: str | None) -> list[str]:
    several = sum(len(pairs) for _, pairs in boards) > 1
    texts = []
    for sheet, pairs in boards:
        games = [pair for pair, _ in pairs if isinstance(pair, GamesComparison)]
        texts += [matrix_text(sheet, games, style, width)] if games and len(pairs) > 1 else []
        texts += [
            comparison_text(sheet, pair, p_value, style, several=several, width=width, measure=measure) for pair, p_value in pairs
        ]
    return texts
