"""Checks that a run plays with the code with which the matches in its store were played."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice, takewhile
from time import monotonic
from typing import Any

from arena.errors import StoreError
from arena.format import Outcomes
from arena.match.record import Record
from arena.plugins.registry import OWN
from arena.processes.interrupts import user_interrupts
from arena.schedule.fingerprint import WHOLE, parts_of
from arena.schedule.schedule import OVER, Batch, Scheduled, asks_outside, identity_of, timed
from arena.spec import Spec
from arena.store import Run, Store
from arena.store.run import CodeKey, code_key
from arena.workers.pool import WorkerPool

SAMPLE = 20
"""Matches that are played again, at the most."""
SECONDS = 10.0
"""Seconds for that, at the most."""
AHEAD = 5000
"""Matches of all boards' schedules among which they are looked for."""
UNREPEATABLE = frozenset({"void", "timeout", "memory", "crash"})
"""Endings in which the machine has a say."""
ASIDE = frozenset({"labels", "seed", "message", "traceback"})
"""What may differ though the same was played: what the spec calls it, and the lines at which code stands."""


def checked(store: Store, spec: Spec, run: Run, say: Callable[[str], object], *, accept: bool = False) -> Run:
    """Return a run as it is to begin; StoreError if a plugin has changed since the store's matches were played.

    Older versions of arena kept hashes that do not tell what has changed since, and what comes with arena changes with every
    version of it: then a sample of the matches is played again, and the plugins of those that come out otherwise have changed.
    `say` is told that this was done, in one line. With `accept` nothing is refused, and the run notes which plugins changed.
    """
    before, now = known_code(store.runs()), run.code()
    differing = {key for key, found in now.items() if before.get(key, found) != found}
    own = {key for key in differing if key[0].startswith(OWN)}
    changed = {key[0] for key in differing - own}
    if not changed or accept:
        unknown = own | {key for key in now if key not in before and (key[0], WHOLE) in before}
        changed |= _changed(store, spec, run, unknown, say) if unknown else set()
    if changed and not accept:
        raise StoreError(
            f"{store.path}: {', '.join(sorted(changed))} changed since the matches in it were played; "
            "use --fresh to play them anew, --fresh-for AGENT those of one agent, or --accept-changed-plugins to keep them"
        )
    noted = {  # a hash of the old kind that no store has, by which boards tell of more than one version
        name: replace(found, hashes={WHOLE: "changed", **found.hashes})
        for name, found in run.plugins.items()
        if (key := code_key(name, WHOLE)) in before and key[0] in changed
    }
    return replace(run, plugins={**run.plugins, **noted})


def known_code(runs: Sequence[Run]) -> dict[CodeKey, str]:
    """The hashes of the code that played last; one of the old kind makes those before it say nothing."""
    known: dict[CodeKey, str] = {}
    for run in runs:
        code = run.code()
        known = {key: found for key, found in known.items() if (key[0], WHOLE) not in code} | code
    return known


def _changed(store: Store, spec: Spec, run: Run, unknown: set[CodeKey], say: Callable[[str], object]) -> set[str]:
    """The names of those plugins, of which only hashes of the old kind are known, that play otherwise than they did."""
    there = dict(_there(store, spec, unknown))
    if not there:
        return set()
    sample = _sample(store, spec, there)
    alike: set[CodeKey] = set()
    differing: set[CodeKey] = set()
    again = _played(spec, run, list(sample))
    for scheduled, record in again:
        same = _compared(record) == _compared(sample[scheduled])
        (alike if same else differing).update(_code_of(spec, scheduled) & unknown)
    if differing:
        suspects = {name for name, _ in differing - alike or differing}
        return {name for name in suspects if not name.startswith(OWN)} or suspects
    came = f"{len(again)} of its matches came out the same again" if again else "none of its matches could be played again"
    say(f"{store.path} has hashes of plugins from an older version of arena; {came}")
    return set()


def _compared(record: Record) -> dict[str, Any]:
    return {key: value for key, value in record.timeless().items() if key not in ASIDE}


def _code_of(spec: Spec, scheduled: Scheduled) -> set[CodeKey]:
    """The keys of all that plays in a match."""
    board = spec.boards[scheduled.board]
    seats = [board.seats[entry] for entry in scheduled.pairing.seats]
    return {code_key(part.source.name, part.key) for part in parts_of(spec, board, seats)}


def _there(store: Store, spec: Spec, unknown: set[CodeKey]) -> Iterator[tuple[str, Scheduled]]:
    """Matches of the schedule that the store has and in which some of the unknown plays, by their ids."""
    for place, board in enumerate(spec.boards):
        foreseen = takewhile(bool, board.format.schedule(board.field, Outcomes()))  # None waits for results
        ahead = [Scheduled(0, place, pairing) for pairing in islice(foreseen, AHEAD // len(spec.boards) + 1) if pairing]
        ids = {identity_of(spec, one): one for one in ahead}
        yield from [(found, ids[found]) for found in store.has(list(ids)) if _code_of(spec, ids[found]) & unknown]


def _sample(store: Store, spec: Spec, there: Mapping[str, Scheduled]) -> dict[Scheduled, Record]:
    """Some of the matches that must come out the same again: of every board and entry, the quickest first."""
    left = {
        identity: [(one.board, entry) for entry in (None, *one.pairing.seats)]
        for identity, one in sorted(there.items())
        if not (timed(spec, one) or asks_outside(spec, one))
    }
    chosen: list[str] = []
    seen: Counter[tuple[int, int | None]] = Counter()
    while left and len(chosen) < 2 * SAMPLE:  # some of them may be of no use
        chosen.append(min(left, key=lambda one: (seen[left[one][0]], sum([seen[each] for each in left[one]]))))
        seen.update(left.pop(chosen[-1]))
    records = store.found(chosen)
    useful = [records[one][0] for one in chosen if records[one][0].termination not in UNREPEATABLE][:SAMPLE]
    return {there[one.id]: one for one in sorted(useful, key=lambda one: sum([each.seconds for each in one.decisions]))}


class _TimeIsUp(Exception):
    """The matches that are left are not played."""


def _played(spec: Spec, run: Run, left: list[Scheduled]) -> list[tuple[Scheduled, Record]]:
    """Play matches, in a process of their own since agents may take theirs down, for as long as there is time."""
    end = monotonic() + SECONDS
    found: list[tuple[Scheduled, Record]] = []

    def take(size: int) -> Batch:
        batch, left[:] = Batch(left[:size]), left[size:]
        return batch or OVER

    def check() -> None:
        if monotonic() > end:
            raise _TimeIsUp

    pool = WorkerPool(spec, 1, take, total=len(left), check=check, code=run.plugins)
    with user_interrupts() as interrupts, closing(pool.play()) as played, suppress(_TimeIsUp):  # type: ignore[type-var]
        for one in played:
            found.append(one)
            interrupts.check()
    return found
