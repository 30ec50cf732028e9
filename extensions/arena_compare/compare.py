"""The command `compare`: shows how entries of a store differ, with error bars."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from shlex import quote
from typing import IO, Any
from unicodedata import normalize

import click

from arena import ArenaError, UnknownName, load_plugins
from arena.api.cli import (
    LATEX_FILE,
    PAGE_FILE,
    Terminal,
    check_place,
    format_option,
    is_given,
    load,
    plugin_option,
    results_alone,
    say,
    write_output,
)
from arena.api.errors import StoreError
from arena.api.results import (
    Comparison as Measure,
    Export,
    Leaderboard,
    Strengths,
    Tally,
    TextTable,
    figures,
    find_mixed_plugins,
    merit,
    name_domains,
    tallies_of,
)
from arena.api.store import Run, Store
from arena_compare.across import NO_RATIO, across_csv, across_document, across_text, flatten, rows_as_csv
from arena_compare.api import ExplainedComparison
from arena_compare.comparison import Compared, choose, compare_entries, distinct_of
from arena_compare.domains import Solver, compare_across, describe_solvers, write_caveat
from arena_compare.measures import (
    COSTS_OF_SOLUTIONS,
    compare_means,
    count_tests,
    find_partial,
    gather_values,
    keep_solved,
)
from arena_compare.methods import methods_text
from arena_compare.puzzle_comparison import attempts_of, par2_limits
from arena_compare.texts import comparison_text, correction_line, matrix_cells, matrix_legend, summary_text
from arena_compare.verdicts import join_sentences
from arena_records.latex import STYLE as LATEX, escape
from arena_records.report_key import measures_of

MAX_SHOWN = 20
"""The number of entries that are compared if a board has too many to compare all. Their matrix fits on a screen."""
PICTURES = (".pdf", ".png", ".svg")
OTHER_ENDINGS = (".txt", ".csv", ".json", ".md", *PICTURES)
"""Endings of file names that the option `-o` refuses."""


@click.command()
@click.argument("store")
@click.argument("agents", nargs=-1, metavar="AGENT AGENT...")
@format_option
@click.option("-o", "--output", "page", metavar="FILE", help="Write a page with plots instead of text.")
@click.option(
    "--by",
    metavar="NAME",
    help="Compare by one measure, such as nodes: the mean difference over the rounds in which both have a value.",
)
@click.option("--across", is_flag=True, help="Compare over all boards at once, as a random sample of games or settings.")
@click.option("--methods", is_flag=True, help="Print a paragraph on methods for a paper instead.")
@plugin_option
def compare(
    store: str,
    agents: tuple[str, ...],
    style: str,
    page: str | None,
    by: str | None,
    across: bool,
    methods: bool,
    plugins: tuple[str, ...],
) -> int:
    """Compare the named entries of STORE (default: all entries), with error bars: two entries in detail, more as a matrix."""
    if is_given("plugins") and by is None:
        say("note: only --by loads plugins, so --plugin changes nothing here")
    if methods and (across or page is not None or is_given("style")):
        raise click.UsageError("--methods describes single boards; it cannot be used with --across, --format or -o")
    if page is not None and Path(page).suffix in OTHER_ENDINGS:
        picture = Path(page).suffix in PICTURES
        hint = "a picture alone cannot be written" if picture else f"for other formats, write --format NAME > {quote(page)}"
        raise click.UsageError(f"-o {page}: expected a name that ends in .html or .tex; {hint}")
    latex = page is not None and check_place(Path(page), PAGE_FILE, LATEX_FILE) is LATEX_FILE
    writer = None if page is None or latex else _writer(Path(page), "domains-page" if across else "comparison-page")
    measures: dict[str, Measure] | None = None if by is None else load(plugins).parts["comparison"]
    with results_alone() as out:
        with Store.open(store) as opened, opened.snapshot():
            run = opened.last()
            known_measures = {**measures_of(run), **(measures or {})}
            if measures is not None and by not in known_measures:
                raise UnknownName("measure", str(by), list(known_measures))
            measure = None if measures is None else known_measures[str(by)]
            names = _choose_entries(store, run, agents)
            tallies = tallies_of(opened, run.boards)
            names = _choose_best(names, tallies)
            if not all(tally.is_complete(ended=run.ended is not None) for tally in tallies):
                part = (
                    "the run is not finished" if run.shard is None else f"{store} contains only the shard {run.shard} of the run"
                )
                say(f"note: {part}")
            if where := (run.spec["values"].get("report") or {}).get("where"):
                unfiltered = f"the comparison uses all matches, including those that report.where ({where}) excludes"
                say(f"note: {unfiltered}")
            mixed = [one.describe() if one.names else None for one in find_mixed_plugins(opened, run.boards)]
            if across:
                for sheet, remark in zip(run.boards, mixed, strict=True):
                    if remark is not None:
                        say(f"note: {sheet.title}: {remark}")
                return _compare_across(opened, tallies, names, measure, style, page, writer, out)
            found = [
                _add_conditions(one if remark is None else replace(one, remarks=(*one.remarks, remark)), tally, names)
                for one, tally, remark in zip(_compare_boards(opened, run, tallies, names, measure), tallies, mixed, strict=True)
            ]
            boards = [one for one in found if one.pairs]
            if not boards:
                lack = "have not met on any board yet" if measure is None else f"have no round with a value of {by} for both"
                if by in COSTS_OF_SOLUTIONS and all(sheet.kind == "puzzle" for sheet in run.boards):
                    lack = f"have no round that both solved and in which both have a value of {by}"
                raise StoreError(f"{store}: {figures.listing(names)} {lack}, so there is nothing to compare")
            if methods:
                text = methods_text(opened, Leaderboard.of_run(opened, run, tallies), found, by)
                print(TextTable.fold(text, Terminal(out).room), file=out)
                return 0
            if page is not None and latex:
                return _write_latex(page, "\n\n\n".join(_texts(boards, LATEX, None, by)))
            if page is not None and writer is not None:
                size = writer.write(Path(page), opened, _boards_of_page(found, by))
                say(f"{page}: {figures.amount(sum(len(one.pairs) for one in found), 'comparison')}, {size / 1e6:,.1f} MB")
                return 0
        _print(boards, style, by, out)
    return 0


def _print(boards: Sequence[Compared], style: str, by: str | None, out: IO[str]) -> None:
    if style == "json":
        documents = []
        for one in boards:
            rare = ("remarks", "withheld", "untested", "unrated", "caveat", "unmet")  # these keys are left out if they are empty
            facts = [{key: value for key, value in asdict(pair).items() if value or key not in rare} for pair in one.pairs]
            measured = {"by": by} if by else {}
            about = {**measured, "tests": one.tests, **({"remarks": one.remarks} if one.remarks else {})}
            documents.append({"game": one.sheet.game, "kind": one.sheet.kind, **about, "pairs": facts})
        print(json.dumps(documents, indent=2, allow_nan=False), file=out)
    elif style == "csv":
        for note in [f"note: {one.sheet.title}: {remark}" for one in boards for remark in one.remarks]:
            say(note)
        rows = [{"board": one.sheet.title, **flatten(asdict(pair))} for one in boards for pair in one.pairs]
        idle = [key for key in ("caveat", "unmet") if not any(row.get(key) for row in rows)]
        rows = [{key: value for key, value in row.items() if key not in idle} for row in rows]
        print(rows_as_csv(rows), file=out)
    else:
        width = Terminal(out).room if style == TextTable.DEFAULT else None
        print(TextTable.fold("\n\n\n".join(_texts(boards, style, width, by)), width), file=out)
        if any(len(one.pairs) > 1 for one in boards):
            print(TextTable.fold("\nName two entries to see the details of that pair.", width), file=out)


def _add_conditions(found: Compared, tally: Tally, names: Sequence[str]) -> Compared:
    """Return the comparisons of a board with remarks and caveats on what makes a comparison of the given entries less fair."""
    limits, conditions = _describe_limits(tally, names), _describe_conditions(tally, names)
    pairs = [replace(pair, caveat=write_caveat(tally.describe_speeds((pair.one, pair.other)))) for pair in found.pairs]
    return replace(found, pairs=tuple(pairs), remarks=(*found.remarks, *limits, *conditions), conditions=tuple(conditions))


def _describe_limits(tally: Tally, names: Sequence[str]) -> list[str]:
    return [] if (unlike := tally.sheet.describe_limits(names)) is None else [unlike]


def _describe_conditions(tally: Tally, names: Sequence[str]) -> list[str]:
    """Return remarks on unlike speeds and failures of entries."""
    return [*tally.warn_of_speeds(names), *tally.warn_of_failures(names)]


def _choose_entries(store: str, run: Run, agents: Sequence[str]) -> list[str]:
    """Return the labels of the entries to compare. Raises UnknownName or ArenaError if `agents` does not name two or more."""
    known = list(dict.fromkeys([label for sheet in run.boards for label in sheet.labels]))
    agents = [normalize("NFC", agent) for agent in agents]
    for agent in agents:
        if agent not in known:
            raise UnknownName(f"entry of {store}", agent, known)
    if len(set(agents)) != len(agents) or len(agents) == 1:
        given = f"got {', '.join(agents)}; there are {', '.join(known)}"
        raise ArenaError(f"expected two or more different entries, {given}")
    return list(agents) or known


def _choose_best(names: list[str], tallies: Sequence[Tally]) -> list[str]:
    """Return the names. If more than MAX_ENTRIES of them are on a board, only its best MAX_SHOWN stay, and a note says so."""
    chosen = set[str]()
    for tally in tallies:
        labels, wanted = tally.sheet.labels, {*names}
        played = [entry for entry, count in enumerate(tally.counts) if labels[entry] in wanted]
        if len(played) > Strengths.MAX_ENTRIES:
            say(
                f"note: {tally.sheet.title}: only the best {MAX_SHOWN} of {len(played):,} entries are compared; to compare "
                f"others, name at most {Strengths.MAX_ENTRIES}"
            )
            played = sorted(played, key=lambda entry: (not tally.counts[entry].games, merit(entry, tally)))[:MAX_SHOWN]
        chosen |= {labels[entry] for entry in played}
    return [name for name in names if name in chosen]


def _writer(place: Path, name: str) -> Export:
    """Return the export called `name`, which writes a page of comparisons. Raises ArenaError if it is not installed, or cannot
    write to `place`.
    """
    found: dict[str, Export] = load_plugins().parts["export"]
    if name not in found:
        raise ArenaError("a page of comparisons needs the plugin fairarena:web, which is blocked")
    found[name].needs(place)
    return found[name]


def _compare_across(
    store: Store,
    tallies: Sequence[Tally],
    names: Sequence[str],
    measure: Measure | None,
    style: str,
    page: str | None,
    writer: Export | None,
    out: IO[str],
) -> int:
    """Print or write the comparison over all boards of a store."""
    titles = name_domains([tally.sheet.title for tally in tallies])
    pairs = compare_across(store, tallies, names, measure)
    if not pairs:
        shared = sum(len({*names} & {*tally.sheet.labels}) > 1 for tally in tallies)
        lack = "have no domain in common yet"
        if shared and measure is not None:
            lack = f"share {figures.amount(shared, 'domain')}, but no round of them has a value of {measure.name} for both"
        raise StoreError(f"{store.path}: {figures.listing(names)} {lack}, so there is nothing to compare")
    met = [name for name in names if any(name in (pair.one, pair.other) for pair in pairs)]
    attempts = attempts_of(store, [tally.sheet for tally in tallies])
    solvers: list[Solver] = []
    for number, found in sorted(attempts.items()):
        sheet, labels = tallies[number].sheet, tallies[number].sheet.labels
        here = [name for name in met if name in labels]
        limits = par2_limits(sheet, found)
        attempts_here = {name: found.get(labels.index(name), {}) for name in here}
        solvers += describe_solvers(
            titles[number],
            attempts_here,
            limits={name: own["nodes"] for name in here if "nodes" in (own := limits[labels.index(name)])},
            same=tallies[number].lone.positions(),
            path_matters=sheet.path_matters,
        )
    told: dict[str, list[str]] = {}
    for title, tally in zip(titles, tallies, strict=True):
        for remark in (*_describe_limits(tally, met), *_describe_conditions(tally, met)):
            told.setdefault(remark, []).append(title)
    remarks = [one if len(where) == len(titles) else f"{', '.join(where)}: {one}" for one, where in told.items()]
    remarks = [*([NO_RATIO] if any(pair.by_sign for pair in pairs) else []), *remarks]
    if page is not None and writer is None:
        return _write_latex(page, across_text(met, pairs, solvers, LATEX, None, remarks))
    if page is not None and writer is not None:
        document = across_document(met, pairs, solvers, remarks)
        text = across_text(met, pairs, solvers, "html", None, remarks)
        size = writer.write(Path(page), store, {"names": met, "text": text, "document": document, "domains": titles})
        numbers = ((len(pairs), "comparison"), (len(tallies), "domain"))
        counted = [figures.amount(number, noun) for number, noun in numbers]
        say(f"{page}: {' over '.join(counted)}, {size / 1e6:,.1f} MB")
    elif style == "json":
        print(json.dumps(across_document(met, pairs, solvers, remarks), indent=2, allow_nan=False), file=out)
    elif style == "csv":
        for remark in remarks:
            say(f"note: {remark}")
        print(across_csv(across_document(met, pairs, solvers)), file=out)
    else:
        width = Terminal(out).room if style == TextTable.DEFAULT else None
        print(TextTable.fold(across_text(met, pairs, solvers, style, width, remarks), width), file=out)
    return 0


def _write_latex(page: str, text: str) -> int:
    """Write text with tables in LaTeX to a file that a LaTeX document can include."""
    lines, inside = [f"{LATEX_FILE.mark.decode()} It needs \\usepackage{{booktabs}}."], False
    for line in text.split("\n"):
        inside = inside or line.startswith("\\begin{tabular}")
        lines.append(line if inside else escape(line))
        inside = inside and not line.startswith("\\end{tabular}")
    write_output(Path(page), ("\n".join(lines) + "\n").encode())
    say(f"{page}: LaTeX with {figures.amount(text.count(chr(92) + 'begin{tabular}'), 'table')}")
    return 0


def _compare_boards(
    store: Store, run: Run, tallies: Sequence[Tally], names: Sequence[str], measure: Measure | None
) -> list[Compared]:
    """Compare entries on every board by one measure. Without a measure, use the default comparison for each kind of board."""
    if measure is None:
        attempts, distinct = attempts_of(store, run.boards), distinct_of(store)
        return [
            compare_entries(tally.sheet, names, attempts.get(number, {}), tally, distinct[number])
            for number, tally in enumerate(tallies)
        ]
    reported = gather_values(measure, store, tallies)
    values = keep_solved(reported, measure, store, tallies)
    lacking = find_partial(store, values)
    found: list[Compared] = []
    for number, sheet in enumerate([tally.sheet for tally in tallies]):
        wide = len(sheet.labels) > Strengths.MAX_ENTRIES
        entries = [(name, values[number, entry]) for entry, name in enumerate(sheet.labels) if not wide or name in names]
        solved = sheet.kind == "puzzle" and measure.name in COSTS_OF_SOLUTIONS
        every = compare_means(
            entries, partial=[name for entry, name in enumerate(sheet.labels) if solved or (number, entry) in lacking]
        )
        means = [replace(one, solved=solved) for one in choose(every, names)]
        met = [entry for entry, name in enumerate(sheet.labels) if name in names and tallies[number].counts[entry].games]
        idle = [sheet.labels[entry] for entry in met if not reported[number, entry].by_round()]
        if measure.name == "nodes" and idle and means:
            say(
                f"note: {sheet.title}: {', '.join(idle)} {'is' if len(idle) == 1 else 'are'} left out, because no nodes were "
                "reported"
            )
        if solved and means:
            lost = [
                sheet.labels[entry] for entry in met if sheet.labels[entry] not in idle and not values[number, entry].by_round()
            ]
            if lost:
                say(
                    f"note: {sheet.title}: {', '.join(lost)} {'is' if len(lost) == 1 else 'are'} left out, because no "
                    "solution was found"
                )
            compared = {frozenset((one.one, one.other)) for one in means}
            others = [sheet.labels[entry] for entry in met if sheet.labels[entry] not in (*idle, *lost)]
            apart = [" and ".join(pair) for pair in combinations(others, 2) if frozenset(pair) not in compared]
            if apart:
                say(f"note: {sheet.title}: no round was solved by both {'; '.join(apart)}")
        if isinstance(measure, ExplainedComparison):
            means = [measure.explain(store, number, one) for one in means]
        tally = tallies[number]
        remarks = tuple(tally.claims.describe_refutations())
        found.append(Compared(sheet, tuple(means), count_tests(every), tally.lone.share_position, remarks=remarks))
    return found


def _boards_of_page(found: Sequence[Compared], measure: str | None) -> dict[int, dict[str, Any]]:
    """Return the comparisons of each board for a page, as plain values and HTML tables. The keys are the numbers of the
    boards.
    """
    shown: dict[int, dict[str, Any]] = {}
    for number, one in enumerate(found):
        if not one.pairs:
            continue
        told = []
        for pair in one.pairs:
            text = comparison_text(one.sheet, pair, "html", width=None, measure=measure, tests=one.tests)
            if len(one.pairs) == 1 and one.tests > 1:  # the legend of a matrix says it otherwise
                text += f"\n\n{correction_line(one.tests)}"
            told.append({"one": pair.one, "other": pair.other, "text": text, "cells": matrix_cells(pair)})
        names = list(dict.fromkeys([name for pair in one.pairs for name in (pair.one, pair.other)]))
        if len(told) == 1 and one.remarks:
            told[0]["text"] = "\n\n".join([str(told[0]["text"]), *one.remarks])
        legend = join_sentences([matrix_legend(one.pairs[0], measure, one.tests), *one.remarks])
        shown[number] = {"names": names, "legend": legend, "pairs": told}
    return shown


def _texts(boards: Sequence[Compared], style: str, width: int | None, measure: str | None) -> list[str]:
    """Return the details of each board with one pair, and a summary of each board with more."""
    texts = []
    for one in boards:
        if len(one.pairs) == 1:
            text = comparison_text(one.sheet, one.pairs[0], style, width=width, measure=measure, tests=one.tests)
        else:
            text = summary_text(one.sheet, one.pairs, style, width, measure=measure, tests=one.tests)
        correction = [correction_line(one.tests)] if one.tests > 1 else []
        texts.append("\n\n".join([text, *correction, *one.remarks]))
    return texts
