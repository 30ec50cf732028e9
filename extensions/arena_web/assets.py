"""The files that pages load: arena's own by their names, and modules of plugins by a hash of their text."""

from hashlib import blake2b
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Response

from arena_web.errors import Refusal
from arena_web.views import address_imports, static_files

KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
MAX_MODULES = 64
"""The maximum number of cached modules of plugins; the latest are kept."""


class Assets:
    """Tables of all assets. Addresses are keys and not paths, so none leads to another file."""

    def __init__(self, *folders: Path) -> None:
        """Read the files of the pages, with those of `folders`."""
        own = {file.name: file for folder in (Path(__file__).parent / "static", *folders) for file in folder.iterdir()}
        files = {name: file for name, file in {**static_files(), **own}.items() if file.suffix in KINDS}
        self._files = {name: (file.read_bytes(), KINDS[file.suffix]) for name, file in files.items()}
        self._modules: dict[str, tuple[bytes, str]] = {}

    def add_to(self, app: FastAPI) -> None:
        """Add the addresses of files and modules to an application."""
        for path, endpoint in {"/static/{name:path}": self.file, "/modules/{name}": self.module}.items():
            app.add_api_route(path, endpoint, response_model=None, include_in_schema=False)

    def put_module(self, told: dict[str, Any], key: str) -> None:
        """Replace the source at a key, in the answer of a plugin process, by its address; None stays None."""
        if not isinstance(told.get(key), str):
            told[key] = None
            return
        source = address_imports(told[key]).encode("utf-8", "replace")
        name = f"{blake2b(source, digest_size=16).hexdigest()}.js"
        self._modules.pop(name, None)
        self._modules[name] = (source, KINDS[".js"])
        while len(self._modules) > MAX_MODULES:
            del self._modules[next(iter(self._modules))]
        told[key] = f"/modules/{name}"

    async def file(self, name: str) -> Response:
        """A module, the style sheet, the icon."""
        return _answer(self._files.get(name), "no such file")

    async def module(self, name: str) -> Response:
        """The module of a board or a panel that a plugin process has named."""
        return _answer(self._modules.get(name), "no such module")


def _answer(found: tuple[bytes, str] | None, missing: str) -> Response:
    if found is None:
        raise Refusal(404, missing, "load the page again")
    return Response(found[0], media_type=found[1], headers={"cache-control": "no-cache"})
