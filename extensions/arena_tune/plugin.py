"""Adds the formats of confirmations, and panels with the trials and the course of a search."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena import hookimpl
from arena_web.api import Panel

if TYPE_CHECKING:
    from arena.api.store import Store


@hookimpl
def arena_formats() -> Mapping[str, str]:
    """Return the formats for confirmations, which play positions that no search has used."""
    return {
        "held-out": "arena_tune.formats:HeldOut",
        "held-out-benchmark": "arena_tune.formats:HeldOutBenchmark",
        "held-out-gauntlet": "arena_tune.formats:HeldOutGauntlet",
    }


@hookimpl
def arena_panels() -> Sequence[Panel]:
    """Return the panels below the board of a tuning."""

    def read_trials(store: "Store", board: int) -> Any:
        from arena_tune.panel import list_trials  # only when a page needs it, so that plugins load fast

        return list_trials(store, board)

    def read_course(store: "Store", board: int) -> Any:
        from arena_tune.panel import show_course

        return show_course(store, board)

    script = Path(__file__).with_name("tuning.js").read_text(encoding="utf-8")
    return [
        Panel("tuning", "board", "Trials of the search", read_trials),
        Panel("tuning-course", "board", "Progress of the search", read_course, script),
    ]
