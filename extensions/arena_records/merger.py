"""Merges several stores into one, for example after several machines shared a tournament."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import click

from arena import Record
from arena.api.cli import results_alone
from arena.api.errors import StoreConflict, StoreError
from arena.api.run import Scheduled
from arena.api.store import CodeKey, KnownOptions, Run, Store, list_changed_options, lock_store, settle

RECORDS_PER_BATCH = 2000
"""The number of records compared and written at a time."""


@click.command()
@click.argument("out")
@click.argument("stores", nargs=-1, required=True, metavar="IN...")
@click.option("--accept-changed-plugins", "accept", is_flag=True, help="Merge though a plugin was not the same one everywhere.")
def merge(out: str, stores: tuple[str, ...], *, accept: bool) -> int:
    """Write OUT with the matches of all stores IN."""
    with results_alone() as shown:
        print(f"{out}: {merge_stores(out, stores, accept=accept):,} matches", file=shown)
    return 0


def merge_stores(out: str | Path, inputs: Sequence[str | Path], *, accept: bool = False) -> int:
    """Write a store with every match of `inputs` once and return how many there are.

    The boards are those of the run that started last. Raises StoreConflict if two stores have different records under one id,
    apart from times, or were played with different versions of a plugin, unless `accept` is true. Raises StoreError if `out`
    exists and is not one of the inputs, or is in use. After an error `out` is unchanged.
    """
    target, sources = Path(out), [Path(one) for one in inputs]
    if not accept:
        _check_code(sources)
    _check_options(sources)
    there = target.exists()
    if there and not any(one.exists() and target.samefile(one) for one in sources):
        raise StoreError(f"{target} exists; name it among the stores to merge, or another file")
    part = target.with_name(f"{target.name}.part")
    with lock_store(target):
        _remove(part)
        try:
            with Store.open(part, write=True) as whole:
                count = _fill(whole, sources)
            if there:
                settle(target)  # no journal may remain beside the replaced file
            part.replace(target)
        finally:
            _remove(part)
    return count


def _check_code(sources: Sequence[Path]) -> None:
    """Raise StoreConflict if the matches of two stores were played with different versions of a plugin."""
    known: dict[CodeKey, tuple[str, Path]] = {}
    for source in sources:
        with Store.open(source) as store:
            code = {key: found for run in store.runs() for key, found in run.code().items()}
        for key, found in code.items():
            other, where = known.setdefault(key, (found, source))
            if other != found:
                raise StoreConflict(
                    f"{key[0]} was another one for {source} than for {where}; play one of the two anew with the same (--fresh), "
                    "or keep the matches of both with --accept-changed-plugins"
                )


def _check_options(sources: Sequence[Path]) -> None:
    """Raise StoreConflict if two stores were played with different defaults of an option."""
    known: dict[Path, KnownOptions] = {}
    for source in sources:
        with Store.open(source) as store:
            options = {entry: found for run in store.runs() for entry, found in run.options().items()}
        for other, before in known.items():
            if changed := list_changed_options(before, options):
                raise StoreConflict(
                    f"defaults are other ones in {source} than in {other}: {', '.join(changed)}; play one of the two anew with "
                    "the same code (--fresh)"
                )
        known[source] = options


def _check_secrets(runs: Sequence[Run]) -> None:
    """Raise StoreConflict if matches of one schedule follow from different secrets."""
    secrets = [run.secret for run in runs if run.secret is not None]
    longest = max(secrets, key=len, default="")
    if not all(longest.startswith(secret) for secret in secrets):
        raise StoreConflict(
            "the stores have secret seeds of their own, so their matches are not parts of one run; start all shards from "
            "copies of one store"
        )


def _fill(whole: Store, sources: Sequence[Path]) -> int:
    runs: list[Run] = []  # each once, the one that started last at the end
    for source in sources:
        with Store.open(source) as store:
            runs += [run for run in store.runs() if run not in runs]
    runs.sort(key=lambda run: run.started)
    _check_secrets(runs)
    for run in runs:
        whole.begin(run)
    for number, source in enumerate(sources):
        with Store.open(source, strict=False) as store, store.snapshot():
            own = store.runs()
            same_boards = bool(own) and own[-1].hash == runs[-1].hash
            records = store.records()
            while chunk := list(islice(records, RECORDS_PER_BATCH)):
                _add(whole, chunk, source, sources[:number], same_boards=same_boards)
            store.verify()  # after the conflicts, because their messages are clearer
    return len(whole)


Found = tuple[Record, Scheduled | None]


def _add(whole: Store, chunk: Sequence[Found], source: Path, before: Sequence[Path], *, same_boards: bool) -> None:
    ids = [record.id for record, _ in chunk]
    there = whole.has(ids)
    same = whole.found(list(there))
    for record, place in chunk:
        if record.id not in there:
            whole.add(place if same_boards else None, record)
        elif "void" in (record.termination, (kept := same[record.id])[0].termination):  # which is not final
            if kept[0].termination == "void" != record.termination:
                whole.discard([there.pop(record.id).number])
                whole.add(place if same_boards else kept[1], record)
        elif not _are_alike(same[record.id][0], record):
            raise _describe_conflict(same[record.id][0], record, source, before)
    if same_boards:
        whole.place([(there[record.id].number, place) for record, place in chunk if place is not None and record.id in there])
    whole.flush()


def _are_alike(one: Record, other: Record) -> bool:
    """Return whether two records are equal apart from times. It takes a third of the time of `timeless`."""
    if None in (one.seed, other.seed):  # one store does not reveal its secret yet; equal ids have equal seeds
        one, other = one._replace(seed=None), other._replace(seed=None)
    first, second = (
        record._replace(
            decisions=tuple([decision._replace(seconds=0.0, unmetered=0) for decision in record.decisions]), timing=None
        )
        for record in (one, other)
    )
    return first == second


def _describe_conflict(kept: Record, record: Record, source: Path, before: Sequence[Path]) -> StoreConflict:
    one, other = kept.timeless(), record.timeless()
    key = next(key for key in one if one[key] != other[key])
    holder: Path | str = "an earlier store"
    for path in reversed(before):
        with Store.open(path) as store:
            if store.has([record.id]):
                holder = path
    return StoreConflict(
        f"match {record.id} differs: {key} is {one[key]!r} in {holder} and {other[key]!r} in {source}; "
        "one of the two was not played as it says, or with other code: leave that store out"
    )


def _remove(path: Path) -> None:
    for rest in ("", "-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + rest).unlink(missing_ok=True)
