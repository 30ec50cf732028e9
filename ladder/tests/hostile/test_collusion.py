"""An author hands in a strong agent, and weak ones that lose to it on purpose: they are never paired, and earlier games between
them do not count.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena import Pairing
from arena.api.run import MatchRunner, Scheduled
from arena.store import Store
from arena_ladder.ledger import Ledger, Plan
from arena_ladder.matchmaking import pairs_to_meet, standings
from arena_ladder.season import Entrant, Season, begin_season
from arena_ladder.spec import LadderSpec, load_ladder
from tests.ladder.hosting import SPEC

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="collusion", isolation="any")]
STAR, PAWN, OTHER = "eve/star@1", "eve/pawn@1", "evelyn/pawn@1"


@pytest.fixture
def ladder(tmp_path: Path) -> LadderSpec:
    (tmp_path / "course.yaml").write_text(SPEC.replace("interval: 200", "interval: 1"))
    return load_ladder(tmp_path / "course.yaml")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.open(tmp_path / "a.db", write=True)) as opened, closing(Ledger(tmp_path / "a.db")):
        yield opened


def begin(ladder: LadderSpec, store: Store, *more: str) -> Season:
    """A season with two agents of one author, and one of an author whose name begins in the same way."""
    return begin_season(
        ladder, store, [Entrant({"agent": "random", "label": label, "isolation": "none"}) for label in (STAR, PAWN, OTHER, *more)]
    )


def test_agents_of_one_author_are_not_paired(ladder: LadderSpec, store: Store) -> None:
    """All other pairs of agents meet in the end."""
    season, met = begin(ladder, store), set()
    runner = MatchRunner(season.spec)
    for round_ in range(12):
        for number, (_, one, other) in enumerate(pairs_to_meet(season, 0, standings(season, 0, 1.0, "random"))):
            met.add(frozenset([one, other]))
            for scheduled in season.matches(Plan(100 * round_ + number, 0, one, other, round_)):
                season.add(scheduled, runner.play(scheduled))
    labels = season.labels(0)
    expected = {frozenset([one, other]) for one in labels for other in labels if one != other} - {frozenset([STAR, PAWN])}
    assert met == expected


def test_earlier_games_between_agents_of_one_author_do_not_count(ladder: LadderSpec, store: Store) -> None:
    """The store of an older version contains games of the strong agent against the author's weak one, and more are planned."""
    before, plan = begin(ladder, store), Plan(7, 0, PAWN, STAR, 0)
    runner, labels = MatchRunner(before.spec), before.labels(0)
    for number, pair in enumerate([(STAR, PAWN), (STAR, OTHER), ("greedy", PAWN)]):
        scheduled = Scheduled(number, 0, Pairing(number, (labels.index(pair[0]), labels.index(pair[1]))))
        store.add(scheduled, runner.play(scheduled))
    store.flush()
    after = begin(ladder, store, "bob/new@1")  # it counts no more when the agents in play change
    assert after.known == {1, 2}
    assert after.matches(plan) == []
    assert {row["agent"]: row["games"] for row in standings(after, 0, 1.0, "random").rows} == {
        "random": 0, "greedy": 1, STAR: 1, PAWN: 1, OTHER: 1, "bob/new@1": 0,
    }  # fmt: skip
