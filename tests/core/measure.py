"""Measure the size of the code: `python tests/core/measure.py`, in a checkout with git.

It counts the Python files in `PACKAGES` that git tracks. The columns are:

* lines: all lines of the files, including blank lines, comments and docstrings. modules: the number of files.
* functions: the number of functions, including methods and inner functions. The lines of a function are counted from `def` to its
  end, with the docstring and without decorators. median: the median number of these lines.
* once: private functions (`_name`, but not `__name__`) that are called exactly once. This means that the module refers to the
  name once, as a name, an attribute or an import. short: the functions among them that have at most `SHORT_LINES` lines.

`--short` lists the short functions. Fold each one into its caller, unless its name says something that its lines do not; in that
case, note the reason in `KEPT`. `test_measure.py` fails for a short function without a reason, and for a reason that is no longer
needed.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median

PACKAGES = ("arena", "agents", "games", "bridges", "extensions", "chess")
SHORT_LINES = 6
ROOT = Path(__file__).resolve().parents[2]
KEPT = {
    "agents/arena_agents/policy_table.py:_load": "A cache: its arguments are the key.",
    "arena/counting.py:_offered": "A cache: its argument is the key.",
    "arena/game.py:_gives": "A cache: its arguments are the key.",
    "arena/identity.py:_type_name": "Handed to `json.dumps`: its name says what it writes for a value.",
    "arena/match/replay.py:_can_read": "A condition, which can hold no `try`.",
    "arena/plugins/contract.py:_check_board_column": "A check, one of several; its caller has as many branches as it may.",
    "arena/plugins/dependencies.py:_list_installed": "A cache: the folders of an environment do not change.",
    "arena/lazy.py:_read_owner": "A cache: its argument is the key.",
    "arena/results/contrasts.py:_by_position": "A step of the contrasts of puzzles, whose values it names.",
    "arena/stats/clustered.py:_scatter": "Called for the sums before and after the correction.",
    "arena/stats/ratings.py:_offsets": "A step of the fit, with a name and a source of its own.",
    "extensions/arena_tune/matches.py:_warn": "Handed to the forecast; a lambda holds no statements.",
    "arena/results/layout.py:_is_number": "Its name says why a column stands to the right.",
    "arena/store/rows.py:_are_amounts": "A condition, one of several.",
    "arena/store/rows.py:_check_kinds": "A cache: its argument is the key.",
    "arena/store/rows.py:_count_seats": "A cache: its argument is the key.",
    "arena/schedule/runner.py:_shorten_start": "Mapped over the seats; a lambda would be too long.",
    "arena/schedule/runner.py:_note_turn": "Handed to a match, which calls it at each turn.",
    "arena/search.py:_is_puzzle": "A cache: its argument is the key.",
    "arena/simultaneous.py:_call_settled": "Handed to `_adapt`, as `_resample` is.",
    "arena/spec/board.py:_make_with_copies": "Handed to `partial`, which makes an agent for each match.",
    "arena/spec/document.py:_parse_number": "Handed to a table; a lambda holds no statements.",
    "arena/spec/entries.py:_key_adapter": "A cache: its argument is the key.",
    "arena/spec/parameters.py:_make_adapters": "A cache: its argument is the key.",
    "arena/spec/reader.py:_unbuilt": "Stands for a heuristic; a lambda cannot raise.",
    "arena/store/database.py:_all": "Its class is a base: the class derived from it calls this, too.",
    "arena/store/rows.py:_labels": "A cache: its argument is the key.",
    "arena/store/rows.py:_used_rng": "A cache: its argument is the key.",
    "arena/counting.py:_is_its_attributes": "A cache: its argument is the key.",
    "bridges/arena_bridges/llm/answers.py:_open_at": "A cache: its argument is the key.",
    "bridges/arena_bridges/llm/budget.py:_find_shared": "A cache: its argument is the key.",
    "bridges/arena_bridges/llm/gate.py:_own_throttle": "A cache: its arguments are the key.",
    "bridges/arena_bridges/llm/inspect_tasks.py:_connect": "Handed to `partial`, which makes an agent for each match.",
    "bridges/arena_bridges/rl/networks.py:_loaded": "A cache: its arguments are the key.",
    "chess/arena_chess/position.py:_hash": "A cache: a search asks for the hash of a position again and again.",
    "extensions/arena_bundle/replay_host.py:_follow_all": "A generator, which keeps its place between two requests.",
    "extensions/arena_compiled/background.py:_forget_threads": "Handed to `os.register_at_fork`.",
    "extensions/arena_compiled/background.py:_look_at_watched": "Handed to a thread.",
    "extensions/arena_compiled/cache.py:_processor": "A cache: to ask for the processor takes a large library.",
    "extensions/arena_compiled/plugin.py:_cannot_load": "A cache: it has no arguments, so it is asked once in a process.",
    "extensions/arena_compiled/seam.py:_start_again": "Handed to a meter; a lambda cannot raise.",
    "extensions/arena_compiled/specialiser.py:_is_equal": "The condition of a loop, which can hold no `try`.",
    "extensions/arena_isolation/family_clock.py:_can_run": "A condition, which can hold no `try`.",
    "extensions/arena_compare/texts.py:_round_duration": "Handed over as a function; the name says what the expression does.",
    "extensions/arena_ladder/api.py:_check_author": "Handed to Pydantic; a lambda cannot raise.",
    "extensions/arena_ladder/api.py:_check_open": "Handed to FastAPI, which calls it before it reads the body.",
    "extensions/arena_records/contradictions.py:_check_timing": "A check, one of several.",
    "extensions/arena_review/kept.py:_list_objects": "A cache: the tables of a review do not change.",
    "extensions/arena_ladder/contest.py:_groups": "Handed to the plans, which call it for each batch.",
    "extensions/arena_ladder/contest.py:_start_seconds": "Handed to the pool, which calls it for each batch.",
    "extensions/arena_ladder/contest.py:_is_unanswered": "A rule of its own among the faults of a match.",
    "extensions/arena_ladder/feedback.py:_check": "Handed to the helper; a lambda cannot raise.",
    "extensions/arena_ladder/host.py:_watch": "A coroutine beside that of its caller.",
    "extensions/arena_ladder/judge.py:_look": "An override.",
    "extensions/arena_ladder/spec.py:_read_time_of_day": "Handed to Pydantic; a lambda cannot raise.",
    "extensions/arena_ladder/submission_check.py:_look": "Handed to the helper; a lambda cannot raise.",
    "extensions/arena_ladder/submit.py:_explain_silence": "The counterpart of `_explain_refusal`, beside which it stands.",
    "extensions/arena_tune/panel.py:_results_of": "A generator: its caller would hold a loop in a loop in a loop.",
    "extensions/arena_web/report/frontier.py:_tokens_per_game": "Its name says what a condition of three values is for.",
    "games/arena_games/hearts.py:_parse_hand": "The inverse of `_hand_text`, beside which it stands.",
    "games/arena_games/tic_tac_toe.py:_empty_cells": "Games are pickled with it, and a lambda cannot be.",
}
"""Short private functions that are called once and stay, by file and name, each with the reason."""


@dataclass(frozen=True)
class Function:
    """A function of a module."""

    name: str
    line: int
    lines: int
    references: int  # in its module

    @property
    def called_once(self) -> bool:
        """Whether the function is private and referenced exactly once."""
        return self.name.startswith("_") and not self.name.endswith("__") and self.references == 1

    @property
    def short(self) -> bool:
        """Whether the function is called once, and short enough to be folded into its caller."""
        return self.called_once and self.lines <= SHORT_LINES


@dataclass(frozen=True)
class Module:
    """A file, and its functions."""

    path: Path  # relative to the root of the checkout
    lines: int
    functions: list[Function]

    @property
    def package(self) -> str:
        """The package of the module, such as `arena/stats` or `extensions/arena_web`. Of nested packages, it is the outer one."""
        return "/".join(self.path.parts[:-1][:2])


def find_modules(packages: tuple[str, ...] = PACKAGES) -> list[Module]:
    """Read every Python file of `packages` that git tracks and that still exists."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    paths = [Path(name) for name in listed if name.split("/")[0] in packages and (ROOT / name).exists()]
    return [read_module(path) for path in paths]


