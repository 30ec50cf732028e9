"""An author reads the dice of a round on its page, and hands in an agent that knows them. No later match uses them."""

from collections.abc import Iterator
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest

from arena import Record
from arena.api.run import MatchRunner
from arena.store import Store
from arena_ladder.contest import SeasonPlans
from arena_ladder.ledger import Ledger
from arena_ladder.matchmaking import standings
from arena_ladder.season import Entrant, Season, begin_season
from arena_ladder.spec import load_ladder

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="public dice", isolation="any")]
SPEC = """
game: GAME
agents: [{agent: random, isolation: none}, {agent: random, label: second, isolation: none}]
isolation: process
seed: 5
until: {interval: 1}
submissions: {authors: open}
"""
HOUSE, LABELS = ("random", "second"), ("ada/mine@1", "bob/mine@1", "cyd/mine@1", "eve/mine@1")


class Bench:
    """A ladder whose plans the test makes."""

    def __init__(self, folder: Path, spec: str) -> None:
        (folder / "course.yaml").write_text(spec)
        self.ladder = load_ladder(folder / "course.yaml")
        self.store = Store.open(folder / "a.db", write=True)
        self.ledger = Ledger(folder / "a.db")

    def begin(self, *labels: str) -> tuple[Season, SeasonPlans]:
        """Begin a season in which submissions with these labels play."""
        house = [Entrant({"agent": "random", "label": label, "isolation": "none"}) for label in labels]
        season = begin_season(self.ladder, self.store, house)
        boards = lambda: [standings(season, number, 1.0, "random") for number in range(len(season.run.boards))]  # noqa: E731
        return season, SeasonPlans(season, self.ledger, lambda **_: True, boards, frozenset())

    def rounds(self, board: int = 0) -> dict[int, list[frozenset[str]]]:
        """The pairs of each round."""
        found: dict[int, list[frozenset[str]]] = {}
        for plan in self.ledger.plans():
            if plan.board == board:
                found.setdefault(plan.round, []).append(frozenset([plan.one, plan.other]))
        return found

    def close(self) -> None:
        """Close the files."""
        self.ledger.close()
        self.store.close()


@pytest.fixture
def pig(tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(tmp_path, SPEC.replace("GAME", "pig"))) as made:
        yield made


def dice_of(record: Record) -> list[str]:
    """The dice of each seat as the page of a match shows them: the outcomes of chance after the decisions of the seat."""
    found, deciding, last = ["", ""], iter(record.decisions), 0
    for action in record.actions:
        if action.isdigit():
            found[last] += action
        else:
            last = next(deciding).seat
    return found


def test_no_match_uses_dice_that_a_page_has_shown_with_matches_of_another_pair(pig: Bench) -> None:
    """The first agents play, and then the last one arrives. The two games of a pair share their dice, as before."""
    shown: dict[frozenset[str], list[list[str]]] = {}
    for playing in (LABELS[:3], LABELS):
        season, plans = pig.begin(*playing)
        runner = MatchRunner(season.spec)
        for _ in range(2):
            for match in plans._next(frozenset()):
                key = frozenset([*[season.labels(0)[seat] for seat in match.pairing.seats], f"{match.pairing.round}"])
                shown.setdefault(key, []).append(dice_of(runner.play(match)))
    assert {len(games) for games in shown.values()} == {2}
    assert {len(pairs) for pairs in pig.rounds().values()} == {1}
    assert any(LABELS[3] in key for key in shown), "otherwise there is no attack"
    for first, second in shown.values():
        assert all(is_start(one, other) for one, other in zip(first, second, strict=True))
    for one, other in combinations(shown.values(), 2):
        assert not any(is_start(dice, known) for dice in one[0] for known in other[0])


def is_start(one: str, other: str) -> bool:
    """Return True if two sequences of dice are equal as far as both go. Short ones may be equal by accident."""
    length = min(len(one), len(other))
    assert length >= 8
    return one[:length] == other[:length]


def test_later_plans_do_not_use_the_rounds_in_plans_of_an_older_version(pig: Bench) -> None:
    """In older versions, further agents could get these dice. Matches that are still waiting in such plans are played."""
    old = pig.ledger.plan([(0, "random", "second"), (0, *LABELS[:2]), (0, "random", LABELS[0]), (0, *LABELS[2:])])
    assert [plan.round for plan in old] == [0, 0, 1, 0]
    _, plans = pig.begin(*LABELS)
    assert {match.pairing.round for match in plans._waiting} == {0, 1}
    assert len(plans._waiting) == 8
    new = plans._next(frozenset())
    assert sorted({match.pairing.round for match in new}) == list(range(2, 2 + len(new) // 2))
    assert pig.ledger.plans()[:4] == old
    _, again = pig.begin(*LABELS)  # a restart
    assert len(again._waiting) == 8 + len(new)
    following = again._next(frozenset())
    assert min(match.pairing.round for match in following) == 2 + len(new) // 2


@pytest.mark.parametrize(
    ("game", "dealt"),
    [
        ("pig", True),
        ("backgammon", True),
        ("kuhn-poker", True),
        ("tic-tac-toe", False),
        ("pig\npositions: ['10:0 +0 a', '0:10 +0 a', '5:5 +3 b', '7:7 +0 a', '8:9 +0 b']", False),
    ],
)
def test_pairs_share_rounds_only_without_dice_and_deals_or_with_given_positions(tmp_path: Path, game: str, dealt: bool) -> None:
    """Both agents of a pair may know an opening, and a list of positions has few rounds."""
    with closing(Bench(tmp_path, SPEC.replace("GAME", game))) as bench:
        _, plans = bench.begin(*LABELS)
        plans._next(frozenset())
        assert len(bench.ledger.plans()) > len(LABELS)
        assert (max(len(pairs) for pairs in bench.rounds().values()) == 1) == dealt


def test_agents_attempt_the_same_positions_of_a_puzzle(tmp_path: Path) -> None:
    puzzle = "agents: [{agent: bfs, isolation: none}]\nisolation: process\nlimits: {seconds: 1}\npositions: {start: 3, more: 0}\n"
    with closing(Bench(tmp_path, "game: sliding-tiles\n" + puzzle)) as bench:
        season = begin_season(bench.ladder, bench.store, [])
        bench.ledger.plan([(0, label, label) for label in ("a", "b", "a")], season.dealt)
        assert [plan.round for plan in bench.ledger.plans()] == [0, 0, 1]


def test_each_board_has_its_own_rounds(tmp_path: Path) -> None:
    with closing(Bench(tmp_path, SPEC.replace("game: GAME", "games: [tic-tac-toe, pig]"))) as bench:
        _, plans = bench.begin(*LABELS)
        for _ in range(3):
            plans._next(frozenset())
        one, other = bench.rounds(0), bench.rounds(1)
        assert max(map(len, one.values())) > 1
        assert {len(pairs) for pairs in other.values()} == {1}
        assert sorted(other) == list(range(len(other)))
