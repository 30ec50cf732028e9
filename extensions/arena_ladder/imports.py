"""Finds the packages that the code of a submission imports, by reading the code."""

import ast
import sys
from collections.abc import Collection, Mapping

OWN = ("arena",)
"""Packages that every agent may import, because it needs them."""


def find_forbidden_imports(files: Mapping[str, str], packages: Collection[str]) -> list[str]:
    """Return `FILE:LINE: PACKAGE` for every import of a package that is not allowed.

    `files` maps the names of the files in the submission to their texts. The files may import each other and the standard
    library. Imports that are computed at run time are not found, but they cannot load a package that is not installed. Text that
    is not Python has no imports.
    """
    own = {part.removesuffix(".py") for name in files for part in name.split("/")}
    allowed = {*OWN, *own, *packages, *sys.stdlib_module_names}
    found = []
    for name, text in sorted(files.items()):
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
                modules = [node.module]
            else:
                continue
            tops = [module.partition(".")[0] for module in modules]
            found += [f"{name}:{node.lineno}: {top}" for top in tops if top not in allowed]
    return found
