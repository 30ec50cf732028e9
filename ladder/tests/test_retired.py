"""Agents that have left play: only the ones that have played most recently count in the ratings, and the intervals stay right."""

import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from arena import Pairing
from arena.api.run import MatchRunner, Scheduled
from arena.stats.observations import GameResults
from arena.stats.ratings import rate
from arena.store import Store
from arena_ladder import matchmaking
from arena_ladder.ledger import Ledger
from arena_ladder.matchmaking import standings
from arena_ladder.season import Entrant, Season, begin_season
from arena_ladder.spec import LadderSpec, load_ladder
from tests.ladder.hosting import SPEC
from tests.ladder.simulation import Met, strengths


def test_the_ratings_come_from_the_games_among_the_agents_that_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The expected ratings come from a table of only these games."""
    monkeypatch.setattr(matchmaking, "MAX_RETIRED", 2)
    rng, met, truth = random.Random(3), Met(), strengths(9, 3)
    for _ in range(6):
        for one in range(9):
            for other in range(one):
                met.add(rng, one, other, truth[one] - truth[other])
    playing, retired = [0, 1, 2, 3], [7, 5, 4, 8, 6]
    kept = [*playing, 7, 5]
    games: GameResults[int] = GameResults()
    for round_, one, other, points in met.pairs:
        if one in kept and other in kept:
            games.add_pair(round_, one, other, sum(points))
    expected = {str(row.agent): (row.elo, row.low, row.high) for row in rate(games, kept, anchor=0).rows}
    found = standings(met.season(playing, retired), 0, 1.0, "0")
    assert {row["agent"] for row in found.rows} == {"0", "1", "2", "3"}
    for row in found.rows:
        assert (row["rating"], row["rating_low"], row["rating_high"]) == pytest.approx(expected[row["agent"]], abs=1e-6)
        assert row["games"] == 2 * 6 * 8  # its games against all others count as games


@pytest.fixture
def ladder(tmp_path: Path) -> LadderSpec:
    (tmp_path / "course.yaml").write_text(SPEC)
    return load_ladder(tmp_path / "course.yaml")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.open(tmp_path / "a.db", write=True)) as opened, closing(Ledger(tmp_path / "a.db")):
        yield opened


def begin(ladder: LadderSpec, store: Store, *labels: str) -> Season:
    return begin_season(ladder, store, [Entrant({"agent": "random", "label": label, "isolation": "none"}) for label in labels])


def test_a_season_lists_the_agents_that_have_left_by_their_last_match(ladder: LadderSpec, store: Store) -> None:
    season = begin(ladder, store, "a/x@1", "b/x@1", "c/x@1")
    runner, labels = MatchRunner(season.spec), season.labels(0)
    for number, pair in enumerate([("b/x@1", "a/x@1"), ("c/x@1", "greedy"), ("random", "a/x@1")]):
        scheduled = Scheduled(number, 0, Pairing(number, (labels.index(pair[0]), labels.index(pair[1]))))
        store.add(scheduled, runner.play(scheduled))
    store.flush()
    assert begin(ladder, store, "d/x@1").labels(0) == ("random", "greedy", "d/x@1", "a/x@1", "c/x@1", "b/x@1")


AUTHORS, PLANS, PAIRS, LAST_PLANS = 12, 120, 6, 20


def covered(seed: int, bounds: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Simulate a ladder whose authors withdraw the agent with the worst score in every second plan, until the last plans.

    For each of the `bounds` as MAX_RETIRED, return how many of the intervals of the agents in play contain the true lead.
    """
    rng, met = random.Random(seed), Met()
    truth: list[float] = [0.0, *[rng.gauss(0, 150) for _ in range(AUTHORS - 1)]]
    playing = list(range(AUTHORS))
    for plan in range(PLANS):
        for _ in range(PAIRS):
            one, other = rng.sample(playing, 2)
            met.add(rng, one, other, truth[one] - truth[other])
        if plan % 2 and plan < PLANS - LAST_PLANS:
            scores: dict[int, list[float]] = {}
            for _, one, other, points in met.pairs:
                scores.setdefault(one, []).append(sum(points))
                scores.setdefault(other, []).append(2 - sum(points))
            known = [agent for agent in playing if agent and len(scores.get(agent, ())) >= PAIRS]
            if known:  # the choice depends on the results, so the games that no longer count are not drawn at random
                playing.remove(min(known, key=lambda agent: sum(scores[agent]) / len(scores[agent])))
                playing.append(len(truth))
                truth.append(rng.gauss(0, 150))
    retired = sorted(set(range(len(truth))) - set(playing), key=met.last, reverse=True)
    season, found = met.season(playing, retired), []
    for bound in bounds:
        monkeypatch.setattr(matchmaking, "MAX_RETIRED", bound)
        rows = {int(row["agent"]): row for row in standings(season, 0, 1.0, "0").rows}
        found.append(sum(rows[k]["rating_low"] <= truth[k] <= rows[k]["rating_high"] for k in playing if k))
    return found


def test_intervals_contain_the_truth_if_old_agents_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """About 60 agents have played, and 12 are in play. In 200 such ladders, 95 % of the intervals contain the truth if 10 of the
    others count, and 94 % if all of them do. The bound is three standard errors below 95 %.
    """
    ladders = 30
    recent, every = (sum(hits) for hits in zip(*[covered(seed, (10, 1000), monkeypatch) for seed in range(ladders)], strict=True))
    count = ladders * (AUTHORS - 1)
    error = (0.95 * 0.05 / count) ** 0.5
    assert recent / count > 0.95 - 3 * error
    assert recent > every - 3 * error * count