def read_module(path: Path) -> Module:
    """Count the functions of one file."""
    source = (ROOT / path).read_text()
    nodes = list(ast.walk(ast.parse(source)))
    references: Counter[str] = Counter()
    for node in nodes:
        if isinstance(node, ast.Name):
            references[node.id] += 1
        elif isinstance(node, ast.Attribute):
            references[node.attr] += 1
        elif isinstance(node, ast.ImportFrom):
            references.update(alias.name for alias in node.names)
    functions = [
        Function(node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1, references[node.name])
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return Module(path, len(source.splitlines()), functions)


def format_row(name: str, modules: list[Module]) -> str:
    """Return the figures of some modules as a line of the table."""
    functions = [function for module in modules for function in module.functions]
    middle = median([function.lines for function in functions] or [0])
    once, short = sum(f.called_once for f in functions), sum(f.short for f in functions)
    return f"{name:<32}{sum(m.lines for m in modules):>8}{len(modules):>9}{len(functions):>11}{middle:>8.1f}{once:>7}{short:>7}"


def main() -> None:
    """Print the table, or the short functions."""
    parser = argparse.ArgumentParser(description="Measure the size of the code.")
    parser.add_argument("--short", action="store_true", help="list the short private functions that are called once")
    parser.add_argument("under", nargs="?", default="", help="only files whose path begins with this, such as arena/stats")
    arguments = parser.parse_args()
    modules = [module for module in find_modules() if str(module.path).startswith(arguments.under)]
    if arguments.short:
        for module in modules:
            for function in (f for f in module.functions if f.short):
                print(f"{module.path}:{function.line}: {function.name} ({function.lines})")
        return
    print(f"{'package':<32}{'lines':>8}{'modules':>9}{'functions':>11}{'median':>8}{'once':>7}{'short':>7}")
    packages: dict[str, list[Module]] = {}
    for module in modules:
        packages.setdefault(module.package, []).append(module)
    for name in sorted(packages):
        print(format_row(name, packages[name]))
    core = [module for module in modules if module.path.parts[0] in ("arena", "extensions")]
    print(format_row("arena and extensions", core))
    print(format_row("all", modules))


if __name__ == "__main__":
    main()
