"""Each example of the page "Write rules that compile" has the value that Python computes."""

import random
import re
from array import array
from pathlib import Path
from typing import Any

import pytest

import arena.compiled
from arena import Game
from arena.compiled import NotCompilable
from arena_compiled import seam
from arena_compiled.edition import edition_of, why_plain
from arena_compiled.loader import FAULT, address, load_code
from arena_compiled.rehearsal import space_of

PAGE = Path(__file__).parents[3] / "docs/how-to/compiled-rules.md"
RULES = '''
from arena import Game

WORTH = (5, 3, 2, 1)
CORNERS = frozenset({0, 3})

def double(number):
    return 2 * number

class Examples(Game):
    """Every result depends on the values of all examples."""

    name = "examples"
    size = 4
    pairs = ((0, 1), (1, 2), (2, 3))

    def count(self, state, wanted):
        return sum(number == wanted for number in state)

    def initial(self, rng):
        return (2, 0, 1, 3)

    def to_move(self, state):
        return state[3] % 2

    def actions(self, state):
        return [place for place, number in enumerate(state) if number < 3 and place in (0, 1, 2)]

    def result(self, state, action):
        cells = list(state)
        cells[action] += 1
        cells[-1] = {total} % 60
        return (*cells[:3], cells[3])

    def is_terminal(self, state):
        return all(number >= 3 for number in state[:3])

    def returns(self, state):
        return (1, -1) if any([number == 7 for number in state]) else (-1, 1)
'''


def examples() -> list[str]:
    """Return the examples of the first table of the page."""
    table = PAGE.read_text().split("## What compiles")[1].split("## What does not")[0]
    return [code.replace(r"\|", "|") for code in re.findall(r"^\| .+ \| `(.+)` \|$", table, re.MULTILINE)]


def write(folder: Path, codes: list[str]) -> Game:
    """Write a game with a method for each example, and return it."""
    lines = [RULES.replace("{total}", "(" + " + ".join([f"self.example_{n}(state)" for n in range(len(codes))] or ["0"]) + ")")]
    for number, code in enumerate(codes):
        try:
            compile(code, "", "eval")
            body = f"return int({code})"
        except SyntaxError:
            body = "\n        ".join(["total = 0", *code.split("; "), "return total"])
        lines.append(f"    def example_{number}(self, state):\n        {body}\n")
    file = folder / f"examples_{len(codes)}.py"
    file.write_text("\n".join(lines))
    space: dict[str, Any] = {"__name__": "examples"}
    exec(compile(file.read_text(), str(file), "exec"), space)
    made: Game = space["Examples"]()
    return made


@pytest.mark.parametrize("code", [*examples(), "sum((*WORTH, state[0]))"])
def test_every_example_of_the_page_agrees_with_python(tmp_path: Path, code: str) -> None:
    game = write(tmp_path, [code])
    assert why_plain(game) is None
    edition, rules, estimate, module = seam.assemble_engine(game, None, "random")
    space = space_of(module, rules, estimate)
    expected = [game.example_0(state) for state in edition.samples]  # type: ignore[attr-defined]
    assert [int(space["rules_example_0_4"](space["rules"], state)) for state in edition.samples] == expected
    assert len({*expected}) > 1 or "WORTH" in code or "pairs" in code or "len(" in code


def test_all_examples_run_as_machine_code(tmp_path: Path, compiling: None) -> None:
    """Random play depends on the value of every example in every state."""
    game, plain = write(tmp_path, examples()), write(tmp_path, examples())
    vars(plain)["result"] = plain.result  # an object that overrides a method is not compiled
    for number in range(5):
        one, other = [arena.compiled.playouts(made, (2, 0, 1, 3), random.Random(number), 3) for made in (game, plain)]
        assert [(play.plies, play.returns, play.words) for play in one] == [
            (play.plies, play.returns, play.words) for play in other
        ]
    loop = seam.find_unmetered_loop(game, "random", random.Random(1))
    assert loop is not None, seam._pair(game, None, "random").reason
    with pytest.raises(NotCompilable, match="this object overrides"):
        edition_of(plain)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("sorted(state)[0]", "does not support sorted"),
        ("len([n for n in range(state[0])][:1])", "before play"),
        ("sum(state[: state[0]])", "the ends of this slice before play"),
        ("{1: 2}[1]", "Dict cannot be compiled"),
        ("first, other = self.pairs[1]; total = first + other", "unpacked: take each number by its index"),
        ("for first, other in self.pairs: total += first * other", "write `for row in range(len(table))`"),
        ("max(other for place, (first, other) in enumerate(self.pairs))", "unpacked: take each number by its index"),
        ("cells = list(state); cells[0:2] = 1, 2; total = cells[0]", "got a slice"),
    ],
)
def test_an_error_names_the_line_that_does_not_compile(tmp_path: Path, code: str, reason: str) -> None:
    found = why_plain(write(tmp_path, [code]))
    assert found is not None
    assert reason in found
    assert re.match(rf"{re.escape(str(tmp_path))}/examples_1\.py:\d+: ", found)


@pytest.mark.usefixtures("compiler")
def test_an_index_of_a_tuple_may_be_negative_and_is_checked() -> None:
    """As in Python, -1 is the last entry. The first index beyond either end is refused."""
    from arena_compiled.compiler import object_code  # imports numba

    text = "def entry(words):\n    held = (at(words, 1), at(words, 2), at(words, 3))\n    return at(held, at(words, 0))\n"
    words = array("q", [0, 10, 20, 30])
    run = load_code(*object_code(text, ("words",), "tuples"), ("words",))
    found = {}
    for index in range(-4, 4):
        words[0] = index
        found[index] = run(address(words))
    assert found == {-4: FAULT, -3: 10, -2: 20, -1: 30, 0: 10, 1: 20, 2: 30, 3: FAULT}
