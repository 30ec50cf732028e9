"""Adds the measure `loss` for comparisons, panels, and feedback for authors on a ladder."""

from pathlib import Path

from arena import hookimpl
from arena.api.results import Comparison
from arena_compare.api import ExplainedComparison
from arena_setup.later import import_later
from arena_web.api import Feedback, Panel


@hookimpl
def arena_comparisons() -> list[Comparison]:
    """Return the measure `loss`, which adds up the losses by decisions."""
    description = "The loss of an entry's decisions in a match, in units of the return, according to the review of the store."
    read, explain = import_later("arena_review.loss", "read_losses"), import_later("arena_review.loss", "explain_losses")
    return [ExplainedComparison("loss", description, read, explain, lower_is_better=True)]


@hookimpl
def arena_panels() -> list[Panel]:
    """Return the panels for matches, entries and boards that have been reviewed."""
    match, entry = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("match.js", "entry.js")]
    return [
        Panel("review", "match", "Review", import_later("arena_review.panels", "review_match"), match, in_report=True),
        Panel("costly-positions", "agent", "Costly positions", import_later("arena_review.panels", "review_entry"), entry),
        Panel("review-of-board", "board", "Review", import_later("arena_review.panels", "review_board")),
    ]


@hookimpl
def arena_feedback() -> list[Feedback]:
    """Return the review of the latest matches of an agent, within a time limit."""
    return [Feedback("review", import_later("arena_review.feedback", "LatestReviewer"))]
