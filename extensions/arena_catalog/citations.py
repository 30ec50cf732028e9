"""Finds the sources that docstrings name, and writes them in BibTeX, for `arena show --cite`.

Docstrings of arena name a source in a few words. `sources.bib` beside this file has its complete entry.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from inspect import isclass
from typing import Any, NamedTuple
from unicodedata import combining, normalize

PERSON = r"(?:[A-Z]\.[ -]?)+(?: ?(?:van|von|den|der|de|la))* ?[^\W\d_a-z][\w'\u2019-]+"
"""Initials and a surname, such as `E. W. Dijkstra` or `H. J. van den Herik`."""
SOURCE = re.compile(
    rf"(?P<authors>{PERSON}(?:(?:, | and |, and ){PERSON})*)(?P<others>,? and others| et al\.)?, "
    r"(?P<title>(?!\d{4}\b)[^\s;a-z](?:[^;.]|\.(?! [A-Z]))*?), (?:(?P<venue>[A-Z][A-Za-z ]*?) )?(?P<year>(?:1[6-9]|20)\d\d)\b"
)
END = re.compile(r", (?:[A-Z][A-Za-z ]{0,80} )?(?:1[6-9]|20)\d\d\b")
"""The end of a source: its year, and perhaps its venue."""
MAX_CHARACTERS = 600
"""The longest source. Only the text up to an END, of at most this length, is searched, as SOURCE takes long for long texts."""
EXAMPLE = "E. F. Moore, The Shortest Path Through a Maze, 1959"
VOLUME = re.compile(r"(?P<title>.+), (?P<journal>[A-Z][A-Za-z ]+) (?P<volume>\d+)(?:\((?P<number>\d+)\))?")

STATISTICS = {
    "bradley-terry": "R. A. Bradley and M. E. Terry, Rank Analysis of Incomplete Block Designs, 1952",
    "fisher": "R. A. Fisher, The Design of Experiments, 1935",
    "hall": "P. Hall, Inverting an Edgeworth Expansion, 1983",
    "kish": "L. Kish, Survey Sampling, 1965",
    "mcnemar": "Q. McNemar, Note on the Sampling Error of the Difference, 1947",
    "par2": "F. Hutter and others, ParamILS: An Automatic Algorithm Configuration Framework, 2009",
    "paule-mandel": "R. C. Paule and J. Mandel, Consensus Values and Weighting Factors, 1982",
    "tango": "T. Tango, Equivalence Test and Confidence Interval for the Difference in Proportions, 1998",
    "wilcoxon": "F. Wilcoxon, Individual Comparisons by Ranking Methods, 1945",
}
"""The statistics that the manual and `arena compare --methods` name, but that are not functions in `arena.stats`."""


class Source(NamedTuple):
    """A publication, as a docstring names it: `A. Author, B. Author, Title, 1999`. `Journal 12` may follow the title."""

    authors: tuple[str, ...]
    title: str
    year: str
    journal: str = ""
    volume: str = ""
    number: str = ""
    booktitle: str = ""

    def bibtex(self) -> str:
        """Return the source in BibTeX: its complete entry if arena knows the publication, otherwise what the docstring says.

        >>> print(Source(("A. Author", "B. Author"), "A New Idea", "1999").bibtex())
        @misc{author1999new,
          author = {A. Author and B. Author},
          title = {{A New Idea}},
          year = {1999},
        }
        >>> print(Source(("R. Tarjan",), "Depth-First Search", "1972").bibtex().splitlines()[3])
          journal = {SIAM Journal on Computing},
        """
        surname = self.authors[0].rpartition(" ")[2]
        word = next((word for word in re.findall(r"\w+", self.title) if word.lower() not in ("a", "an", "the", "on", "some")), "")
        letters = [letter for letter in normalize("NFKD", f"{surname}{self.year}{word}") if not combining(letter)]
        key = "".join(filter(str.isalnum, letters)).lower()
        entry = _read_entries().get(key, "")
        if title := re.search(r" title = \{\{(.*)\}\}", entry):
            mine, full = [re.sub(r"[^a-z0-9]", "", normalize("NFKD", text).lower()) for text in (self.title, title[1])]
            if full.startswith(mine) or mine.startswith(full):
                return entry
        fields = {"author": " and ".join(self.authors), **self._asdict(), "title": f"{{{self.title}}}"}
        kind = "article" if self.journal else "inproceedings" if self.booktitle else "misc"
        escaped = {name: re.sub(r"([&%$#_])", r"\\\1", text) for name, text in fields.items() if name != "authors"}
        rows = [f"  {name} = {{{text}}}," for name, text in escaped.items() if text]
        return "\n".join([f"@{kind}{{{key},", *rows, "}"])


@cache
def _read_entries() -> dict[str, str]:
    """Return the entries of `sources.bib` by their keys."""
    text = (files("arena_catalog") / "sources.bib").read_text("utf-8")
    return {match["key"]: match[0] for match in re.finditer(r"^@\w+\{(?P<key>\w+),\n.*?^\}", text, re.DOTALL | re.MULTILINE)}


def sources_of(value: Any) -> list[Source]:
    """Return the sources that the docstring of a class or a function names. If a class names none, those of its module count.

    >>> from arena_agents.best_first import AStar
    >>> [source.year for source in sources_of(AStar)]
    ['1968', '1970']
    """
    found = list(find_sources(value.__doc__ or ""))
    if not found and isclass(value):
        found = list(find_sources(inspect.getdoc(sys.modules.get(value.__module__)) or ""))
    return found


def _match_sources(text: str) -> Iterator[re.Match[str]]:
    start = 0
    for end in END.finditer(text):
        if match := SOURCE.search(text, max(start, end.end() - MAX_CHARACTERS), end.end()):
            yield match
            start = end.end()


def find_sources(text: str) -> Iterator[Source]:
    """Yield the sources that a docstring names."""
    for match in _match_sources(" ".join(re.sub(r"-\n\s*", "-", text).split())):
        authors = re.split(r",? and (?=[A-Z])|, ", match["authors"])
        named = Source((*authors, *(["others"] if match["others"] else [])), match["title"], match["year"])
        if match["venue"]:
            yield named._replace(booktitle=match["venue"])
        elif volume := VOLUME.fullmatch(named.title):
            title, journal, number, issue = volume.groups("")
            yield named._replace(title=title, journal=journal, volume=number, number=issue)
        else:
            yield named
