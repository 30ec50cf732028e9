"""Adds the judges, the measure `loss` for comparisons, panels, and feedback for authors on a ladder."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from arena import hookimpl
from arena.api.results import Comparison
from arena.api.spec import PluginManager
from arena_compare.api import ExplainedComparison
from arena_review.api import Judge
from arena_web.api import Feedback, Panel


def _import_later(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module only when it is called, so that plugins load fast."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(f"arena_review.{module}"), name)(*arguments)

    return call


@hookimpl
def arena_add_hookspecs(manager: PluginManager) -> None:
    """Add the hook for judges."""
    manager.add_part_hook("arena_judges", "arena_review.api:Judge")


@hookimpl
def arena_judges() -> list[Judge]:
    """Return the judges for games and puzzles."""
    return [
        Judge(
            "exact",
            "searches a position and its successor to the end of the game, so its judgements are certain",
            40,
            _import_later("game_judges", "refuse_game"),
            _import_later("game_judges", "ExactJudge"),
        ),
        Judge(
            "regret",
            "compares the cost of an action and of the best solution after it with the optimal cost, so its judgements are "
            "certain",
            40,
            _import_later("puzzle_judge", "refuse_puzzle"),
            _import_later("puzzle_judge", "RegretJudge"),
        ),
        Judge(
            "search",
            "searches far deeper than the players, and gives a verdict only if a search with half the budget confirms it",
            30,
            _import_later("game_judges", "refuse_game"),
            _import_later("game_judges", "SearchJudge"),
        ),
        Judge(
            "equilibrium",
            "compares an action with the best one against an equilibrium of the whole game",
            20,
            _import_later("hidden_judges", "refuse_small"),
            _import_later("hidden_judges", "EquilibriumJudge"),
        ),
        Judge(
            "estimate",
            "takes the mean over states that the seat considers possible. A search in each of them knows more than the seat, and "
            "may choose a different action in each (strategy fusion), so an estimate has no class and is never called a mistake",
            10,
            _import_later("hidden_judges", "refuse_hidden"),
            _import_later("hidden_judges", "EstimateJudge"),
        ),
    ]


@hookimpl
def arena_comparisons() -> list[Comparison]:
    """Return the measure `loss`, which adds up the losses by decisions."""
    description = "What the decisions of an entry lost in a match, in returns, by the review of the store."
    return [
        ExplainedComparison("loss", description, _import_later("loss", "read_losses"), _import_later("loss", "explain_losses"))
    ]


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
