"""Writes the table of `explanation/trust.md` from the marks of the tests in tests/hostile: `make figures`.

A test that attacks says so by `@pytest.mark.promise(hole="file", isolation=("process", "sandbox"))`: which hole of HOLES it
tries, at which isolation (`any` is all three), and whether what it shows `holds` (True where nothing is said; False says that
the attack succeeds there, and the test shows it). A module may be marked as a whole by `pytestmark`. Marks are read, not run.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).parents[1]
TESTS = TOP / "tests" / "hostile"
PAGE = TOP / "docs" / "explanation" / "trust.md"
BEGIN, END = "<!-- promises: written by make figures -->\n", "<!-- end of promises -->\n"
ISOLATIONS = ("none", "process", "sandbox")
HOLES = {
    "judge": "a submission to a ladder answers for the process that judges it, or holds up the others",
    "file": "an agent's file runs code in arena, or beside its rivals",
    "dice": "what a rival or chance draws is computed from what an agent is told",
    "clock": "a rival's clock is burnt by children that run in its turn",
    "blame": "the process that plays is ended in a rival's turn, so that the rival is blamed",
    "void": "a lost match is made void by a backend that is said to be away",
    "start": "an agent thinks before its clock starts, or has its answer read after it has stopped",
    "hello": "a program that never says hello holds up a run, match after match",
    "counts": "an agent generates states that no node limit sees",
    "memory": "memory and processes that no limit sees, or that outlive the run",
    "system": "calls of the system that no player needs",
    "network": "the network, and files of the user",
    "channel": "seats speak to each other, or hold arena up, through files that both can read",
    "record": "a record is changed after it was written",
    "store": "who looks at a store runs code that it names",
    "text": "texts that are orders to a terminal, formulas, or files without an end",
    "server": "connections and specs that leave others waiting",
}
"""What is tried, by the word in the marks; each has a row."""


class Promise(NamedTuple):
    """A mark: what a test shows."""

    hole: str
    isolation: tuple[str, ...]
    holds: bool
    file: str


def promises() -> Iterator[Promise]:
    """Yield the marks of all tests that attack; ValueError where one has another form."""
    for file in sorted(TESTS.glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "promise":
                yield _promise(node, file.name)


def _promise(mark: ast.Call, file: str) -> Promise:
    given = {str(word.arg): ast.literal_eval(word.value) for word in mark.keywords}
    hole, isolation, holds = given.pop("hole", None), given.pop("isolation", None), given.pop("holds", True)
    levels = ISOLATIONS if isolation == "any" else (isolation,) if isinstance(isolation, str) else tuple(isolation or ())
    known = hole in HOLES and bool(levels) and set(levels) <= set(ISOLATIONS)
    if mark.args or given or not known or type(holds) is not bool:
        expected = f"hole= one of {', '.join(HOLES)}; isolation= any, or of {', '.join(ISOLATIONS)}; holds= True or False"
        raise ValueError(f"{file}:{mark.lineno}: promise: expected {expected}")
    return Promise(hole, levels, holds, file)


def table() -> str:
    """Return the table in Markdown: a row for every hole, a column for every isolation, and the tests."""
    shown: defaultdict[tuple[str, str], set[bool]] = defaultdict(set)
    files: defaultdict[str, set[str]] = defaultdict(set)
    for promise in promises():
        files[promise.hole].add(promise.file)
        for isolation in promise.isolation:
            shown[promise.hole, isolation].add(promise.holds)
    rows = [("what is tried", *[f"`{isolation}`" for isolation in ISOLATIONS], "shown by `tests/hostile/`"), ("---",) * 5]
    for hole, words in HOLES.items():
        cells = [_cell(shown[hole, isolation]) for isolation in ISOLATIONS]
        rows.append((words, *cells, ", ".join([f"`{file}`" for file in sorted(files[hole])])))
    return "".join([f"| {' | '.join(row)} |\n" for row in rows])


def _cell(found: set[bool]) -> str:
    if not found:
        return "no promise"
    return "in part" if len(found) == 2 else "holds" if True in found else "open"


def page(text: str) -> str:
    """Return the text of the page with the table as the tests have it."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE.name}: expected the lines {BEGIN.strip()} and {END.strip()}")
    return f"{before}{begin}\n{table()}\n{end}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
