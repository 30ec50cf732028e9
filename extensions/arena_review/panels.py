"""The data for the panels: the review of a match, and the positions that cost an entry most."""

from typing import Any

from arena.api.results import figures
from arena.api.store import Store
from arena_review.api import BEST, DECISIVE
from arena_review.kept import Judged, Kept, PlaceKey, place_of
from arena_review.loss import find_gaps
from arena_review.summary import first_decisive, sum_up

POSITIONS_SHOWN = 10


def read_decisions(store: Store, where: str, values: list[Any]) -> list[Judged]:
    """Return the reviewed decisions that fulfil an SQL condition; an empty list without a review."""
    place = place_of(store.path)
    if not place.is_file():
        return []
    with Kept(place, write=False) as kept:
        return list(kept.decisions(where, values))


def read_alike(store: Store) -> dict[PlaceKey, str]:
    """Return which positions of the review look the same to the mover; see `Kept.alike`."""
    place = place_of(store.path)
    if not place.is_file():
        return {}
    with Kept(place, write=False) as kept:
        return kept.alike()


def review_match(store: Store, match: str) -> dict[str, Any] | None:
    """Return the decisions of a match with their verdicts; None if it has not been reviewed.

    In zero-sum games for two, values are for the first seat; otherwise they are for the seat that decides.
    """
    decisions = read_decisions(store, '"match" = ?', [match])
    if not decisions:
        return None
    record, _ = store.record(match)
    with Kept(place_of(store.path), write=False) as kept:
        options = {one.number: kept.options(one.board, one.position) for one in decisions if one.grade not in (None, BEST)}
    pair = len(record.labels) == 2 and abs(sum(record.returns)) < 1e-9
    listed = []
    for one in decisions:
        worth = one.best_value
        if worth is not None and pair and one.seat:
            worth = -worth
        keys = ("number", "ply", "seat", "action", "best", "loss", "grade")
        choices = [{"action": action, "grade": grade, "loss": loss} for action, grade, loss in options.get(one.number, [])]
        listed.append({**{key: getattr(one, key) for key in keys}, "worth": worth, "options": choices})
    whose = (
        f"Value to {record.labels[0]}"
        if pair
        else "Cost to the goal"
        if record.solved is not None
        else "Value for the player to move"
    )
    first = first_decisive(decisions).get(match)
    return {
        "decisions": listed,
        "first": None if first is None else first.number,
        "labels": list(record.labels),
        "whose": whose,
    }


def review_entry(store: Store, label: str) -> dict[str, Any] | None:
    """Return the figures of an entry, and the positions that cost it most; None if it has not been reviewed."""
    boards = store.last().boards
    found: list[Judged] = []
    for number, sheet in enumerate(boards):
        if label in sheet.labels:
            found += read_decisions(store, "board = ? AND entry = ?", [number, sheet.labels.index(label)])
    if not found:
        return None
    review = sum_up(0, label, found, read_alike(store))
    interval = figures.between(*[None if bound is None else figures.figure(bound) for bound in (review.low, review.high)])
    summary = (
        f"{review.decisions:,} decisions lost {figures.figure(review.loss)} each on average (95 % interval {interval}); "
        f"{figures.share(review.best)} were the best action, {review.grades[DECISIVE]:,} were decisive mistakes; "
        f"{figures.share(review.without)} have no verdict."
    )
    if not review.judged:
        summary = f"None of {figures.amount(review.decisions, 'decision')} has a verdict; {review.estimated:,} have an estimate."
    positions = [
        {
            "position": one.position,
            "action": one.action,
            "best": one.best,
            "grade": one.grade,
            "lost": one.total,
            "games": one.times,
            "match": one.match,
            "number": one.number,
        }
        for one in review.worst[:POSITIONS_SHOWN]
    ]
    return {"summary": summary, "positions": positions}


def review_board(store: Store, board: int) -> list[dict[str, Any]] | None:
    """Return a row for each reviewed entry of a board, for leaderboards and reports; None without reviewed entries.

    If an agent plays both with and without its option `disguise`, the row of the entry with this option has the gap: the loss of
    this entry in a match, minus the loss of the other entry.
    """
    rows: list[dict[str, Any]] = []
    sheet = store.last().boards[board]
    gaps, alike = find_gaps(store, board, sheet), read_alike(store)
    for entry, label in enumerate(sheet.labels):
        found = read_decisions(store, "board = ? AND entry = ?", [board, entry])
        if found:
            review = sum_up(board, label, found, alike)
            gap = gaps.get(entry)
            bounds = [None if bound is None else figures.figure(bound) for bound in (gap.low, gap.high)] if gap else [None, None]
            worst = review.worst[0] if review.worst else None
            rows.append(
                {
                    "Agent": label,
                    "Loss per decision": review.loss,
                    "95 %": None
                    if review.low is None or review.high is None
                    else f"{figures.figure(review.low)} to {figures.figure(review.high)}",
                    **({"Gap per match": gap and gap.difference, "95 % (gap)": figures.between(*bounds)} if gaps else {}),
                    "Best": figures.share(review.best),
                    "Decisive mistakes": review.grades[DECISIVE],
                    "No verdict": figures.share(review.without),
                    "Costliest position": None if worst is None else worst.position,
                    "Played": None if worst is None else worst.action,
                    "Best there": None if worst is None else worst.best,
                }
            )
    return rows or None
