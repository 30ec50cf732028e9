"""A rush of submissions before a deadline: the checks come first, and the contest continues after them."""

import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from arena.store import Store
from arena_ladder.code_folder import CodeFolder
from arena_ladder.contest import RUSH_AUTHORS, ContestRunner
from arena_ladder.ledger import Ledger, bind_store
from arena_ladder.spec import load_ladder
from tests.eventually import eventually
from tests.ladder.hosting import SPEC, agent

pytestmark = pytest.mark.process


def test_no_match_is_played_while_many_authors_wait_for_checks(tmp_path: Path) -> None:
    """Many submissions of one author do not pause matches. One author more than the limit does, until a check is decided."""
    (tmp_path / "course.yaml").write_text(SPEC)
    ladder = load_ladder(tmp_path / "course.yaml")
    with Store.open(tmp_path / "a.db", write=True) as store, closing(Ledger(tmp_path / "a.db")) as ledger:
        bind_store(ladder, store, ledger)
        runner = ContestRunner(ladder, store, ledger, CodeFolder(ledger, 1 << 18), 1)
        for number in range(RUSH_AUTHORS + 1):
            ledger.expect(f"author-{number}")
            ledger.submit(f"author-{number}", "mine", "python", "mine.py", agent(), 100)
        playing = threading.Thread(target=runner.play)
        playing.start()
        try:
            eventually(lambda: runner.contest.state == "checking")
            assert runner.contest.standings
            time.sleep(0.2)
            assert (runner.contest.matches, runner.contest.state) == (0, "checking")
            one = ledger.next_to_check()  # the number of waiting authors is now within the bound
            assert one is not None
            for _ in range(RUSH_AUTHORS):
                ledger.submit("author-1", "mine", "python", "mine.py", agent(), 100)
            eventually(lambda: runner.contest.matches > 0)
        finally:
            runner.stop()
            playing.join()
