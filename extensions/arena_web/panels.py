"""Collects the panels of plugins for a page, and defines built-in panels."""

import json
from typing import Any, Literal

from pydantic import BaseModel

from arena import Registry
from arena.api.errors import StoreError, describe
from arena.api.results import figures, seat_ways, timed_way
from arena.api.store import Store
from arena_web.api import Panel, Place

MAX_DATA_CHARACTERS = 1 << 20
"""The maximum size of the data of a panel, as JSON."""


class WantedPanels(BaseModel):
    """A request for the panels of a match, of an entry or of a board. A match is given by its id, an entry by its label, and a
    board by its number.
    """

    place: Literal["match", "agent", "board"]
    id: str

    def find(self, store: Store) -> str | int:
        """Return the id, the label or the number that the panels are about; raises StoreError if the store does not have it."""
        if self.place == "match":
            return store.record(self.id)[0].id
        boards = store.last().boards
        if self.place == "agent" and any(self.id in sheet.labels for sheet in boards):
            return self.id
        if self.place == "board" and self.id in map(str, range(len(boards))):
            return int(self.id)
        raise StoreError(f"{store.path} has no {self.place} {self.id[:100]!r} in its last run")


def collect_panels(
    registry: Registry, place: Place, store: Store, subject: str | int | None, *, public: bool = False, in_report: bool = False
) -> list[dict[str, Any]]:
    """Return the panels of a place as plain values, sorted by name; a panel that failed has an `error`. `subject` is the id of a
    match, the label of an entry, the number of a board, or None. With `public`, only public panels are returned, and an error
    shows only its type. With `in_report`, only panels for reports are returned.
    """
    found: dict[str, Panel] = registry.parts.get(Panel.kind, {})
    panels = [
        panel
        for _, panel in sorted(found.items())
        if panel.place == place and (panel.public or not public) and (panel.in_report or not in_report)
    ]
    return [told for panel in panels if (told := _fill(panel, store, subject, public)) is not None]


def _fill(panel: Panel, store: Store, subject: str | int | None, public: bool) -> dict[str, Any] | None:
    told = {"name": panel.name, "title": panel.title, "script": panel.script, "data": None, "error": None}
    try:
        text = json.dumps(panel.data(store, subject), allow_nan=False)
        if len(text) > MAX_DATA_CHARACTERS:
            raise ValueError(f"expected data of at most {MAX_DATA_CHARACTERS:,} characters, got {len(text):,}")
        data = json.loads(text)
        if data is None:
            return None
        rows = data if isinstance(data, list) else [data]
        alike = all(isinstance(row, dict) and list(row) == list(rows[0]) for row in rows)
        plain = alike and not any(isinstance(value, (dict, list)) for row in rows for value in row.values())
        if panel.script is None and not plain:
            raise ValueError("without a script, a panel needs data for figures or for a table")
    except (Exception, SystemExit) as error:  # raised by a plugin
        return {**told, "error": type(error).__name__ if public else describe(error)}  # the full text may name files of the host
    return {**told, "data": data}


def match_resources(store: Store, match: str) -> dict[str, Any]:
    """Return the length of a match and the resources that each seat used."""
    record, _ = store.record(match)
    found: dict[str, Any] = {}
    if record.moves is not None:
        found["Moves" if record.answer is None else "Steps"] = record.moves  # with an answer, the agent counted the steps
    if record.cost is not None:
        found["Cost"] = record.cost
    ways = seat_ways(record)
    for seat, label in enumerate(record.labels):
        own = [decision for decision in record.decisions if decision.seat == seat]
        whose = f" of {label}" if len(record.labels) > 1 else ""
        found[f"Nodes{whose}"] = sum(decision.nodes for decision in own)
        timed = len(record.labels) == 1 or ways[seat] == timed_way(ways)
        found[f"Time{whose}"] = figures.duration(sum(decision.seconds for decision in own) if timed else None)
    if record.fallbacks:
        found["Random, because the budget ran out"] = record.fallbacks
    return {**found, "Match": record.id[:12]}
