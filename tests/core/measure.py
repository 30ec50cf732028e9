"""Measure the size of the code: `python tests/core/measure.py`, in a checkout with git.

Counted are the Python files of `PACKAGES` that git knows. The columns:

* lines: all lines of the files, blank lines, comments and docstrings included. modules: the files.
* functions: every `def`, methods and inner functions included. A function's lines run from `def`, without decorators, to its end,
  docstring included. median: the median number of these lines.
* once: private functions (`_name`, but not `__name__`) that are called exactly once: the name is referenced once in the module of
  the function, as a name, an attribute or an import. short: those of them that have at most `SHORT_LINES` lines.

`--short` lists the short ones: fold each into its caller, unless its name says something that its lines do not.
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


@dataclass(frozen=True)
class Function:
    """A function of a module."""

    name: str
    line: int
    lines: int
    references: int  # in its module

    @property
    def called_once(self) -> bool:
        """Whether it is private and referenced exactly once."""
        return self.name.startswith("_") and not self.name.endswith("__") and self.references == 1

    @property
    def short(self) -> bool:
        """Whether it is called once and short enough to be folded."""
        return self.called_once and self.lines <= SHORT_LINES


@dataclass(frozen=True)
class Module:
    """A file, and its functions."""

    path: Path  # relative to the root of the checkout
    lines: int
    functions: list[Function]

    @property
    def package(self) -> str:
        """The package of the module, of packages in packages the outer one: `arena/stats`, `extensions/arena_web`."""
        return "/".join(self.path.parts[:-1][:2])


def find_modules(packages: tuple[str, ...] = PACKAGES) -> list[Module]:
    """Read every Python file of `packages` that git knows and that still exists."""
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
