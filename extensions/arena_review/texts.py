"""The review of a store as text."""

from collections.abc import Iterator, Sequence
from typing import Any

from arena.api.results import BoardInfo, TextTable, figures
from arena_review.api import DECISIVE, INACCURACY, MISTAKE, Judge
from arena_review.kept import Judged
from arena_review.summary import AgentReview, Group

ID_DIGITS = 10
UNGRADED = {"regret": "their positions have no solution"}
UNGRADED_IN_GAMES = "their loss may depend on how the players choose among actions that are equal for them"
"""The reasons why there can be no verdict on a decision, in puzzles by the name of the judge."""
MAX_NAME_IN_LINE = 20
"""If a group has a longer name, such as the position after an opening, each group gets a line of its own."""
MAX_MATCHES_LISTED = 5
"""The maximum number of matches whose first decisive mistake is listed."""


def how_sure(kinds: Sequence[Judge], reviews: Sequence[AgentReview]) -> Iterator[str]:
    """For each judge, yield a line that says how reliable the judge is and how many decisions it judged."""
    total = sum(review.decisions for review in reviews)
    for judge in kinds:
        count = sum(review.judges.get(judge.name, 0) for review in reviews)
        if count and judge.name == "estimate":
            yield (
                f"The judge estimate has only estimates for {count:,} of {total:,} decisions. It {judge.description}. The tables "
                "count these decisions as decisions without a verdict; `arena review STORE MATCH` shows their estimated losses."
            )
        elif count:
            yield f"The judge {judge.name} judged {count:,} of {total:,} decisions. It {judge.description}."
        count = sum(review.ungraded.get(judge.name, 0) for review in reviews)
        if count:
            yield f"{count:,} decisions have no verdict, because {UNGRADED.get(judge.name, UNGRADED_IN_GAMES)}."
    none = sum(review.judges.get("none", 0) for review in reviews)
    if none:
        why = "the searches did not agree, did not get far enough, or found no difference between the actions"
        if any(judge.name == "regret" for judge in kinds):
            why = "the search did not get far enough"
        yield f"{none:,} decisions have no verdict, because {why}."


def agents_table(reviews: Sequence[AgentReview], style: str, width: int | None) -> str:
    """Return a table with a row for each agent. If an agent also plays in disguise, the table shows the gap of its
    losses.
    """
    disguised = any(one.gap is not None for one in reviews)
    gap_headings = ["Gap per match", "95 % (gap)"] if disguised else []
    grades = ["Best", "Inaccuracies", "Mistakes", "Decisive", "No verdict"]
    headings = ["Agent", "Decisions", "Loss per decision", "95 %", *gap_headings, *grades]
    rows = []
    for one in reviews:
        low, high, gap_low, gap_high = [
            None if bound is None else figures.figure(bound) for bound in (one.low, one.high, one.gap_low, one.gap_high)
        ]
        counts = [f"{one.grades[grade]:,}" for grade in (INACCURACY, MISTAKE, DECISIVE)]
        interval = figures.between(low, high)
        rows.append(
            [
                one.label,
                f"{one.decisions:,}",
                figures.figure(one.loss),
                interval,
                *([figures.figure(one.gap), figures.between(gap_low, gap_high)] if disguised else []),
                figures.share(one.best),
                *counts,
                figures.share(one.without),
            ]
        )
    return TextTable(headings, rows).text(style, width)


def groups_lines(review: AgentReview) -> Iterator[str]:
    """Yield a line for each kind of group in which an agent lost something, and for decisions whose loss is not a number."""

    def said(group: Group) -> str:
        without = f", {group.without:,} without a verdict" if group.without else ""
        return f"{group.name}: {figures.figure(group.loss)} ({group.decisions:,}{without})"

    if review.unbounded:
        which = "a decision" if review.unbounded == 1 else f"{review.unbounded:,} decisions"
        yield f"{review.label}: {which} made the puzzle unsolvable, which the loss per decision does not include"
    for name, groups in (("ply", review.by_ply), ("legal actions", review.by_choices), ("opening", review.by_opening)):
        if len(groups) > 1 and review.loss:
            title = f"{review.label}: loss per decision by {name}:"
            if any(len(group.name) > MAX_NAME_IN_LINE for group in groups):
                yield from [title, *[f"  {said(group)}" for group in groups]]
            else:
                yield f"{title} {', '.join(map(said, groups))}"


def worst_lines(review: AgentReview, sheet: BoardInfo, limit: int) -> Iterator[str]:
    """Yield a line for each of the costliest positions of an agent."""
    shown = review.worst[:limit]
    if shown:
        more = f" of {len(review.worst):,}" if len(review.worst) > len(shown) else ""
        few = f"this one{more} positions" if more else "this position"
        these = few if len(shown) == 1 else f"these {len(shown)}{more} positions"
        yield f"{review.label} loses most in {these} at {sheet.title}:"
    for one in shown:
        best = "" if one.best is None else f", best was {one.best}"
        often = f" (sum of {one.times} games)" if one.times > 1 else ""
        lost = "" if one.total is None else f", lost {figures.figure(one.total)}{often}"
        yield f"  {one.position}  {one.action}: {one.grade}{lost}{best} ({one.judge}, match {one.match[:ID_DIGITS]})"


def decisive_lines(first: dict[str, Judged], labels: dict[int, Sequence[str]]) -> Iterator[str]:
    """Yield the first decisive mistake of each match."""
    for shown, (match, one) in enumerate(sorted(first.items())):
        if shown == MAX_MATCHES_LISTED:
            yield f"  and {len(first) - shown:,} more; --format json lists all; arena review STORE MATCH shows one match"
            return
        best = "" if one.best is None else f", best was {one.best}"
        yield f"  {match[:ID_DIGITS]}  move {one.ply + 1}: {labels[one.board][one.entry]} played {one.action}{best}"


def match_lines(decisions: Sequence[Judged], labels: Sequence[str]) -> list[list[Any]]:
    """Return the rows of the decisions of a match."""
    return [
        [
            one.ply + 1,
            labels[one.entry],
            one.action,
            one.best or figures.NONE,
            figures.figure(one.value),
            figures.figure(one.best_value),
            figures.figure(one.loss),
            one.grade or ("estimate" if one.judge == "estimate" else "no verdict"),
            one.judge or figures.NONE,
        ]
        for one in decisions
    ]


MATCH_HEADINGS = ["Move", "Agent", "Played", "Best", "Value", "Best value", "Loss", "Class", "Judge"]
