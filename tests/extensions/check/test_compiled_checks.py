"""Faults planted in the compiled rules of small games: each is found by its own check, which names the line of the fault."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.configured import make_default
from arena.heuristics import bind
from arena.plugins.sources import load_plugins
from arena.testing import Verdict
from arena_check.compiled_checks import CHECKS, CODE, HELD, RULES, SEARCHES, compiled_verdicts
from arena_compiled.checks import find_obstacle

Checked = Callable[..., dict[str, Verdict]]

PILE = '''
from arena import Game, heuristic, hookimpl
from arena.compiled import Estimate, Rules

class PileRules(Rules):
    words, width = 2, 3

    def __init__(self, most):
        self.most = most
        self.other = [1, 0]

    def encode(self, state):
        return state

    def action(self, state, number):
        return f"take {number}"

    def to_move(self, state):
        return state[1]

    def actions(self, state):
        for number in range(1, min(self.most, state[0]) + 1):
            yield number

    def result(self, state, action):
        return (state[0] - action, self.other[state[1]])

    def is_terminal(self, state):
        return state[0] == 0

    def returns(self, state):
        return (1.0, -1.0) if state[1] == 1 else (-1.0, 1.0)

    def threats(self, state, seat):
        if state[0] <= self.most:
            yield state[0]

class Pile(Game):
    """Whoever takes the last match wins."""

    name = "pile"

    def initial(self, rng):
        return (rng.randint(9, 14), 0)

    def to_move(self, state):
        return state[1]

    def actions(self, state):
        return [f"take {number}" for number in range(1, min(3, state[0]) + 1)]

    def result(self, state, action):
        return (state[0] - int(action.split()[1]), 1 - state[1])

    def returns(self, state):
        return (1, -1) if state[1] == 1 else (-1, 1)

    def threats(self, state, seat):
        return [f"take {state[0]}"] if state[0] <= 3 else []

    def compiled(self):
        return PileRules(3)

class Remainder(Estimate):
    def evaluate(self, state, player):
        if (state[0] % 4 == 0) == (state[1] != player):
            return 0.9
        return -0.9

@heuristic("remainder", game="pile")
def remainder(game, state, player):
    """Whoever faces a multiple of four loses."""
    return 0.9 if (state[0] % 4 == 0) == (state[1] != player) else -0.9

@remainder.compiled
def compiled_remainder(game, rules):
    return Remainder()

@hookimpl
def arena_games():
    return [Pile]

@hookimpl
def arena_heuristics():
    return [remainder]
'''
WALK = '''
from arena import Puzzle, heuristic, hookimpl
from arena.compiled import Estimate, Rules

class WalkRules(Rules):
    words, width, players = 1, 2, 1

    def encode(self, state):
        return (state,)

    def actions(self, state):
        if state[0] > 0:
            yield 0
        if state[0] < 9:
            yield 1

    def result(self, state, action):
        return (state[0] + 2 * action - 1,)

    def is_goal(self, state):
        return state[0] == 9

    def step_cost(self, state, action, successor):
        return 1.5

    def reverse(self, state, action):
        return 1 - action

class Walk(Puzzle):
    """From left to right."""

    name = "walk"

    def initial(self, rng):
        return rng.randrange(5)

    def actions(self, state):
        return [step for step in (0, 1) if 0 <= state + 2 * step - 1 <= 9]

    def result(self, state, action):
        return state + 2 * action - 1

    def is_goal(self, state):
        return state == 9

    def step_cost(self, state, action, successor):
        return 1.5

    def compiled(self):
        return WalkRules()

class Distance(Estimate):
    words = 1

    def first(self, state):
        return (9 - state[0],)

    def after(self, carried, state, action, successor):
        return (carried[0] + 1 - 2 * action,)

    def value(self, carried):
        return carried[0] * 1.5

@heuristic("distance", game="walk")
def distance(game, state, player=0):
    """What is left to go."""
    return (9 - state) * 1.5

@distance.compiled
def compiled_distance(game, rules):
    return Distance()

@hookimpl
def arena_games():
    return [Walk]

@hookimpl
def arena_heuristics():
    return [distance]
'''
FAULTS = {
    "encode": (RULES, PILE, "        return state\n", "        return state[:1]\n", "encode gave (", -1),
    "raises": (RULES, PILE, "return PileRules(3)", "return PileRules(3, 4)", "raised TypeError", 0),
    "to_move": (RULES, PILE, "        return state[1]\n", "        return 1 - state[1]\n", "to_move differs between", -1),
    "order": (RULES, PILE, "range(1, min(self.most, state[0]) + 1)", "range(min(self.most, state[0]), 0, -1)", "actions", -1),
    "too many": (RULES, PILE, "            yield number\n", "            yield from (number, number)\n", "gave 6", -2),
    "result": (RULES, PILE, "(state[0] - action, ", "(state[0] - 1, ", "result of take 2", -1),
    "terminal": (RULES, PILE, "return state[0] == 0", "return state[0] == 1", "is_terminal differs between", -1),
    "returns": (RULES, PILE, "(1.0, -1.0) if state[1] == 1", "(1.0, -1.0) if state[1] == 0", "returns differs between", -1),
    "threats": (RULES, PILE, "if state[0] <= self.most:", "if state[0] < self.most:", "threats differs between", -1),
    "division": (RULES, PILE, "return state[0] == 0", "return state[0] // (state[0] - 5) == 0", "by zero", 0),
    "too large": (HELD, PILE, "(state[0] - action, ", "((state[0] << 62 >> 62) - action, ", "not fit into 64 bits", 0),
    "from the end": (HELD, PILE, "self.other[state[1]]", "self.other[state[1] - 2]", "the index -2 is outside a table", 0),
    "shift": (HELD, PILE, "return state[0] == 0", "return state[0] >> (64 - state[0]) == 0 == state[0]", "a shift by 64 bits", 0),
    "allocates": (RULES, PILE, "(state[0] - action, ", "(state[0] - {0: action}[0], ", "Dict cannot be compiled", 0),
    "unknown": (RULES, PILE, "return state[0] == 0", "return str(state[0]) == '0'", "does not support str", 0),
    "evaluate": (RULES, PILE, "            return 0.9\n", "            return 0.8\n", "the heuristic differs between", -2),
    "goal": (RULES, WALK, "return state[0] == 9", "return state[0] == 8", "is_goal differs between", -1),
    "step_cost": (RULES, WALK, "        return 1.5\n", "        return 2.5\n", "step_cost differs between", -1),
    "reverse": (RULES, WALK, "        return 1 - action\n", "        return action\n", "reverse of", -1),
    "first": (RULES, WALK, "(9 - state[0],)", "(8 - state[0],)", "the heuristic differs between", -1),
    "after": (RULES, WALK, "(carried[0] + 1 - 2 * action,)", "(carried[0] - 2 * action,)", "the heuristic differs between", -1),
}  # fmt: skip
"""By name: the check that finds it, the plugin, what stands there, what is put in its place, what the finding says, and the line
of the finding, counted from that of the fault: a comparison tells where the method begins."""


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checked:
    """Check the compiled rules of a plugin file, with its heuristic or without, uncompiled."""
    monkeypatch.setenv("ARENA_PLAIN", "1")

    def checked(text: str, **options: Any) -> dict[str, Verdict]:
        file = tmp_path / "plugin.py"
        file.write_text(text)
        registry = load_plugins([str(file)])
        name = "pile" if "Pile" in text else "walk"
        game = make_default(registry.game(name))
        assert game is not None
        evaluation = bind(registry.heuristic(name, "remainder" if name == "pile" else "distance"), game)
        how = {"seed": 0, "matches": 5, "patience": 10.0, **options}
        return {verdict.check: verdict for verdict in compiled_verdicts(game, evaluation, {}, **how)}

    return checked


@pytest.mark.parametrize("text", [PILE, WALK], ids=["pile", "walk"])
def test_compiled_rules_that_agree_with_the_game_pass(checked: Checked, text: str) -> None:
    """Checks that need compilation are listed as not run."""
    found = checked(text)
    assert list(found) == list(CHECKS)
    assert all(verdict.kept for verdict in found.values())
    assert {name for name, verdict in found.items() if not verdict.reached} == {CODE, SEARCHES}
    assert found[CODE].promise == "not run: ARENA_PLAIN is set"


@pytest.mark.parametrize(("name", "heuristic"), [("n-queens", "conflicts"), ("sudoku", "candidates")])
def test_a_game_whose_state_compiled_rules_change_in_place_passes(
    name: str, heuristic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arena has derived its rules, and the check cannot run them. A search with a heuristic is not compiled."""
    monkeypatch.setenv("ARENA_PLAIN", "1")
    registry = load_plugins()
    game = make_default(registry.game(name))
    assert game is not None
    evaluation = bind(registry.heuristic(name, heuristic), game)
    for given in (None, evaluation):
        assert list(compiled_verdicts(game, given, {}, seed=0, matches=1, patience=10.0)) == []
    assert find_obstacle(game, None, compiling=False) is None
    reason = "its states are changed in place, which only bfs, dfs and iterative-deepening support"
    assert find_obstacle(game, evaluation, compiling=False) == reason


