"""The verdict of a comparison, in a sentence that begins with what differs beyond noise."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from arena.api.results import figures
from arena.stats import EloEstimate
from arena_compare.comparison import GamesComparison
from arena_compare.puzzle_comparison import Means, PuzzleComparison

if TYPE_CHECKING:
    pass

SIGNIFICANCE_LEVEL = 0.05
"""The significance level of a difference."""


# Games


def games_verdict(found: GamesComparison, p_value: float, said: str) -> str:
    """Return which of two entries is better, or that they cannot be told apart.

    The `p_value` may be corrected for several; `said` is its text.
    """
    worth, table = found.worth, found.table
    lead = worth.score - 0.5 if worth is not None else 0.0 if table is None else table.elo
    ahead, behind = (found.one, found.other) if lead >= 0 else (found.other, found.one)
    measure = f"{figures.elo(abs(lead))} Elo by all games of the board"
    if worth is not None:
        measure = f"{figures.share(max(worth.score, 1 - worth.score))} of the points"
    if p_value <= SIGNIFICANCE_LEVEL and lead and (worth is None or _clear(worth)):
        return f"{ahead} is better than {behind}: {measure}, {said}."
    return f"{found.one} and {found.other} cannot be told apart: {measure} for {ahead}, {said}."


def _clear(worth: EloEstimate) -> bool:
    """Tell whether the interval of a score leaves out the half: with few pairs the p-value may be small though it does not."""
    low, high = worth.score_low, worth.score_high
    return low is None or high is None or not low <= 0.5 <= high


def advice(found: GamesComparison, p_value: float) -> str | None:
    """Return which of two answers to act on where the games between two entries say another than all games of their board.

    None where both say the same, or there is one answer alone.
    """
    if found.worth is None or found.table is None:
        return None
    direct, board = found.worth.score - 0.5, found.table.elo
    low, high = found.table.low, found.table.high
    beyond_noise = (low is not None and low > 0) or (high is not None and high < 0)
    sure = p_value <= SIGNIFICANCE_LEVEL and _clear(found.worth), beyond_noise
    winner, loser = (found.one, found.other) if direct > 0 else (found.other, found.one)
    leader = found.one if board > 0 else found.other
    apart = direct * board < 0
    if sure == (True, True) and apart:
        return f"The two point opposite ways: take {winner} to meet {loser}, and {leader} to meet a field like this board's."
    if sure == (True, False):
        return f"Only the games between them tell them apart: take {winner} to meet {loser}; by the board neither is better."
    if sure == (False, True):
        return f"Only the whole board tells them apart: take {leader} to meet a field like it; between the two it is open."
    return "The two point opposite ways, neither beyond noise: play more rounds before you act on either." if apart else None


# Puzzles


class Aspect(NamedTuple):
    """A figure of solutions, of which less is better, and the words for it."""

    name: str
    means: Means | None
    ratio: bool
    verb: str
    less: str
    more: str


class Claim(NamedTuple):
    """A difference beyond noise, from the side of the entry that is the subject of the sentence."""

    verb: str
    words: str
    interval: str


def puzzle_verdict(found: PuzzleComparison, p_value: float, said: str) -> str:
    """Return what differs beyond noise between two entries, the solved share first, and then what does not.

    The `p_value`, of the solved shares, may be corrected for several; `said` is its text.
    """
    every = (
        Aspect("the cost of solutions", found.cost, False, "finds", "solutions {} cheaper", "solutions {} dearer"),
        Aspect("solution length", found.moves, False, "finds", "solutions {} moves shorter", "solutions {} moves longer"),
        Aspect("nodes", found.nodes, True, "takes", "{} times fewer nodes", "{} times as many nodes"),
        Aspect("time", found.seconds, True, "takes", "{} times less time", "{} times as much time"),
    )
    aspects = [aspect for aspect in every if aspect.means is not None]
    solves = p_value <= SIGNIFICANCE_LEVEL
    points = f"{figures.percentage_points(found.low)} to {figures.percentage_points(found.high)} points"
    unsettled = [] if solves else [f"what they solve ({points}, {said})"]
    unsettled += [f"{aspect.name} ({_interval(aspect)})" for aspect in aspects if not _side(aspect)]
    rest = _joined(unsettled, "or")
    leads = [found.difference] if solves else []
    leads += [side for aspect in aspects if (side := _side(aspect))]
    if not leads:
        return f"{found.one} and {found.other} cannot be told apart by {rest}."
    flip = leads[0] < 0
    claims = [_claim(aspect, flip=flip) for aspect in aspects if _side(aspect)]
    one, other = (found.other, found.one) if flip else (found.one, found.other)
    if solves:
        low, high = (-found.high, -found.low) if flip else (found.low, found.high)
        more = f"{figures.percentage_points(low)} to {figures.percentage_points(high)} points more"
        text = f"{one} solves {more} than {other} (95 %), {said}"
        text += f", and where both solve it {_listed(claims)}" if claims else ""
    else:
        first = Claim(claims[0].verb, f"{claims[0].words} than {other}", f"{claims[0].interval}, 95 %")
        text = f"Where both solve, {one} {_listed([first, *claims[1:]])}"
    return f"{text}. They cannot be told apart by {rest}." if rest else f"{text}."


def _listed(claims: Sequence[Claim]) -> str:
    """The claims as one predicate; a verb is not said twice in a row."""
    verbs = [None, *[claim.verb for claim in claims]]
    said = ["" if claim.verb == before else f"{claim.verb} " for claim, before in zip(claims, verbs, strict=False)]
    return _joined([f"{verb}{claim.words} ({claim.interval})" for verb, claim in zip(said, claims, strict=True)])


def _side(aspect: Aspect) -> int:
    """1 where the one is better beyond noise, -1 where the other is, else 0."""
    assert aspect.means is not None
    low, high, level = aspect.means.estimate.low, aspect.means.estimate.high, 1.0 if aspect.ratio else 0.0
    return 0 if low is None or high is None else 1 if high < level else -1 if low > level else 0


def _claim(aspect: Aspect, *, flip: bool) -> Claim:
    assert aspect.means is not None
    estimate = aspect.means.estimate
    assert estimate.low is not None
    assert estimate.high is not None
    better = (_side(aspect) > 0) != flip
    values = [estimate.low, estimate.value, estimate.high]
    if aspect.ratio:
        low, value, high = sorted([1 / one if _side(aspect) > 0 else one for one in values])
    else:
        low, value, high = sorted(map(abs, values))
    words = (aspect.less if better else aspect.more).format(figures.figure(value))
    return Claim(aspect.verb, words, f"{figures.figure(low)} to {figures.figure(high)}")


def _joined(parts: Sequence[str], last: str = "and") -> str:
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _interval(aspect: Aspect) -> str:
    assert aspect.means is not None
    estimate, text = aspect.means.estimate, figures.figure if aspect.ratio else figures.signed
    if estimate.low is None or estimate.high is None:
        return "too few positions"
    if estimate.low == estimate.high == (1.0 if aspect.ratio else 0.0):
        return "equal everywhere"
    return f"{'x ' if aspect.ratio else ''}{text(estimate.low)} to {text(estimate.high)}"
