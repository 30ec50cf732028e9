"""The verdict on a comparison, as a sentence that begins with the significant differences."""

from collections.abc import Sequence
from typing import NamedTuple

from arena.api.results import figures
from arena.stats import SIGNIFICANCE_LEVEL
from arena_compare.comparison import TOO_FEW_ROUNDS, GamesComparison
from arena_compare.puzzle_comparison import Means, PuzzleComparison

MIN_TOLD_P_VALUE = 1e-15
"""The smallest p-value that is shown as a number. P-values are computed as 1 minus a likelihood, which has about 16 digits."""
EVERYWHERE = "everywhere"
"""Takes the place of an interval if all positions have the same difference."""
BOTH = "The games between the two and the ratings of the whole leaderboard"

UNLIKE_PAR2 = (
    "In PAR2, an unsolved position counts as twice the limit of the entry itself. So PAR2 does not compare entries whose limits "
    "differ: an entry with a small limit pays little for an unsolved position."
)
"""Follows figures of PAR2 with different limits."""


def join_sentences(sentences: Sequence[str]) -> str:
    """Return sentences as one text. The remark on a failure ends with the message of an exception, which may lack a full stop.

    >>> join_sentences(["ada failed once by exception: ValueError: odd (ada.py:7)", "Void matches are left out (3)."])
    'ada failed once by exception: ValueError: odd (ada.py:7). Void matches are left out (3).'
    """
    return " ".join([sentence if sentence.endswith((".", "!", "?")) else f"{sentence}." for sentence in sentences])


def percentage_points(difference: float) -> str:
    """Return the difference between two shares as text, in percentage points with one decimal, as in tables."""
    return signed_points(difference).removeprefix("+")


def signed_points(difference: float, decimals: int = 1) -> str:
    """Return the difference between two shares in percentage points as text, with its sign; 0 is written with a +."""
    return figures.elo(100 * difference, decimals)


def p_value_text(value: float) -> str:
    """Return a p-value as text. The text is never 0, because no test gives a p-value of 0."""
    plain = f"p = {round_p_value(value)}" if value >= 0.0001 else f"p = {value:.0e}"
    return plain if value >= MIN_TOLD_P_VALUE else f"p < {MIN_TOLD_P_VALUE:g}"


def round_p_value(value: float) -> str:
    """Return a p-value with two digits. Errors of rounding are removed first, so that equal p-values of different tests look
    alike.

    >>> round_p_value(0.0625), round_p_value(0.0625 + 1e-15), round_p_value(0.0625 - 1e-15)
    ('0.063', '0.063', '0.063')
    """
    return figures.figure(float(f"{value:.12g}"), 2) if value >= 0.0001 else f"{value:.2g}"


def p_value_words(p_value: float, test: str, untested: str = TOO_FEW_ROUNDS) -> str:
    """Return a corrected p-value as text, with the name of the test; without a test, the reason why there is none."""
    return f"{p_value_text(p_value)} by {test}" if test else f"no test, because {untested}"


def interval_name(*, corrected: bool) -> str:
    """Return what an interval is called. A corrected interval has the level at which Holm's method tests the difference, so it is
    wider than a 95 % interval, which is right for a single one.
    """
    return "corrected interval" if corrected else "95 % interval"


# Games


def games_verdict(found: GamesComparison) -> str:
    """Return a sentence that says which of two entries is better by their ratings, or that they cannot be told apart."""
    worth, lead = found.worth, found.table.elo or 0.0
    if worth is not None and found.direct is None:  # without other entries, the ratings say what the score says
        lead = worth.score - 0.5
    ahead, behind = (found.one, found.other) if lead >= 0 else (found.other, found.one)
    measure = f"{figures.elo(abs(lead))} Elo by the ratings of the leaderboard"
    if worth is not None and found.direct is None:
        measure = f"{figures.share(max(worth.score, 1 - worth.score))} of the points"
    if found.verdict is not None:
        unclear = "" if found.better else f"{found.one} and {found.other} cannot be told apart: "
        return f"{unclear}by the sequential test, {found.verdict}." if unclear else f"By the sequential test, {found.verdict}."
    said = p_value_words(found.p_value_holm, found.test, found.untested)
    if found.better:
        return f"{ahead} is better than {behind}: {measure}, {said}."
    return f"{found.one} and {found.other} cannot be told apart: {measure} for {ahead}, {said}."


def advice(found: GamesComparison) -> str | None:
    """Return advice if the games between two entries and their ratings from all games of the board decide differently.

    Return None if they agree, or if neither decides: then a difference between the two may be chance.
    """
    if found.direct is None or found.direct.better == found.better:
        return None
    winner, loser = (found.one, found.other) if found.direct.better > 0 else (found.other, found.one)
    leader = found.one if found.better > 0 else found.other
    if found.direct.better and found.better:
        return f"{BOTH} disagree: choose {winner} to play against {loser}, but {leader} to play against a field like this board."
    if found.direct.better:
        return (
            "Only the games between the two tell them apart; the ratings of the whole leaderboard do not. "
            f"So choose {winner} to play against {loser}."
        )
    return (
        "Only the ratings of the whole leaderboard tell them apart; the games between the two do not. "
        f"So choose {leader} to play against a field like this board."
    )


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


