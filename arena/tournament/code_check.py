"""Checks that the code is still the code that played the matches in a store, and removes the matches of a changed agent."""

import shlex
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache
from itertools import islice, takewhile
from typing import Any, NamedTuple

from arena.clock import monotonic
from arena.errors import StoreDamaged, StoreError, UnknownName
from arena.format import Outcomes
from arena.match.match import Seat
from arena.match.record import UNREPEATABLE_ENDINGS, Record
from arena.plugins.registry import own_prefix
from arena.processes.interrupts import user_interrupts
from arena.results import figures
from arena.schedule.board_info import entry_key
from arena.schedule.fingerprint import parts_of
from arena.schedule.schedule import Batch, Schedule, Scheduled
from arena.spec import Spec
from arena.store import Run, Store
from arena.store.run import CodeKey, code_key
from arena.tournament.queue import MATCHES_PER_LOOKUP

MAX_SAMPLE_MATCHES = 20
"""The largest number of matches that are played again."""
MAX_SAMPLE_SECONDS = 10.0
"""The longest time for these matches, in seconds."""
MAX_MATCHES_AHEAD = 5000
"""The number of scheduled matches, over all boards, from which the sample is drawn."""
IGNORED_KEYS = frozenset({"labels", "seed", "message", "traceback"})
"""Keys of a record with values that may differ although the moves are the same, such as names from the spec and line numbers."""


def check_code(
    store: Store, spec: Spec, run: Run, say: Callable[[str], object], *, accept: bool = False, remedy: str | None = None
) -> Run:
    """Return the run that is about to begin. Raises StoreError if a plugin has changed since the stored matches were played.

    If arena's own code has changed, as with every version, a sample of matches is played again, and the run is refused only if
    results differ. `say` gets a line about the result. If `accept` is true, only changed defaults of options are refused. Nothing
    is refused if the store has no match. `remedy` replaces the end of the error, which says what the user can do.

    Only stored matches of this spec count, each with the code that played it.
    """
    if not len(store):
        return run
    _check_options(store, spec, run, remedy)
    if accept:
        return replace(run, accepted=True)
    own, old = _find_own_changes(store, run), _find_old_matches(store, spec, run)
    changed = {name for name, _ in old.code}
    if own and not changed:
        changed = _find_changed(store, spec, run, own, say)
    if changed:
        damage = ""
        try:
            store.verify()
        except StoreDamaged as error:  # otherwise users would meet it only after they have chosen what to play again
            damage = f". Besides, {error}"
        raise StoreError(
            f"{store.path}: {old.describe(sorted(changed))}; "
            + (
                remedy
                or "use --fresh to play them all again, --fresh-for AGENT for the matches of one agent, or "
                "--accept-changed-plugins to keep them"
            )
            + damage
        )
    return run


def _check_options(store: Store, spec: Spec, run: Run, remedy: str | None) -> None:
    """Raise StoreError if a default of a game, an agent or a heuristic has changed since the stored matches were played.

    Ids do not depend on defaults, so the old matches would count as matches with the new default.
    """
    changed = Run.list_changed_options(store.runs(), [run])
    if not changed:
        return
    affected = {entry for entries in changed.values() for entry in entries}
    seats = [(board, seat) for board in spec.boards for seat in board.seats]
    labels = dict.fromkeys([seat.label for board, seat in seats if entry_key(board, seat) in affected])
    fresh = shlex.join([word for label in labels for word in ("--fresh-for", label)])
    raise StoreError(
        f"{store.path}: defaults changed since the matches in it were played: {', '.join(changed)}; "
        + (remedy or f"use {fresh} to play them again, or write the old value into the spec, which gives the matches new ids")
    )


def _find_own_changes(store: Store, run: Run) -> set[CodeKey]:
    """Return the keys for arena's own code that is not the code of the last run that used it."""
    known = _read_last_code(store.runs())
    return {key for key, found in run.code().items() if key[0].startswith(own_prefix()) and known.get(key, found) != found}


def _read_last_code(runs: Sequence[Run]) -> dict[CodeKey, str]:
    return {key: found for run in runs for key, found in run.code().items()}


class _OldMatches(NamedTuple):
    """The matches of a spec that other versions of its plugins have played."""

    code: set[CodeKey]
    """The keys for the code that has changed."""
    number: int = 0
    stored: int = 0
    """The number of matches of the spec in the store that use such code, of any version."""

    def describe(self, names: Sequence[str]) -> str:
        """Return the first part of an error about changed code."""
        if self.number in (0, self.stored):  # 0 if they were not counted
            return f"{', '.join(names)} changed since the matches in it were played"
        return (
            f"the store has matches of several versions of {', '.join(names)}, and {self.number:,} of the {self.stored:,} that "
            f"this spec uses {'was' if self.number == 1 else 'were'} not played by the current version"
        )


