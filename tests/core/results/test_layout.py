"""Tables on narrow terminals."""

import csv
import io
import re
from html import unescape
from string import ascii_uppercase
from typing import Any

import pytest
from docutils import nodes  # type: ignore[import-untyped]
from docutils.core import publish_doctree  # type: ignore[import-untyped]
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt
from tabulate import tabulate

import arena
from arena.results.layout import TextTable, crossing
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render

STYLES = [
    "github",
    "pipe",
    "orgtbl",
    "jira",
    "asciidoc",
    "mediawiki",
    "moinmoin",
    "textile",
    "rst",
    "latex",
    "html",
    "csv",
    "tsv",
]
ODD_LABELS = [
    "a|b",
    "a||b",
    "a\\\\|b",
    "=1+1",
    'say "no"',
    '"x',
    "a!!b",
    "a & b",
    "_x_ *y* `z`",
    "|=",
    "line\nend",
    "a\tb",
    "|x|",
    "&#124;",
]
WORDS = st.lists(st.text("abc", min_size=1, max_size=7), min_size=1, max_size=9).map(" ".join)
LETTERS = [*ascii_uppercase, *[f"A{letter}" for letter in ascii_uppercase]]
ROWS = st.lists(st.tuples(WORDS, WORDS, st.integers(0, 9999)), min_size=1, max_size=5)


def letters(text: str) -> list[str]:
    return sorted(re.sub(r"[^a-z0-9]", "", text))


@settings(max_examples=40, deadline=None)  # a machine may be busy
@given(rows=ROWS, width=st.integers(30, 120))
def test_a_table_fits_the_terminal_without_losing_content(rows: list[tuple[str, str, int]], width: int) -> None:
    text = TextTable(["one", "other", "number"], rows).text(width=width)
    assert max(map(len, text.split("\n"))) <= width
    assert letters(text) == letters("one other number " + " ".join([f"{one} {other} {number}" for one, other, number in rows]))


@settings(max_examples=40, deadline=None)
@given(rows=ROWS)
def test_without_a_terminal_a_table_is_printed_by_tabulate(rows: list[tuple[str, str, int]]) -> None:
    whole = tabulate(rows, ["one", "other", "number"], tablefmt="grid", disable_numparse=True, colalign=("left", "left", "right"))
    assert TextTable(["one", "other", "number"], rows).text("grid") == whole
    assert TextTable(["one", "other", "number"], rows).text("grid", width=30) == whole


def test_a_wrapped_cell_stays_in_its_column() -> None:
    text = TextTable(["Name", "What it is", "N"], [["a", "some words in a row", 7], ["b", "few", 12]]).text(width=22)
    assert text.split("\n") == [
        "Name  What it is     N",
        "----  ------------  --",
        "a     some words in  7",
        "      a row",
        "b     few           12",
    ] or text.split("\n") == [
        "Name  What it is     N",
        "----  ------------  --",
        "a     some words     7",
        "      in a row",
        "b     few           12",
    ]


@settings(max_examples=30, deadline=None)
@given(size=st.integers(2, 40), width=st.integers(40, 120))
def test_every_cell_of_a_wide_cross_table_is_shown(size: int, width: int) -> None:
    """Each cell is found under the letter of its column."""
    names = [f"somebody-{number}" for number in range(size)]
    text = crossing(names, names, [[f"{row}/{column}" for column in range(size)] for row in range(size)], width=width)
    assert max(map(len, text.split("\n"))) <= width
    if not re.match(r" +A", text):
        return  # it fits as it is
    found = [cell for part in text.split("\n\n") for line in part.split("\n")[2:] for cell in re.findall(r"\d+/\d+", line)]
    assert sorted(found) == sorted([f"{row}/{column}" for row in range(size) for column in range(size)])
    for part in text.split("\n\n"):
        head, _, *lines = part.split("\n")
        columns = [LETTERS.index(letter) for letter in head.split()]
        for line in lines:
            cells = re.findall(r"(\d+)/(\d+)", line)
            assert [int(column) for _, column in cells] in ([], columns)  # of a name that takes two lines, the second one
            assert len({row for row, _ in cells}) <= 1


def test_letters_that_replace_headings_are_explained() -> None:
    lines = crossing(["p", "q"], ["long-heading-one", "long-heading-two"], [["yes", "-"], ["-", "yes"]], width=20).split("\n")
    assert lines[0].split() == ["A", "B"]
    assert lines[2].split() == ["p", "yes", "-"]
    assert " ".join(lines[-2:]) == "A long-heading-one, B long-heading-two"


def test_sentences_are_wrapped_between_words_and_commands_are_not_wrapped() -> None:
    text = "one two three four\n  arena replay some-store some-match"
    assert TextTable.fold(text, 9) == "one two\nthree\nfour\n  arena replay some-store some-match"
    assert TextTable.fold(text, None) == text


def test_a_column_of_negative_numbers_is_right_aligned() -> None:
    lines = TextTable(["Change"], [["-1,234.5"], ["-20 %"]]).text().split("\n")
    assert lines[2:] == ["-1,234.5", "   -20 %"]


