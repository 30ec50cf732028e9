"""Wrong descriptions of plugins are faults of the spec, without a traceback."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.errors import SpecError
from arena.spec import Spec, load_spec, reload_spec
from arena.store import Store
from arena.store.run import Run
from arena_isolation import protocol
from arena_isolation.describe import DESCRIBE
from arena_isolation.helper_process import pack
from arena_isolation.protocol import Broken
from arena_isolation.versions import CODE, SharedCode, seal_submission
from tests.conftest import Arena

AGENT: dict[str, Any] = {
    "name": "mine", "needs": [], "copes": [], "games": [], "wants_heuristic": False, "chooses": True, "solves": False,
    "options": {},
}  # fmt: skip
DESCRIPTION: dict[str, Any] = {"type": "description", "agents": [AGENT], "games": [], "heuristics": [], "known": []}
CHECKED: dict[str, Any] = {"type": "checked", "values": {}, "faults": [], "defaults": [], "optimal": None}
OPTIONS = pack({"type": "options", "agent": "mine", "given": {}})
ORDER = "\x1b[2J\n=cmd"
ODD: list[Any] = [
    None, 5, 1.7e308, 10**400, True, "x", "\ud800", ORDER, [], [1], [[]], ["\ud800"], [["tic-tac-toe", "\ud800"]], {}, {"x": 5},
    {"\ud800": {}}, {ORDER: {"default": 1}}, {"type": 5}, [{"path": [[]], "message": 5}], [{"path": [10**400], "message": ORDER}],
]  # fmt: skip
PLACES = [
    *[f"agent.{key}" for key in AGENT],
    *[f"description.{key}" for key in DESCRIPTION if key != "type"],
    *[f"checked.{key}" for key in CHECKED if key != "type"],
]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any, Any], Spec]:
    """Read a spec with a plugin whose process gives two answers."""
    folder = tmp_path_factory.mktemp("described")
    file = folder / "mine.py"
    file.write_text("")
    (folder / "cup.yaml").write_text("game: tic-tac-toe\nagents: [random, greedy]\nrounds: 1\nisolation: process\n")
    plain = load_spec(folder / "cup.yaml")
    agents = ["random", {"agent": "mine", "plugin": str(file)}]
    document = replace(plain.document, values={**plain.document.values, "agents": agents})

    def read(description: Any, checked: Any) -> Spec:
        told = {key: protocol.parse(json.dumps(one).encode()) for key, one in ((DESCRIBE, description), (OPTIONS, checked))}
        shared = SharedCode(versions={("mine", True, str(file)): seal_submission(file)}, claims={str(file): told})
        return reload_spec(document, (), 1, shared={CODE: shared})

    return read


def altered(place: str, value: Any) -> tuple[Any, Any]:
    """The two answers, one of them with an odd value."""
    part, _, key = place.partition(".")
    if part == "agent":
        return {**DESCRIPTION, "agents": [{**AGENT, key: value}]}, CHECKED
    return ({**DESCRIPTION, key: value}, CHECKED) if part == "description" else (DESCRIPTION, {**CHECKED, key: value})


@pytest.mark.unit
@pytest.mark.promise(hole="text", isolation=("process", "sandbox"))
@pytest.mark.parametrize("place", PLACES)
def test_unusual_descriptions_can_be_printed_and_stored(place: str, read: Callable[[Any, Any], Spec], tmp_path: Path) -> None:
    faults = []
    for number, value in enumerate(ODD):
        try:
            spec = read(*altered(place, value))
        except (Broken, SpecError) as error:
            faults.append(str(error))
            continue
        with Store.open(tmp_path / f"{number}.db", write=True) as store:
            store.begin(Run.of(spec), [])
            assert store.last().boards[0].labels
    "".join(faults).encode()
    assert faults
    assert not [fault for fault in faults if "\x1b" in fault]


@pytest.mark.unit
@pytest.mark.parametrize("said", [None, 5, [], {"type": 5}, {"type": "description"}], ids=str)
def test_other_messages_are_not_accepted_as_descriptions(said: Any, read: Callable[[Any, Any], Spec]) -> None:
    with pytest.raises((Broken, SpecError)):
        read(said, CHECKED)


GARBAGE = ['{"type":"failed"}', '{"type":"failed","message":5}', "[" * 5000]
SPEAKS = """
import os, stat
if __import__("sys").modules["__main__"].__spec__.name.endswith("describe_host"):
    for number in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                os.write(number, {said!r})
        except OSError:
            pass
"""


@pytest.mark.promise(hole="text", isolation=("process", "sandbox"))
def test_invalid_output_of_a_process_is_refused_with_exit_code_2(arena: Arena, tmp_path: Path) -> None:
    """One process ends within a line, and one never ends its line."""
    plugins = [
        SPEAKS.format(said=b'{"type":"descr') + "        os._exit(0)\n",
        SPEAKS.format(said=b"x").replace("b'x'", "b'x' * (64 << 20)"),
        *[SPEAKS.format(said=f"{said}\n".encode()) for said in GARBAGE],
    ]
    for number, plugin in enumerate(plugins):
        (tmp_path / f"mine{number}.py").write_text(plugin)
    entries = ", ".join([f"{{agent: mine, label: m{number}, plugin: mine{number}.py}}" for number in range(len(plugins))])
    (tmp_path / "cup.yaml").write_text(f"game: tic-tac-toe\nagents: [{entries}]\nrounds: 1\n")
    done = arena("validate", "cup.yaml")
    assert (done.returncode, done.stdout) == (2, ""), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    for number in range(len(plugins)):
        assert f"agents[{number}].plugin" in done.stderr
