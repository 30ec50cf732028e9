"""Adds the measure `loss` for comparisons, panels, and feedback for authors on a ladder."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from arena import hookimpl
from arena.api.results import Comparison
from arena_compare.api import ExplainedComparison
from arena_web.api import Feedback, Panel


def _import_later(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module only when it is called, so that plugins load fast."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(f"arena_review.{module}"), name)(*arguments)

    return call


@hookimpl
def arena_comparisons() -> list[Comparison]:
    """Return the measure `loss`, which adds up the losses by decisions."""
    description = "The loss of an entry's decisions in a match, in units of the return, according to the review of the store."
    read, explain = _import_later("loss", "read_losses"), _import_later("loss", "explain_losses")
    return [ExplainedComparison("loss", description, read, explain, lower_is_better=True)]


@hookimpl
def arena_panels() -> list[Panel]:
    """Return the panels for matches, entries and boards that have been reviewed."""
    match, entry = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("match.js", "entry.js")]
    return [
        Panel("review", "match", "Review", _import_later("panels", "review_match"), match, in_report=True),
        Panel("costly-positions", "agent", "Costly positions", _import_later("panels", "review_entry"), entry),
        Panel("review-of-board", "board", "Review", _import_later("panels", "review_board")),
    ]


@hookimpl
def arena_feedback() -> list[Feedback]:
    """Return the review of the latest matches of an agent, within a time limit."""
    return [Feedback("review", _import_later("feedback", "LatestReviewer"))]
