"""How the last run of a store stands: in a word, in counts, and with what it was played."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from arena.plugins.registry import OWN
from arena.results.leaderboard import Leaderboard
from arena.schedule.board_info import BoardInfo
from arena.store import Store
from arena.store.run import Run


@dataclass(frozen=True, slots=True)
class RunState:
    """The counts of a run that a page begins with, without its boards."""

    word: str
    """`finished`, `running` or `interrupted`."""
    done: int
    total: int | None
    """None where the number of matches depends on results."""


def run_state(store: Store, run: Run, *, writing: bool) -> RunState:
    """Return how a run stands, from counts alone; `writing` is True while a process holds the store."""
    counts = dict(store.query("SELECT board, count(*) FROM place GROUP BY board"))
    done = [counts.get(number, 0) for number in range(len(run.boards))]
    ended = run.ended is not None
    finished = all(count == sheet.size if sheet.exact else ended for count, sheet in zip(done, run.boards, strict=True))
    over = finished and not (writing and not ended)
    word = "finished" if over else "running" if writing else "interrupted"
    exact = all(sheet.exact for sheet in run.boards)
    return RunState(word, sum(done), sum([sheet.size for sheet in run.boards]) if exact else None)


def expected_total(boards: Sequence[Leaderboard]) -> int | None:
    """Return about how many matches a run will have taken, by the forecasts of sequential tests; None without them."""
    sizes = [_expected_size(board) for board in boards]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _expected_size(board: Leaderboard) -> int | None:
    """The matches of one board; of a test as many as it has, and those of the pairs that are expected to follow."""
    if board.sheet.exact or board.test is None:
        return board.size
    ahead = board.test.forecast
    rest = 0 if ahead is None else ceil(ahead.likely - sum(board.test.counts))
    return min(board.sheet.size, board.games + 2 * max(0, rest))


def facts_of(run: Run) -> dict[str, Any]:
    """Return with what a run is played: its seed, its times, the versions and the limits, in words."""
    return {
        "seed": "secret" if run.seed is None else run.seed,
        "started": run.started,
        "ended": run.ended,
        "limits": limits_text(run.boards),
        "versions": _versions(run),
    }


def limits_text(boards: Sequence[BoardInfo]) -> str:
    """Return the limits of a decision over all entries of all boards, such as `1,000 to 5,000 nodes, 1 s`; `none` without any."""
    told = []
    for name, unit in (("nodes", "nodes"), ("seconds", "s")):
        found = [limits[name] for sheet in boards for limits in sheet.limits.values() if name in limits]
        if found:
            low, high = f"{min(found):,}", f"{max(found):,}"
            some = "" if len(found) == sum([len(sheet.labels) for sheet in boards]) else " for some"
            told.append(f"{low if low == high else f'{low} to {high}'} {unit}{some}")
    return ", ".join(told) or "none"


def _versions(run: Run) -> str:
    """The versions of arena and Python, and of all plugins but arena's own."""
    others = [
        f"{source} {found.version}" for source, found in run.plugins.items() if found.version and not source.startswith(OWN)
    ]
    return ", ".join([*[f"{name} {version}" for name, version in run.versions.items()], *others])
