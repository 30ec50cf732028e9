"""Files that a spec, a store or a bundle names, and that never end, make a reader wait, or fill the memory.

Each of them is first read in a plain way, to see that the attack would succeed.
"""

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

from arena import SpecError
from arena.api.games import read_arrays, read_whole
from arena.plugins.syntax import digest_bytes, parse_file
from arena.spec import load_spec
from arena_bundle.layout import NoBundle
from arena_bundle.reader import Archive
from arena_bundle.verdict import read_verdict, verdict_file
from arena_check.positions import read_positions
from arena_games.grid_path import MAX_MAP_BYTES
from tests.conftest import Arena

pytestmark = pytest.mark.promise(hole="named", isolation="any")

LEVEL = "#####\n#@$.#\n#####\n"
ENDLESS = ("pipe", "/dev/zero")
PLACES: dict[str, Any] = {
    "map": {"game": {"name": "grid-path", "map": "FILE"}, "agents": ["a-star"]},
    "scenario": {"game": {"name": "grid-path", "scenario": "FILE"}, "agents": ["a-star"]},
    "levels": {"game": {"name": "sokoban", "file": "FILE"}, "agents": ["a-star"]},
    "table": {"game": "kuhn-poker", "agents": [{"agent": "policy-table", "file": "FILE"}, "random"]},
    "prompt": {
        "game": "nim",
        "agents": [{"agent": "llm", "url": "http://127.0.0.1:9/v1", "model": "m", "prompt": "FILE"}, "random"],
    },
    "weights": {"game": "nim", "agents": [{"agent": "policy", "weights": "FILE"}, "random"]},
    "positions": {"game": "nim", "positions": "FILE", "agents": ["random", "greedy"]},
}
"""Specs that name a file, each by what the file should be."""


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Path]:
    """A named pipe without a writer. A plain `open` of it blocks."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="No such device or address"):
        os.open(path, os.O_WRONLY | os.O_NONBLOCK)  # no reader is there, so a reader would wait for a writer
    yield path
    with pytest.raises(OSError, match="No such device or address"):
        os.open(path, os.O_WRONLY | os.O_NONBLOCK)  # and no reader waits now


def name_file(value: Any, file: Path) -> Any:
    """Return a spec with the name of a file."""
    if isinstance(value, dict):
        return {key: name_file(inner, file) for key, inner in value.items()}
    if isinstance(value, list):
        return [name_file(inner, file) for inner in value]
    return str(file) if value == "FILE" else value


@pytest.mark.parametrize("file", ENDLESS)
@pytest.mark.parametrize("what", PLACES)
def test_a_file_named_by_a_spec_must_be_regular(what: str, file: str, pipe: Path, tmp_path: Path) -> None:
    endings = (".npz", ".pt", ".onnx") if what == "weights" else (".npz", ".txt") if what == "table" else (".yaml", ".txt")
    for ending in endings:
        place = tmp_path / f"file{ending}"
        place.symlink_to(pipe.parent / file)  # an absolute `file` replaces the folder
        with pytest.raises(SpecError) as caught:
            load_spec(name_file(PLACES[what], place))
        kind = "a named pipe" if file == "pipe" else "a device or a socket"
        missing = ending in (".pt", ".onnx") and "pip install" in str(caught.value)
        assert missing or f"it is {kind}; expected a regular file" in str(caught.value)


@pytest.mark.parametrize("what", [what for what in PLACES if what != "weights"])
def test_a_file_named_by_a_spec_must_not_be_too_long(what: str, tmp_path: Path) -> None:
    place = tmp_path / "long.txt"
    place.touch()
    os.truncate(place, 1 << 40)
    with pytest.raises(SpecError, match=r"long\.txt.*it has more than [\d,]+ bytes; choose a smaller file"):
        load_spec(name_file(PLACES[what], place))


def test_a_file_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "map").write_bytes(b"x" * MAX_MAP_BYTES)
    assert len(read_whole(tmp_path / "map", MAX_MAP_BYTES)) == MAX_MAP_BYTES
    with pytest.raises(ValueError, match="more than 4,194,303 bytes"):
        read_whole(tmp_path / "map", MAX_MAP_BYTES - 1)


def test_a_kernel_file_that_blocks_does_not_block_arena() -> None:
    """Its size is 0, and it counts as a regular file."""
    place = Path("/proc/kmsg")
    if not os.access(place, os.R_OK):
        pytest.skip("only root can read it")
    with pytest.raises(ValueError, match="/proc/kmsg cannot be read: "):
        read_whole(place, 1 << 30)
    digest_bytes(place)


def test_arrays_that_grow_when_they_are_unpacked_are_refused(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "bomb.npz", "w", ZIP_DEFLATED) as archive:
        archive.writestr("w0.npy", b"\0" * (1 << 24))
    assert (tmp_path / "bomb.npz").stat().st_size < 1 << 20
    with pytest.raises(ValueError, match="arrays of 16,777,216 bytes; at most 1,048,576 are read"):
        read_arrays(tmp_path / "bomb.npz", 1 << 20)
    np.savez(tmp_path / "small.npz", w0=np.arange(6))
    assert read_arrays(tmp_path / "small.npz", 1 << 20)["w0"].tolist() == [0, 1, 2, 3, 4, 5]


def test_code_and_verdicts_that_never_end_count_as_unreadable(pipe: Path, tmp_path: Path) -> None:
    for file in (pipe, Path("/dev/zero")):
        link = tmp_path / f"{file.name}.py"
        link.symlink_to(file)
        assert digest_bytes(file) == digest_bytes(tmp_path / "missing")
        assert not parse_file(link).imports
        store = tmp_path / f"{file.name}.db"
        verdict_file(store).symlink_to(file)
        assert read_verdict(store) is None
        with pytest.raises(Exception, match="expected a regular file"):
            read_positions(str(file))
        with pytest.raises(NoBundle, match="expected a regular file"):
            Archive(file)


@pytest.mark.process
@pytest.mark.parametrize("command", ["check", "check --replay 1", "report -o page.html", "review", "bundle -o cup.zip"])
def test_a_store_that_names_a_pipe_does_not_delay_commands(command: str, arena: Arena, tmp_path: Path) -> None:
    """The run read a regular file, which was then replaced by a pipe. A blocked command would exceed the time limit of the
    test.
    """
    (tmp_path / "one.xsb").write_text(LEVEL)
    (tmp_path / "cup.yaml").write_text("game: {name: sokoban, file: one.xsb}\nagents: [a-star, bfs]\nrounds: 1\n")
    played = arena("run", "cup.yaml", "--store", "cup.db")
    assert played.returncode == 0, played.stderr
    (tmp_path / "one.xsb").unlink()
    os.mkfifo(tmp_path / "one.xsb")
    done = arena(*command.split(), "cup.db")
    assert done.returncode in (0, 1, 2)
    assert not {"Traceback", "Usage:"} & set(done.stderr.split())


def test_no_game_of_open_spiel_reads_a_file_itself(pipe: Path, missing: Callable[[str, str], None]) -> None:
    """open_spiel waits for ever for a pipe as any of these parameters, and would show the lines of a file as words to guess."""
    if find_spec("pyspiel") is None:
        missing("openspiel", "open_spiel is missing: pip install '.[openspiel]'")
    import open_spiel.python.games
    import pyspiel

    assert open_spiel.python.games
    known = [(kind.short_name, key) for kind in pyspiel.registered_games() for key in kind.parameter_specification]
    named = [(game, key) for game, key in known if any(word in key.lower() for word in ("file", "path", "root", "dir", "url"))]
    assert len(named) >= 7
    for game, key in named:
        texts = [f"{game}({key}={pipe})", f"misere(game={game}({key}={pipe}))"]
        for text in texts:
            with pytest.raises(SpecError, match=f"{game} of open_spiel cannot be played with {key}, because"):
                load_spec({"game": {"name": "openspiel", "game": text}, "agents": ["random", "random"]})
