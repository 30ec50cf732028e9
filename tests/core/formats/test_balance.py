"""The order of the matches within a round: all agents have always played about equally often."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import arena
from arena.format import Field, Outcomes, Pairing
from arena.formats import Gauntlet, RoundRobin
from arena.formats.round_robin import Orders, balanced_groups, seatings
from arena.results.leaderboard import Leaderboard
from arena.results.stored_tallies import tallies_of
from arena.schedule.runner import MatchRunner
from arena.spec import load_spec
from arena.store import Run, Store
from arena.tournament.queue import MatchQueue, Shard

BERGER_6 = "1-6 2-5 3-4, 6-4 5-3 1-2, 2-6 3-1 4-5, 6-5 1-4 2-3, 3-6 4-2 5-1"
"""The Berger table for five or six players, from the FIDE Handbook (C.05, Annex 1)."""
EIGHT: dict[str, Any] = {
    "game": "tic-tac-toe",
    "rounds": 2,
    "agents": [{"agent": "random", "label": f"a{number}"} for number in range(8)],
}


def widest_gaps(played: Sequence[tuple[int, ...]], entries: Sequence[int]) -> int:
    """Return the largest difference between the numbers of matches of two entries, over all prefixes."""
    counts, gap = dict.fromkeys(entries, 0), 0
    for seats in played:
        for entry in set(seats) & set(entries):
            counts[entry] += 1
        gap = max(gap, max(counts.values()) - min(counts.values()))
    return gap


def test_pairs_come_in_the_order_of_the_berger_tables() -> None:
    rounds = [[tuple(sorted(int(one) - 1 for one in pair.split("-"))) for pair in turn.split()] for turn in BERGER_6.split(", ")]
    assert list(balanced_groups(6, 2)) == [pair for turn in rounds for pair in turn]
    assert list(balanced_groups(5, 2)) == [pair for turn in rounds for pair in turn if 5 not in pair]  # the sixth is a bye


@given(st.integers(2, 4).flatmap(lambda players: st.tuples(st.just(players), st.integers(players, 12))))
def test_every_group_of_agents_is_scheduled_once(sizes: tuple[int, int]) -> None:
    players, entries = sizes
    assert sorted(balanced_groups(entries, players)) == list(combinations(range(entries), players))


@pytest.mark.parametrize("orders", ["all", "rotations"])
@given(st.integers(2, 4).flatmap(lambda players: st.tuples(st.just(players), st.integers(players, 11))))
def test_at_each_point_agents_have_played_about_equally_often(orders: Orders, sizes: tuple[int, int]) -> None:
    """The bounds are those of the manual: in matches, 2 for pairs of an even number of agents, and 4 of an odd number; with more
    seats, as many groups as a match has seats.
    """
    players, entries = sizes
    field = Field(entries=entries, players=players, rounds=2)
    played = [one.seats for one in RoundRobin(orders=orders).schedule(field, Outcomes())]
    matches = len(list(seatings(tuple(range(players)), orders)))
    groups = players if players > 2 else 1 + entries % 2
    assert widest_gaps(played, range(entries)) <= matches * groups


@given(st.integers(1, 5), st.integers(2, 4), st.integers(0, 7))
def test_a_gauntlet_is_balanced_among_challengers_and_among_others(challengers: int, players: int, more: int) -> None:
    field = Field(entries=challengers + players - 1 + more, players=players, rounds=2)
    played = [one.seats for one in Gauntlet(challengers=challengers).schedule(field, Outcomes())]
    others = combinations(range(challengers, field.entries), players - 1)
    whole = [seats for rest in others for one in range(challengers) for seats in seatings((one, *rest), "all")]
    assert sorted(played) == sorted(whole * 2)
    matches = len(list(seatings(tuple(range(players)), "all")))
    assert widest_gaps(played, range(challengers)) <= matches
    assert widest_gaps(played, range(challengers, field.entries)) <= matches * max(1, players - 1)


def first_entry_first(_self: RoundRobin, field: Field, _outcomes: Outcomes) -> Iterator[Pairing]:
    """Yield the pairings of a game for two in the order of earlier versions."""
    for number in range(field.rounds):
        for one, other in combinations(range(field.entries), 2):
            yield from (Pairing(number, (one, other)), Pairing(number, (other, one)))


def play_some(path: Path, count: int, shard: Shard | None = None) -> list[tuple[int, ...]]:
    """Play `count` matches of EIGHT, as a run that is then interrupted. Return their seats."""
    spec = load_spec(EIGHT)
    stage, played = MatchRunner(spec), []
    with Store.open(path, write=True) as store:
        store.begin(Run.of(spec))
        feed = MatchQueue(spec, store, shard)
        for _ in range(count):
            (one,) = feed.take(1)
            feed.finish(one, stage.play(one))
            played.append(one.pairing.seats)
    return played


def count_games(path: Path) -> tuple[int, dict[str, int]]:
    """Return the number of matches on the board, and the number of each agent."""
    with Store.open(path) as store:
        (board,) = Leaderboard.of_tallies(tallies_of(store, store.last().boards), finished=False, store=str(path))
    return board.games, {str(row["agent"]): row["games"] for row in board.as_dict()["rows"]}


def test_a_store_whose_matches_are_in_an_older_order_can_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store has only the 14 matches of the first agent. The resumed run is interrupted once more. In the end, the matches
    have the same ids and the same order as those of a run without interruptions.
    """
    path, whole = tmp_path / "old.db", tmp_path / "new.db"
    with monkeypatch.context() as before:
        before.setattr(RoundRobin, "schedule", first_entry_first)
        before.setattr(RoundRobin, "order_version", 1)
        play_some(path, 14)
    assert count_games(path) == (14, {"a0": 14} | {f"a{number}": 2 for number in range(1, 8)})
    assert play_some(path, 3) == [(1, 6), (6, 1), (2, 5)]  # the first pair of the table, 0 and 7, is in the store
    games, each = count_games(path)
    assert (games, sum(each.values())) == (17, 34)
    assert len(arena.run(EIGHT, store=path).records) == 2 * 56
    arena.run(EIGHT, store=whole)
    question = "SELECT p.number, p.board, p.round, p.seats, r.id FROM place p JOIN record r ON r.number = p.record ORDER BY 1"
    with Store.open(path) as old, Store.open(whole) as new:
        assert list(old.query(question)) == list(new.query(question))
        assert len(old) == len(new) == 2 * 56


def test_shards_made_with_different_orders_together_have_all_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = load_spec(EIGHT)
    ids = []
    for number, order in enumerate([first_entry_first, RoundRobin.schedule, first_entry_first], 1):
        monkeypatch.setattr(RoundRobin, "schedule", order)
        with Store.open(tmp_path / f"{number}.db", write=True) as store:
            store.begin(Run.of(spec))
            queue = MatchQueue(spec, store, Shard(number, 3))
            while batch := queue.take(50):
                ids += [one.match_id(spec) for one in batch]
    assert len(set(ids)) == len(ids) == spec.size
