"""Puts the matches of several stores into one, such as those of a tournament that several machines shared."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from arena.errors import StoreConflict, StoreError
from arena.store.run import Run
from arena.store.store import Store


def merge(out: str | Path, inputs: Sequence[str | Path]) -> int:
    """Write a store with every match of `inputs` once and return how many there are.

    The boards are those of the run that started last. StoreConflict where two stores have different records under one id,
    apart from what the clock decides; StoreError where `out` exists and is not one of the inputs. Then `out` is as it was.
    """
    target, sources = Path(out), [Path(one) for one in inputs]
    if target.exists() and not any(one.exists() and target.samefile(one) for one in sources):
        raise StoreError(f"{target} exists; name it among the stores to merge, or another file")
    part = target.with_name(f"{target.name}.part")
    _remove(part)
    try:
        with Store.open(part, write=True) as whole:
            count = _filled(whole, sources)
        for rest in ("-wal", "-shm"):
            part.with_name(part.name + rest).unlink(missing_ok=True)
        _remove_sides(target)
        part.replace(target)
    finally:
        _remove(part)
    return count


def _filled(whole: Store, sources: Sequence[Path]) -> int:
    runs: list[tuple[Run, Path]] = []
    for source in sources:
        with Store.open(source) as store:
            runs += [(run, source) for run in store.runs()]
    runs.sort(key=lambda pair: pair[0].started)
    for run, _ in runs:
        whole.begin(run)
        if run.ended:
            whole.end()
    last = runs[-1][0].hash if runs else None
    for source in sources:
        with Store.open(source) as store:
            _add(whole, store, same_boards=bool(store.runs()) and store.last().hash == last)
    whole.flush()
    return len(whole)


def _add(whole: Store, store: Store, *, same_boards: bool) -> None:
    seen: set[str] = set()
    for record, place in store.records():
        kept = None if record.id in seen else whole.has([record.id]).get(record.id)
        if kept is None:
            seen.add(record.id)
            whole.add(place if same_boards else None, record)
            if len(seen) >= 1000:
                whole.flush()
                seen.clear()
            continue
        other, _ = whole.record(record.id)
        if other.timeless() != record.timeless():
            raise StoreConflict(f"match {record.id} differs: {_difference(other.timeless(), record.timeless())} in {store.path}")
        if same_boards and place is not None:
            whole.place([(kept.number, place)])
    whole.flush()


def _difference(one: dict[str, object], other: dict[str, object]) -> str:
    key = next(key for key in one if one[key] != other[key])
    return f"{key} is {one[key]!r} in an earlier store and {other[key]!r}"


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
    _remove_sides(path)


def _remove_sides(path: Path) -> None:
    for rest in ("-wal", "-shm"):
        with suppress(OSError):
            path.with_name(path.name + rest).unlink(missing_ok=True)
