"""The command `new`: writes the first file of a plugin, or the folder of its package, from templates."""

import json
import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.resources import files
from keyword import iskeyword
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import click

from arena import ArenaError, Puzzle, Registry
from arena.api.cli import hint_at_distribution, is_given, load, plugin_option, results_alone, say
from arena.api.games import Traits, make_default
from arena.api.spec import NAME, PluginPlace

KINDS = ("agent", "game", "puzzle", "heuristic")
COURSE = "course"
"""The kind that makes a course: a folder, and not a plugin."""
WORD = re.compile(r"[A-Za-z_]\w*")
COURSE_GAME = "connect-four"
COURSE_SCHEMA_FILE = "course.schema.json"
COURSE_FILES = {
    "15-puzzle.yaml": "course_puzzle_spec",
    "roster.csv": "course_roster",
    "README.md": "course_readme",
    "rubric.md": "course_rubric",
    "pytest.ini": "course_pytest",
    "exercises/conftest.py": "course_conftest",
}
"""The template of each file of a course that does not belong to a single exercise."""
EXERCISES = {
    "heuristic": "course_heuristic_starter",
    "alpha_beta": "course_agent",
    "mcts": "course_agent",
    "learner": "course_agent",
    "solver": "course_solver_starter",
}
"""The template of the first file of each exercise of a course. The templates of its task and of its tests are named after it."""


@click.command()
@click.argument("kind", type=click.Choice([*KINDS, COURSE]))
@click.argument("name")
@click.option("--game", metavar="GAME", help="The game of the course or heuristic, or the game to try the agent on.")
@click.option("--package", is_flag=True, help="Write a package with tests, which pip can install, instead of one file.")
@click.option("--chance", "features", flag_value="chance", multiple=True, help="A game with dice.")
@click.option(
    "--hidden", "features", flag_value="hidden", multiple=True, help="A game with hidden cards, which are dealt at random."
)
@click.option(
    "--simultaneous",
    "features",
    flag_value="simultaneous",
    multiple=True,
    help="A game in which several seats act at the same time.",
)
@plugin_option
def new(kind: str, name: str, game: str | None, package: bool, features: tuple[str, ...], plugins: tuple[str, ...]) -> int:
    """Write a file for a new agent, game, puzzle or heuristic. It runs without changes.

    With `course`, write the folder of a course: two ladders with marks, a roster, and five exercises with hidden tests.
    """
    if kind == COURSE and (package or features):
        raise click.UsageError("a course accepts only the option --game")
    with results_alone() as out:
        registry = load(plugins)
        if kind == COURSE:
            group: Any = click.get_current_context().find_root().command
            owner = next((one for one in group.commands.listed() if "marks" in one.spec_keys), None)
            schema = None  # the command that reads the spec of a course is in another extension
            if owner is None:
                say(f"note: `arena ladder` hosts the course; {hint_at_distribution('ladder')}")
            else:
                schema = json.dumps(import_module(owner.spec_check.partition(":")[0]).json_schema(), indent=1)
            written = write_course(name, Path(), registry, game, schema)
            print(*[f"wrote {file}" for file in written], sep="\n", file=out)
            specs = shlex.join([str(file) for file in written if file.suffix == ".yaml"])
            print(f"next: arena validate {specs}; {name}/README.md lists the other steps", file=out)
            return 0
        if name.islower():  # a file name is accepted, too
            name = name.removesuffix(".py").replace("_", "-")
        named = plugins if is_given("plugins") else ()
        written = write(kind, name, Path(), registry, game=game, package=package, features=frozenset(features), plugins=named)
        print(*[f"wrote {file}" for file in written], sep="\n", file=out)
        print(f"next: arena try {shlex.quote(str(written[0]))}{_list_options(kind, game, named)}", file=out)
        if package:
            print(f"then: pip install --editable {name}", file=out)
    return 0


def _list_options(kind: str, game: str | None, plugins: Sequence[str]) -> str:
    """Return the options with which `arena try` finds the game of a new plugin; each begins with a space."""
    words = ["--game", game] if game is not None and kind == "agent" else []
    return "".join([f" {shlex.quote(word)}" for word in [*words, *[one for path in plugins for one in ("--plugin", path)]]])


class Opponent(NamedTuple):
    """The game that a new agent plays, or the game of a new heuristic. For a new game or puzzle, the name is empty."""

    name: str
    puzzle: bool
    duel: bool = True
    """Whether it is a zero-sum game for two seats without chance and hidden information. Agents for other games have a
    template of their own.
    """
    seats: int = 2


class CannotWrite(ArenaError):
    """`arena new` does not write the file; the message gives the reason."""


