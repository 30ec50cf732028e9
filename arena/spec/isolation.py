"""Reads the isolation of an agent: `none`, which means arena's own processes, or an isolation that an extension adds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Optional

from arena.errors import listing
from arena.game import Game
from arena.hookspecs import Part
from arena.limits import Limits
from arena.match.match import IN_PROCESS, Seat
from arena.match.player import PlayerPool
from arena.plugins.registry import Registry
from arena.spec.board import Spec
from arena.spec.document import Path
from arena.spec.parameters import Report, check_value, make_adapter
from arena.spec.reader import SpecReader
from arena.spec.source import EntryAgent

KEY = "isolation"


@dataclass(frozen=True)
class Isolation(Part):
    """A separate place in which agents run, such as a process. Entries of a spec request it with `isolation: NAME`.

    `open` starts a pool of players. Isolations with the same `open` share a pool, so that the agents of a match can be paused
    while others decide, even if their isolations differ. `check` gets a spec with agents that request this isolation, and raises
    ArenaError if this machine does not offer it. `notes` returns lines for the user of such a spec.

    >>> Isolation("remote", open=lambda: None, closed=True).closed
    True
    """

    kind: ClassVar[str] = "isolation"
    open: Callable[[], PlayerPool]
    check: Callable[[Spec], object] = lambda _: None
    notes: Callable[[Spec], Iterable[str]] = lambda _: ()
    default: bool = False
    """Whether this isolation is chosen for an entry that names none but cannot run in arena's own processes."""
    closed: bool = False
    """Whether agents cannot reach the network, can read and write only their own files, and leave no files."""
    shields: Callable[[], bool] = lambda: True
    """A function that returns whether agents are prevented from ending other processes of the user."""
    why_plain: Callable[[Seat, Game], str | None] = lambda _seat, _game: None
    """A function that returns why the searches of a seat run uncompiled, if this is known before a match; otherwise None.

    Raises IsolationError if the agent of the seat cannot be started.
    """


def isolation_names(registry: Registry) -> tuple[str, ...]:
    """Return the names that the key `isolation` accepts: IN_PROCESS first, then the others in alphabetical order."""
    return IN_PROCESS, *_list_places(registry)


def _list_places(registry: Registry) -> list[str]:
    return sorted(registry.parts[Isolation.kind])


def check_name(registry: Registry, value: Any, path: Path, report: Report) -> bool:
    """Return whether the value of a key `isolation` is valid; if not, report a fault."""
    names = isolation_names(registry)
    if value is None or value in names:
        return True
    check_value(make_adapter(Optional[Literal[names]]), value, path, report)  # noqa: UP045 - names are only known at run time
    return False


def choose_isolation(reading: SpecReader, given: Any, limits: Limits, agent: EntryAgent, report: Report) -> str:
    """Return the isolation for an entry: the one that it names, or the one of the spec, or a process if a limit needs one."""
    apart, places = agent.apart, _list_places(reading.registry)
    wanted: str | None = given if given == IN_PROCESS or given in places else reading.values.get(KEY)
    memory, cpu = limits.memory_mb is not None, limits.cpu_seconds is not None
    if wanted is None and not (apart or limits.timed or memory):
        return IN_PROCESS
    expected = listing(places, "or")
    for limited, name in ((memory, "a memory limit"), (cpu, "a limit of CPU seconds")):
        if wanted == IN_PROCESS and limited:
            report((KEY,), f"{name} needs isolation: {expected}; leave out isolation: {IN_PROCESS}")
    if wanted is None or (wanted == IN_PROCESS and apart and given is None and agent.moves):
        default = next((one.name for one in reading.registry.parts[Isolation.kind].values() if one.default), None)
        if default is None:
            what = apart or ("a memory limit" if memory else "a time limit")
            report((), f"{what} needs its own process, and no installed plugin can start one")
        return default or IN_PROCESS
    if wanted == IN_PROCESS and apart:
        report((KEY,), f"{apart} runs in its own process; expected {expected}, got {IN_PROCESS!r}")
    return wanted


def is_closed(registry: Registry, isolation: str) -> bool:
    """Return whether an isolation denies agents access to files and to the network."""
    place: Isolation | None = registry.parts[Isolation.kind].get(isolation)
    return place is not None and place.closed
