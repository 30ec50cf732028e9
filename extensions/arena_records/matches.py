"""The command `matches`: lists the matches of a store, one per line."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import IO

import click

from arena.api.cli import Terminal, format_option, results_alone
from arena.api.results import Leaderboard, TextTable, figures
from arena.api.store import Store
from arena_records.match_list import ORDERS, RESULTS, ListedMatch, MatchChoice, listed
from arena_records.tidy import seat_names

MAX_TABLE_ROWS = 50
"""The default number of matches in a table. JSON and CSV have all matches."""
ID_DIGITS = 10
"""The number of digits of an id in a table. They suffice for `arena replay` in stores with a hundred thousand matches."""

Cell = Callable[[ListedMatch], str]
"""A function that returns the text of a match in a column."""


@click.command()
@click.argument("store")
@click.option("--agent", metavar="A", help="List only matches of this agent, with results from its point of view.")
@click.option("--opponent", metavar="B", help="List only matches of this agent against B.")
@click.option(
    "--result",
    type=click.Choice(RESULTS),
    help="List only matches with this result. A solved puzzle is a win; `fault` lists losses through the agent's own fault.",
)
@click.option(
    "--by",
    type=click.Choice([*ORDERS]),
    help="Sort by this, largest first; default: the order of the schedule. With `number` the newest match comes first.",
)
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help=f"List at most N matches; default for tables: {MAX_TABLE_ROWS}."
)
@format_option
def matches(
    store: str, agent: str | None, opponent: str | None, result: str | None, by: str | None, limit: int | None, style: str
) -> int:
    """List the matches of STORE, one per line: select them by agent and result, and sort them by effort."""
    most = MAX_TABLE_ROWS if limit is None and style not in ("json", "csv") else limit
    choice = MatchChoice(agent, opponent, result, by)
    with results_alone() as out, Store.open(store) as opened, opened.snapshot():
        found = listed(opened, choice)
        shown = list(islice(found, most))
        more = sum(1 for _ in found)
        if style == "json":
            print(json.dumps([match.as_dict() for match in shown], indent=2, allow_nan=False), file=out)
        elif style == "csv":
            _write_csv(shown, out)
        else:
            width = Terminal(out).room if style == TextTable.DEFAULT else None
            print(TextTable.fold(_text(shown, more, choice, store, style, width), width), file=out)
    return 0


def _write_csv(shown: Sequence[ListedMatch], out: IO[str]) -> None:
    """Write CSV with a column for each seat and for each other value."""
    seats = seat_names(max([len(match.seats) for match in shown], default=0))
    rows = [match.as_dict() for match in shown]
    keys = [key for key in ListedMatch.__slots__ if key != "seats"]
    place = keys.index("result")
    print(TextTable.csv_line([*keys[:place], *seats, *keys[place:]]), file=out)
    for row in rows:
        labels = [*row["seats"], *[""] * (len(seats) - len(row["seats"]))]
        values = ["" if row[key] is None else row[key] for key in keys]
        print(TextTable.csv_line([*values[:place], *labels, *values[place:]]), file=out)


def _text(shown: Sequence[ListedMatch], more: int, choice: MatchChoice, store: str, style: str, width: int | None) -> str:
    """Return the table, the number of matches, and a command to try next."""
    if not shown:
        return f"No match in {store} fits these options."
    columns = dict(_COLUMNS)
    if len({match.board for match in shown}) == 1:
        del columns["Board"]
    if all(match.termination == "normal" for match in shown):
        del columns["Ending"]
    left_out = _fit(columns, shown, choice.by, width)
    lines = [f"Columns that do not fit here: {', '.join(left_out)}."] if left_out else []
    count = len(shown) + more
    lines.append(
        f"{len(shown):,} of {count:,} matches; use --limit N to show more." if more else f"{count:,} match{'es' * (count > 1)}."
    )
    if any(match.result in ("win", "draw", "loss") for match in shown):
        lines.append(f"Results are from the point of view of {choice.agent or 'the first seat'}.")
    lines.append(f"  {Leaderboard.replay_command(store, shown[0].id[:ID_DIGITS])}")
    return "\n".join([TextTable([*columns], _cells(columns, shown)).text(style, width), "", *lines])


def _fit(columns: dict[str, Cell], shown: Sequence[ListedMatch], by: str | None, width: int | None) -> list[str]:
    """Leave out columns until the rest fits, the least important ones first but never the sort key. Return the headings that
    remain.
    """
    left_out: list[str] = []
    for heading in ("Number", "Round", "Board", "ms", "Moves", "Nodes"):
        if width is None or TextTable([*columns], _cells(columns, shown)).fits(width):
            break
        if heading != _SORTED[by] and heading in columns:
            del columns[heading]
            left_out.append(heading)
    return left_out


def _cells(columns: Mapping[str, Cell], shown: Sequence[ListedMatch]) -> list[list[str]]:
    return [[cell(match) for cell in columns.values()] for match in shown]


_COLUMNS: dict[str, Cell] = {
    "Number": lambda match: figures.count(match.number),
    "Id": lambda match: match.id[:ID_DIGITS],
    "Board": lambda match: match.board,
    "Round": lambda match: figures.count(match.round),
    "Seats": lambda match: " - ".join(match.seats),
    "Result": lambda match: match.result,
    "Moves": lambda match: figures.count(match.moves),
    "Nodes": lambda match: figures.count(match.nodes),
    "ms": lambda match: figures.figure(match.seconds * 1000),
    "Ending": lambda match: match.termination,
}
"""The columns of a table. JSON and CSV also have the seconds and the full ids."""
_SORTED = {None: None, "nodes": "Nodes", "length": "Moves", "time": "ms"}
"""The headings of the sort keys."""
