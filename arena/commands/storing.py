"""The commands about stores: leaderboard, export and merge. Each writes its result to stdout and returns the exit code."""

from collections.abc import Sequence

from arena.console.output import results_alone, room
from arena.results import export as exports
from arena.results.leaderboard import stored
from arena.results.tables import render
from arena.store import Store, merge


def leaderboard(store: str, *, style: str) -> int:
    """Print the leaderboards of a store; 1 where a match was void."""
    with results_alone() as out:
        boards = stored(store)
        with Store.open(store) as opened:
            run = opened.last()
        print(render(run, boards, style, room(out)), file=out)
    return 1 if any(board.void for board in boards) else 0


def export(store: str, *, style: str) -> int:
    """Print every record of a store."""
    with results_alone() as out, Store.open(store) as opened:
        for line in exports.lines(opened, style):
            print(line, file=out)
    return 0


def merge_stores(out: str, inputs: Sequence[str], *, accept: bool) -> int:
    """Put several stores into one."""
    with results_alone() as shown:
        print(f"{out}: {merge(out, inputs, accept=accept):,} matches", file=shown)
    return 0