def puzzle_verdict(found: PuzzleComparison, *, tests: int, brief: bool = False) -> str:
    """Return a sentence with the significant differences between two entries, beginning with the solved share. The figures
    without a significant difference come last; if it is `brief`, they are left out. `tests` is the number of tests for which the
    board is corrected.

    A single observation has no such differences. For it, the sentence says what happened, and why this is no verdict.
    """
    if found.observations == 1:
        return _describe_one_attempt(found)
    unit = "rounds" if found.positions == 1 else "positions"
    same = not found.solved.only_one and not found.solved.only_other
    alike = f"both solved {'the same' if found.solved.both else 'none of the'} {unit}"
    said = alike if same else p_value_words(found.p_value_holm, found.test)
    every = (
        Aspect("the cost of solutions", found.cost, False, "finds", "solutions {} cheaper", "solutions {} dearer"),
        Aspect("solution length", found.moves, False, "finds", "solutions {} moves shorter", "solutions {} moves longer"),
        Aspect("nodes", found.nodes, True, "takes", "{} times fewer nodes", "{} times as many nodes"),
        Aspect("time", found.seconds, True, "takes", "{} times less time", "{} times as much time"),
    )
    aspects = [aspect for aspect in every if aspect.means is not None]
    solves = found.p_value_holm <= SIGNIFICANCE_LEVEL
    low, high = found.low, found.high
    leads = [found.difference] if solves else []
    leads += [side for aspect in aspects if (side := _side(aspect))]
    named = interval_name(corrected=tests > 1)
    unsettled, last = [], named if leads else ""  # the name is repeated only if another kind of interval comes between
    if not solves and low is not None and high is not None:
        last = interval_name(corrected=tests > 1 and bool(found.test))
        prefix = "" if leads and last == named else f"{last} "
        unsettled.append(f"what they solve ({prefix}{signed_points(low)} to {signed_points(high)} points, {said})")
    elif not solves:
        unsettled.append(f"what they solve ({signed_points(found.difference)} points, {said})")
    for aspect in aspects:
        if not _side(aspect):
            bounded = aspect.means is not None and aspect.means.estimate.low is not None
            unsettled.append(f"{aspect.name} ({f'{named} ' if bounded and last != named else ''}{_interval(aspect, unit)})")
            last = named if bounded else last
    rest = _joined(unsettled, "or")
    where = "in the rounds" if unit == "rounds" else "on the positions"
    if not leads:
        return f"{found.one} and {found.other} cannot be told apart by {rest}."
    flip = leads[0] < 0
    claims = [_claim(aspect, flip=flip) for aspect in aspects if _side(aspect)]
    one, other = (found.other, found.one) if flip else (found.one, found.other)
    if solves and low is not None and high is not None:
        low, high = (-high, -low) if flip else (low, high)
        more = f"{percentage_points(low)} to {percentage_points(high)} points more"
        text = f"{one} solves {more} than {other} ({named}), {said}"
        text += f"; {where} that both solve, it {_listed(claims)}" if claims else ""
    else:
        interval = claims[0].interval if claims[0].interval == EVERYWHERE else f"{named} {claims[0].interval}"
        first = Claim(claims[0].verb, f"{claims[0].words} than {other}", interval)
        text = f"{where.capitalize()} that both solve, {one} {_listed([first, *claims[1:]])}"
    return f"{text}. They cannot be told apart by {rest}." if rest and not brief else f"{text}."


def _describe_one_attempt(found: PuzzleComparison) -> str:
    solved, rounds = found.solved, found.solved.rounds
    alone = found.one if solved.only_one else found.other if solved.only_other else None
    result = f"only {alone} solved it" if alone else "both solved it" if solved.both else "neither solved it"
    known = [(name, means) for name, means in (("cost", found.cost), ("moves", found.moves), ("nodes", found.nodes)) if means]
    amounts = [f"{name} {figures.figure(means.one)} and {figures.figure(means.other)}" for name, means in known]
    why = "each has one attempt" if rounds == 1 else f"their {rounds:,} rounds only repeat a single attempt by each"
    result += f" ({', '.join(amounts)})" if amounts else ""
    return f"{found.one} and {found.other} cannot be told apart, because {why} at one position: {result}."


def _listed(claims: Sequence[Claim]) -> str:
    """Join claims into one predicate, in which no verb is repeated."""
    verbs = [None, *[claim.verb for claim in claims]]
    said = ["" if claim.verb == before else f"{claim.verb} " for claim, before in zip(claims, verbs, strict=False)]
    return _joined([f"{verb}{claim.words} ({claim.interval})" for verb, claim in zip(said, claims, strict=True)])


def _side(aspect: Aspect) -> int:
    """Return 1 if `one` is significantly better, -1 if the other entry is, otherwise 0."""
    assert aspect.means is not None
    return aspect.means.better


def _claim(aspect: Aspect, *, flip: bool) -> Claim:
    assert aspect.means is not None
    side, estimate = _side(aspect), aspect.means.estimate
    better = (side > 0) != flip
    known = [value for value in (estimate.low, estimate.value, estimate.high) if value is not None]
    bounds = sorted([1 / one if side > 0 else one for one in known] if aspect.ratio else map(abs, known))
    value = bounds[len(bounds) // 2]
    interval = EVERYWHERE if len(known) == 1 else f"{figures.figure(bounds[0])} to {figures.figure(bounds[-1])}"
    words = (aspect.less if better else aspect.more).format(figures.figure(value))
    return Claim(aspect.verb, words, interval)


def _joined(parts: Sequence[str], last: str = "and") -> str:
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _interval(aspect: Aspect, unit: str) -> str:
    """Return the interval in words. `unit` names the observations: positions, or rounds if all start from one position."""
    assert aspect.means is not None
    estimate, text = aspect.means.estimate, figures.figure if aspect.ratio else figures.signed
    if aspect.means.test is None:
        return "equal everywhere" if estimate.value == (1.0 if aspect.ratio else 0.0) else f"only one {unit[:-1]}"
    if estimate.low is None or estimate.high is None:
        return f"too few {unit}"
    return f"{'x ' if aspect.ratio else ''}{text(estimate.low)} to {text(estimate.high)}"
