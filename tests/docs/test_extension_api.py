"""The page of the names for extensions."""

import ast
import doctest
import re
from collections import defaultdict
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs" / "reference" / "extension-api.md").read_text("utf-8")
NAMES = (TOP / "tests" / "core" / "api.txt").read_text("utf-8").split()
EXAMPLES = doctest.DocTestParser().get_examples("\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)))
MAX_REASONS = 25
"""The most names that may do without an example."""


def with_an_example() -> set[str]:
    """The names that an example imports, and that it or a later one then uses."""
    tree = ast.parse("".join(example.source for example in EXAMPLES))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {f"{node.module}.{alias.name}" for node in imports for alias in node.names if alias.name in used}


def with_a_reason() -> set[str]:
    """The names that the last table of the page excuses."""
    rows = re.findall(r"^\| (`.*?`) \| \S", PAGE.partition("## Names without an example")[2], re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_every_name_has_an_example_or_a_reason() -> None:
    lacking = {name.rpartition(".")[2] for name in set(NAMES) - with_an_example()}
    assert lacking == with_a_reason()
    assert len(lacking) <= MAX_REASONS


def test_every_name_is_explained_in_the_table_of_its_module() -> None:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for module, table in re.findall(r"<!-- (arena\S+): written by make reference -->(.*?)<!-- end", PAGE, re.DOTALL):
        found[module] += re.findall(r"^\| `(\w+)` \| .*\w.* \|$", table, re.MULTILINE)
    assert sorted(f"{module}.{name}" for module, names in found.items() for name in names) == NAMES


@pytest.mark.process
def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(doctest.DocTest(EXAMPLES, {"__name__": "page"}, "extension-api.md", None, None, None), out=told.append)
    assert len(EXAMPLES) > 100
    assert not told, "".join(told)
