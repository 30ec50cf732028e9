"""`arena show --cite` prints the publications in docstrings as BibTeX."""

import ast
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena import load_plugins
from arena_catalog.citations import STATISTICS, Source, find_sources, sources_of
from arena_catalog.show import show

ROOT = Path(__file__).resolve().parents[3]
PLUGIN = """
from arena import Agent, hookimpl


class Mine(Agent):
    "Plays the first action. M. Müller-Schmidt, A. van der Berg, Cheap & Cheerful: First Actions, Some Journal 7(2), 2001."
    name = "mine"
    def choose(self, game, state, search): return game.actions(state)[0]


class Silent(Mine):
    "Plays the first action."
    name = "silent"


@hookimpl
def arena_agents(): return [Mine, Silent]
"""


@pytest.mark.parametrize(
    ("name", "authors", "title", "year"),
    [
        (
            "a-star",
            "P. E. Hart and N. J. Nilsson and B. Raphael",
            "A Formal Basis for the Heuristic Determination of Minimum Cost Paths",
            "1968",
        ),
        ("ida-star", "R. E. Korf", "Depth-First Iterative-Deepening: An Optimal Admissible Tree Search", "1985"),
        ("alpha-beta", "D. E. Knuth and R. W. Moore", "An Analysis of Alpha-Beta Pruning", "1975"),
        ("linear-conflict", "O. Hansson and A. Mayer and M. Yung", "Criticizing Solutions to Relaxed Models", "1992"),
        ("corners-mobility", "P. S. Rosenbloom", "A World-Championship-Level Othello Program", "1982"),
        (
            "mcnemar",
            "Q. McNemar",
            "Note on the Sampling Error of the Difference between Correlated Proportions or Percentages",
            "1947",
        ),
        ("hall", "P. Hall", "Inverting an Edgeworth Expansion", "1983"),
        ("paule-mandel", "R. C. Paule and J. Mandel", "Consensus Values and Weighting Factors", "1982"),
        ("kish", "L. Kish", "Survey Sampling", "1965"),
        ("bradley-terry", "R. A. Bradley and M. E. Terry", "Rank Analysis of Incomplete Block Designs", "1952"),
        ("fisher", "R. A. Fisher", "The Design of Experiments", "1935"),
        ("tango", "T. Tango", "Equivalence Test and Confidence Interval", "1998"),
        ("wilcoxon", "F. Wilcoxon", "Individual Comparisons by Ranking Methods", "1945"),
        ("par2", r"F. Hutter and H. H. Hoos and K. Leyton-Brown and T. St{\"u}tzle", "ParamILS", "2009"),
        ("holm", "S. Holm", "A Simple Sequentially Rejective Multiple Test Procedure", "1979"),
        (
            "openspiel",
            "M. Lanctot and E. Lockhart and J.-B. Lespiau and V. Zambaldi and others",
            "OpenSpiel: A Framework for Reinforcement Learning in Games",
            "2019",
        ),
    ],
)
def test_citations_of_known_publications_are_correct(name: str, authors: str, title: str, year: str) -> None:
    """The expected values come from the title pages."""
    text = CliRunner().invoke(show, [name, "--cite"]).output
    entry = next(entry for entry in text.split("\n\n") if title in entry)
    assert f"  author = {{{authors}}},\n" in entry
    assert f"  year = {{{year}}},\n" in entry
    assert re.fullmatch(r"@(misc|article|book|inproceedings)\{[a-z0-9]+,\n(  [a-z]+ = \{.*\},\n)+\}\n?", entry)


def test_an_unknown_name_lists_the_statistics() -> None:
    """Statistics are not plugins, so `arena list` would not help. Similar names and hints come first; no plugin is listed."""
    for wrong, near in (("mcnemars", "did you mean 'mcnemar'? "), ("alpha-bta", "did you mean 'alpha-beta'? "), ("xyzzy", "")):
        error = str(CliRunner().invoke(show, [wrong, "--cite"], standalone_mode=False).exception)
        hint = "expected a game, agent, heuristic, encoding or format (`arena list` shows them"
        assert error.startswith(f"unknown name '{wrong}'; {near}{hint}")
        names = error.partition("one of the statistics: ")[2].split(", ")
        assert {"mcnemar", "holm"} <= {*names}
        assert "minimax" not in names


def test_each_year_in_a_built_in_docstring_belongs_to_a_publication() -> None:
    """The command finds every cited source. 2048 is a game, not a year."""
    registry = load_plugins()
    parts = [*registry.games.values(), *registry.agents.values(), *registry.formats.values(), *registry.heuristics.values()]
    named = 0
    for part in parts:
        years = set(re.findall(r"\b(?:1[6-9]|20)\d\d\b", part.__doc__ or "")) - {"2048"}
        assert years <= {source.year for source in sources_of(part)}, part
        named += bool(years)
    assert named > 50


