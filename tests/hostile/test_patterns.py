"""The time that a regular expression takes grows no faster than the length of the text.

Strangers write many of these texts: answers of agents, stores, specs, uploads and requests.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.backtracking import Attack, Counter, TooManySteps, list_attacks

pytestmark = [
    pytest.mark.unit,
    pytest.mark.promise(hole="text", isolation="any"),
    pytest.mark.usefixtures("deep_recursion"),
]

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("arena", "agents", "games", "bridges", "extensions", "ladder/src", "chess/arena_chess")
SEARCHES = {"search", "sub", "subn", "split", "findall", "finditer"}
METHODS = {"match", "fullmatch", *SEARCHES}
HARMLESS = {
    "check_run.where_of": "searches only the last 1,000 characters",
    "finding._VALUES": "searches only the first 1,000 characters",
    "citations.SOURCE": "searches only 600 characters before the end of a source",
    "citations.VOLUME": "gets a title that SOURCE has found",
    "citations.bibtex": "searches an entry of a file of arena",
    "citations._read_entries": "searches a file of arena",
    "docs.COMMENT": "searches a page of the manual of arena",
    "docs.IMAGE": "searches a page of the manual of arena",
    "drawing.inline": "gets a drawing of Matplotlib",
    "texts._round_duration": "gets a number of seconds with its unit",
}
"""Patterns that take long for some texts, and why this does no harm. The keys are their modules, and their names or the functions
that use them.
"""
METHOD = {"_INT": {"match"}, "_FLOAT": {"match"}, "HEADER_LINE": {"fullmatch"}, "CHUNK_LINE": {"fullmatch"}}
"""How other libraries use a pattern: PyYAML matches the first two at the beginning of a value, and h11 the others with a line."""


class Use(NamedTuple):
    """A regular expression in the code, and how it is used."""

    place: str
    name: str
    pattern: "re.Pattern[Any]"
    method: str


@cache
def list_uses() -> list[Use]:
    """Return all regular expressions in the code. A value that is known only when the code runs is replaced by `word`."""
    trees = {file: ast.parse(file.read_text()) for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))}
    named: dict[str, set[str]] = {}
    for node in chain.from_iterable(map(ast.walk, trees.values())):
        if isinstance(node, ast.Attribute) and node.attr in METHODS and isinstance(node.value, ast.Name):
            named.setdefault(node.value.id, set()).add(node.attr)
    return [use for file, tree in trees.items() for use in _uses_in(tree, str(file.relative_to(ROOT)), named)]


def _uses_in(tree: ast.Module, file: str, named: dict[str, set[str]]) -> Iterator[Use]:
    constants: dict[str, Any] = {}
    for statement in ast.walk(tree):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            value = _evaluate(statement.value, constants)
            if isinstance(value, (str, bytes)):
                constants[statement.targets[0].id] = value
    owners: dict[Any, str] = {}
    for kind in (ast.FunctionDef, ast.Assign):
        for owner in ast.walk(tree):
            if isinstance(owner, kind):
                name = owner.name if isinstance(owner, ast.FunctionDef) else getattr(owner.targets[0], "id", "")
                owners.update((call, name) for call in ast.walk(owner) if _is_call(call) and call not in owners)
    owners.update((call, "") for call in ast.walk(tree) if _is_call(call) and call not in owners)
    for call, name in owners.items():
        method = call.func.attr
        pattern = re.compile(_evaluate(call.args[0], constants), _flags(call))
        methods = METHOD.get(name) or named.get(name, {"search"}) if method == "compile" else {method}
        yield from (Use(f"{file}:{call.lineno}", f"{Path(file).stem}.{name}", pattern, one) for one in sorted(methods))


def _is_call(node: ast.AST) -> Any:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Name):
        return False
    return node.func.value.id == "re" and node.func.attr in {*METHODS, "compile"}


def _flags(call: ast.Call) -> int:
    given = [node for part in [*call.args[1:], *call.keywords] for node in ast.walk(part)]
    flags = [node.attr for node in given if isinstance(node, ast.Attribute) and node.attr.isupper()]
    return sum({getattr(re, flag) for flag in flags})


def _evaluate(node: ast.AST, constants: dict[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
        return "".join([str(_evaluate(part, constants)) for part in parts])
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return str(_evaluate(node.value, constants))[1:]
    return constants.get(node.id, "word") if isinstance(node, ast.Name) else "word"


def find_slow(pattern: "re.Pattern[Any]", method: str) -> Attack | None:
    """Return texts for which the steps of a pattern grow faster than the length; None if no attack of this kind works."""
    counter = Counter(pattern, most=30_000, bound=3)

    def count(attack: Attack, times: int) -> int:
        counter.reset()
        text = attack.text(times)
        given = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
        try:
            if method in ("match", "fullmatch", "search"):
                getattr(counter, method)(given)
            else:
                list(counter.finditer(given))
        except TooManySteps:
            pass
        return counter.steps

    for attack in list_attacks(counter.tree):
        few, more, most = [count(attack, times) for times in (6, 18, 30)]
        if most > counter.most or most - more > 1.2 * (more - few) + 10:
            return attack
    return None


def test_no_regular_expression_takes_more_than_linear_time() -> None:
    uses = list_uses()
    assert len(uses) > 100
    slow = {}
    for use in uses:
        if use.name not in HARMLESS and use.place not in slow and (attack := find_slow(use.pattern, use.method)):
            slow[use.place] = (
                f"{use.method} of {use.pattern.pattern!r} is slow for {attack.text(3)!r}, with more of {attack.middle!r}"
            )
    assert not slow, "\n".join([f"{place}: {message}" for place, message in slow.items()])


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(a+)+b", "match"),
        (r"(?:a|a)*b", "match"),
        (r"(\w+\s?)*$", "match"),
        (r"\s+$", "search"),
        (r"\(.*\)", "sub"),
        (r"\s*(\d+)\s*(b)?\s*", "fullmatch"),
        (r"^function\s*\*?\s+\w", "search"),
        (r"(?m)^import\s+\{[^}]*\}", "search"),
        (r"\s+as\s+", "sub"),
        (r"[^\s(]+:\d+(?=\)|$)", "search"),
        (r'"(?:[^"\\]|\\.)*"', "findall"),
    ],
)
def test_slow_patterns_are_found(pattern: str, method: str) -> None:
    assert find_slow(re.compile(pattern), method)


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"[a-z0-9-]+", "fullmatch"),
        (r"(?<!\s)\s+as\s+", "sub"),
        (r'"(?:[^"\\]++|\\.)*+"?', "findall"),
        (r"(?:a|b)*c", "match"),
        (r"\b0x[0-9a-f]{6,}", "sub"),
    ],
)
def test_fast_patterns_are_not_called_slow(pattern: str, method: str) -> None:
    assert find_slow(re.compile(pattern), method) is None


@pytest.mark.parametrize("pattern", [r"(a|ab)(c|bcd)(d*)", r"(\w+?)\1x", r"a{2,3}+a", r"(?<=a)b|(?!x)\w$", r"(?>a+)b", r"\bc\b"])
@pytest.mark.parametrize("text", ["abcd", "aabaabx", "aaaa", "ab", "aaab", "a c b", ""])
def test_the_matcher_that_counts_steps_finds_the_same_matches_as_re(pattern: str, text: str) -> None:
    compiled, counter = re.compile(pattern), Counter(re.compile(pattern))
    found, whole = compiled.search(text), compiled.fullmatch(text)
    assert counter.search(text) == (None if found is None else found.end())
    assert counter.fullmatch(text) == (None if whole is None else whole.end())
    assert [end for _, end in counter.finditer(text)] == [one.end() for one in compiled.finditer(text)]
