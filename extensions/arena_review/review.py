"""The command `review`: judges every decision in a store."""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from shlex import quote
from typing import IO, Any

import click

from arena import ArenaError, Record, UnknownName
from arena.api.cli import (
    LiveLine,
    Number,
    OutputKind,
    PercentLine,
    Terminal,
    check_place,
    format_option,
    load,
    plugin_option,
    results_alone,
    say,
    workers_for,
)
from arena.api.errors import Interrupted, StoreError
from arena.api.match import find_loser
from arena.api.results import TextTable, figures, tallies_of
from arena.api.run import Scheduled
from arena.api.store import Run, Store
from arena.clock import monotonic
from arena_compare.measures import MeanComparison
from arena_review.board import JudgedBoard, find_player_nodes, open_board
from arena_review.judging import Judging
from arena_review.kept import Judged, Kept, PlaceKey, place_of
from arena_review.loss import find_gaps
from arena_review.matches import PlayedDecision, PlayedMatch, list_decisions, read_matches
from arena_review.summary import AgentReview, costly_positions, find_alike, first_decisive, sum_up
from arena_review.texts import (
    MATCH_HEADINGS,
    agents_table,
    decisive_lines,
    groups_lines,
    how_sure,
    match_lines,
    worst_lines,
)
from arena_review.worst import describe_positions, list_good, write_positions, write_tests

SECONDS_FOR_WORKERS = 5.0
"""If a review takes longer than this, it runs in workers, which take a second to start."""
SECONDS_FOR_COMPILING = 20.0
"""Before a review that takes longer than this, the searches are compiled, which takes about 10 s once."""
MAX_MATCHES_SHOWN = 5
"""If the command names at most this many matches by their ids, it shows every decision of these matches."""
SECONDS_FOR_HINT = 120.0
"""If a review takes longer than this, the forecast names the option that limits the time."""
WORST_SHOWN = 5
WORST_WRITTEN = 10
POSITIONS = tuple(
    OutputKind(suffix, "a file of positions written by arena", b"# Positions in which ") for suffix in (".yaml", ".yml")
)
TESTS = (OutputKind(".py", "a file of tests written by arena", b"as `arena review` has found them"),)
MAX_EXERCISE_ACTIONS = 200
"""The maximum number of actions that are judged in the costliest positions of an entry, in addition to the ones that were played.
"""


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """The options of the command."""

    store: str
    matches: tuple[str, ...]
    agent: str | None
    judge: str | None
    effort: int
    minutes: float | None
    workers: int | None
    worst: int | None
    output: str | None
    tests: str | None
    style: str
    plugins: tuple[str, ...]


@click.command()
@click.argument("store")
@click.argument("matches", nargs=-1, metavar="[MATCH...]")
@click.option("--agent", metavar="A", help="Judge only the decisions of this entry.")
@click.option(
    "--judge", metavar="NAME", help="Use only this judge; default: for each decision, the strongest judge that can be used."
)
@click.option(
    "--effort",
    type=click.IntRange(1, 10**6),
    default=10,
    show_default=True,
    help="Search budget of a judge in nodes, as a multiple of the players' budget.",
)
@click.option(
    "--minutes",
    type=Number(min=0, min_open=True),
    metavar="M",
    help="Stop after this many minutes; decisive games are judged first.",
)
@click.option("--workers", type=click.IntRange(1, 1024), help="Number of judging processes; default: one per core.")
@click.option("--worst", type=click.IntRange(1, 10_000), metavar="N", help="How many of the costliest positions to list.")
@click.option(
    "-o",
    "--output",
    metavar="FILE.yaml",
    help="Write the costliest positions and their good moves to a file. --worst sets their number; default: 10.",
)
@click.option("--tests", metavar="FILE.py", help="Write the same positions as tests for pytest.")
@format_option
@plugin_option
def review(**asked: Any) -> int:
    """Judge every decision in STORE, or in some of its matches: how much it lost, and which action was better.

    The results are kept next to the store, so a second review takes no time, and an interrupted review continues.
    """
    options = ReviewOptions(**asked)
    if options.agent is None and (options.output or options.tests):
        raise click.UsageError("-o and --tests write the positions of one agent; choose it with --agent")
    for option, place, kinds in (("-o", options.output, POSITIONS), ("--tests", options.tests, TESTS)):
        if place is not None:
            check_place(Path(place), *kinds, option=option)
    with results_alone() as out:
        return _review(options, out)


