"""The bundle of a tournament that uses a plugin, and functions that change a bundle as an attacker would."""

import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from arena import ArenaError, run
from arena_bundle.bundle import bundle
from arena_bundle.verify import verify

PLUGIN = '''"""An agent that plays the last legal action."""

from arena import Agent, hookimpl


class Last(Agent):
    """Plays the last legal action."""

    name = "last"

    def choose(self, game, state, search):
        print("an order to the terminal")
        return game.actions(state)[-1]


@hookimpl
def arena_agents():
    return [Last]
'''
SPEC = "game: tic-tac-toe\nplugins: [last.py]\nagents: [random, greedy, last]\nrounds: 5\n"
Change = Callable[[dict[str, bytes]], None]


def play(folder: Path, spec: str = SPEC, name: str = "cup") -> Path:
    """Play a spec in a folder, and return the store."""
    (folder / "last.py").write_text(PLUGIN)
    (folder / f"{name}.yaml").write_text(spec)
    run(folder / f"{name}.yaml", store=folder / f"{name}.db")
    return folder / f"{name}.db"


def call(command: Any, *words: object) -> int:
    """Call a command of this extension, and return its exit code."""
    try:
        return int(command.main([str(word) for word in words], standalone_mode=False) or 0)
    except ArenaError as error:
        print(error)
        return error.EXIT_CODE


def pack(store: Path, *words: object) -> Path:
    """Return the bundle of a store."""
    out = store.with_suffix(".arena")
    assert call(bundle, store, "-o", out, "--spec", store.with_suffix(".yaml"), *words) == 0
    return out


def pack_with_library(folder: Path, spec: str, name: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the bundle of a tournament whose agents use the library `name`, which is installed only meanwhile."""
    (folder / "library").mkdir()
    (folder / "library" / f"{name}.py").write_text("")
    with monkeypatch.context() as here:
        here.syspath_prepend(folder / "library")
        here.setenv("PYTHONPATH", str(folder / "library"))
        out = pack(play(folder, spec))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return out


@pytest.fixture(scope="package")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the bundle of a tournament. The store is in the same folder."""
    return pack(play(tmp_path_factory.mktemp("made")))


def read(place: Path) -> dict[str, bytes]:
    """Return all files of a zip archive."""
    with zipfile.ZipFile(place) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def write(place: Path, files: dict[str, bytes]) -> Path:
    """Write a zip archive."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return place


def rehash(files: dict[str, bytes]) -> None:
    """Make the manifest fit the other files again, as an attacker would."""
    manifest = json.loads(files["manifest.json"])
    others = {name: content for name, content in files.items() if not name.startswith("manifest.json")}
    manifest["files"] = {name: sha256(content).hexdigest() for name, content in others.items()}
    files["manifest.json"] = json.dumps(manifest).encode()


@pytest.fixture
def attacked(packed: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that changes the files of a bundle. By default, it also makes the manifest fit the changed files."""

    def attack(change: Change, *, fits: bool = True) -> Path:
        files = read(packed)
        change(files)
        if fits:
            rehash(files)
        return write(tmp_path / "attacked.arena", files)

    return attack


@pytest.fixture
def no_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Hide bubblewrap. Without it, no match is replayed."""
    from arena_isolation.agent_start import prove_once

    prove_once.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    yield
    prove_once.cache_clear()


def verdict_on(place: Path, capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, Any]]:
    """Verify a bundle. Return the exit code and the verdict. The captured output must have nothing from its agent."""
    capsys.readouterr()
    code = call(verify, place, "--format", "json", *words)
    text, errors = capsys.readouterr()
    assert "an order to the terminal" not in text + errors
    return code, json.loads(text) if text.startswith("{") else {"message": text}