REQUIRED = {
    "article": {"journal"},
    "book": {"publisher"},
    "incollection": {"booktitle", "publisher", "pages"},
    "inproceedings": {"booktitle"},
    "misc": {"howpublished"},
    "phdthesis": {"school"},
    "techreport": {"institution"},
}
"""The fields of each kind of entry in BibTeX, beside the author, the title and the year."""
WITHOUT_PUBLISHER = {"kleinman1980vision"}
"""Books that their author has published."""


def test_each_source_of_arena_has_a_complete_entry() -> None:
    """This includes statistics and comments in modules. A journal has a volume and pages."""
    found: dict[Source, Path] = {}
    for top in ("agents", "arena", "bridges", "extensions", "games", "ladder/src/arena_ladder"):
        for file in (ROOT / top).rglob("*.py"):
            texts = [
                ast.get_docstring(node) or ""
                for node in ast.walk(ast.parse(file.read_text("utf-8")))
                if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            ]
            found |= {source: file for text in texts for source in find_sources(text) if source.title != "Title"}
    citations = ROOT / "extensions/arena_catalog/citations.py"
    found |= {source: citations for text in STATISTICS.values() for source in find_sources(text)}
    assert len(found) > 100
    used = set()
    for source, file in found.items():
        lines = source.bibtex().splitlines()
        [(kind, key)] = re.findall(r"^@(\w+)\{(\w+),$", lines[0])
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", "\n".join(lines[1:-1]), re.MULTILINE))
        used.add(key)
        needed = {"author", "title", "year", *REQUIRED[kind]} - ({"publisher"} if key in WITHOUT_PUBLISHER else set())
        if kind == "article" and "arXiv" not in fields.get("journal", ""):
            needed |= {"volume"}
        assert needed <= fields.keys(), (file, source)
        assert fields["year"] == source.year
        assert len(fields["author"].split(" and ")) >= len(source.authors)
    text = (ROOT / "extensions/arena_catalog/sources.bib").read_text("utf-8")
    assert {*re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE)} == used


def test_an_entry_belongs_to_the_title_and_not_only_to_its_first_word() -> None:
    """By the title page: volume 27 of Artificial Intelligence, pages 97 to 109."""
    (whole,) = find_sources("R. Korf, Depth-First Iterative-Deepening, 1985.")
    (other,) = find_sources("R. Korf, Depth of Trees, 1985.")
    assert "  volume = {27},\n  number = {1},\n  pages = {97--109},\n" in whole.bibtex()
    assert other.bibtex().startswith("@misc{korf1985depth,\n")


def test_only_texts_with_a_title_and_a_year_are_read_as_publications() -> None:
    """Names of inventors, clauses after a year, and years alone are not publications."""
    assert not list(
        find_sources("TopSpin. The puzzle is by Binary Arts, 1989. S. M. Ross, 1971, and B. Buchholz, 1932, in 1995.")
    )
    found = list(
        find_sources("See J. Doe and X.-Y. Roe, On Trees, SoCS 2010; M. de Groot, A: B, C, 1999. A. Other wrote no book.")
    )
    assert [(source.authors, source.title, source.booktitle, source.year) for source in found] == [
        (("J. Doe", "X.-Y. Roe"), "On Trees", "SoCS", "2010"),
        (("M. de Groot",), "A: B, C", "", "1999"),
    ]


def test_the_docstring_of_a_plugin_is_cited(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    options = ["--cite", "--plugin", str(tmp_path / "mine.py")]
    assert CliRunner().invoke(show, ["mine", *options]).output == (
        "@article{mullerschmidt2001cheap,\n  author = {M. Müller-Schmidt and A. van der Berg},\n"
        "  title = {{Cheap \\& Cheerful: First Actions}},\n  year = {2001},\n  journal = {Some Journal},\n"
        "  volume = {7},\n  number = {2},\n}\n"
    )
    silent = CliRunner().invoke(show, ["silent", *options])
    assert silent.exit_code
    assert "the docstring of silent names no publication; expected one such as 'E. F. Moore" in str(silent.exception)


@pytest.mark.parametrize("part", ["A. B, ", "A. Bc, T, Aa ", "A. B, T, Ve 19", ", Aa 1999 ", "A. B, T;, 1999 "])
def test_a_long_docstring_is_searched_quickly(part: str) -> None:
    """With a time that grows with the cube of the length, this would take weeks. A citation at the end is found, too."""
    *_, last = find_sources(part * (300_000 // len(part)) + "; E. F. Moore, The Shortest Path Through a Maze, 1959")
    assert last == Source(("E. F. Moore",), "The Shortest Path Through a Maze", "1959")
