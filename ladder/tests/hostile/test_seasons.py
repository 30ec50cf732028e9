"""Repeated changes of a ladder, each of which would begin a season and drop the matches that are played."""

import time
from contextlib import closing
from pathlib import Path

import pytest

from arena.store import Store
from arena_ladder.code_folder import CodeFolder
from arena_ladder.contest import MAX_SEASONS, SEASONS_SECONDS, ContestRunner
from arena_ladder.ledger import Ledger
from arena_ladder.spec import load_ladder
from tests.ladder.hosting import SPEC, agent

pytestmark = pytest.mark.promise(hole="season", isolation="any")


@pytest.mark.unit
def test_a_submission_is_withdrawn_once(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db", write=True), closing(Ledger(tmp_path / "a.db")) as ledger:
        ledger.expect("ada")
        key = ledger.submit("ada", "mine", "python", "mine.py", agent(), 100).id
        assert ledger.withdraw(key, "ada")
        before = ledger.changes()
        assert not any(ledger.withdraw(key, "ada") for _ in range(40))
        assert ledger.changes() == before


@pytest.mark.unit
def test_seasons_start_at_a_limited_rate_and_a_pause_takes_effect_at_once(tmp_path: Path) -> None:
    (tmp_path / "course.yaml").write_text(SPEC)
    ladder = load_ladder(tmp_path / "course.yaml")
    with Store.open(tmp_path / "a.db", write=True) as store, closing(Ledger(tmp_path / "a.db")) as ledger:
        runner = ContestRunner(ladder, store, ledger, CodeFolder(ledger, 1 << 18), 1)
        before = ledger.changes()
        assert runner._goes_on(before)
        ledger.set("title", "changed")
        assert ledger.changes() > before
        assert not runner._goes_on(before)
        runner._seasons.extend([time.monotonic()] * MAX_SEASONS)
        assert runner._goes_on(before)
        assert not runner._goes_on(before, idle=True)
        runner._seasons[0] -= SEASONS_SECONDS
        assert not runner._goes_on(before)
        runner._seasons[0] += SEASONS_SECONDS
        ledger.set("paused", "yes")
        assert not runner._goes_on(before)