def write(
    kind: str,
    name: str,
    folder: Path,
    registry: Registry,
    *,
    game: str | None = None,
    package: bool = False,
    features: frozenset[str] = frozenset(),
    plugins: Sequence[str] = (),
) -> list[Path]:
    """Write the file of a plugin, or the folder of a package, into `folder`, and return the written paths.

    `kind` is one of KINDS, and `name` is the key in the registry. `game` is the game in which a new agent is tried (default: the
    first game), or the game of a new heuristic, for which it is required. `features` is a selection of `chance`, `hidden` and
    `simultaneous` for a new game. With `package`, a package is written. `registry` lists the existing plugins; the written
    commands name `plugins`. Raises CannotWrite for an unusable name or an existing file, and UnknownName for an unknown game;
    then nothing is written.
    """
    if features and kind != "game":
        named = " ".join([f"--{feature}" for feature in sorted(features)])
        raise CannotWrite(f"{named}: only games have this option; expected `arena new game {name} {named}`")
    if package:  # its commands are run in the folder of the package
        plugins = [os.path.relpath(path, name) if PluginPlace(path).is_file else path for path in plugins]
    plan = FilePlan(kind, name, _find_opponent(kind, game, registry), features, _list_options(kind, game, plugins))
    _check_name(plan, registry)
    texts = plan.package() if package else {Path(plan.file): plan.module_text}
    top = folder / name if package else folder / plan.file
    if top.exists() or top.is_symlink():
        raise CannotWrite(f"{top} already exists; choose another name or another folder")
    try:
        with TemporaryDirectory(prefix=f".{name}-", dir=folder) as unfinished:
            for place, text in texts.items():
                file = Path(unfinished) / place
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
            (Path(unfinished) / top.name).rename(top)
    except OSError as error:
        raise CannotWrite(f"{top} cannot be written: {error.strerror}") from error
    return [folder / place for place in texts]


def starter(game: str, registry: Registry) -> str:
    """Return the text of a file with an agent that can play `game` without changes. Raises UnknownName for an unknown game."""
    opponent = _find_opponent("agent", game, registry)
    return FilePlan("agent", "my-agent", opponent, options=_list_options("agent", game, ())).module_text


def write_course(name: str, folder: Path, registry: Registry, game: str | None = None, schema: str | None = None) -> list[Path]:
    """Write the folder `name` of a course on `game` and on the 15-puzzle into `folder`, and return the written paths.

    If `schema` is given, it becomes a file beside the specs. A comment in each spec names this file for editors.
    If the folder exists or the game is not for two players, it raises ArenaError; for an unknown game it raises UnknownName.
    Then nothing is written.
    """
    chosen = game or COURSE_GAME
    kind = registry.game(chosen)
    if issubclass(kind, Puzzle) or kind().players != 2:
        raise ArenaError(f"--game {chosen}: a course needs a game for two players")
    top = folder / name
    if top.exists() or top.is_symlink():
        raise ArenaError(f"{top} already exists; choose another name or another folder")
    plan = {f"{chosen}.yaml": "course_spec", **COURSE_FILES}
    for exercise, starter in EXERCISES.items():
        parts = {"README.md": f"course_{exercise}_task", "starter.py": starter, "test_hidden.py": f"course_{exercise}_test"}
        plan |= {f"exercises/{exercise}/{file}": template for file, template in parts.items()}
    with TemporaryDirectory(prefix=f".{name}-", dir=folder) as unfinished:
        for place, template in plan.items():
            file = Path(unfinished) / name / place
            file.parent.mkdir(parents=True, exist_ok=True)
            text = (files("arena_check") / "templates" / f"{template}.txt").read_text("utf-8")
            file.write_text(Template(text).substitute(name=name, game=chosen), "utf-8")
        if schema is not None:
            made = Path(unfinished) / name
            (made / COURSE_SCHEMA_FILE).write_text(schema, "utf-8")
            for spec in made.glob("*.yaml"):
                spec.write_text(f"# yaml-language-server: $schema={COURSE_SCHEMA_FILE}\n{spec.read_text('utf-8')}", "utf-8")
        (Path(unfinished) / name).rename(top)
    return [top / place for place in (*plan, *([] if schema is None else [COURSE_SCHEMA_FILE]))]


