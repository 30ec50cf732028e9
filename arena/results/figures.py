"""Figures as text: one function for each kind of number, used by tables, sentences, reports and pages.

The functions `figure`, `worth` and `duration` of `extensions/arena_web/views/static/dom.js` give the same texts as those here.
"""

from decimal import ROUND_HALF_UP, Context, Decimal
from math import floor

NONE = "-"
"""The text for a missing figure."""
MIN_PLAIN_MAGNITUDE = Decimal("1e-7")
"""The least magnitude that is written without an exponent."""
MIN_TOLD_P_VALUE = 1e-15
"""The smallest p-value that is shown as a number: it is 1 less a likelihood, which has 16 digits."""
MIN_PLIES_NOT_TOLD = 2000
"""The number of plies from which on a value near 1 is not shown as a win."""
EVERY_DIGIT = Context(prec=400)
"""Enough digits for every float."""


def figure(value: float | None, digits: int = 3) -> str:
    """A finite number with `digits` significant digits; without decimals from 1,000 up, with an exponent below 1e-7.

    Zeros at the end of decimals are left out. Halves are rounded away from 0, as JavaScript does it.
    """
    if value is None:
        return NONE
    exact = Decimal(value)
    decimals = max(0, digits - 1 - exact.adjusted()) if abs(exact) < 1000 else 0
    rounded = _rounded(value, decimals)
    if not rounded:
        return "0"
    if abs(rounded) < MIN_PLAIN_MAGNITUDE:
        return f"{rounded.normalize():e}"
    text = f"{rounded:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed(value: float, digits: int = 3) -> str:
    """Return a figure with its sign; 0 has a +."""
    text = figure(value, digits)
    return text if text.startswith("-") else f"+{text}"


def duration(seconds: float | None) -> str:
    """Return a time in as few words as possible."""
    if seconds is None:
        return NONE
    if seconds < 0.001:
        return f"{_rounded(seconds * 1e6, 0)} µs"
    if seconds < 1:
        return f"{_rounded(seconds * 1e3, 1 if seconds < 0.1 else 0)} ms"
    return f"{_rounded(seconds, 2)} s" if seconds < 100 else f"{_rounded(seconds, 0):,} s"


def worth(value: float) -> str:
    """A value of a search: a win in n plies is 1 - n * 1e-6."""
    plies = floor((1 - abs(value)) * 1e6 + 0.5)
    if abs(value) <= 1 and plies < MIN_PLIES_NOT_TOLD:
        return f"{'win' if value > 0 else 'loss'}{f' in {plies}' if plies else ''}"
    return figure(value, 4)


def _rounded(value: float, decimals: int) -> Decimal:
    return Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, EVERY_DIGIT)


def count(value: float | None) -> str:
    """Return a whole number with its thousands separated."""
    return NONE if value is None else f"{value:,.0f}"


def score(value: float | None) -> str:
    """Return points, which may have halves and quarters, exactly."""
    return NONE if value is None else f"{value + 0.0:g}"


def share(value: float | None, decimals: int = 1) -> str:
    """A share of 1 as a percentage."""
    return NONE if value is None else f"{fixed(100 * value, decimals)} %"


def elo(value: float | None, decimals: int = 0) -> str:
    """Return Elo with its sign; 0 has a +."""
    return NONE if value is None else f"{round(value, decimals) + 0.0:+.{decimals}f}"


def fixed(value: float, decimals: int) -> str:
    """Return a number with this number of `decimals`; zero has no sign."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def between(low: str | None, high: str | None) -> str:
    """Return an interval with these bounds, None for an open end."""
    if low is None and high is None:
        return NONE
    return f"above {low}" if high is None else f"below {high}" if low is None else f"{low} to {high}"


def percentage_points(difference: float) -> str:
    """A difference of two shares in whole percentage points."""
    return f"{round(100 * difference) + 0:d}"


def likelihood(value: float) -> str:
    """Return a likelihood of superiority, which is never shown as certain."""
    return "above 99.9 %" if value > 0.999 else "below 0.1 %" if value < 0.001 else share(value)


def p_value(value: float) -> str:
    """Return a p-value, never as 0, which no test gives."""
    return (
        f"p = {value:.2g}"
        if value >= 0.0001
        else f"p = {value:.0e}"
        if value >= MIN_TOLD_P_VALUE
        else f"p < {MIN_TOLD_P_VALUE:g}"
    )


def elo_interval(low: float | None, high: float | None) -> str:
    """Return the interval of an Elo difference in brackets; empty without an interval."""
    least, most = (None if bound is None else elo(bound) for bound in (low, high))
    return "" if least is None and most is None else f" ({between(least, most)}, 95 %)"
