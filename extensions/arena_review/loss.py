"""The measure of `arena compare --by loss`: the sum of the losses of an entry in a match, according to its review."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from shlex import quote
from statistics import fmean, variance

from arena.api.errors import StoreError
from arena.api.games import Returns
from arena.api.results import BoardInfo, Comparison, Measured, figures, tallies_of
from arena.api.store import Store
from arena_compare.comparison import choose
from arena_compare.measures import MeanComparison, compare_means, find_partial, gather_values
from arena_review.kept import Kept, place_of

MAX_SHARE_WITHOUT = 0.2
"""If more than this share of the decisions of an entry has no verdict, the result of a comparison with this entry is withheld."""
MIN_ROUNDS = 5
"""The smallest number of rounds for an estimate of how many games a comparison by returns would need."""


def open_review(store: Store) -> Kept:
    """Open the review of a store; raises StoreError for a store that was not reviewed."""
    place = place_of(store.path)
    if not place.is_file():
        raise StoreError(f"{store.path} has no review yet; try: arena review {quote(str(store.path))}")
    return Kept(place, write=False)


def read_losses(store: Store) -> Iterator[Measured]:
    """Yield the loss of each entry in each reviewed match. It is the sum of the losses, in returns, over the decisions with a
    verdict: 0 if the entry had no decision. If it had decisions, but none has a verdict, its loss is unknown.
    """
    with open_review(store) as kept:
        losses: dict[tuple[str, int], float | None] = dict.fromkeys(kept.reviewed(), 0.0)
        losses |= {(one.match, one.entry): None for one in kept.decisions()}
        for one in kept.decisions("grade IS NOT NULL AND loss IS NOT NULL"):
            losses[one.match, one.entry] = (losses[one.match, one.entry] or 0.0) + (one.loss or 0.0)
    for match, board, round_, text in store.query(_SEATS):
        seats = Store.seats_of(text)
        for entry in dict.fromkeys(seats):
            lost = losses.get((match.hex(), entry))
            if lost is not None:
                yield Measured(board, round_, entry, lost, seats)


_SEATS = "SELECT r.id, p.board, p.round, p.seats FROM place p JOIN record r ON r.number = p.record"


def explain_losses(store: Store, board: int, found: MeanComparison) -> MeanComparison:
    """Add to a comparison the number of decisions without a verdict, and the number of games that a comparison by returns would
    need for the same certainty.
    """
    labels = store.last().boards[board].labels
    entries = [labels.index(found.one), labels.index(found.other)]
    with open_review(store) as kept:
        decisions = list(kept.decisions("board = ?", [board]))
    shares, fell_out = [], []
    for label, entry in zip((found.one, found.other), entries, strict=True):
        own = [one for one in decisions if one.entry == entry]
        without = sum(one.grade is None for one in own)
        shares.append(without / len(own) if own else 1.0)
        fell_out.append(f"{without:,} of {len(own):,} of {label}")
    remarks = ["Each loss is per match: the sum over the decisions of an entry. `arena review` prints the loss per decision."]
    remarks.append(f"Decisions without a verdict are left out: {fell_out[0]} and {fell_out[1]}.")
    fatal = sum(one.grade is not None and one.loss is None for one in decisions if one.entry in entries)
    if fatal:
        why = (
            f"{figures.amount(fatal, 'decision')} made the puzzle unsolvable, and such a loss is not a number. "
            "`--by solved` compares the results."
        )
        return replace(found, withheld=why, remarks=tuple(remarks))
    if max(shares) > MAX_SHARE_WITHOUT:
        share = figures.share(MAX_SHARE_WITHOUT, 0)
        why = f"more than {share} of one entry's decisions could not be judged."
        if any(one.judge is None for one in decisions if one.entry in entries):
            why += f" `arena review {quote(str(store.path))} --effort N` searches deeper."
        return replace(found, withheld=why, remarks=tuple(remarks))
    worth = find_worth(store, board, entries)
    if worth is not None:
        games = figures.figure(worth, 2)
        remarks.append(f"A comparison by returns instead of losses needs {games} times as many games for the same certainty.")
        if not all(one.exact for one in decisions if one.entry in entries and one.grade is not None):
            remarks.append("Some verdicts are inexact, so this is an estimate.")
    return replace(found, remarks=tuple(remarks))


def find_worth(store: Store, board: int, entries: Sequence[int]) -> float | None:
    """Return the factor by which a comparison by returns needs more games; None if there are too few rounds, if the losses or the
    returns do not vary from round to round, or if the game is not zero-sum for two.

    With an exact judge, the return of a seat in a zero-sum game is the value of the start, plus what the opponent lost, minus
    what the seat itself lost. So the difference of two entries by returns is, apart from the noise from the losses of their
    opponents, their difference by losses times 1 + s. Here s is the share of their games that they play against each other. The
    losses are multiplied by 1 + s. Then the result is the variance of the differences by returns, divided by the variance of the
    differences by losses.
    """
    returns: dict[int, dict[int, list[float]]] = {entry: defaultdict(list) for entry in entries}
    met = {entry: [0, 0] for entry in entries}
    rows = store.query(
        "SELECT p.round, p.seats, r.returns FROM place p JOIN record r ON r.number = p.record WHERE p.board = ?", [board]
    )
    for round_, seats_text, returns_text in rows:
        seats, together = Store.seats_of(seats_text), Store.returns_of(returns_text)
        if len(seats) > 1 and (len(seats) > 2 or abs(sum(together)) > Returns.ZERO_SUM_TOLERANCE):
            return None
        for entry, got in zip(seats, together, strict=True):
            if entry in returns:
                returns[entry][round_].append(got)
                met[entry][0] += 1
                met[entry][1] += set(entries) <= set(seats)
    losses: dict[int, dict[int, list[float]]] = {entry: defaultdict(list) for entry in entries}
    for one in read_losses(store):
        if one.board == board and one.entry in losses:
            losses[one.entry][one.round].append(one.value)
    mine, theirs = entries
    rounds = sorted(losses[mine].keys() & losses[theirs].keys() & returns[mine].keys() & returns[theirs].keys())
    if len(rounds) < MIN_ROUNDS:
        return None
    by_loss = variance([fmean(losses[mine][key]) - fmean(losses[theirs][key]) for key in rounds])
    by_return = variance([fmean(returns[mine][key]) - fmean(returns[theirs][key]) for key in rounds])
    scale = 1.0 + fmean([together / games for games, together in met.values()])
    return by_return / (scale**2 * by_loss) if by_loss > 0 and by_return > 0 else None


def find_gaps(store: Store, board: int, sheet: BoardInfo) -> dict[int, MeanComparison]:
    """Compare the losses of each entry that has the option `disguise` with the losses of its twin, which differs only in this
    option. Their intervals are those of `arena compare --by loss`.
    """
    asked: dict[str, dict[bool, int]] = {}
    for entry, (label, settings) in enumerate(zip(sheet.labels, sheet.settings, strict=False)):
        options = dict(settings["options"])
        disguised = bool(options.pop("disguise", False))
        asked.setdefault(repr([settings["agent"], sorted(options.items()), sheet.limits.get(label)]), {})[disguised] = entry
    pairs = {found[True]: found[False] for found in asked.values() if len(found) == 2}
    if not pairs or not place_of(store.path).is_file():
        return {}
    values = gather_values(Comparison("loss", "", read_losses), store, tallies_of(store, store.last().boards))
    lacking = find_partial(store, values)
    entries = [(label, values[board, entry]) for entry, label in enumerate(sheet.labels)]
    compared = compare_means(entries, partial=[label for entry, label in enumerate(sheet.labels) if (board, entry) in lacking])
    found = {disguised: choose(compared, [sheet.labels[disguised], sheet.labels[plain]]) for disguised, plain in pairs.items()}
    return {entry: gaps[0] for entry, gaps in found.items() if gaps}
