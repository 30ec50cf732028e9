"""What the tests of processes and sandboxes share: the matches of a spec, and the search for processes that are left behind."""

import os
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.match.record import Record
from arena.processes.process_tree import ProcessTree
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from tests.eventually import eventually


def played(values: dict[str, Any]) -> list[Record]:
    """All matches of a spec, one after the other."""
    spec = load_spec(values)
    with closing(MatchRunner(spec)) as stage:
        return [stage.play(scheduled) for scheduled in Schedule(spec).take(10**6)]


@pytest.fixture
def nobody_left_behind() -> Iterator[None]:
    """After every test, no process is alive that an agent process has started."""
    yield
    eventually(lambda: not left_behind(), left_behind)


def left_behind() -> list[Path]:
    """The folders in /proc of agent processes that this process, or one that has ended, has started."""
    return [folder for folder in Path("/proc").glob("[0-9]*") if _marked(folder)]


def _marked(folder: Path) -> bool:
    try:
        mark = re.search(rb"\x00?%s=(\d+)-" % ProcessTree.OF_AGENT.encode(), (folder / "environ").read_bytes())
        return mark is not None and (int(mark[1]) == os.getpid() or not Path(f"/proc/{int(mark[1])}").exists())
    except OSError:
        return False
