"""The size of the terminal, tables, and the line that shows a percentage."""

import io
import os

import pytest

from arena.console.output import Terminal
from arena.console.progress import PercentLine
from arena.results.layout import TextTable
from arena.tracking import tell_progress


class Screen(io.StringIO):
    """A stream that calls itself a terminal of unknown size."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "size"),
    [({}, (0, 0)), ({"COLUMNS": "70"}, (70, 0)), ({"COLUMNS": "wide", "LINES": "20"}, (0, 20)), ({"LINES": "-3"}, (0, 0))],
)
def test_environment_variables_replace_an_unknown_terminal_size(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], size: tuple[int, int]
) -> None:
    """A value that is not a number is ignored."""
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert Terminal(Screen()).size == size
    assert Terminal(Screen()).room == (size[0] or None)
    assert Terminal(io.StringIO()).size == (0, 0)


def test_a_percentage_is_shown_only_inside_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "TERM", "xterm")
    screen = Screen()
    with PercentLine(screen):
        tell_progress("building tables", 1, 4)
        inside = screen.getvalue()
        assert "building tables: 25 %" in inside
        tell_progress("building tables", 4, 4)
    after = screen.getvalue()
    tell_progress("building tables", 2, 4)
    assert screen.getvalue() == after


@pytest.mark.parametrize("label", ["1e5", "007", "1.50", "0x1F", "1_000", "nan"])
def test_a_label_that_looks_like_a_number_is_not_changed(label: str) -> None:
    last = TextTable(("Agent", "Games"), [(label, 8)]).text().splitlines()[-1]
    assert last.split() == [label, "8"]
