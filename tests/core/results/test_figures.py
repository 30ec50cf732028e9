"""Numbers as text, the same in Python and in the browser."""

import json
import random
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from arena.results import figures
from arena_web.views import static_files

WRITTEN = [
    (None, "-"), (0, "0"), (-0.0, "0"), (5, "5"), (7.5, "7.5"), (10, "10"), (300, "300"), (0.5, "0.5"),
    (12.34, "12.3"), (159.93, "160"), (0.01234567, "0.0123"), (0.001, "0.001"), (0.00004, "0.00004"), (1e-7, "0.0000001"),
    (999.4, "999"), (999.7, "1,000"), (1000, "1,000"), (1000.5, "1,001"), (12345.6, "12,346"),
    (1e15, "1,000,000,000,000,000"), (1e16, "1e+16"), (1e22, "1e+22"), (-1e300, "-1e+300"), (1.2345e17, "1.23e+17"),
    (1.7976931348623157e308, "1.8e+308"), (9.999e299, "1e+300"),
    (-999.7, "-1,000"), (-0.00004, "-0.00004"), (9.999e-8, "0.0000001"), (1.234e-9, "1.23e-9"), (5e-324, "4.94e-324"),
    (2.125, "2.13"), (-2.125, "-2.13"), (0.3, "0.3"), (0.1 + 0.2, "0.3"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), WRITTEN)
def test_figures_have_three_digits_and_separated_thousands(value: float | None, text: str) -> None:
    assert figures.figure(value) == text


def test_the_browser_writes_the_same_figures(node: str, tmp_path: Path) -> None:
    rng = random.Random(13)
    values = [value for value, _ in WRITTEN]
    values += [rng.choice((-1, 1)) * rng.uniform(1, 10) * 10.0 ** rng.randint(-12, 18) for _ in range(3000)]
    values += [rng.randint(-8000, 8000) / 8 for _ in range(500)]  # halves of the last digit among them
    values += [10.0**power * (1 + near) for power in range(-12, 20) for near in (-1e-3, -1e-4, -1e-12, 0, 1e-12)]
    times = [abs(value) for value in values if value is not None and abs(value) < 1e9] + [0, 5e-7, 0.0995, 0.99951, 99.995, 100.5]
    found = [sign * (1 - plies * 1e-6) for sign in (1, -1) for plies in (0, 1, 3, 1999, 2000, 5000)] + [0, 0.5, 1.5, -0.99, 1e-9]
    found += [0.999 * (1 - 2.0**-44), -1 + 2.0**-40, 1 + 1e-12]
    (tmp_path / "figures.mjs").write_text(
        f"import {{ duration, figure, worth }} from {json.dumps(static_files()['dom.js'].as_uri())};\n"
        f"const values = {json.dumps(values)}, times = {json.dumps(times)}, found = {json.dumps(found)};\n"
        "const figures = [3, 4].map((digits) => values.map((value) => figure(value, digits)));"
        "const told = [false, true].map((exact) => found.map((value) => worth(value, exact)));"
        "console.log(JSON.stringify([...figures, times.map(duration), told]));"
    )
    done = subprocess.run([str(node), str(tmp_path / "figures.mjs")], capture_output=True, text=True, check=True)
    *shown, told, said = json.loads(done.stdout)
    for digits, written in zip((3, 4), shown, strict=True):
        assert written == [figures.figure(value, digits) for value in values]
    assert told == [figures.duration(seconds) for seconds in times]
    assert said == [[figures.worth(value, exact=exact) for value in found] for exact in (False, True)]


def test_times_and_proven_values_are_written_as_words() -> None:
    assert [figures.duration(seconds) for seconds in (0, 4e-7, 0.00004, 0.0123, 0.5, 2, 1234.5)] == [
        "0 µs", "0.4 µs", "40 µs", "12.3 ms", "500 ms", "2.00 s", "1,235 s"
    ]  # fmt: skip
    assert [figures.worth(value, exact=True) for value in (1, 1 - 3e-6, -1 + 2e-6, 0.12345, -0.0)] == [
        "win", "win in 3", "loss in 2", "0.1235", "0"
    ]  # fmt: skip


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_figure_is_rounded_by_at_most_half_a_digit(value: float) -> None:
    text = figures.figure(value)
    off = abs(Decimal(text.replace(",", "")) - Decimal(value))
    assert off <= (Decimal("0.5") if 1000 <= abs(value) < 1e16 else abs(Decimal(value)) / 200)
    assert ("e" in text) == (0 < abs(value) < 9.995e-8 or abs(value) >= 1e16)
    assert len(text) <= 26
    assert not text.startswith("-0") or value < 0


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (figures.share(0.12345), "12.3 %"),
        (figures.share(None), "-"),
        (figures.share(2 / 3, 0), "67 %"),
        (figures.elo(-0.3), "+0"),
        (figures.elo(-70.44, 1), "-70.4"),
        (figures.elo(-0.04, 1), "+0.0"),
        (figures.elo(12.5), "+13"),
        (figures.elo(-12.5), "-13"),
        (figures.elo(float("inf")), "+inf"),
        (figures.signed(999.7), "+1,000"),
        (figures.signed(-1.5), "-1.5"),
        (figures.count(12345), "12,345"),
        (figures.score(12.25), "12.25"),
        (figures.likelihood(0.9995), "above 99.9 %"),
        (figures.between("+3", None), "above +3"),
        (figures.between(None, None), "-"),
        (figures.share(-0.0002), "0.0 %"),
        (figures.score(-0.0), "0"),
        (figures.fixed(-0.004, 2), "0.00"),
    ],
)
def test_shares_ratings_and_counts_are_each_formatted_in_one_way(written: str, text: str) -> None:
    assert written == text


def test_only_a_proven_value_is_shown_as_a_win_or_a_loss() -> None:
    """A value of 1 may also be the mean of rollouts."""
    assert [figures.worth(value, exact=False) for value in (1, -1, 1 - 3e-6)] == ["1", "-1", "1"]
    assert figures.worth(0.999 * (1 - 2.0**-44), exact=True) == "0.999"
    assert figures.worth(-2.5, exact=True) == "-2.5"


@pytest.mark.parametrize("value", [1e308, -1e308, sys.float_info.max])
def test_the_largest_values_that_an_agent_may_report_are_formatted(value: float) -> None:
    """1e308 * 1e6 is infinite and cannot be converted to an integer."""
    text = figures.worth(value, exact=True)
    assert abs(Decimal(text) / Decimal(value) - 1) < Decimal("0.0005")
    assert abs(Decimal(figures.share(value)[:-2]) / Decimal(value) / 100 - 1) < Decimal("0.005")


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (0, "game", "0 games"),
        (1, "game", "1 game"),
        (2500, "match", "2,500 matches"),
        (1, "match", "1 match"),
        (2, "entry", "2 entries"),
    ],
)
def test_the_number_1_is_followed_by_a_noun_in_the_singular(number: int, noun: str, text: str) -> None:
    assert figures.amount(number, noun) == text
