"""Text on a terminal is wrapped by screen columns, not by characters, and no text is lost."""

import io
from textwrap import wrap
from unicodedata import combining, east_asian_width

import pytest
from hypothesis import given, strategies as st

from arena_play.screen import Screen, wrap_line


def screen_columns(text: str) -> int:
    """Return the width by the Unicode database: combining marks count 0, wide characters 2."""
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


LONG = st.lists(st.text("aé東\u0301", max_size=150), max_size=8).map(" ".join)


@given(text=st.text("ab é東京\u0301", max_size=200) | LONG, width=st.integers(20, 100))
def test_no_row_is_wider_than_the_terminal_and_nothing_is_lost(text: str, width: int) -> None:
    rows = wrap_line(text, width)
    assert max(map(screen_columns, rows)) <= width
    assert "".join("".join(rows).split()) == "".join(text.split())


@given(
    words=st.lists(st.text("ab", min_size=1, max_size=16), min_size=1, max_size=30),
    width=st.integers(20, 100),
    indent=st.sampled_from(["", "  "]),
)
def test_lines_are_broken_between_words_as_by_textwrap(words: list[str], width: int, indent: str) -> None:
    line = indent + " ".join(words)
    assert wrap_line(line, width) == wrap(line, width, subsequent_indent=f"{indent}  ")


def test_columns_of_wide_texts_are_aligned() -> None:
    """The second column begins two blanks after the widest text of the first one."""
    out = io.StringIO()
    Screen(out).columns(["東京", "e\u0301", *"abcdefghijklmnopqrstuvwxyz"])
    rows = out.getvalue().splitlines()
    assert rows[0].startswith("  東京  ")
    assert rows[1].startswith("  e\u0301     ")
    assert screen_columns(rows[0].partition("b")[0]) == screen_columns(rows[1].partition("c")[0])


@pytest.mark.parametrize(("lines", "in_place"), [(24, True), (2, False)])
def test_a_frame_is_cropped_to_the_screen(lines: int, in_place: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each frame is drawn over the last one if the screen is tall enough. Rows are cropped by screen columns."""
    for key, value in {"COLUMNS": "6", "LINES": str(lines), "TERM": "xterm"}.items():
        monkeypatch.setenv(key, value)
    out = io.StringIO()
    out.isatty = lambda: True  # type: ignore[method-assign]
    screen = Screen(out)
    screen.draw("東京東京\nx")
    screen.draw("y\nabcdefgh")
    first, up, second = out.getvalue().partition("\x1b[2A\x1b[J")
    assert bool(up) is in_place
    assert (first + second).splitlines() == ["東京", "x", "y", "abcde"]