def _find_old_matches(store: Store, spec: Spec, run: Run, leaving: Collection[tuple[int, Seat]] = ()) -> _OldMatches:
    """Find the stored matches of a spec that other versions of its plugins have played, unless the user has accepted them.

    Matches of an entry in `leaving`, given by boards and seats, do not count. If it depends on missing results which matches the
    spec needs, all matches in the store count.
    """
    runs, now = store.runs(), {key: found for key, found in run.code().items() if not key[0].startswith(own_prefix())}
    accepted: set[CodeKey] = set()
    known: dict[CodeKey, str] = {}  # if a run lacks a hash, that of the next run counts
    old: list[set[CodeKey]] = []
    for one in reversed(runs):
        code = one.code()
        known |= code
        old.append({key for key, found in now.items() if known.get(key, found) != found} - accepted)
        if one.accepted:
            accepted |= {key for key, found in now.items() if code.get(key) == found}
    old.reverse()
    everything = {key for one, code in zip(runs, old, strict=True) if not one.idle for key in code}
    if not everything:
        return _OldMatches(set())
    firsts = Run.list_first_records(runs)
    if firsts is None:
        last = _read_last_code(runs)
        return _OldMatches({key for key, found in now.items() if last.get(key, found) != found})
    needed = _find_needed(store, spec)
    if needed is None:
        return _OldMatches(everything)
    gone = {
        (number, entry)
        for number, board in enumerate(spec.boards)
        for entry, seat in enumerate(board.seats)
        if (number, seat) in leaving
    }
    code_of_match = cache(lambda board, entries: _code_of(spec, board, [spec.boards[board].seats[entry] for entry in entries]))
    matches = [
        (code_of_match(board, pairing.seats), old[bisect_right(firsts, record) - 1])
        for (_, board, pairing), record in needed
        if not any((board, entry) in gone for entry in pairing.seats)
    ]
    changed = set[CodeKey]().union(*[code & differing for code, differing in matches])
    number = sum([not code.isdisjoint(differing) for code, differing in matches])
    return _OldMatches(changed, number, sum([not code.isdisjoint(changed) for code, _ in matches]))


def _find_needed(store: Store, spec: Spec) -> list[tuple[Scheduled, int]] | None:
    """Return the matches of a spec that are in the store and will not be played again, with the numbers of their records.

    None if some matches of the schedule depend on results that are not there yet.
    """
    plan = Schedule(spec)
    needed: list[tuple[Scheduled, int]] = []
    while batch := plan.take(MATCHES_PER_LOOKUP):
        ids = [scheduled.match_id(spec) for scheduled in batch]
        stored = store.has(ids)
        for scheduled, identity in zip(batch, ids, strict=True):
            kept = stored.get(identity)
            if kept is not None and kept.returns is not None:  # a void match is played again
                needed.append((scheduled, kept.number))
                plan.tell(scheduled, kept.returns, kept.play_hash, kept.adjusted, kept.loser)
    return needed if batch is Batch.OVER else None


def _find_changed(store: Store, spec: Spec, run: Run, edited: set[CodeKey], say: Callable[[str], object]) -> set[str]:
    there = dict(_find_stored(store, spec, edited))
    if not there:
        return set()
    sample = _choose_sample(store, spec, there)
    alike: set[CodeKey] = set()
    differing: set[CodeKey] = set()
    again = _play_again(spec, run, list(sample))
    for scheduled, record in again:
        same = _make_comparable(record) == _make_comparable(sample[scheduled])
        (alike if same else differing).update(_code_of_match(spec, scheduled) & edited)
    if differing:
        return {name for name, _ in differing - alike or differing}
    came = f"{len(again)} of its matches were identical in a replay" if again else "none of its matches could be replayed"
    say(f"{store.path} has matches of another version of arena; {came}")
    return set()


def _make_comparable(record: Record) -> dict[str, Any]:
    return {key: value for key, value in record.timeless().items() if key not in IGNORED_KEYS}


def _code_of_match(spec: Spec, scheduled: Scheduled) -> set[CodeKey]:
    board = spec.boards[scheduled.board]
    return _code_of(spec, scheduled.board, [board.seats[entry] for entry in scheduled.pairing.seats])


def _code_of(spec: Spec, board: int, seats: Sequence[Seat]) -> set[CodeKey]:
    """Return the keys for all code that is used if these seats meet: the game, the format and the agents."""
    return {code_key(part.source.name, part.key) for part in parts_of(spec, spec.boards[board], seats)}


def _find_stored(store: Store, spec: Spec, edited: set[CodeKey]) -> Iterator[tuple[str, Scheduled]]:
    matches_per_board = MAX_MATCHES_AHEAD // len(spec.boards) + 1
    for place, board in enumerate(spec.boards):
        foreseen = takewhile(bool, board.format.schedule(board.field, Outcomes()))  # None waits for results
        ahead = [Scheduled(0, place, pairing) for pairing in islice(foreseen, matches_per_board) if pairing]
        ids = {one.match_id(spec): one for one in ahead}
        yield from [(found, ids[found]) for found in store.has(list(ids)) if _code_of_match(spec, ids[found]) & edited]


