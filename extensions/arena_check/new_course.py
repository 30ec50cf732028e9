"""Writes the folder of a course: the specs of two ladders, a roster, a rubric, and five exercises with hidden tests."""

from importlib.resources import files
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory

from arena import ArenaError, Puzzle, Registry

DEFAULT_GAME = "connect-four"
SCHEMA_FILE = "course.schema.json"
SHARED_FILES = {
    "15-puzzle.yaml": "course_puzzle_spec",
    "roster.csv": "course_roster",
    "README.md": "course_readme",
    "rubric.md": "course_rubric",
    "pytest.ini": "course_pytest",
    "exercises/conftest.py": "course_conftest",
}
"""The template of each file that does not belong to a single exercise."""
EXERCISES = {
    "heuristic": "course_heuristic_starter",
    "alpha_beta": "course_agent",
    "mcts": "course_agent",
    "learner": "course_agent",
    "solver": "course_solver_starter",
}
"""The template of the first file of each exercise. The templates of the task and of the tests are named after the exercise."""


def write_course(name: str, folder: Path, registry: Registry, game: str | None = None, schema: str | None = None) -> list[Path]:
    """Write the folder `name` of a course on `game` and on the 15-puzzle into `folder`, and return the written paths.

    If `schema` is given, it becomes a file beside the specs. A comment in each spec names this file for editors.
    If the folder exists or the game is not for two players, it raises ArenaError; for an unknown game it raises UnknownName.
    Then nothing is written.
    """
    chosen = game or DEFAULT_GAME
    kind = registry.game(chosen)
    if issubclass(kind, Puzzle) or kind().players != 2:
        raise ArenaError(f"--game {chosen}: a course needs a game for two players")
    top = folder / name
    if top.exists() or top.is_symlink():
        raise ArenaError(f"{top} already exists; choose another name or another folder")
    plan = {f"{chosen}.yaml": "course_spec", **SHARED_FILES}
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
            (made / SCHEMA_FILE).write_text(schema, "utf-8")
            for spec in made.glob("*.yaml"):
                spec.write_text(f"# yaml-language-server: $schema={SCHEMA_FILE}\n{spec.read_text('utf-8')}", "utf-8")
        (Path(unfinished) / name).rename(top)
    return [top / place for place in (*plan, *([] if schema is None else [SCHEMA_FILE]))]