def test_a_table_fits_into_a_width_if_none_of_its_lines_is_wider() -> None:
    assert TextTable(["ab", "c"], [["abc", "d"]]).fits(6)
    assert not TextTable(["ab", "c"], [["abc", "d"]]).fits(5)


def read_cells(text: str, style: str) -> list[list[str]]:
    """Return the cells of a table as a parser of its format reads them, or without a parser, split where this format says."""
    if style in ("csv", "tsv"):
        return list(csv.reader(io.StringIO(text), delimiter="\t" if style == "tsv" else ","))
    if style in ("github", "pipe", "html"):
        html = text if style == "html" else MarkdownIt("commonmark").enable("table").render(text)
        return [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in re.findall("<tr>(.*?)</tr>", html, re.DOTALL)]
    if style == "rst":
        rows = publish_doctree(text, settings_overrides={"report_level": 1, "halt_level": 1}).findall(nodes.row)
        return [[cell.astext() for cell in row.findall(nodes.entry)] for row in rows]
    border = {
        "jira": r"(?<!\\)\|{1,2}",
        "asciidoc": r"(?<!\\)\|",
        "mediawiki": r"\|\||!!",
        "moinmoin": r"\|\|",
        "latex": r"(?<!\\)&",
    }
    lines = [line for line in text.split("\n") if ("7" in line or "Games" in line) and line[0] != "["]
    rows = [re.split(border.get(style, r"\|"), line) for line in lines]
    return [row[1:] if style == "asciidoc" else row if style in ("mediawiki", "latex") else row[1:-1] for row in rows]


def read_latex(text: str) -> list[list[str]]:
    """Return the cells of a table as LaTeX sets them. Characters that LaTeX would read or set in another way are refused."""
    known = {r"\textbar": "|", r"\textasciigrave": "`", r"\textasciitilde": "~", r"\textbackslash": "\\"}
    rows: list[list[str]] = []
    for line in text.split("\n"):
        if not line.endswith(r" \\"):
            continue
        assert not re.match(r"\s*[\[*]", line), "LaTeX takes this for an argument of the line end before it"
        cells = [""]
        for token in re.findall(r"\\ensuremath\{[<>]\}|\\[a-z]+|\\.|-+|.", line.removesuffix(r" \\")):
            if token == "&":
                cells.append("")
            elif token.startswith("\\"):
                cells[-1] += token[-2] if "ensuremath" in token else known.get(token, token[1:])
            elif token not in "{}":
                assert token not in "|`~^%$#_<>", token
                assert token.strip("-") or token == "-", "LaTeX sets a dash"
                cells[-1] += token
        rows.append([cell.strip() for cell in cells])
    return rows


@pytest.mark.parametrize("style", ["latex", "latex_booktabs", "latex_longtable"])
def test_latex_prints_each_label_unchanged(style: str) -> None:
    labels = [*"|`~^%$#_<>[*-&{}", "a|b", "[x] |", "*", "a---b", "--", "x_y & z% #1 $5 {k} ~^", "a\\b", "`c`"]
    text = TextTable(["Agent", "a|b"], [[label, 7] for label in labels]).text(style)
    assert read_latex(text) == [["Agent", "a|b"], *[[label, "7"] for label in labels]]


def test_in_latex_all_lines_outside_tables_are_comments() -> None:
    agents = ["random", {"agent": "greedy", "label": "a|b_c"}]
    played = arena.run({"games": ["tic-tac-toe", "nim"], "agents": agents, "rounds": 2})
    text = render(played, Leaderboard.of_results(played), "latex")
    outside = re.sub(r"\\begin\{tabular\}.*?\\end\{tabular\}", "", text, flags=re.DOTALL)
    assert {line[:2] for line in outside.split("\n") if line} == {"% "}
    assert all("a|b\\_c" not in line for line in text.split("\n"))


@pytest.mark.parametrize("style", ["github", "pipe"])
def test_markdown_shows_each_label_unchanged(style: str) -> None:
    labels = ["*a*", "__x__", "`c`", "<b>", "[x](y)", "a|b", "a\\*b", "*"]
    html = MarkdownIt("commonmark").enable("table").render(TextTable(["Agent", "n"], [[one, 7] for one in labels]).text(style))
    assert [unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", html)[::2]] == labels


@pytest.mark.parametrize("style", STYLES)
def test_each_row_has_as_many_cells_as_its_header(style: str) -> None:
    """Parsers read the labels back. Control characters and formulas are escaped."""
    for label in ODD_LABELS:
        headings: list[Any] = ["Agent", label, "Games"]
        rows = [[label, "x", 7], ["other", label, 7]]
        table = TextTable(headings, rows)
        text = "\n".join([table.csv_line(row) for row in [headings, *rows]]) if style == "csv" else table.text(style)
        found = read_cells(text, style)
        assert [len(row) for row in found] == [3, 3, 3], (label, text)
        if style in ("rst", "tsv", "csv"):
            assert found[1][0].strip() == label.translate({10: "\n" if style == "csv" else "\\n", 9: "\\t"}).replace(
                "=1", "=1" if style == "rst" else "'=1"
            )
