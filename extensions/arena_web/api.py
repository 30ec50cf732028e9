"""Panels: sections that plugins add to the pages of `arena serve` and `arena report` by the hook `arena_panels`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from arena.api.spec import Part
from arena.api.store import Store
from arena_catalog.board_files import MAX_MODULE_BYTES, check_module

Place = Literal["match", "agent", "board", "report"]


@dataclass(frozen=True)
class Panel(Part):
    """A section of a page, drawn from plain data.

    `place` sets its pages: matches, agents, below each leaderboard (also in a report), or once in a report.
    `data` gets the open store and the id of a match, the label of an entry, the number of a board, or None for a report. It
    returns JSON values, or None to leave the panel out.

    `script` is the text of a JavaScript module with `export function draw(element, data)`. It may import `arena/dom.js`, as the
    module of a board may. Without a script, `data` returns a mapping, which is shown as a list of figures, or a list of mappings
    with the same keys, which is shown as a table.

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
    data: Callable[[Store, Any], Any]
    script: str | None = None
    public: bool = False
    """Whether the panel is public. The match pages of a ladder have public panels, too."""

    def __post_init__(self) -> None:
        """Refuse an unknown place, and a script that pages cannot load."""
        *others, last = get_args(Place)
        if self.place not in (*others, last):
            raise ValueError(f"panel {self.name}: place: expected {', '.join(others)} or {last}, got {self.place!r}")
        if self.script is None:
            return
        wrong = check_module(self.script, frozenset({"draw"}))
        if wrong is None and len(self.script.encode()) > MAX_MODULE_BYTES:
            wrong = f"expected at most {MAX_MODULE_BYTES:,} bytes"
        if wrong is not None:
            raise ValueError(f"panel {self.name}: script: {wrong}")
