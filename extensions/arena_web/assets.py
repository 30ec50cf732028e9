"""The files that pages load. Files of arena are found by their names, and modules of plugins by a hash of their text."""

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response

from arena_web.errors import Refusal
from arena_web.views import address_imports, static_files

KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
FILE_CACHE = "private, max-age=300"
"""The header for caching a file of arena in a browser. Such files change only when arena is upgraded."""
MODULE_CACHE = "private, max-age=31536000, immutable"
"""The header for caching a module of a plugin in a browser. The address is a hash of the text, so the module at an address never
changes.
"""
MAX_MODULES = 64
"""The maximum number of cached modules of plugins; the most recent ones are kept."""


class Assets:
    """All assets by address. An address is a key of a table and not a path, so it cannot lead to any other file."""

    def __init__(self, *folders: Path, root: str = "") -> None:
        """Read the files of the pages, including the ones in `folders`. The addresses of modules begin with `root`."""
        self._root = root
        own = {file.name: file for folder in (Path(__file__).parent / "static", *folders) for file in folder.iterdir()}
        files = {name: file for name, file in {**static_files(), **own}.items() if file.suffix in KINDS}
        self._files = {name: (file.read_bytes(), KINDS[file.suffix]) for name, file in files.items()}
        self._tags = {name: f'"{blake2b(content, digest_size=16).hexdigest()}"' for name, (content, _) in self._files.items()}
        self._modules: dict[str, tuple[bytes, str]] = {}

    def add_to(self, app: FastAPI) -> None:
        """Add routes for the files and modules to an application."""
        # These are plain routes of Starlette, because a page loads many files, and FastAPI takes more time for a request.
        app.add_route("/static/{name:path}", self.file, include_in_schema=False)
        app.add_route("/modules/{name}", self.module, include_in_schema=False)

    def put_module(self, told: dict[str, Any], key: str) -> None:
        """Replace the source of a module by its address in `told`, the answer of a plugin process. The source is at `key`; None
        stays None.
        """
        if not isinstance(told.get(key), str):
            told[key] = None
            return
        source = address_imports(told[key]).encode("utf-8", "replace")
        name = f"{blake2b(source, digest_size=16).hexdigest()}.js"
        self._modules.pop(name, None)
        self._modules[name] = (source, KINDS[".js"])
        while len(self._modules) > MAX_MODULES:
            del self._modules[next(iter(self._modules))]
        told[key] = f"{self._root}/modules/{name}"

    async def file(self, request: Request) -> Response:
        """Return a file: a module, the style sheet or the icon. If the browser has a current copy, the answer has no body."""
        name = request.path_params["name"]
        headers = {"cache-control": FILE_CACHE, "etag": self._tags.get(name, "")}
        if headers["etag"] and headers["etag"] in request.headers.get("if-none-match", ""):
            return Response(None, 304, headers)
        return _answer(self._files.get(name), "no such file", headers)

    async def module(self, request: Request) -> Response:
        """Return the module of a board or a panel whose source came from a plugin process."""
        return _answer(self._modules.get(request.path_params["name"]), "no such module", {"cache-control": MODULE_CACHE})


def _answer(found: tuple[bytes, str] | None, missing: str, headers: Mapping[str, str]) -> Response:
    if found is None:
        raise Refusal(404, missing, "reload the page")
    return Response(found[0], media_type=found[1], headers=headers)