def _review(options: ReviewOptions, out: IO[str]) -> int:
    place = Path(options.store)
    with Store.open(place) as store, store.snapshot():
        run = store.last()
        known = list(dict.fromkeys([label for sheet in run.boards for label in sheet.labels]))
        if options.agent is not None and options.agent not in known:
            raise UnknownName(f"entry of {place}", options.agent, known)
        asked = options.matches
        found = [store.record(match) for match in asked] if asked else list(store.records(boards=True))
        tallies = tallies_of(store, run.boards)
    records = [(record, where) for record, where in found if where is not None and record.termination != "void"]
    if not records:
        raise StoreError(f"{place}: no match of its last run can be reviewed")
    boards = _open_boards(run, records, options)
    if not boards:
        return 2
    for tally in [tallies[number] for number in boards]:
        for remark in tally.warn_of_failures(tally.sheet.labels if options.agent is None else (options.agent,)):
            say(f"note: {tally.sheet.title}: {remark}")
    matches = _read(records, run, boards, options)
    played = sorted({match.board for match in matches if match.decisions})
    if (options.output or options.tests) and len(played) > 1:
        titles = ", ".join([run.boards[number].title for number in played])
        raise ArenaError(
            f"a file of positions is for one game, but {options.agent} played {titles}; give the ids of matches of one game, "
            f"which `arena matches {quote(str(place))}` lists"
        )
    with Kept(place_of(place)) as kept:
        judging = Judging(boards, kept, options.plugins, options.judge)
        left = _judge(judging, boards, matches, kept, options)
        alike = kept.alike()
        wanted = {match.record.id for match in matches}
        decisions = [one for one in kept.decisions() if one.match in wanted]
        if options.agent is not None:
            decisions = [one for one in decisions if run.boards[one.board].labels[one.entry] == options.agent]
        judging.until = inf
        if options.output or options.tests:
            _write_worst(options, run, judging, decisions, alike)
    with Store.open(place) as store:
        gaps = {} if options.matches else {number: find_gaps(store, number, run.boards[number]) for number in boards}
    failures = {number: _count_failures(run, records, number, options) for number in boards}
    _show(options, run, boards, decisions, alike, gaps, failures, left, out)
    return 0


def _count_failures(
    run: Run, records: Sequence[tuple[Record, Scheduled]], board: int, options: ReviewOptions
) -> list[dict[str, Any]]:
    """Return the matches that each agent lost by each kind of fault, in the order of their first match."""
    lost: dict[tuple[str, str], list[str]] = defaultdict(list)
    for record, where in records:
        seat = find_loser(record.termination, record.seat)
        if where.board == board and seat is not None:
            lost[run.boards[board].labels[where.pairing.seats[seat]], record.termination].append(record.id)
    return [
        {"agent": label, "kind": kind, "matches": len(found), "first": found[0]}
        for (label, kind), found in lost.items()
        if options.agent in (None, label)
    ]


def _write_worst(
    options: ReviewOptions, run: Run, judging: Judging, decisions: Sequence[Judged], alike: Mapping[PlaceKey, str]
) -> None:
    """Write the costliest positions of the agent as a file and as tests."""
    agent = options.agent or ""
    worst = costly_positions(decisions, alike)[: options.worst or WORST_WRITTEN]
    board = decisions[0].board if decisions else None
    if board is None or not worst:
        judged = sum(one.grade is not None for one in decisions)
        lost = "lost nothing with the decisions that could be judged" if judged else "has no decision that could be judged"
        say(f"{agent} {lost} ({judged:,} of {len(decisions):,}), so there are no positions to write")
        return
    document = describe_positions(
        run.boards[board],
        agent,
        [(one, list_good(judging, board, one, judging.find_here)) for one in worst],
        judging.game_of(board),
    )
    judging.write()
    count = f"{len(worst)} {'position' if len(worst) == 1 else 'positions'}"
    if options.output:
        write_positions(Path(options.output), agent, document)
        say(f"{options.output}: {count}; next: arena try FILE --positions {quote(options.output)}")
    if options.tests:
        folder = Path(run.spec["folder"])
        places = [folder / plugin if (folder / plugin).is_file() else plugin for plugin in run.plugins_asked]
        plugins = list(dict.fromkeys([*map(str, places), *options.plugins]))
        write_tests(Path(options.tests), agent, document, plugins, judging.game_of(board))
        say(f"{options.tests}: {count}; next: pytest {quote(options.tests)}")


