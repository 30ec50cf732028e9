"""Ctrl-C at any moment damages neither a store nor its lock."""

import signal
import sys
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import arena
from arena import cli
from arena.errors import Interrupted
from arena.processes.interrupts import user_interrupts
from arena.results.leaderboard import Leaderboard
from arena.store import Store
from arena.store.schema import checksum

SPEC: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 5, "seed": 3, "agents": ["random", "greedy"]}
ROWS = 10
"""The rows with a checksum: one for the place of each match in the schedule."""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "cup.db"
    arena.run(SPEC, store=path)
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("by_arena", [True, False])
def test_a_signal_is_not_reported_as_damage(
    store: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, by_arena: bool
) -> None:
    """SQLite turns an exception in a callback into its own error. The signal arrives in each callback once."""
    calls = 0

    def checksum_and_interrupt(*cells: Any) -> int:
        nonlocal calls
        calls += 1
        if calls == at:
            signal.raise_signal(number)
        return checksum(*cells)

    monkeypatch.setattr("arena.store.database.checksum", checksum_and_interrupt)
    for at in range(1, ROWS + 1):
        calls = 0
        with user_interrupts() if by_arena else nullcontext(), pytest.raises(Interrupted):
            Leaderboard.load(store)
        assert calls == at
    at, calls = 0, 0
    with Store.open(store) as opened:
        assert opened.find_fault() is None
    assert calls == ROWS


@pytest.mark.parametrize("words", [["leaderboard"], ["compare"], ["check"], ["export"], ["run", "cup.yaml", "--store"]])
def test_an_interrupted_command_reports_no_damage(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    def interrupt(*_: Any) -> int:
        signal.raise_signal(signal.SIGINT)
        return 0

    monkeypatch.chdir(store.parent)
    Path("cup.yaml").write_text("game: tic-tac-toe\nrounds: 5\nseed: 3\nagents: [random, greedy]\n")
    monkeypatch.setattr("arena.store.database.checksum", interrupt)
    assert cli.main([*words, "cup.db"]) == 130
    said = capsys.readouterr().err
    assert said.endswith("interrupted\n")
    assert "damage" not in said
    monkeypatch.undo()
    with Store.open(store) as opened:
        assert (len(opened), opened.find_fault()) == (10, None)


def test_an_interruption_at_any_line_releases_the_lock(tmp_path: Path) -> None:
    interrupted = 0
    for at in count(1):
        path = tmp_path / f"{at}.db"
        trace = _Trace(at)
        before = sys.gettrace()
        try:
            sys.settrace(trace)
            try:
                with Store.open(path, write=True):
                    pass
            finally:
                sys.settrace(before)
            break
        except Interrupted:
            interrupted += 1
        with Store.open(path, write=True) as opened:  # raises StoreError if the lock is still held
            assert len(opened) == 0
    assert interrupted > 100
    assert not list(tmp_path.glob("*.lock"))


class _Trace:
    """Interrupts the code of stores when it has run a number of lines."""

    def __init__(self, lines: int) -> None:
        self.left = lines

    def __call__(self, frame: FrameType, event: str, _: Any) -> "_Trace | None":
        path = Path(frame.f_code.co_filename)
        if path.parent.name != "store" or path.name == "schema.py" or frame.f_code.co_name == "__del__":
            return None  # Python swallows exceptions in __del__
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise Interrupted
        return self
