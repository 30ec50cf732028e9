"""Merges several stores into one, for example when several machines have played parts of a tournament."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from shlex import quote

import click

from arena import Record
from arena.api.cli import results_alone, say
from arena.api.errors import StoreError, escape_line
from arena.api.results import figures
from arena.api.run import Scheduled
from arena.api.store import Run, Store

RECORDS_PER_BATCH = 2000
"""The number of records that are compared and written at a time."""


class StoreConflict(StoreError):
    """Two stores cannot be one: they are of different tournaments, or have different records with the same id."""

    EXIT_CODE = 1


@click.command()
@click.argument("out")
@click.argument("stores", nargs=-1, required=True, metavar="IN...")
@click.option("--accept-changed-plugins", "accept", is_flag=True, help="Merge even if a plugin differs between the stores.")
@click.option("--sound", is_flag=True, help="Leave out damaged matches of the stores, and name them.")
def merge(out: str, stores: tuple[str, ...], *, accept: bool, sound: bool) -> int:
    """Write OUT with the matches of all stores IN."""
    with results_alone() as shown:
        count = merge_stores(out, stores, accept=accept, sound=sound)
        print(f"{escape_line(out)}: {figures.amount(count, 'match')}", file=shown)
    with Store.open(out) as store:
        [[idle]] = store.query("SELECT count(*) FROM record WHERE number NOT IN (SELECT record FROM place)")
    if idle:
        say(
            f"note: {figures.amount(idle, 'match')} {'without a place or ' if sound else ''}of an older spec, which are not on "
            f"the boards; `arena run SPEC --store {quote(out)}` adds the ones that belong to SPEC"
        )
    return 0


class _Sources:
    """The stores to merge. Of a damaged one, only what is as it was written can be read."""

    def __init__(self, paths: Sequence[Path], ends: ExitStack, *, sound: bool) -> None:
        self.paths = paths
        self.recovered: dict[Path, Store] = {}
        """The damaged stores, if they may be."""
        for path in dict.fromkeys(paths) if sound else ():
            with ExitStack() as own:
                store = own.enter_context(Store.open_sound(path, foreign=True))
                if store.lost_matches or store.lost_parts:
                    self.recovered[path] = store
                    ends.push(own.pop_all())

    def open(self, path: Path, *, strict: bool = True) -> AbstractContextManager[Store]:
        """Open a store for reading."""
        return nullcontext(self.recovered[path]) if path in self.recovered else Store.open(path, strict=strict)


def say_losses(store: Store, title: str = "") -> None:
    """Print which matches and other parts of a damaged store have been lost."""
    if store.lost_matches or store.lost_parts:
        lost = f"; left out because of damage: {', '.join(store.lost_matches)}" if store.lost_matches else ""
        say(f"note: {title}{len(store):,} of {len(store) + len(store.lost_matches):,} known matches are sound{lost}")
    if store.lost_parts:
        say(f"note: {title}damaged: {', '.join(store.lost_parts)}")


def merge_stores(out: str | Path, inputs: Sequence[str | Path], *, accept: bool = False, sound: bool = False) -> int:
    """Write a store that has every match of `inputs` once, and return the number of matches.

    The boards are taken from the run that started last. StoreConflict is raised if they do not have the seed and all entries of
    the other stores, which are of different tournaments then. Unless `accept` is true, it is also raised if records with the
    same id differ in more than their times, or if the matches of two stores were played with different versions of a plugin.
    StoreError is raised if `out` exists and is not one of the inputs, or is in use. After an error `out` is unchanged.

    With `sound`, damaged matches are left out and named. A damaged store is never replaced. If it has lost its runs, `accept`
    must be true, because nobody knows the code that played its matches.
    """
    with ExitStack() as ends:
        return _merge(Path(out), _Sources([Path(one) for one in inputs], ends, sound=sound), accept=accept)


def _merge(target: Path, sources: _Sources, *, accept: bool) -> int:
    for path, store in sources.recovered.items():
        say_losses(store, f"{escape_line(str(path))}: ")
        if target.exists() and path.exists() and target.samefile(path):
            raise StoreError(f"{path} is damaged and is kept as it is; choose another file for the sound matches")
        if store.runs():
            continue
        if any(store.query("SELECT 1 FROM record JOIN detail ON record = number WHERE seed < 0 LIMIT 1")):
            raise StoreConflict(f"{path} has lost its secret seed, without which no run can continue its matches")
        if not accept:
            raise StoreConflict(
                f"{path} has lost the data of its runs, so the code that played its matches is unknown; keep them with "
                "--accept-changed-plugins, and check them with `arena check STORE --replay 1`"
            )
    if not accept:
        _check_code(sources)
    _check_options(sources)
    there = target.exists()
    if there and not any(one.exists() and target.samefile(one) for one in sources.paths):
        again = f"arena merge {quote(out := str(target))} {quote(out)} {' '.join([quote(str(one)) for one in sources.paths])}"
        raise StoreError(f"{target} already exists; add the stores to it with `{again}`, or choose another file")
    part = target.with_name(f"{target.name}.part")
    with Store.lock(target):
        with suppress(OSError):
            Store.remove(part)
        try:
            with Store.open(part, write=True) as whole:
                count = _fill(whole, sources)
            _add_spending(part, sources)
            if there:
                Store.settle(target)  # no journal may be left beside the file that is replaced
            part.replace(target)
        finally:
            with suppress(OSError):
                Store.remove(part)
    return count


def _check_code(sources: _Sources) -> None:
    """Raise StoreConflict if the matches of two stores were played with different versions of a plugin."""
    known: dict[tuple[str, str], tuple[str, Path]] = {}
    for source in sources.paths:
        with sources.open(source) as store:
            code = {key: found for run in store.runs() if not run.idle for key, found in run.code().items()}
        for key, found in code.items():
            other, where = known.setdefault(key, (found, source))
            if other != found:
                raise StoreConflict(
                    f"{key[0]} differs between {source} and {where}; play one of the two again with the same code (--fresh), "
                    "or keep the matches of both with --accept-changed-plugins"
                )


def _check_options(sources: _Sources) -> None:
    """Raise StoreConflict if two stores were played with different default values of an option."""
    known: dict[Path, list[Run]] = {}
    for source in sources.paths:
        with sources.open(source) as store:
            runs = store.runs()
        for other, before in known.items():
            if changed := Run.list_changed_options(before, runs):
                raise StoreConflict(
                    f"defaults differ between {source} and {other}: {', '.join(changed)}; play one of the two again with "
                    "the same code (--fresh)"
                )
        known[source] = runs


def _check_secrets(runs: Sequence[Run]) -> None:
    """Raise StoreConflict if matches of the same schedule come from different secret seeds."""
    secrets = [run.secret for run in runs if run.secret is not None]
    longest = max(secrets, key=len, default="")
    if not all(longest.startswith(secret) for secret in secrets):
        raise StoreConflict(
            "the stores have different secret seeds, so their matches are not parts of one run; start all shards from "
            "copies of one store"
        )


def _check_boards(boards: Mapping[Path, Run], newest: Run) -> None:
    """Raise StoreConflict if the boards of the newest run have no place for the matches of another store.

    `boards` holds the last run of each store. Other shards, more rounds and more entries are the same tournament.
    """
    holder = next((source for source, run in boards.items() if run == newest), "the newest run")
    entries = {entry["key"] for board in newest.boards for entry in board.settings}
    for source, run in boards.items():
        if run.hash == newest.hash:
            continue
        missing = [
            f"{label} at {board.title}"
            for board in run.boards
            for label, entry in zip(board.labels, board.settings, strict=False)
            if entry["key"] not in entries
        ]
        differs = f"only {source} has {missing[0]}" if missing else "they have different seeds"
        first, second = (one.seed if one.secret is None else None for one in (run, newest))  # secrets have been compared
        if missing or first != second:
            raise StoreConflict(
                f"{source} and {holder} belong to different tournaments: {differs}, so one board cannot show both; "
                "merge only stores of the same spec; `arena serve FOLDER` shows several stores side by side"
            )


def _fill(whole: Store, sources: _Sources) -> int:
    runs: list[Run] = []  # each run once, the one that started last at the end
    last: dict[Path, Run] = {}
    for source in sources.paths:
        with sources.open(source) as store:
            own = [replace(one, shard=None) for one in store.runs()]
            if own and source in sources.recovered:
                own[-1] = replace(own[-1], ended=None)  # its matches are no longer complete
        runs += [run for run in own if run not in runs]
        if own:
            last[source] = own[-1]
    runs.sort(key=lambda run: run.started)
    _check_secrets(runs)
    if runs:
        _check_boards(last, runs[-1])
    for run in runs:
        whole.begin(run)
    for number, source in enumerate(sources.paths):
        recovered = source in sources.recovered
        with sources.open(source, strict=False) as store, store.snapshot(verified=recovered):
            own = store.runs()
            same_boards = bool(own) and own[-1].hash == runs[-1].hash
            records = store.records()
            while chunk := list(islice(records, RECORDS_PER_BATCH)):
                _add(whole, chunk, source, number, sources, same_boards=same_boards)
            if not recovered:
                store.verify()  # only now, because the message about a conflict is clearer
    return len(whole)


_ADD_SPENDING = """
INSERT INTO spending VALUES (?, NULL, ?, ?, ?, ?, ?) ON CONFLICT (payer) DO UPDATE SET
(requests, in_progress, known, unknown, reserved)
= (excluded.requests, excluded.in_progress, excluded.known, excluded.unknown, excluded.reserved)
WHERE (excluded.requests, -excluded.in_progress) > (spending.requests, -spending.in_progress)
"""


def _add_spending(whole: Path, sources: _Sources) -> None:
    """Add the ledgers of money. If two stores have a row with the same key, the row that was written last is kept."""
    with closing(sqlite3.connect(whole)) as opened, opened:
        for source in sources.paths:
            try:
                with Store.open(source) as store:  # a recovered store has no ledger
                    if not any(store.query("SELECT 1 FROM sqlite_master WHERE name = 'spending'")):
                        continue
                    rows = list(store.query("SELECT payer, requests, in_progress, known, unknown, reserved FROM spending"))
            except StoreError:
                if source not in sources.recovered:
                    raise
                say(f"note: {escape_line(str(source))}: its ledger of money, if it has one, cannot be read and is left out")
                continue
            opened.execute(Store.SPENDING)
            opened.executemany(_ADD_SPENDING, rows)


Found = tuple[Record, Scheduled | None]


def _add(whole: Store, chunk: Sequence[Found], source: Path, number: int, sources: _Sources, *, same_boards: bool) -> None:
    ids = [record.id for record, _ in chunk]
    there = whole.has(ids)
    same = whole.found(list(there))
    for record, place in chunk:
        if record.id not in there:
            whole.add(place if same_boards else None, record)
        elif "void" in (record.termination, (kept := same[record.id])[0].termination):  # a void match is not final
            if kept[0].termination == "void" != record.termination:
                whole.discard([there.pop(record.id).number])
                whole.add(place if same_boards else kept[1], record)
        elif not _are_alike(same[record.id][0], record):
            raise _describe_conflict(same[record.id][0], record, source, number, sources)
    if same_boards:
        whole.place([(there[record.id].number, place) for record, place in chunk if place is not None and record.id in there])
    whole.flush()


def _are_alike(one: Record, other: Record) -> bool:
    """Return True if two records are equal apart from times. Comparing all but times first is three times as fast."""
    if None in (one.seed, other.seed):  # one store does not reveal its secret yet; equal ids come from equal seeds
        one, other = one._replace(seed=None), other._replace(seed=None)
    first, second = (
        record._replace(decisions=tuple([decision._replace(seconds=0.0) for decision in record.decisions]), timing=None)
        for record in (one, other)
    )
    return first == second or one.timeless() == other.timeless()  # earlier versions did not count expanded states


def _describe_conflict(kept: Record, record: Record, source: Path, number: int, sources: _Sources) -> StoreConflict:
    one, other = kept.timeless(), record.timeless()
    key = next(key for key in one if one[key] != other[key])
    holder: Path | str = "an earlier store"
    for path in reversed(sources.paths[:number]):
        with sources.open(path) as store:
            if store.has([record.id]):
                holder = path
    return StoreConflict(
        f"match {record.id} differs: {key} is {one[key]!r} in {holder} and {other[key]!r} in {source}; "
        "one of the two was changed or was played with different code; leave out its store"
    )
