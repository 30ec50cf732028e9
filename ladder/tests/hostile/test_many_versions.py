"""Authors hand in thousands of versions, and strangers ask for pages: the work for a plan or a page stays the same."""

import random
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from arena import Pairing
from arena.api.run import MatchRunner, Scheduled
from arena.store import Store, contents
from arena_ladder.api import find_lost_matches
from arena_ladder.ledger import Ledger
from arena_ladder.matchmaking import MAX_RETIRED, pairs_to_meet, standings
from arena_ladder.season import Entrant, begin_season
from arena_ladder.spec import load_ladder
from arena_web.entry_page import entry_page
from arena_web.match_filter import MatchFilter
from arena_web.matches import around, matches
from tests.ladder.hosting import SPEC
from tests.ladder.simulation import Met

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="versions", isolation="any")]


@pytest.mark.parametrize("agents", [MAX_RETIRED + 20, 5 * MAX_RETIRED])
def test_the_number_of_rated_agents_does_not_grow_with_the_agents_that_have_left(agents: int) -> None:
    """Each agent has played against the first agent and against its successor."""
    rng, met = random.Random(1), Met()
    for one, other in pairwise(range(agents)):
        met.add(rng, one, other, 0.0)
        met.add(rng, 0, other, 0.0)
    found = standings(season := met.season(range(5), range(5, agents)), 0, 1.0, "0")
    assert found.ratings is not None
    assert len(found.ratings.information) == 5 + MAX_RETIRED
    assert {int(label) for _, *pair in pairs_to_meet(season, 0, found) for label in pair} <= set(range(5))


def test_neither_a_request_nor_a_new_season_checks_the_whole_store_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = []
    check = contents.StoreContents.find_fault

    def noted(self: contents.StoreContents, *, details: bool = True) -> str | None:
        checks.append(self.path)
        return check(self, details=details)

    monkeypatch.setattr(contents.StoreContents, "find_fault", noted)
    (tmp_path / "course.yaml").write_text(SPEC)
    ladder, path = load_ladder(tmp_path / "course.yaml"), tmp_path / "a.db"
    with closing(Store.open(path, write=True)) as store, closing(Ledger(path)):
        for version in range(1, 4):
            label = f"ada/mine@{version}"
            season = begin_season(ladder, store, [Entrant({"agent": "random", "label": label, "isolation": "none"})])
            scheduled = Scheduled(version, 0, Pairing(version, (season.labels(0).index(label), 0)))
            record = MatchRunner(season.spec).play(scheduled)
            store.add(scheduled, record)
            store.flush()
            assert matches(path, MatchFilter())["total"] == version
            assert around(path, record.id, MatchFilter())["number"] == version + 1  # numbers on pages begin with 1
            entry_page(path, label)
            find_lost_matches(path, label)
    assert checks == [path]


@pytest.mark.parametrize("dealt", [(), (0,)])
def test_the_rows_read_for_a_plan_do_not_grow_with_the_number_of_earlier_plans(tmp_path: Path, dealt: tuple[int, ...]) -> None:
    """SQLite counts its steps. A store with 50 times as many plans is compared with a small one."""
    steps = []
    for pairs in (100, 5000):
        path = tmp_path / f"{pairs}.db"
        with closing(Store.open(path, write=True)), closing(Ledger(path)) as ledger:
            ledger.plan([(0, f"a{number % 10}", f"b{number % 7}") for number in range(pairs)], dealt)
            taken: list[None] = []
            ledger._connection.set_progress_handler(partial(taken.append, None), 1)
            (plan,) = ledger.plan([(0, "a1", "b2")], dealt)
            steps.append(len(taken))
            rounds = [one.round for one in ledger.plans()[:-1] if dealt or one.one == "a1" or one.other == "b2"]
            assert plan.round == max(rounds) + 1
    assert steps[1] < 2 * steps[0]