def _find_opponent(kind: str, game: str | None, registry: Registry) -> Opponent:
    """Return the named game; for an agent without a named game, the first game.

    Raises UnknownName for an unknown game. Raises ArenaError if a game is named for a new game or puzzle, if no game is named for
    a heuristic, or if there is no game for an agent.
    """
    if kind in ("game", "puzzle"):
        if game is not None:
            raise ArenaError(f"--game {game}: a new {kind} does not belong to another game; leave the option out")
        return Opponent("", False)
    if game is None and kind == "heuristic":
        raise ArenaError(f"a heuristic belongs to a game; expected --game with one of {', '.join(sorted(registry.games))}")
    named = game or registry.find_first_game(puzzle=False)
    if named is None:
        raise ArenaError("no game is installed to try an agent on; `arena plugins` shows the state of all plugins")
    rules = registry.game(named)
    made = make_default(rules)  # None if the game needs parameters: then its traits are unknown
    duel = made is None or (Traits.of(made) >= {"two-player", "zero-sum"} and not Traits.of(made) & set(Traits.COPED))
    return Opponent(named, issubclass(rules, Puzzle), duel, 2 if made is None else made.players)


@dataclass(frozen=True)
class FilePlan:
    """The files of a new plugin."""

    kind: str
    name: str
    opponent: Opponent
    features: frozenset[str] = frozenset()
    options: str = ""
    """The options of `arena try` and `arena check`, each after a space."""

    @property
    def module(self) -> str:
        """The name of the Python module."""
        return self.name.replace("-", "_")

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"{self.module}.py"

    @property
    def template(self) -> str:
        """The name of the template. Agents and heuristics for puzzles, heuristics for games without exactly two seats, agents
        for games other than zero-sum games of two seats without chance and hidden information, and every kind of game have
        templates of their own.
        """
        if "simultaneous" in self.features:
            return "game_simultaneous" if len(self.features) == 1 else "game_simultaneous_chance"
        if self.features:
            return "game_hidden" if "hidden" in self.features else "game_chance"
        if self.opponent.puzzle:
            return {"agent": "solver", "heuristic": "estimate"}.get(self.kind, self.kind)
        if self.kind == "heuristic" and self.opponent.seats != 2:
            return "heuristic_seats"
        return "player" if self.kind == "agent" and not self.opponent.duel else self.kind

    @cached_property
    def module_text(self) -> str:
        """The text of the plugin's file."""
        return self._fill(self.template)

    def package(self) -> dict[Path, str]:
        """Return the text of every file of a package."""
        top = Path(self.name)
        test = "heuristic" if self.kind == "heuristic" else "play" if self.features else self.template
        texts = {"pyproject.toml": "pyproject", "README.md": "readme", f"tests/test_{self.module}.py": f"test_{test}"}
        texts |= {f"tests/test_{self.module}_values.py": f"test_{self.template}"} if self.features else {}
        filled = {top / file: self._fill(name) for file, name in texts.items()}
        return {top / self.file: self.module_text, **filled}

    def _fill(self, template: str) -> str:
        """Return the text of a template, in which placeholders are replaced by the names of the plugin."""
        taken = set(WORD.findall(_read_template(self.template).replace("$class", "").replace("$function", "")))
        title = "".join(word[:1].upper() + word[1:] for word in self.name.split("-")) or self.kind.title()
        if not title.isidentifier() or iskeyword(title) or title in taken:
            title = f"{self.kind.title()}{title}"
        function = self.module
        if not function.isidentifier() or iskeyword(function) or function in taken:
            function = f"value_{function}"
        words = {"class": title, "function": function, "name": self.name, "module": self.module, "file": self.file}
        text = _read_template(template)
        is_python = text.startswith('"""')  # then the options are in a string
        words["options"] = self.options.replace("\\", r"\\").replace('"', r"\"") if is_python else self.options
        return Template(text).substitute(words, kind=self.kind, game=self.opponent.name)


def _check_name(plan: FilePlan, registry: Registry) -> None:
    name, kind = plan.name, plan.kind
    if not NAME.fullmatch(name):
        raise CannotWrite(f"name {name!r}: expected lowercase letters, digits and dashes")
    if not name[0].isalpha() or not name[-1].isalnum() or iskeyword(plan.module):
        reason = "is a Python keyword" if iskeyword(plan.module) else "cannot be the name of a module"
        raise CannotWrite(
            f"name {name!r}: {plan.module} {reason}; expected a name that starts with a letter and ends without a dash"
        )
    key = (kind, plan.opponent.name, name) if kind == "heuristic" else ("game" if kind == "puzzle" else kind, name)
    if key in registry.sources:
        raise CannotWrite(f"name {name!r}: {registry.sources[key]} already defines {' '.join(key)!r}; choose another name")
    if plan.module in sys.stdlib_module_names or plan.module in ("arena", "arena_agents", "arena_games"):
        raise CannotWrite(f"name {name!r}: {plan.file} would hide the module {plan.module}; expected another name")


def _read_template(name: str) -> str:
    return (files("arena_check") / "templates" / f"{name}.txt").read_text("utf-8")
