"""The verdict on a comparison, as a sentence that begins with the significant differences."""

from collections.abc import Sequence
from typing import NamedTuple

from arena.api.results import figures
from arena.stats import EloEstimate
from arena_compare.comparison import GamesComparison
from arena_compare.puzzle_comparison import Means, PuzzleComparison

SIGNIFICANCE_LEVEL = 0.05
"""The significance level of a difference."""
MIN_TOLD_P_VALUE = 1e-15
"""The smallest p-value that is shown as a number. P-values are computed as 1 minus a likelihood, which has about 16 digits."""
BOTH = "The games between the two and the ratings of the whole leaderboard"


def percentage_points(difference: float) -> str:
    """Return the difference between two shares as text, in whole percentage points."""
    return f"{round(100 * difference) + 0:d}"


def p_value_text(value: float) -> str:
    """Return a p-value as text. The text is never 0, because no test gives a p-value of 0."""
    plain = f"p = {value:.2g}" if value >= 0.0001 else f"p = {value:.0e}"
    return plain if value >= MIN_TOLD_P_VALUE else f"p < {MIN_TOLD_P_VALUE:g}"


# Games


def games_verdict(found: GamesComparison, p_value: float, said: str) -> str:
    """Return a sentence that says which of two entries is better, or that the games do not decide it.

    The `p_value` may be corrected for several comparisons; `said` is its text.
    """
    worth, table = found.worth, found.table
    lead = worth.score - 0.5 if worth is not None else 0.0 if table is None else table.elo or 0.0
    ahead, behind = (found.one, found.other) if lead >= 0 else (found.other, found.one)
    measure = f"{figures.elo(abs(lead))} Elo by the ratings of the leaderboard"
    if worth is not None:
        measure = f"{figures.share(max(worth.score, 1 - worth.score))} of the points"
    if p_value <= SIGNIFICANCE_LEVEL and lead and (worth is None or _clear(worth)):
        return f"{ahead} is better than {behind}: {measure}, {said}."
    return f"{found.one} and {found.other} cannot be told apart: {measure} for {ahead}, {said}."


def _clear(worth: EloEstimate) -> bool:
    """Return True if the interval of a score does not contain one half. With few pairs, the interval may contain one half
    although the p-value is small.
    """
    low, high = worth.score_low, worth.score_high
    return low is None or high is None or not low <= 0.5 <= high


def advice(found: GamesComparison, p_value: float) -> str | None:
    """Return advice if two results disagree: the result of the games between two entries, and their ratings from all games on the
    board.

    Return None if the two results agree, or if one of them is missing.
    """
    if found.worth is None or found.table is None or found.table.elo is None:
        return None
    direct, board = found.worth.score - 0.5, found.table.elo
    low, high = found.table.low, found.table.high
    beyond_noise = (low is not None and low > 0) or (high is not None and high < 0)
    sure = p_value <= SIGNIFICANCE_LEVEL and _clear(found.worth), beyond_noise
    winner, loser = (found.one, found.other) if direct > 0 else (found.other, found.one)
    leader = found.one if board > 0 else found.other
    apart = direct * board < 0
    if sure == (True, True) and apart:
        return f"{BOTH} disagree: choose {winner} to play against {loser}, but {leader} to play against a field like this board."
    if sure == (True, False):
        return (
            "Only the games between the two tell them apart; the ratings of the whole leaderboard do not. "
            f"So choose {winner} to play against {loser}."
        )
    if sure == (False, True):
        return (
            "Only the ratings of the whole leaderboard tell them apart; the games between the two do not. "
            f"So choose {leader} to play against a field like this board."
        )
    return f"{BOTH} disagree, and both may be chance: play more rounds before you choose." if apart else None


# Puzzles


class Aspect(NamedTuple):
    """A figure about solutions, with the words that describe it. Lower values are better."""

    name: str
    means: Means | None
    ratio: bool
    verb: str
    less: str
    more: str


class Claim(NamedTuple):
    """A significant difference, as seen by the entry that is the subject of the sentence."""

    verb: str
    words: str
    interval: str


def puzzle_verdict(found: PuzzleComparison, p_value: float, said: str) -> str:
    """Return a sentence with the significant differences between two entries, beginning with the solved share. The figures
    without a significant difference come last.

    The `p_value` for the solved shares may be corrected for several comparisons; `said` is its text.
    """
    every = (
        Aspect("the cost of solutions", found.cost, False, "finds", "solutions {} cheaper", "solutions {} dearer"),
        Aspect("solution length", found.moves, False, "finds", "solutions {} moves shorter", "solutions {} moves longer"),
        Aspect("nodes", found.nodes, True, "takes", "{} times fewer nodes", "{} times as many nodes"),
        Aspect("time", found.seconds, True, "takes", "{} times less time", "{} times as much time"),
    )
    aspects = [aspect for aspect in every if aspect.means is not None]
    solves = p_value <= SIGNIFICANCE_LEVEL
    points = f"{percentage_points(found.low)} to {percentage_points(found.high)} points"
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
        more = f"{percentage_points(low)} to {percentage_points(high)} points more"
        text = f"{one} solves {more} than {other} (95 %), {said}"
        text += f"; on the positions that both solve, it {_listed(claims)}" if claims else ""
    else:
        first = Claim(claims[0].verb, f"{claims[0].words} than {other}", f"95 % interval {claims[0].interval}")
        text = f"On the positions that both solve, {one} {_listed([first, *claims[1:]])}"
    return f"{text}. They cannot be told apart by {rest}." if rest else f"{text}."


def _listed(claims: Sequence[Claim]) -> str:
    """Join claims into one predicate, in which no verb is repeated."""
    verbs = [None, *[claim.verb for claim in claims]]
    said = ["" if claim.verb == before else f"{claim.verb} " for claim, before in zip(claims, verbs, strict=False)]
    return _joined([f"{verb}{claim.words} ({claim.interval})" for verb, claim in zip(said, claims, strict=True)])


def _side(aspect: Aspect) -> int:
    """Return 1 if `one` is significantly better, -1 if the other entry is, otherwise 0."""
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
