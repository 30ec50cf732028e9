"""The parts that plugins add to pages: panels through the hook `arena_panels`, and feedback through `arena_feedback`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, get_args

from typing_extensions import TypedDict  # pydantic reads the one of the standard library from Python 3.12 on

from arena import Registry
from arena.api.results import figures
from arena.api.spec import Part
from arena_catalog.board_files import MAX_MODULE_BYTES, check_module

if TYPE_CHECKING:
    from arena.api.store import Store

Place = Literal["match", "agent", "board", "report"]


@dataclass(frozen=True)
class Panel(Part):
    """A section of a page, drawn from plain data.

    `place` sets where it appears: `match` on the page of a match, `agent` on the page of an entry, `board` below each leaderboard
    (also in a report), or `report` once in a report. `data` is called with the open store and a second argument, which depends on
    `place`: the id of the match, the label of the entry, the number of the board, or None for a report. It returns JSON values,
    or None to leave the panel out.

    `script` is the text of a JavaScript module with `export function draw(element, data)`. It may import `arena/dom.js`, like the
    module that draws a board. Without a script, `data` returns a mapping, which is shown as a list of figures, or a list of
    mappings with the same keys, which is shown as a table.

    >>> def count_matches(store, board):
    ...     return {"Matches": len(list(store.records()))}
    >>> Panel("match-count", "report", "Matches", count_matches).place
    'report'
    >>> Panel("match-count", "margin", "Matches", count_matches)
    Traceback (most recent call last):
    ...
    ValueError: panel match-count: place: expected match, agent, board or report, got 'margin'
    """

    kind: ClassVar[str] = "panel"
    place: Place
    title: str
    data: "Callable[[Store, Any], Any]"
    script: str | None = None
    public: bool = False
    """True if the panel may be shown to the public. Public panels also appear on the match pages of a ladder."""
    in_report: bool = False
    """True if a report shows this panel of a match below the replay. Other panels of matches are left out of reports."""

    def __post_init__(self) -> None:
        """Refuse an unknown place, and a script that pages cannot load."""
        if self.place not in get_args(Place):
            raise ValueError(f"panel {self.name}: place: expected {figures.listing(get_args(Place), 'or')}, got {self.place!r}")
        if self.script is None:
            return
        wrong = check_module(self.script, frozenset({"draw"}))
        if wrong is None and len(self.script.encode()) > MAX_MODULE_BYTES:
            wrong = f"expected at most {MAX_MODULE_BYTES:,} bytes"
        if wrong is not None:
            raise ValueError(f"panel {self.name}: script: {wrong}")


class CostlyDecision(TypedDict):
    """A position in which some decisions of an agent cost it something, with the worst of these decisions."""

    position: str
    """The position in the notation of the game."""
    action: str
    best: str | None
    """A better action; None if the judge names none."""
    grade: str
    """The class of the decision, such as `mistake`."""
    lost: float | None
    """The sum of the losses in this position over all matches, in the unit of returns; None if the loss is not a number."""
    times: int
    """The number of times that the agent lost something in this position."""
    match: str
    number: int
    """The number of actions in this match before the decision."""


class Findings(TypedDict):
    """What a reviewer found in some matches of an agent."""

    decisions: int
    """The number of decisions between two or more legal actions."""
    judged: int
    """The number of decisions with a verdict."""
    costly: list[CostlyDecision]
    """The costliest positions, the worst one first."""
    complete: bool
    """False if the time was over before all decisions were looked at. If the reviewer is asked again, it continues."""


class Reviewer(Protocol):
    """Reviews the matches of a store. It runs in a process of its own, which remembers its answers until it ends."""

    def find_costly(self, label: str, matches: Sequence[str], most: int, seconds: float) -> Findings:
        """Return the `most` costliest decisions of an entry in the matches with the given ids. Stop soon after `seconds`."""


@dataclass(frozen=True)
class Feedback(Part):
    """Gives authors on a ladder the decisions that cost their agents most.

    `open` gets the path of the store, the registry, and the plugins to load in addition to the installed ones. It returns a
    `Reviewer`.

    >>> Feedback("oracle", open=lambda store, registry, plugins: None).kind
    'feedback'
    """

    kind: ClassVar[str] = "feedback"
    open: Callable[[Path, Registry, Sequence[str]], Reviewer]
