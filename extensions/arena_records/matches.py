"""The command matches: the matches of a store, one a line."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import IO

import click

from arena.api.cli import format_option, results_alone, room
from arena.api.results import DEFAULT, csv_line, figures, fits, folded, replay_command, table
from arena.api.store import Store
from arena_records.lines import seat_names
from arena_records.match_list import ORDERS, RESULTS, ListedMatch, MatchChoice, listed

MAX_TABLE_ROWS = 50
"""The default number of matches in a table; JSON and CSV have all."""
ID_DIGITS = 10
"""The digits of an id in a table; enough for `arena replay` in stores of a hundred thousand matches."""

Cell = Callable[[ListedMatch], str]
"""The text of a match in a column."""


@click.command()
@click.argument("store")
@click.option("--agent", metavar="A", help="Only its matches; results are its own, not those of who sits first.")
@click.option("--opponent", metavar="B", help="Only those of the agent against B.")
@click.option(
    "--result", type=click.Choice(RESULTS), help="Only these; a puzzle that is solved is a win. A fault is a loss by it."
)
@click.option("--by", type=click.Choice([*ORDERS]), help="What took most first; without it, the order of the schedule.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help=f"Show N at most; tables show {MAX_TABLE_ROWS} without it.")
@format_option
def matches(
    store: str, agent: str | None, opponent: str | None, result: str | None, by: str | None, limit: int | None, style: str
) -> int:
    """List the matches of STORE, one a line: those of an agent, with a result, by what they took."""
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
            width = room(out) if style == DEFAULT else None
            print(folded(_text(shown, more, choice, store, style, width), width), file=out)
    return 0


def _write_csv(shown: Sequence[ListedMatch], out: IO[str]) -> None:
    """A column for each seat, and one for each other value."""
    seats = seat_names(max([len(match.seats) for match in shown], default=0))
    rows = [match.as_dict() for match in shown]
    keys = [key for key in ListedMatch.__slots__ if key != "seats"]
    place = keys.index("result")
    print(csv_line([*keys[:place], *seats, *keys[place:]]), file=out)
    for row in rows:
        labels = [*row["seats"], *[""] * (len(seats) - len(row["seats"]))]
        values = ["" if row[key] is None else row[key] for key in keys]
        print(csv_line([*values[:place], *labels, *values[place:]]), file=out)


def _text(shown: Sequence[ListedMatch], more: int, choice: MatchChoice, store: str, style: str, width: int | None) -> str:
    """The table, the number of matches, and a proposed next command."""
    if not shown:
        return f"No match of {store} fits."
    columns = dict(_COLUMNS)
    if len({match.board for match in shown}) == 1:
        del columns["Board"]
    if all(match.termination == "normal" for match in shown):
        del columns["Ending"]
    left_out = _fit(columns, shown, choice.by, width)
    lines = [f"Left out for want of room: {', '.join(left_out)}."] if left_out else []
    count = len(shown) + more
    lines.append(
        f"{len(shown):,} of {count:,} matches; --limit N shows more." if more else f"{count:,} match{'es' * (count > 1)}."
    )
    if any(match.result in ("win", "draw", "loss") for match in shown):
        lines.append(f"Results are those of {choice.agent or 'the first seat'}.")
    lines.append(f"  {replay_command(store, shown[0].id[:ID_DIGITS])}")
    return "\n".join([table([*columns], _cells(columns, shown), style, width), "", *lines])


def _fit(columns: dict[str, Cell], shown: Sequence[ListedMatch], by: str | None, width: int | None) -> list[str]:
    """Take out columns until the rest fits, the least important first, but never the sort key; return their headings."""
    left_out: list[str] = []
    for heading in ("Number", "Round", "Board", "ms", "Moves", "Nodes"):
        if width is None or fits([*columns], _cells(columns, shown), width):
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
"""The columns of a table; JSON and CSV have the seconds, and whole ids."""
_SORTED = {None: None, "nodes": "Nodes", "length": "Moves", "time": "ms"}
"""The headings of the sort keys."""