def test_a_heuristic_without_an_estimate_is_accepted(checked: Checked) -> None:
    found = checked(PILE.replace("@remainder.compiled\n", ""))
    assert list(found) == ["compiled"]
    assert found["compiled"].kept
    assert found["compiled"].promise == "not compiled: the heuristic remainder has no compiled()"


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_compiled_rules_is_reported_with_its_line(checked: Checked, fault: str, tmp_path: Path) -> None:
    check, text, before, after, said, line = FAULTS[fault]
    assert before in text
    broken = text.replace(before, after, 1)
    found = checked(broken)
    assert [name for name, verdict in found.items() if not verdict.kept] == [check]
    violation = found[check].violation
    assert violation is not None
    assert said in str(violation)
    at = text[: text.index(before)].count("\n") + 1
    assert f"{tmp_path / 'plugin.py'}:{at + line}" in str(violation)


def test_the_message_explains_that_returns_other_than_win_draw_loss_are_not_compiled(checked: Checked) -> None:
    """The returns differ from those of the game above by a factor of 3."""
    graded = PILE.replace("(1, -1)", "(3, -3)").replace("(-1, 1)", "(-3, 3)")
    graded = graded.replace('    name = "pile"\n', '    name = "pile"\n    min_return, max_return = -3.0, 3.0\n')
    found = checked(graded)
    assert list(found) == ["compiled"]
    assert (found["compiled"].kept, found["compiled"].reached) == (True, False)
    assert found["compiled"].promise == "not compiled: its returns are not from -1 to 1"
