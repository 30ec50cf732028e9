"""Clears a store for a changed agent: its matches go, with a copy of all kept aside, and those of all others stay."""

from collections.abc import Iterator, Sequence

from arena.errors import StoreError, UnknownName
from arena.match.match import Seat
from arena.schedule.fingerprint import parts_of
from arena.spec import Board, Spec
from arena.store import Run, Store
from arena.store.run import CodeKey, code_key
from arena.tournament.code_check import known_code


def clear_for(store: Store, spec: Spec, run: Run, names: Sequence[str], *, accept: bool = False) -> str | None:
    """Delete the matches in which an entry of `names` sits, so that the run plays them anew, and say so; None if there are none.

    `names` are labels, or names of agents. First a copy of the whole store is kept aside; then the matches go in one
    transaction, together with what earlier runs knew of the code that played them. So after a crash the store is as it was, or
    the matches are left to play. UnknownName for a name that no entry has; StoreError where something else has changed, too,
    unless that is accepted (`accept`).
    """
    seats = list(_seats(spec, names))
    others = {part for board, seat in _all(spec) if (board, seat) not in seats for part in _code(spec, board, seat)}
    own = {part for board, seat in seats for part in _code(spec, board, seat)} - others
    before = known_code(store.runs())
    changed = {part for part, found in run.code().items() if before.get(part, found) != found}
    if changed - own and not accept:
        listed = ", ".join(sorted(f"{key} of {name}" if key else name for name, key in changed - own))
        raise StoreError(
            f"{store.path}: {listed} changed since the matches in it were played, and others play with it; add its agents by "
            "--fresh-for, or use --fresh, or --accept-changed-plugins"
        )
    # An edit does not change another version than the current one.
    pinned = {seat.label for _, seat in _all(spec) if seat.version is not None} - set(names)
    labels = _labels(store, [seat for _, seat in seats], names) - pinned
    if not store.holds(labels):
        return None
    aside = store.copy_aside()
    number = store.forget(labels, own)
    return f"{number:,} matches of {', '.join(names)} are played anew; the matches so far are kept in {aside}"


def _all(spec: Spec) -> Iterator[tuple[int, Seat]]:
    for number, board in enumerate(spec.boards):
        yield from [(number, seat) for seat in board.seats]


def _seats(spec: Spec, names: Sequence[str]) -> Iterator[tuple[int, Seat]]:
    for name in names:
        found = [(board, seat) for board, seat in _all(spec) if name == seat.label or (name == seat.agent and not seat.version)]
        if not found:
            raise UnknownName("entry", name, [word for _, seat in _all(spec) for word in (seat.label, seat.agent)])
        yield from found


def _code(spec: Spec, number: int, seat: Seat) -> set[CodeKey]:
    """The code with which a seat plays: the game's, the format's and its own."""
    board: Board = spec.boards[number]
    return {code_key(part.source.name, part.key) for part in parts_of(spec, board, [seat])}


def _labels(store: Store, seats: Sequence[Seat], names: Sequence[str]) -> set[str]:
    """Every label that the entries have or had: the given ones, and by default the name with what differs in brackets."""
    found = {seat.label for seat in seats}
    for run in store.runs():
        found |= {label for board in run.boards for label in board.labels if label.partition("(")[0] in names}
        given = [entry for entry in run.spec["values"].get("agents") or () if isinstance(entry, dict) and "version" not in entry]
        found |= {str(entry["label"]) for entry in given if entry.get("agent") in names and entry.get("label") is not None}
    return found
