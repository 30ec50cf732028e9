"""Swiss, knockout and head-to-head tournaments follow their rules, as the results of real tournaments show."""

import random
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.errors import SpecError
from arena.format import Outcomes, Pairing
from arena.match.record import Record
from arena.results.cells import bracket_table
from arena.results.leaderboard import Leaderboard
from arena.store import Store
from arena.tournament.results import PlayedMatch, Results
from arena_pairings.head_to_head import MAX_REPEATED_PAIRS, Counted, HeadToHead
from arena_pairings.sprt import log_likelihood_ratio

FIELD: list[Any] = ["random", "greedy", {"agent": "lookahead", "depth": 1}, {"agent": "lookahead", "depth": 2}, "type-a-plus"]
SPEC: dict[str, Any] = {"game": "tic-tac-toe", "agents": FIELD, "openings": {"plies": 2}, "seed": 3}
OPENED = [f"{row}/.../..." for row in ("x..", ".x.", "..x", "xo.", "x.o", ".xo")]


def encounters(results: Results) -> list[tuple[int, frozenset[int]]]:
    """Return the rounds and the agents that met in them, without repeats."""
    return list(dict.fromkeys((one.pairing.round, frozenset(one.pairing.seats)) for one in results.played))


def by_label(results: Results) -> set[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return {(record.position, record.labels, record.actions) for record in results.records}


def test_a_swiss_tournament_follows_its_rules() -> None:
    """In three rounds of five agents, no pair meets twice, no agent has two byes, and each round has one position."""
    results = arena.run({**SPEC, "format": "swiss", "rounds": 3})
    met = encounters(results)
    assert len(met) == len({pair for _, pair in met}) == 6
    for number in range(3):
        assert len(set().union(*(pair for played, pair in met if played == number))) == 4
    byes = [set(range(5)) - set().union(*(pair for played, pair in met if played == number)) for number in range(3)]
    assert len(set().union(*byes)) == 3
    positions = {one.pairing.round: one.record.position for one in results.played}
    assert all(one.record.position == positions[one.pairing.round] for one in results.played)


def test_a_swiss_tournament_does_not_depend_on_the_order_of_agents() -> None:
    """Random choices depend on the agents, not on their order."""
    forwards = arena.run({**SPEC, "format": "swiss"})
    backwards = arena.run({**SPEC, "format": "swiss", "agents": [*reversed(FIELD)]})
    assert by_label(forwards) == by_label(backwards)


@pytest.mark.parametrize(
    ("format_", "share", "workers"),
    [
        pytest.param("swiss", 0.5, 2, marks=pytest.mark.process),
        ("knockout", 0.95, 1),
        ({"name": "head-to-head", "test": {"sprt": {"elo0": 0, "elo1": 100}}}, 0.05, 1),
    ],
    ids=["swiss", "knockout", "head-to-head"],
)
def test_an_interrupted_tournament_continues_with_the_same_matches(
    tmp_path: Path, format_: Any, share: float, workers: int
) -> None:
    """The same matches are played as without a break, even if two workers continue the tournament."""
    agents = ["random", "greedy"] if isinstance(format_, dict) else FIELD
    spec = {**SPEC, "format": format_, "agents": agents}
    whole = {record.id: record.timeless() for record in arena.run(spec).records}
    stop = max(1, int(share * len(whole)))
    path = tmp_path / "cup.db"
    count = 0

    def interrupt(one: PlayedMatch) -> None:
        nonlocal count
        count += 1
        if count == stop:
            raise KeyError("stop")

    with pytest.raises(KeyError):
        arena.run(spec, store=path, observe=interrupt)
    with Store.open(path) as store:
        assert len(store) == stop < len(whole)
    again = arena.run(spec, store=path, workers=workers)
    assert {record.id: record.timeless() for record in again.records} == whole


def test_a_knockout_has_one_winner() -> None:
    """Five agents play four ties, and three have a bye by seed. The loser of a tie does not play again."""
    results = arena.run({**SPEC, "format": "knockout", "rounds": 3})
    ties: dict[frozenset[int], list[Record]] = {}
    order: list[frozenset[int]] = []
    for one in results.played:
        pair = frozenset(one.pairing.seats)
        if pair not in ties:
            order.append(pair)
        ties.setdefault(pair, []).append(one.record)
    assert len(ties) == 4
    assert order[0] == {3, 4}  # the first three of five seeds have byes
    assert all(len(games) in (6, 8, 10) for games in ties.values())  # three positions and at most two replays
    alive = set(range(5))
    for pair in order:
        assert pair <= alive
        alive -= pair - set().union(*order[order.index(pair) + 1 :], _winner(pair, ties[pair], results))
    assert len(alive) == 1


def _winner(pair: frozenset[int], games: list[Record], results: Results) -> frozenset[int]:
    labels = [seat.label for seat in results.spec.boards[0].seats]
    points = {entry: sum(record.returns[record.labels.index(labels[entry])] for record in games) for entry in pair}
    one, two = sorted(pair)
    return frozenset({one if points[one] >= points[two] else two})


def outcomes(scores: list[float]) -> Outcomes:
    """Return pairs in which the first agent scored each of the given points, of two."""
    found = Outcomes()
    for number, score in enumerate(scores):
        forward = {0: -1.0, 0.5: 0.0, 1: 0.0, 1.5: 1.0, 2: 1.0}[score]
        backward = {0: 1.0, 0.5: 1.0, 1: 0.0, 1.5: 0.0, 2: -1.0}[score]
        found.add(Pairing(number, (0, 1)), (forward, -forward))
        found.add(Pairing(number, (1, 0)), (backward, -backward))
    return found


def test_results_of_a_sequential_test_are_counted_by_pairs_of_games() -> None:
    """The pentanomial counts are from the view of the first entry, over both seats."""
    scores = [0, 0.5, 0.5, 1, 1, 1, 1.5, 2, 2]
    assert Counted(outcomes(scores)).up_to(len(scores)).counts == [1, 2, 3, 1, 2]


def test_only_consecutive_repeats_are_counted() -> None:
    """A new pair between repeats of old ones resets the count."""
    found = Outcomes()
    for number, play in enumerate([1, 1, 1, 2, 1, 2, 3]):
        for seats in ((0, 1), (1, 0)):
            found.add(Pairing(number, seats), (1.0, -1.0), 10 * play + seats[0])
    counted = Counted(found)
    assert [counted.up_to(number).repeats for number in range(1, 8)] == [0, 1, 2, 0, 1, 2, 0]
    assert sum(counted.counts) == 3


def test_a_repeated_pair_counts_once() -> None:
    """Two agents without randomness play the same pair again and again. The test ends without a verdict."""
    spec = {**SPEC, "agents": [{"agent": "alpha-beta", "limits": {"nodes": 50}}, "type-a-plus"], "format": "head-to-head"}
    results = arena.run({**spec, "rounds": 500, "test": {"sprt": {"elo0": 0, "elo1": 100}}, "openings": None})
    assert MAX_REPEATED_PAIRS <= len(results.records) // 2 <= MAX_REPEATED_PAIRS + 8
    board = Leaderboard.of_results(results)[0]
    assert board.test is not None
    assert (sum(board.test.counts), board.test.verdict) == (1, None)


@pytest.mark.parametrize("stop", [2, 7, 12])
def test_a_continued_test_ends_like_an_uninterrupted_one(tmp_path: Path, stop: int) -> None:
    """A pair that repeats an earlier one is not a new pair, whether it was played before or after the stop."""
    agents = [{"agent": "alpha-beta", "limits": {"nodes": 50}}, "type-a-plus"]
    test = {"sprt": {"elo0": 0, "elo1": 100}}
    spec = {**SPEC, "agents": agents, "format": "head-to-head", "rounds": 500, "test": test, "openings": None}
    whole = arena.run(spec)
    played = 0

    def watch(_: PlayedMatch) -> None:
        nonlocal played
        played += 1
        if played == stop:
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        arena.run(spec, store=tmp_path / "cup.db", observe=watch)
    assert len(arena.run(spec, store=tmp_path / "cup.db").records) == len(whole.records)


def test_the_winner_of_a_knockout_ranks_first() -> None:
    """The rank depends on the round reached, not on points. The better seed wins a drawn final, and agents that lost in the
    same round share a rank. A bye advances an agent but is not a win; the first three of five agents have one.
    """
    agents = [{"agent": "alpha-beta", "label": label} for label in ("first", "second", "third", "fourth")]
    board = Leaderboard.of_results(arena.run({**SPEC, "agents": [*agents, "random"], "rounds": 1, "format": "knockout"}))[0]
    rows = board.rows
    assert [(row["agent"], row["rank"], row["rounds_won"]) for row in rows] == [
        ("first", 1, 2), ("second", 2, 1), ("third", 3, 0), ("fourth", 3, 1), ("random", 5, 0)
    ]  # fmt: skip
    found = bracket_table(board)
    assert found is not None
    assert found.headings == ("Round", "Agent", "Points", "Opponent", "Goes on")
    assert [(*row[:2], *row[3:]) for row in found.rows] == [
        ("Quarter-final", "first", "-", "first"),
        ("Quarter-final", "fourth", "random", "fourth"),
        ("Quarter-final", "second", "-", "second"),
        ("Quarter-final", "third", "-", "third"),
        ("Semi-final", "first", "fourth", "first"),
        ("Semi-final", "second", "third", "second"),
        ("Final", "first", "second", "first"),
    ]
    points = [row[2] for row in found.rows]
    assert [points[0], *points[2:4]] == ["bye"] * 3
    # These agents play perfectly: two games for each position and at most two replays, all drawn.
    assert points[4:] == ["3 : 3, by seed"] * 3


class CountedOutcomes(Outcomes):
    """Outcomes that count the requests for a result."""

    def __init__(self) -> None:
        super().__init__()
        self.questions = 0

    def of(self, pairing: Pairing) -> tuple[float, ...] | None:
        self.questions += 1
        return super().of(pairing)


def test_the_state_of_a_long_test_reads_each_result_once() -> None:
    """The state is requested after every few of 400 pairs. It equals a state computed from scratch, but reads only the new
    results.
    """
    test: Any = {"sprt": {"elo0": 0, "elo1": 5}}
    format_, told, draw = HeadToHead(test=test), CountedOutcomes(), random.Random(1)
    for number in range(400):
        for seats in ((0, 1), (1, 0)):
            points = draw.choice((1.0, 0.0, -1.0))
            told.add(Pairing(number, seats), (points, -points), draw.choice((None, draw.randrange(3))))
        if number % 4 == 3:
            questions = told.questions
            at_once = HeadToHead(test=test).status(told)
            told.questions = questions
            assert format_.status(told) == at_once
    assert told.questions == 2 * 400
    assert format_.status(outcomes([2, 2, 2, 2])) == HeadToHead(test=test).status(outcomes([2, 2, 2, 2]))


def test_a_test_stops_as_soon_as_it_is_decided() -> None:
    """A stronger agent is accepted long before the last round. The bounds follow from alpha and beta."""
    spec = {**SPEC, "agents": ["type-a-plus", "random"], "format": "head-to-head", "test": {"sprt": {"elo0": 0, "elo1": 200}}}
    results = arena.run(spec)
    assert 8 <= len(results.records) < 100
    format_ = results.spec.boards[0].format
    assert isinstance(format_, HeadToHead)
    told = Outcomes()
    for one in results.played:
        told.add(one.pairing, one.record.returns)
    pairs = len(results.records) // 2
    assert format_.sprt is not None
    decided = [
        format_.sprt.verdict(log_likelihood_ratio(Counted(told).up_to(n).counts, format_.sprt)) for n in range(4, pairs + 1, 4)
    ]
    assert decided == [None] * (pairs // 4 - 1) + ["H1"]
    assert "LLR +" in str(format_.status(told))
    assert "(-2.94 to 2.94)" in str(format_.status(told))
    assert "expected number of pairs of games" in results.spec.notes[0]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"format": "swiss", "rounds": 9},
            "rounds: swiss on tic-tac-toe: expected at most 5 rounds for 5 agents, got 9; in more rounds",
        ),
        (
            {"format": "swiss", "positions": OPENED, "openings": None},
            "positions: swiss on tic-tac-toe: expected at most 5",
        ),
        ({"format": "head-to-head", "rounds": 2}, "format: head-to-head on tic-tac-toe: expected two agents"),
        ({"format": "head-to-head"}, "expected two agents in a two-player game, got 5"),
        ({"format": "swiss", "challengers": 2}, "challengers: the format swiss has no challengers"),
        ({"agents": FIELD[:2], "format": "head-to-head", "test": {"sprt": {"elo0": 5, "elo1": 5}}}, "expected elo0 below elo1"),
        (
            {"agents": FIELD[:2], "format": "head-to-head", "test": {"sprt": {"alpha": 2.0}}},
            "test.sprt.alpha: expected less than 0.5",
        ),
    ],
)
def test_options_that_do_not_fit_a_format_are_refused(more: dict[str, Any], words: str) -> None:
    """The error comes before the first match and gives the place."""
    with pytest.raises(SpecError) as caught:
        arena.run({**SPEC, **more})
    assert words in str(caught.value)
