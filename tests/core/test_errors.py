"""Messages about faults in an author's code."""

import os
import re
from pathlib import Path
from shlex import quote
from types import CodeType, FunctionType

import pytest

from arena.errors import EXTENSIONS, author_traceback, describe, listing
from arena.limits import normalize_depth
from tests.conftest import Arena

CODE = """
from arena import Agent, hookimpl

class Mine(Agent):
    \"\"\"Mine.\"\"\"
    name = "mine"

    def __init__(self, *, size: int = 3):
        self.size = size{init}

    def choose(self, game, state, search):
        return game.actions(state)[0]{choose}

    def solve(self, game, state, search):
        return None{solve}

@hookimpl
def arena_agents():
    return [Mine]
"""
SPECS = {"choose": "tic-tac-toe", "solve": "sliding-tiles", "init": "tic-tac-toe"}


@pytest.mark.parametrize("where", SPECS)
def test_an_exception_names_the_authors_line(where: str, tmp_path: Path, invoke: Arena) -> None:
    code = CODE.format(**{**dict.fromkeys(SPECS, ""), where: " + {}['key']"})
    (tmp_path / "mine.py").write_text(code)
    line = next(number for number, text in enumerate(code.splitlines(), 1) if "'key'" in text)
    other = "random" if where != "solve" else "greedy"
    (tmp_path / "s.yaml").write_text(f"game: {SPECS[where]}\nagents: [mine, {other}]\nrounds: 1\nplugins: [mine.py]\n")
    ended = invoke("run", "s.yaml", "--no-store")
    told = ended.stdout + ended.stderr
    assert re.search(rf"KeyError: 'key' \(.*mine\.py:{line}\)", told), told
    assert "Traceback" not in told
    assert len(told.splitlines()) < 30
    if where == "init":
        assert ended.returncode == 2
        whole = invoke("run", "s.yaml", "--no-store", "--traceback").stderr
        assert "in __init__" in whole
        assert "self.size = size + {}['key']" in whole


def test_show_names_another_file_that_seems_to_define_the_same_agent(tmp_path: Path, invoke: Arena) -> None:
    for name in ("my own.py", "installed.py"):
        (tmp_path / name).write_text(CODE.format(init="", choose="", solve=""))
    shown = invoke("show", "mine", "--plugin", "installed.py").stdout
    file = str(tmp_path / "my own.py")
    assert f"from installed.py, {tmp_path / 'installed.py'}:4\n" in shown
    use = f"to use that file, pass only it with --plugin {quote(file)}"
    assert f"NOT from {file}, which seems to define the same name; {use}\n" in shown
    assert re.search(r"size: .*; default 3", shown)


def test_an_error_lists_all_faulty_plugins_with_their_faults(
    tmp_path: Path, invoke: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.py").write_text("import nothing_of_that_name\n")
    (tmp_path / "worse.py").write_text("x = (\n")
    (tmp_path / "sound.py").write_text(CODE.format(init="", choose="", solve=""))
    monkeypatch.setenv("ARENA_PLUGINS", os.pathsep.join(["bad.py", "sound.py"]))
    ended = invoke("plugins", "--plugin", "worse.py")
    assert (ended.returncode, ended.stderr) == (2, "")
    told = {part.splitlines()[0]: part for part in ended.stdout.split("\n\n")}
    assert "left out: ModuleNotFoundError: No module named 'nothing_of_that_name'" in told["bad.py"]
    assert re.search(r"left out: SyntaxError: .*worse\.py:1", told["worse.py"])
    assert "agents: mine" in told["sound.py"]
    assert any(name.startswith("fairarena:builtin-games") for name in told)
    listed = invoke("list", "agents")
    assert (listed.returncode, listed.stdout) == (2, "")  # a plugin that the user names must load


def test_an_error_without_a_line_number_names_the_first_line_of_its_function() -> None:
    code = compile("\n\ndef fail():\n    return 1 / 0\n", "game.py", "exec")
    fail = next(one for one in code.co_consts if isinstance(one, CodeType)).replace(co_linetable=b"")
    with pytest.raises(ZeroDivisionError) as caught:
        FunctionType(fail, {})()
    assert describe(caught.value).endswith("(game.py:3)")


def test_names_are_joined_by_commas_and_a_conjunction() -> None:
    assert [listing("abc"[:size]) for size in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert listing(["a", "b", "c"], "or") == "a, b or c"


def test_a_traceback_has_no_frame_of_arena() -> None:
    def play() -> None:
        try:
            normalize_depth("deep")
        except ValueError as error:
            raise RuntimeError("no depth") from error

    with pytest.raises(RuntimeError) as caught:
        play()
    lines = author_traceback(caught.value).splitlines()
    assert (lines[0], lines[-1]) == ("Traceback (most recent call last):", "RuntimeError: no depth")
    assert {line.split(",")[0].strip() for line in lines if line.lstrip().startswith("File")} == {f'File "{__file__}"'}


def test_tracebacks_leave_out_the_frames_of_all_extensions() -> None:
    folders = [file.parent.name for file in (Path(__file__).parents[2] / "extensions").glob("*/__init__.py")]
    assert sorted(folders) == [f"arena_{name}" for name in EXTENSIONS]
