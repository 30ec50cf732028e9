"""The command compare: how entries of a store differ, with error bars."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from arena import ArenaError, UnknownName
from arena.api.cli import ExtensionMissing, format_option, results_alone, room, say
from arena.api.results import DEFAULT, BoardInfo, Export, complete, folded, tallies_of
from arena.api.spec import load_plugins
from arena.api.store import Store, StoreError
from arena_compare.comparison import Comparison, GamesComparison, comparisons, corrected, distinct_of, without_refuted
from arena_compare.puzzle_comparison import attempts_of
from arena_compare.texts import comparison_text, matrix_text

Compared = tuple[BoardInfo, list[tuple[Comparison, float]]]
"""A board, and every comparison on it with its corrected p-value."""


@click.command()
@click.argument("store")
@click.argument("agents", nargs=-1, metavar="AGENT AGENT...")
@format_option
@click.option("-o", "--output", "page", metavar="FILE", help="Write a page with plots instead of text.")
def compare(store: str, agents: tuple[str, ...], style: str, page: str | None) -> int:
    """Say how entries of STORE compare, two by two, with error bars: those that are named, or all."""
    writer = None if page is None else _writer(Path(page))
    with results_alone() as out:
        with Store.open(store) as opened, opened.snapshot():
            run = opened.last()
            names = _choose(store, run.boards, agents)
            attempts, tallies, distinct = attempts_of(opened, run.boards), tallies_of(opened, run.boards), distinct_of(opened)
            found: list[Compared] = [
                (sheet, corrected(comparisons(sheet, names, attempts.get(number, {}), tallies[number], distinct[number])))
                for number, sheet in enumerate([without_refuted(tally.sheet, tally.claims.refuted()) for tally in tallies])
            ]
            boards = [(sheet, pairs) for sheet, pairs in found if pairs]
            if not boards:
                raise StoreError(f"{store}: {' and '.join(names)} have met on no board yet; there is nothing to compare")
            if not all(complete(tally, ended=run.ended is not None) for tally in tallies):
                print("note: the run is not finished", file=sys.stderr)
            if page is not None and writer is not None:
                texts = {}
                for number, (sheet, pairs) in enumerate(found):
                    compared = dict.fromkeys([name for pair, _ in pairs for name in (pair.one, pair.other)])
                    if compared:
                        texts[number] = tuple(compared), tuple(_texts([(sheet, pairs)], "html", None))
                size = writer.write(Path(page), opened, texts)
                say(f"{page}: {sum(len(pairs) for _, pairs in found):,} comparisons, {size / 1e6:,.1f} MB")
                return 0
        if style == "json":
            documents = []
            for sheet, pairs in boards:
                plain = [{**asdict(pair), "p_value_holm": holm} for pair, holm in pairs]
                documents.append({"game": sheet.game, "kind": sheet.kind, "pairs": plain})
            print(json.dumps(documents, indent=2, allow_nan=False), file=out)
        else:
            width = room(out) if style == DEFAULT else None
            print(folded("\n\n\n".join(_texts(boards, style, width)), width), file=out)
    return 0


def _writer(place: Path) -> Export:
    """Return the export that writes a page of comparisons, after it has looked whether it can be written to a place."""
    found = [export for export in load_plugins().parts["export"].values() if export.of == "comparison"]
    if not found:
        raise ExtensionMissing("a page of comparisons needs the extension arena_web, which is not installed")
    chosen: Export = next((export for export in found if export.suffix == place.suffix), found[0])
    chosen.needs(place)
    return chosen


def _choose(path: str, sheets: Sequence[BoardInfo], agents: Sequence[str]) -> list[str]:
    """Return the entries to compare: those asked for, or all."""
    known = list(dict.fromkeys([label for sheet in sheets for label in sheet.labels]))
    for agent in agents:
        if agent not in known:
            raise UnknownName(f"entry of {path}", agent, known)
    if len(set(agents)) != len(agents) or len(agents) == 1:
        raise ArenaError(f"expected two different entries or more, got {', '.join(agents)}; there are {', '.join(known)}")
    return list(agents) or known


def _texts(boards: Sequence[Compared], style: str, width: int | None) -> list[str]:
    several = sum(len(pairs) for _, pairs in boards) > 1
    texts = []
    for sheet, pairs in boards:
        games = [pair for pair, _ in pairs if isinstance(pair, GamesComparison)]
        texts += [matrix_text(sheet, games, style, width)] if games and len(pairs) > 1 else []
        texts += [comparison_text(sheet, pair, p_value, style, several=several, width=width) for pair, p_value in pairs]
    return texts
