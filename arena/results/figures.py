"""Turns numbers into text. There is one function for each kind of number; tables, sentences, reports and pages use them.

The functions `figure`, `worth` and `duration` of `extensions/arena_web/views/static/dom.js` return the same texts.
"""

from decimal import ROUND_HALF_UP, Context, Decimal
from math import floor, isfinite

from arena import errors


class Figure(str):
    """A cell with a number, or with words that arena writes about numbers. Labels and other texts of users are plain strings, so
    that tables do not let them become formulas in a spreadsheet.

    >>> elo(-35), isinstance(elo(-35), Figure)
    ('-35', True)
    """

    __slots__ = ()


NONE = Figure("-")
"""The text for a missing figure."""
MIN_PLAIN_MAGNITUDE = Decimal("1e-7")
"""The smallest magnitude that is written without an exponent."""
MIN_LARGE_MAGNITUDE = Decimal("1e16")
"""The smallest large magnitude that is written with an exponent, also in a column whose other cells are smaller: all digits of
smaller numbers are known, while a float has no digits for all units of larger ones. Counts are smaller.
"""
MAX_WIN_PLIES = 2000
"""If a win takes more plies, its value is shown as a number."""
WIN_ROUNDING = 1e-9
"""A proven value that differs by less from 1 or -1 is a win or a loss."""
EVERY_DIGIT = Context(prec=400)
"""Enough digits to write every float exactly."""


def figure(value: float | Decimal | None, digits: int = 3) -> Figure:
    """Return a finite number with `digits` significant digits: without decimals if 1,000 or more, with an exponent if below 1e-7
    or at least 1e16.

    Zeros at the end of decimals are left out. Halves are rounded away from 0, as in JavaScript.
    """
    if value is None:
        return NONE
    exact = Decimal(value)
    large = abs(exact) >= MIN_LARGE_MAGNITUDE
    decimals = digits - 1 - exact.adjusted()
    decimals = decimals if large else max(0, decimals) if abs(exact) < 1000 else 0
    rounded = _rounded(value, decimals)
    if not rounded:
        return Figure("0")
    if large or abs(rounded) < MIN_PLAIN_MAGNITUDE:
        return Figure(f"{rounded.normalize():e}")
    text = f"{rounded:,f}"
    return Figure(text.rstrip("0").rstrip(".") if "." in text else text)


def signed(value: float, digits: int = 3) -> Figure:
    """Return a figure with its sign; 0 is written with a +."""
    text = figure(value, digits)
    return text if text.startswith("-") else Figure(f"+{text}")


def duration(seconds: float | None) -> str:
    """Return a time as a short text."""
    if seconds is None:
        return NONE
    if seconds < 0.001:
        return f"{_rounded(seconds * 1e6, 1 if 5e-8 <= seconds < 1e-5 else 0)} µs"
    if seconds < 1:
        return f"{_rounded(seconds * 1e3, 1 if seconds < 0.1 else 0)} ms"
    return f"{_rounded(seconds, 2)} s" if seconds < 100 else f"{_rounded(seconds, 0):,} s"


def worth(value: float, *, exact: bool) -> str:
    """Return the value that a search reports, as text. Only a value that is proven (`exact`) is called a win or a loss.

    A win in n plies has exactly the value 1 - n * 1e-6. Other returns, which searches discount far less, are numbers.
    """
    size = abs(value)
    plies = floor((1 - size) * 1e6 + 0.5) if size < 2 else -1  # a search may report any finite number
    if exact and 0 <= plies <= MAX_WIN_PLIES and (size == 1 - plies * 1e-6 or 1 - size < WIN_ROUNDING):
        return f"{'win' if value > 0 else 'loss'}{f' in {plies}' if plies else ''}"
    return figure(value, 4)


def _rounded(value: float | Decimal, decimals: int) -> Decimal:
    return Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, EVERY_DIGIT)


def count(value: float | None) -> Figure:
    """Return a whole number with separators between thousands."""
    return NONE if value is None else Figure(f"{value:,.0f}")


def amount(number: float, noun: str) -> str:
    """Return a whole number with its noun in the singular or plural.

    >>> amount(1, "game"), amount(2500, "game"), amount(0, "match"), amount(2, "entry")
    ('1 game', '2,500 games', '0 matches', '2 entries')
    """
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{count(number)} {noun}"


listing = errors.listing


def score(value: float | None) -> Figure:
    """Return points without rounding; these may have halves and quarters."""
    return NONE if value is None else Figure(f"{value + 0.0:g}")


def share(value: float | None, decimals: int = 1) -> Figure:
    """Return a share, from 0 to 1, as a percentage."""
    if value is None:
        return NONE
    percent = 100 * Decimal(value)  # in floats, it may be infinite
    return Figure(f"{figure(percent) if abs(percent) >= MIN_LARGE_MAGNITUDE else fixed(100 * value, decimals)} %")


def elo(value: float | None, decimals: int = 0) -> Figure:
    """Return a number of Elo with its sign; 0 is written with a +. Halves are rounded away from 0."""
    if value is None:
        return NONE
    rounded = _rounded(value, decimals) if isfinite(value) else value
    return Figure(f"{rounded or 0:+.{decimals}f}")


def fixed(value: float, decimals: int) -> str:
    """Return a number with `decimals` decimals. Zero has no sign."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def between(low: str | None, high: str | None) -> Figure:
    """Return an interval with these bounds as text; None stands for an open end."""
    if low is None and high is None:
        return NONE
    return Figure(f"above {low}" if high is None else f"below {high}" if low is None else f"{low} to {high}")


def likelihood(value: float) -> str:
    """Return a likelihood of superiority. The text never says 100 % or 0 %."""
    return "above 99.9 %" if value > 0.999 else "below 0.1 %" if value < 0.001 else share(value)


def elo_interval(low: float | None, high: float | None, name: str = "95 % interval") -> str:
    """Return the interval of an Elo difference in brackets, with its `name`; an empty text without an interval."""
    least, most = (None if bound is None else elo(bound) for bound in (low, high))
    return "" if least is None and most is None else f" ({name} {between(least, most)})"


def span(seconds: float) -> str:
    """Return a time as people write it: `42 s`, `3 min 20 s`, `2 h 5 min`, `4 d 2 h`."""
    whole = round(seconds)
    for unit, size, smaller, part in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {unit} {rest} {smaller}" if rest else f"{whole // size} {unit}"
    return f"{whole} s"
