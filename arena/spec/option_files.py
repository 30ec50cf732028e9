"""Files that options of an entry name, such as weights: found beside the spec, whoever makes the agent and wherever."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_type_hints

from arena.configured import SPEC_FILE, initializer


def option_files(constructor: Callable[..., Any], options: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Return the options with the hint SpecFile, each with the whole path of its file; those whose file is nowhere are left out.

    A relative path starts in `folder`, that of the spec, and where nothing lies there in the current one.
    """
    try:
        hints = get_type_hints(initializer(constructor), include_extras=True)
    except Exception:  # the hints are a plugin's, and told where the options are checked
        return {}
    named = [name for name, hint in hints.items() if SPEC_FILE in getattr(hint, "__metadata__", ())]
    found = {name: _found(options[name], folder) for name in named if isinstance(options.get(name), str)}
    return {name: str(path) for name, path in found.items() if path is not None}


def located(options: Mapping[str, Any], files: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """Return options as one who stands in `folder` takes them: whole paths of the `files` that another folder has."""
    return {**options, **{name: file for name, file in files.items() if Path(file) != folder / options[name]}}


def _found(text: str, folder: Path) -> Path | None:
    try:
        given = Path(text).expanduser()
        return next((path for path in (folder / given, given.absolute()) if path.exists()), None)
    except (OSError, RuntimeError, ValueError):  # no name that a file can have, or the home of nobody
        return None
