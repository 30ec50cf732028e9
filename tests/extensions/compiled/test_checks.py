"""`arena check` finds code and searches that differ when compiled, and code that the compiler does not support."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena.configured import make_default
from arena.heuristics import bind
from arena.plugins.sources import load_plugins
from arena.testing import Verdict
from arena_agents.full_width import Minimax
from arena_check.compiled_checks import CODE, RULES, SEARCHES, compiled_verdicts
from tests.extensions.check.test_compiled_checks import PILE

HIGH = PILE.replace("rng.randint(9, 14)", "40").replace("PileRules(3)", "PileRules(9)").replace("= 2, 3", "= 2, 9")
HIGH = HIGH.replace("min(3, ", "min(9, ").replace("<= 3", "<= 9")


def checked(file: Path, text: str, agents: dict[str, Any]) -> dict[str, Verdict]:
    file.write_text(text)
    registry = load_plugins([str(file)])
    game = make_default(registry.game("pile"))
    assert game is not None
    evaluation = bind(registry.heuristic("pile", "remainder"), game)
    found = compiled_verdicts(game, evaluation, agents, seed=0, matches=1, patience=60.0)
    return {verdict.check: verdict for verdict in found}


def broken(verdicts: dict[str, Verdict]) -> list[str]:
    return [name for name, verdict in verdicts.items() if not verdict.kept]


def test_a_difference_that_random_play_missed_is_found_by_a_search(compiling: None, tmp_path: Path) -> None:
    """After 1 and 1 there is one action instead of nine. This occurs in one playout of 81, and among the first 5,000 nodes of a
    search.
    """
    found = checked(tmp_path / "plugin.py", HIGH, {"minimax": Minimax})
    assert broken(found) == []
    assert (
        found[SEARCHES].promise
        == "compiled and uncompiled searches find the same results with minimax under limits of 1, 7, 100, 5,000 nodes"
    )
    rare = HIGH.replace("min(self.most, state[0]) + 1)", "min(self.most if state != (38, 0) else 1, state[0]) + 1)", 1)
    found = checked(tmp_path / "plugin.py", rare, {"minimax": Minimax})
    assert broken(found) == [SEARCHES]
    assert "minimax finds the same result under a limit of 5,000 nodes" in str(found[SEARCHES].violation)


def test_compiled_code_that_differs_from_python_is_found(compiling: None, tmp_path: Path) -> None:
    """A name that is first an integer and then a float holds a float, which has 53 bits."""
    text = HIGH.replace(
        "            yield number\n",
        "            large = (1 << 53) + 1\n"
        "            if number > 9:\n"
        "                large = 0.5\n"
        "            yield number + int(large - (1 << 53)) - 1\n",
        1,
    )
    found = checked(tmp_path / "plugin.py", text, {})
    assert broken(found) == [CODE]
    assert "the compiled and the uncompiled rules return different values for (40, 0)" in str(found[CODE].violation)


def test_code_that_the_compiler_does_not_support_is_found(compiling: None, tmp_path: Path) -> None:
    """A name is first a number and then a pair."""
    text = HIGH.replace(
        "        return state[0] == 0\n",
        "        what = state[0]\n        if what == 0:\n            what = (1, 2)\n        return what == 0 or state[0] == 0\n",
        1,
    )
    found = checked(tmp_path / "plugin.py", text, {})
    assert broken(found) == [RULES]
    assert f"{tmp_path / 'plugin.py'}:3" in str(found[RULES].violation)


def test_check_reports_the_line_that_does_not_compile_and_a_run_plays_plain(
    compiler: None, arena: Callable[..., Any], tmp_path: Path
) -> None:
    line = PILE[: PILE.index("def result")].count("\n") + 1
    (tmp_path / "plugin.py").write_text(PILE.replace("(state[0] - action, ", "(state[0] - 1, ", 1))
    done = arena("check", "plugin.py", "--matches", 3)
    assert done.returncode == 1
    assert "FAILED  compiled rules: result of take 2 differs between the compiled rules and the game" in done.stdout
    assert "-       compiled code, compiled searches: not checked after this failure" in done.stdout
    assert f"({tmp_path / 'plugin.py'}:{line})" in done.stdout
    (tmp_path / "spec.yaml").write_text("plugins: [plugin.py]\ngame: pile\nrounds: 1\nagents: [minimax, random]\n")
    done = arena("run", "spec.yaml", "--no-store", ARENA_COMPILE="always")
    assert done.returncode == 0
    assert f"not compiled: {tmp_path / 'plugin.py'}:{line}: result of take 2" in done.stderr