def _open_boards(run: Run, records: Sequence[tuple[Record, Scheduled]], options: ReviewOptions) -> dict[int, JudgedBoard]:
    """Return the boards that have judges, by number. For each of the other boards, print why it has none."""
    boards: dict[int, JudgedBoard] = {}
    registry = load(options.plugins)
    for number in sorted({place.board for _, place in records}):
        sheet = run.boards[number]
        here = [record for record, place in records if place.board == number]
        nodes = find_player_nodes(sheet, here)
        board = open_board(sheet, run.document.folder, options.plugins, nodes, options.effort, options.judge, registry, here)
        if board is None:
            say(f"{sheet.title} is left out, because its game is unknown; load its plugin with --plugin FILE")
        elif (why := board.why_none()) is not None:
            say(f"{sheet.title} is left out: {why}")
        else:
            boards[number] = board
    return boards


def _read(
    records: Sequence[tuple[Record, Scheduled]], run: Run, boards: Mapping[int, JudgedBoard], options: ReviewOptions
) -> list[PlayedMatch]:
    games = {number: board.game for number, board in boards.items()}
    matches = []
    for found in read_matches(records, run.boards, games, options.agent):
        if isinstance(found, str):
            say(found)
        elif options.agent is None or options.agent in found.record.labels:
            matches.append(found)
    if not any(match.decisions for match in matches):
        raise ArenaError(f"{options.store}: no match has a decision between two or more actions")
    return matches


def _judge(
    judging: Judging, boards: Mapping[int, JudgedBoard], matches: list[PlayedMatch], kept: Kept, options: ReviewOptions
) -> int:
    """Judge matches, and return the number of matches that were not judged in time."""
    line, done = LiveLine(sys.stderr, in_file=True), 0
    pending: list[tuple[PlayedMatch, list[Judged]]] = []
    terms = [options.effort, options.judge]
    if kept.noted("terms") != terms:  # decisions of other entries that were judged otherwise cannot be compared with these
        kept.forget_decisions([match.record.id for match in matches])
        kept.note("terms", terms)
    try:
        began = monotonic()
        line.show("judging a sample of the decisions")
        unknown, each = judging.measure(matches)
        cores = workers_for(options.workers, len(matches))
        if unknown * each / cores > SECONDS_FOR_COMPILING:
            with PercentLine(sys.stderr):
                for board in boards.values():
                    board.compile(say)
            unknown, each = judging.measure(matches)
        if options.minutes is not None:
            matches = sorted(matches, key=lambda match: not match.decided)
        workers = cores if unknown * each > SECONDS_FOR_WORKERS or options.workers is not None else 1
        if unknown:
            total = figures.amount(sum(len(match.decisions) for match in matches), "decision")
            total += f" of {figures.amount(len(matches), 'match')}"
            where = "1 process" if workers == 1 else f"{workers} processes"
            seconds = max(1.0, unknown * each / workers)
            hint = "; --minutes M stops sooner" if seconds > SECONDS_FOR_HINT and options.minutes is None else ""
            say(f"{total}, {figures.amount(unknown, 'position')} to search: about {figures.span(seconds)} on {where}{hint}")
        if options.minutes is not None:
            judging.until = began + 60 * options.minutes
        for match, decisions in judging.judge_all(matches, workers):
            done += 1
            pending.append((match, decisions))
            if len(pending) >= 50:
                _put(kept, pending)
            line.show(f"reviewed {done:,} of {figures.amount(len(matches), 'match')}")
        _put(kept, pending)
        alike = kept.alike()
        for number, board in boards.items():
            alike |= find_alike(board.game, kept.decisions("board = ?", [number]))
        kept.note_alike(alike)
        line.show("judging the other moves in the costliest positions")
        for _, judged in judging.judge_all(_list_exercises(judging, matches, kept, alike), workers):
            kept.put_options(judged)
    except (Interrupted, KeyboardInterrupt):
        line.show("")
        say(f"reviewed {done:,} of {figures.amount(len(matches), 'match')}; run the same command again to continue")
        raise
    finally:
        with suppress(StoreError):
            _put(kept, pending)
        line.show("")
    return len(matches) - done


