"""The project file: `arena.toml`, or `[tool.arena]` in `pyproject.toml`. It names plugins for all commands in its folder."""

import os
from pathlib import Path
from typing import Any

import click

from arena.errors import ArenaError, escape_line, suggest

NO_PROJECT = "ARENA_NO_PROJECT"
"""The environment variable that passes the option `--no-project` to other processes."""
WITHOUT_PROJECT = frozenset({"docs", "ladder", "submit", "verify"})
"""Commands that load no plugins of a project, because they serve other people or check the files of others."""
MAX_PROJECT_FILE_BYTES = 1 << 20


def ignore_project(_context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    """Ignore project files, in this process and in the processes that it starts."""
    if wanted:
        os.environ[NO_PROJECT] = "1"


no_project_option = click.option(
    "--no-project", is_flag=True, is_eager=True, expose_value=False, callback=ignore_project, help="Ignore the project file."
)
"""The option `--no-project` of the group, and of every command that loads plugins."""


def read_own_file(path: Path) -> bytes | None:
    """Return the content of a file that may name code to load; None with `--no-project`, or if the user has no such file.

    The file and any link to it must belong to the user, because other users may be able to write to the folder of `path`.
    """
    if os.environ.get(NO_PROJECT, "") not in ("", "0") or not path.is_file():
        return None
    with path.open("rb") as file:
        owners = {path.lstat().st_uid, os.fstat(file.fileno()).st_uid}
        text = file.read(MAX_PROJECT_FILE_BYTES)
    if hasattr(os, "geteuid") and owners != {os.geteuid()}:
        if path.name != "pyproject.toml" or b"arena" in text:
            click.echo(f"{path.name} is ignored, because it belongs to another user", err=True)
        return None
    return text


def add_project(context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the plugins of the project and of `--plugin`. A line on stderr names the plugins that the project adds."""
    if not WITHOUT_PROJECT.isdisjoint(context.command_path.split()[1:]) or context.resilient_parsing:
        return given
    for name in ("arena.toml", "pyproject.toml"):
        text = read_own_file(Path(name))
        if text is not None and (name == "arena.toml" or b"arena" in text):
            from arena.plugins.sources import PluginPlace

            known = {PluginPlace(plugin).real for plugin in given}
            added = [plugin for plugin in _read_plugins(name, text) if PluginPlace(plugin).real not in known]
            if added:
                click.echo(f"{name}: loads {escape_line(', '.join(added))}; use --no-project to prevent this", err=True)
            return (*[PluginPlace(plugin).absolute for plugin in added], *given)
    return given


def _read_plugins(name: str, text: bytes) -> list[str]:
    import tomllib

    try:
        table: Any = tomllib.loads(text.decode())
        if name == "pyproject.toml":
            table = table.get("tool", {}).get("arena", {})
        plugins = table.get("plugins", [])
        unknown = [key for key in table if key != "plugins"]
    except (ValueError, AttributeError, RecursionError) as error:
        raise ArenaError(f"{name}: {error}; --no-project ignores the file") from error
    if unknown:
        raise ArenaError(f"{name}: unknown key {unknown[0]!r}; {suggest(unknown[0], ['plugins'])}")
    if not isinstance(plugins, list) or not all(isinstance(one, str) and one for one in plugins):
        raise ArenaError(f'{name}: plugins: expected a list of files and modules, as in plugins = ["game.py"], got {plugins!r}')
    return plugins
