"""Files of a tournament to be downloaded: its matches, its leaderboards, its spec."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import yaml

from arena.results.export import lines
from arena.results.leaderboard import stored
from arena.results.tables import render
from arena.store import Store

TOGETHER = 200
"""Lines that are sent at a time."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file: its media type, and how its parts come from a store. StoreError is raised before the first part."""

    media: str
    open: Callable[[Path], Iterator[str]]


def _exported(style: str, path: Path) -> Iterator[str]:
    """The matches one by one; memory does not grow with the store."""
    store = Store.open(path)

    def parts() -> Iterator[str]:
        with store:  # one question reads one moment; a snapshot would hold its lock from thread to thread
            found = lines(store, style)
            while some := "".join([f"{line}\n" for line in islice(found, TOGETHER)]):
                yield some

    return parts()


def _leaderboards(path: Path) -> Iterator[str]:
    with Store.open(path) as store:
        run = store.last()
    return iter([render(run, stored(path), "json"), "\n"])


def _spec(path: Path) -> Iterator[str]:
    """The spec of the last run as it was read, with the seed that was used, unless that is secret still."""
    with Store.open(path) as store:
        run = store.last()
    values = {**run.spec["values"], "seed": "secret" if run.seed is None else run.seed}
    return iter([yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)])


DOWNLOADS = {
    "matches.csv": Download("text/csv", partial(_exported, "tidy")),
    "matches.jsonl": Download("application/x-ndjson", partial(_exported, "jsonl")),
    "leaderboards.json": Download("application/json", _leaderboards),
    "spec.yaml": Download("application/yaml", _spec),
}
"""By the names of the files."""