def _choose_sample(store: Store, spec: Spec, there: Mapping[str, Scheduled]) -> dict[Scheduled, Record]:
    """Choose matches of all boards and entries, the quickest first. If they are played again, the results must be the same."""
    left = {
        identity: [(one.board, entry) for entry in (None, *one.pairing.seats)]
        for identity, one in sorted(there.items())
        if not (one.is_timed(spec) or one.asks_outside(spec))
    }
    chosen: list[str] = []
    seen: Counter[tuple[int, int | None]] = Counter()
    while left and len(chosen) < 2 * MAX_SAMPLE_MATCHES:  # twice as many, because some may turn out to be unusable
        chosen.append(min(left, key=lambda one: (seen[left[one][0]], sum([seen[each] for each in left[one]]))))
        seen.update(left.pop(chosen[-1]))
    records = store.found(chosen)
    useful = [records[one][0] for one in chosen if records[one][0].termination not in UNREPEATABLE_ENDINGS][:MAX_SAMPLE_MATCHES]
    return {there[one.id]: one for one in sorted(useful, key=lambda one: sum([each.seconds for each in one.decisions]))}


class _TimeIsUp(Exception):
    """The time is over, so the remaining matches are not played."""


def _play_again(spec: Spec, run: Run, left: list[Scheduled]) -> list[tuple[Scheduled, Record]]:
    """Play matches until the time is over. This is done in a separate process, because agents may crash it."""
    end = monotonic() + MAX_SAMPLE_SECONDS
    found: list[tuple[Scheduled, Record]] = []

    def take(size: int) -> Batch:
        batch, left[:] = Batch(left[:size]), left[size:]
        return batch or Batch.OVER

    def check() -> None:
        if monotonic() > end:
            raise _TimeIsUp

    from arena.workers.pool import WorkerPool

    pool = WorkerPool(spec, 1, take, total=len(left), check=check, code=run.plugins)
    with user_interrupts() as interrupts, closing(pool.play()) as played, suppress(_TimeIsUp):  # type: ignore[type-var]
        for one in played:
            found.append(one)
            interrupts.check()
    return found


# A changed agent


def clear_for(store: Store, spec: Spec, run: Run, names: Sequence[str], *, accept: bool = False) -> str | None:
    """Delete the matches of the entries in `names`, so that the run plays them again. Return a report; None without matches.

    `names` are labels, or names of agents. First, a copy of the whole store is saved. Then the matches are deleted in one
    transaction, together with the hashes of the code that played them. So after a crash, either the store is unchanged, or the
    matches are still to be played. Raises UnknownName if no entry has one of these names, and StoreError if something else has
    changed, too, unless `accept` is true.
    """
    everybody = [(number, seat) for number, board in enumerate(spec.boards) for seat in board.seats]
    seats: list[tuple[int, Seat]] = []
    for name in names:
        found = [(board, seat) for board, seat in everybody if name == seat.label or (name == seat.agent and not seat.version)]
        if not found:
            raise UnknownName("entry", name, [word for _, seat in everybody for word in (seat.label, seat.agent)])
        seats += found
    others = {part for board, seat in everybody if (board, seat) not in seats for part in _code_of(spec, board, [seat])}
    own = {part for board, seat in seats for part in _code_of(spec, board, [seat])} - others
    old = _OldMatches(set())
    if len(store) and not accept:
        old = _find_old_matches(store, spec, run, seats)
    changed = old.code | _find_own_changes(store, run)
    if changed - own and not accept:
        listed = figures.listing(sorted(f"{key} of {name}" if key else name for name, key in changed - own))
        users = [one for one in everybody if one not in seats and (changed - own) & _code_of(spec, one[0], [one[1]])]
        left = list(dict.fromkeys([seat.label for _, seat in users]))
        fresh = shlex.join([word for label in left for word in ("--fresh-for", label)])
        raise StoreError(
            f"{store.path}: {old.describe([listed])}, and {figures.listing(left)} "
            f"{'use' if len(left) > 1 else 'uses'} this code; add {fresh}, or use --fresh or --accept-changed-plugins"
        )
    # entries with another version of the code are not changed by an edit
    pinned = {seat.label for _, seat in everybody if seat.version is not None} - set(names)
    labels = _find_labels(store, [seat for _, seat in seats], names) - pinned
    entries = {entry_key(spec.boards[board], seat) for board, seat in seats}
    aside = store.copy_aside() if store.holds(labels) else None
    number = store.forget(labels, own, entries)
    if aside is None:
        return None
    gone = f"{figures.amount(number, 'match')} of {figures.listing(names)} no longer {'counts' if number == 1 else 'count'}"
    return f"{gone} and will be played again if the spec still has {'it' if number == 1 else 'them'}; a copy is in {aside}"


def _find_labels(store: Store, seats: Sequence[Seat], names: Sequence[str]) -> set[str]:
    found = {seat.label for seat in seats}
    for run in store.runs():
        found |= {label for board in run.boards for label in board.labels if label.partition("(")[0] in names}
        given = [entry for entry in run.spec["values"].get("agents") or () if isinstance(entry, dict) and "version" not in entry]
        found |= {str(entry["label"]) for entry in given if entry.get("agent") in names and entry.get("label") is not None}
    return found