def _list_exercises(
    judging: Judging, matches: Sequence[PlayedMatch], kept: Kept, alike: Mapping[PlaceKey, str]
) -> list[PlayedMatch]:
    """Return the costliest positions of each entry, each as a match with a decision for every legal action."""
    played = {match.record.id: match for match in matches}
    by_entry: dict[tuple[int, int], list[Judged]] = defaultdict(list)
    for one in kept.decisions():
        if one.match in played:
            by_entry[one.board, one.entry].append(one)
    found: dict[tuple[int, str], PlayedMatch] = {}
    for (board, _), decisions in by_entry.items():
        room = MAX_EXERCISE_ACTIONS
        for worst in costly_positions(decisions, alike)[:WORST_WRITTEN]:
            match = played[worst.match]
            choices = list_decisions(judging.game_of(board), worst.position)
            room -= len(choices)
            if room >= 0:
                decided = tuple([PlayedDecision(one, worst.number, 0, len(choices)) for one in choices])
                found[board, worst.position] = replace(match, decisions=decided)
    return list(found.values())


def _put(kept: Kept, pending: list[tuple[PlayedMatch, list[Judged]]]) -> None:
    reviewed = [(match.record.id, entry) for match, _ in pending for entry in match.entries if match.only in (None, entry)]
    kept.put_decisions(reviewed, [one for _, decisions in pending for one in decisions])
    pending.clear()


def _show(
    options: ReviewOptions,
    run: Run,
    boards: Mapping[int, JudgedBoard],
    decisions: Sequence[Judged],
    alike: Mapping[PlaceKey, str],
    gaps: Mapping[int, Mapping[int, MeanComparison]],
    failures: Mapping[int, Sequence[Mapping[str, Any]]],
    left: int,
    out: IO[str],
) -> None:
    reviews: dict[int, list[AgentReview]] = {}
    for number in boards:
        labels = run.boards[number].labels
        by_entry: dict[int, list[Judged]] = defaultdict(list)
        for one in decisions:
            if one.board == number:
                by_entry[one.entry].append(one)
        found_here = {entry: sum_up(number, labels[entry], found, alike) for entry, found in sorted(by_entry.items())}
        for entry, gap in gaps.get(number, {}).items():
            if entry in found_here:
                shown = found_here[entry]
                shown.gap, shown.gap_low, shown.gap_high = gap.difference, gap.low, gap.high
        reviews[number] = list(found_here.values())
    if options.style == "json":
        print(
            json.dumps(_document(run, boards, reviews, decisions, failures, left, options), indent=2, allow_nan=False), file=out
        )
        return
    width = Terminal(out).room if options.style == TextTable.DEFAULT else None
    parts = []
    labels_of = {number: run.boards[number].labels for number in boards}
    for number, board in boards.items():
        sheet = run.boards[number]
        first = first_decisive([one for one in decisions if one.board == number])
        lines = [sheet.title, "", agents_table(reviews[number], options.style, width), ""]
        lines += how_sure(board.kinds, reviews[number])
        for agent in reviews[number]:
            lines += groups_lines(agent)
        if len(options.matches) in range(1, MAX_MATCHES_SHOWN + 1):
            for match in dict.fromkeys([one.match for one in decisions if one.board == number]):
                rows = match_lines([one for one in decisions if one.match == match], sheet.labels)
                lines += ["", f"match {match[:10]}", TextTable(MATCH_HEADINGS, rows).text(options.style, width)]
        if first:
            lines += ["", "The first decisive mistake of each match:", *decisive_lines(first, dict(labels_of))]
        for agent in reviews[number]:
            found = list(worst_lines(agent, sheet, options.worst or WORST_SHOWN))
            lines += ["", *found] if found else []
        parts.append("\n".join(lines))
    if left:
        parts.append(
            f"{left:,} matches were left out, because the time set by --minutes was too short; decisive games were judged first."
        )
    print(TextTable.fold("\n\n\n".join(parts), width), file=out)


def _document(
    run: Run,
    boards: Mapping[int, JudgedBoard],
    reviews: Mapping[int, Sequence[AgentReview]],
    decisions: Sequence[Judged],
    failures: Mapping[int, Sequence[Mapping[str, Any]]],
    left: int,
    options: ReviewOptions,
) -> dict[str, Any]:
    found = []
    for number, board in boards.items():
        here = [one for one in decisions if one.board == number]
        labels = run.boards[number].labels
        found.append(
            {
                "board": run.boards[number].title,
                "game": run.boards[number].game,
                "judges": [{"name": judge.name, "description": judge.description} for judge in board.kinds],
                "nodes": board.review.nodes,
                "effort": board.review.effort,
                "agents": [one.as_dict() for one in reviews[number]],
                "failures": failures[number],
                "first_decisive": {match: one.number for match, one in first_decisive(here).items()},
                "decisions": [{**one._asdict(), "agent": labels[one.entry]} for one in here],
            }
        )
    return {"store": options.store, "left_out": left, "boards": found}
