"""The verdict of a comparison says first what differs beyond noise."""

import json
import math
import re
from dataclasses import replace
from functools import reduce
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats  # type: ignore[import-untyped]

import arena
from arena.cli import cli
from arena.results import figures
from arena.results.contrasts import Contrast, Contrasts
from arena.results.leaderboard import Leaderboard
from arena.results.pairs import PairedGames
from arena.stats.calculator import EloEstimate
from arena.stats.observations import Pair
from arena.stats.ratings import UNKNOWN, Difference
from arena_compare.comparison import GamesComparison
from arena_compare.texts import elo_words, score_words
from arena_compare.verdicts import advice, games_verdict, p_value_text, percentage_points, signed_points


def called(*arguments: str) -> str:
    """What a command prints."""
    return CliRunner().invoke(cli, [*arguments], standalone_mode=False).output


WON, SPLIT, LOST = Pair.of(1, 0), Pair.of(1, 1), Pair.of(0, 1)


def test_compare_and_board_show_the_same_score(tmp_path: Path) -> None:
    """Two agents without randomness play nine openings in 40 rounds. In both outputs, frequent openings have more weight."""
    agents = [{"agent": "alpha-beta", "depth": 2, "label": "two"}, {"agent": "alpha-beta", "depth": 1, "label": "one"}]
    spec = {"game": {"name": "tic-tac-toe"}, "rounds": 40, "openings": {"plies": 1}, "agents": agents}
    results = arena.run(spec, store=tmp_path / "cup.db")
    points = sum((record.returns[record.labels.index("two")] + 1) / 2 for record in results.records)
    (board,) = Leaderboard.of_results(results)
    assert board.rows[0]["score"] == max(points / 80, 1 - points / 80)
    (found,) = json.loads(called("compare", str(tmp_path / "cup.db"), "two", "one", "--format", "json"))[0]["pairs"]
    assert found["worth"]["score"] == points / 80
    assert found["worth"]["elo"] == pytest.approx(400 * np.log10(points / (80 - points)))
    assert found["worth"]["score_low"] < points / 80 < found["worth"]["score_high"]
    differ = sum(found["counts"])
    assert differ < 40
    alone = sum(count * score for count, score in zip(found["counts"], (0, 0.25, 0.5, 0.75, 1), strict=True)) / differ
    assert alone != pytest.approx(points / 80)  # by each opening once it would be another number
    text = called("compare", str(tmp_path / "cup.db"), "two", "one")
    assert f"two scores {100 * points / 80:.1f} % (" in text
    assert f"The score counts all 80 games; the interval uses the {differ} pairs that differ." in text


@pytest.mark.parametrize("names", [("z", "a"), ("a", "z")])
def test_counts_belong_to_the_entry_that_is_named_first(tmp_path: Path, names: tuple[str, str]) -> None:
    """Greedy, the first entry of the spec, wins nearly all games. The order of labels does not matter."""
    strong, weak = names
    agents = [{"agent": "greedy", "label": strong}, {"agent": "random", "label": weak}]
    records = arena.run({"game": "tic-tac-toe", "rounds": 20, "agents": agents}, store=tmp_path / "cup.db").records
    points = sum(0.5 + 0.5 * record.returns[record.labels.index(strong)] for record in records) / len(records)
    assert points > 0.6
    found = arena.open_store(tmp_path / "cup.db").compare(strong, weak)
    assert found.worth.score == pytest.approx(points)


# Games


def compared(pairs: list[Pair], better: int = 0) -> GamesComparison:
    """Two of several entries: their games, and the decision of the ratings."""
    worth, table = PairedGames.estimate_score(pairs), Difference(90.0 * (better or -0.1), None, None, None)
    corrected = {(0, 1, "games"): Contrast(worth.score - 0.5, worth.p_value, worth.test)}
    direct = Contrasts(corrected, {}).get(0, 1, "games")  # type: ignore[arg-type]
    p_value, test = (0.01 if better else 0.5), "Student's t"
    return GamesComparison("a", "b", PairedGames.count_pairs(pairs), worth, p_value, p_value, test, better, table, direct)


def test_the_verdict_comes_first(tmp_path: Path) -> None:
    """The order of the names does not matter. For two entries that differ only in name, the verdict is that no difference is
    known.
    """
    spec = {"game": "tic-tac-toe", "rounds": 30, "agents": ["random", "greedy", {"agent": "random", "label": "dice"}]}
    arena.run(spec, store=tmp_path / "cup.db")
    for names in (("greedy", "random"), ("random", "greedy")):
        sentence = called("compare", str(tmp_path / "cup.db"), *names).splitlines()[2]
        words = r"greedy is better than random: \+\d+ Elo by the ratings of the leaderboard, p = \S+ by [^.]+\."
        assert re.fullmatch(words, sentence)
    sentence = called("compare", str(tmp_path / "cup.db"), "random", "dice").splitlines()[2]
    assert re.match(
        r"random and dice cannot be told apart: \+\d+ Elo by the ratings of the leaderboard for \w+, p = \d", sentence
    )
    alone = {**spec, "agents": ["random", "greedy"]}
    arena.run(alone, store=tmp_path / "two.db")
    sentence = called("compare", str(tmp_path / "two.db")).splitlines()[2]
    assert re.fullmatch(r"greedy is better than random: \d\d\.\d % of the points, p = \S+ by sign flips\.", sentence)


def test_few_pairs_are_tested_exactly() -> None:
    """If all decided pairs have the same weight, the sign test is used; otherwise, all 2^n assignments of signs are enumerated. A
    pair and its repeats count once.
    """

    def p_value(pairs: list[Pair]) -> float:
        return PairedGames.estimate_score(pairs).p_value

    assert p_value([WON] * 10) == pytest.approx(2 / 2**10)
    assert p_value([LOST] * 8 + [SPLIT] * 2) == pytest.approx(2 / 2**8)
    half = Pair.of(1, 0.5)
    leads = [2, 2, 2, 1, -1, 2, 0]
    kinds = {2: WON, 1: half, 0: SPLIT, -1: Pair.of(0, 0.5)}
    means = [sum(s * lead for s, lead in zip(signs, leads, strict=True)) for signs in product((1, -1), repeat=len(leads))]
    share = sum(abs(mean) >= sum(leads) for mean in means) / len(means)
    assert p_value([kinds[lead] for lead in leads]) == pytest.approx(share)
    repeated = reduce(Pair.plus, [WON] * 9)
    assert p_value([repeated, WON, LOST]) == pytest.approx(0.75)  # 18, 2 and -2: 22, 18 and 18 of 22, 18, 18 and 14 are as far
    many = [WON] * 30 + [SPLIT] * 20 + [LOST] * 14
    assert p_value(many) == pytest.approx(stats.binomtest(30, 44).pvalue)


BOTH = "The games between the two and the ratings of the whole leaderboard"
GAMES = "Only the games between the two tell them apart; the ratings of the whole leaderboard do not."
RATINGS = "Only the ratings of the whole leaderboard tell them apart; the games between the two do not."


@pytest.mark.parametrize(
    ("pairs", "better", "word"),
    [
        ([WON] * 20, 1, None),
        ([WON] * 20, -1, f"{BOTH} disagree: choose a to play against b, but b to play against a field like this board."),
        ([LOST] * 20, 1, f"{BOTH} disagree: choose b to play against a, but a to play against a field like this board."),
        ([WON] * 20, 0, f"{GAMES} So choose a to play against b."),
        ([SPLIT] * 20, -1, f"{RATINGS} So choose b to play against a field like this board."),
        ([SPLIT] * 20, 0, None),
        ([SPLIT] * 20 + [WON], 0, None),  # they point opposite ways, but both may be chance
    ],
)
def test_the_text_explains_which_result_applies_if_the_board_and_the_games_disagree(
    pairs: list[Pair], better: int, word: str | None
) -> None:
    assert advice(compared(pairs, better)) == word


def test_a_verdict_agrees_with_its_interval() -> None:
    """Three pairs are won and two are drawn, so p = 0.25 and the interval contains 1/2. With ten times as many pairs, it does
    not.
    """
    worth = EloEstimate.of_pairs((0, 0, 2, 0, 3))
    assert worth.p_value == pytest.approx(0.25)
    assert worth.score_low is not None
    assert worth.score_low <= 0.5
    found = GamesComparison("a", "b", (0, 0, 2, 0, 3), worth, 0.25, 0.25, worth.test, 0, UNKNOWN, None)
    assert games_verdict(found) == "a and b cannot be told apart: 80.0 % of the points for a, p = 0.25 by sign flips."
    sure = EloEstimate.of_pairs((0, 0, 20, 0, 30))
    assert (sure.score_low or 0) > 0.5
    found = replace(found, worth=sure, better=1, p_value_holm=sure.p_value)
    assert games_verdict(found).startswith("a is better than b: 80.0 % of the points")


# Puzzles


@pytest.fixture(scope="module")
def searches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two optimal searches, which solve all, and one that solves all by longer ways."""
    path = tmp_path_factory.mktemp("store") / "puzzle.db"
    agents = [
        {"agent": "a-star", "heuristic": "misplaced", "label": "misplaced"},
        {"agent": "a-star", "heuristic": "manhattan", "label": "manhattan"},
        {"agent": "best-first", "heuristic": "manhattan", "label": "greedily"},
    ]
    arena.run({"game": {"name": "sliding-tiles", "shuffle": 60}, "rounds": 40, "seed": 1, "agents": agents}, store=path)
    return path


def test_a_verdict_begins_with_what_differs(searches: Path) -> None:
    """Optimal searches differ only in nodes. The sentence gives the ratio of the table and begins with the better search."""
    for names in (("misplaced", "manhattan"), ("manhattan", "misplaced")):
        (found,) = json.loads(called("compare", str(searches), *names, "--format", "json"))[0]["pairs"]
        low, value, high = sorted(max(one, 1 / one) for one in map(found["nodes"]["estimate"].get, ("low", "value", "high")))
        assert low > 1
        sentence = called("compare", str(searches), *names).splitlines()[2]
        assert sentence.startswith(
            f"On the positions that both solve, manhattan takes {value:.3g} times fewer nodes than misplaced "
            f"(corrected interval {low:.3g} to {high:.3g})"
        )
        same = "(95 % interval -9.2 to +9.2 points, both solved the same positions)"  # not tested, so not corrected
        assert f"cannot be told apart by what they solve {same}" in sentence
        assert "solution length (equal everywhere)" in sentence
        assert " time" in sentence


def test_positions_that_neither_solves_are_not_called_solved(tmp_path: Path) -> None:
    """With two nodes, no search solves a position ten moves away."""
    agents = [{"agent": "a-star", "label": name} for name in ("one", "two")]
    spec = {"game": {"name": "pancake", "n": 8}, "agents": agents, "limits": {"nodes": 2}, "rounds": 5}
    arena.run(spec, store=tmp_path / "none.db")
    sentence = called("compare", str(tmp_path / "none.db"), "one", "two").splitlines()[2]
    assert "both solved none of the positions)" in sentence


def test_the_length_of_solutions_comes_before_nodes(searches: Path) -> None:
    """One search needs fewer nodes but finds longer solutions. The sentence mentions both facts and begins with the shorter
    solutions.
    """
    sentence = called("compare", str(searches), "greedily", "misplaced").splitlines()[2]
    assert re.match(
        r"On the positions that both solve, misplaced finds solutions [\d.]+ moves shorter than greedily "
        r"\(corrected interval [\d.]+ to [\d.]+\)",
        sentence,
    )
    assert re.search(r"takes [\d.]+ times as many nodes \([\d.]+ to [\d.]+\)", sentence)


def test_openings_are_not_advised_if_they_are_set(tmp_path: Path) -> None:
    """A board with one column has only one opening, so agents without randomness repeat their games anyway."""
    agents = [{"agent": "alpha-beta", "label": name} for name in ("one", "two")]
    small = {"game": {"name": "connect-four", "columns": 1, "rows": 3, "in_a_row": 3}, "agents": agents, "rounds": 3}
    for name, spec, advised in (
        ("plain", small, "try openings."),
        ("opened", {**small, "openings": {"plies": 1}}, "more plies."),
    ):
        arena.run(spec, store=tmp_path / name)
        assert advised in called("compare", str(tmp_path / name), "one", "two")


def test_compare_and_board_treat_shared_dice_in_the_same_way(tmp_path: Path) -> None:
    """In Pig, rounds are the sample, and both outputs have the same likelihood of superiority."""
    agents = [{"agent": "hold-at", "at": at} for at in (5, 15, 25)]
    results = arena.run({"game": {"name": "pig", "target": 40}, "agents": agents, "rounds": 15}, store=tmp_path / "pig.db")
    (board,) = Leaderboard.of_results(results)
    found = json.loads(called("compare", str(tmp_path / "pig.db"), "--format", "json"))[0]["pairs"]
    rows = {row["agent"]: row["superiority"] for row in board.rows}
    assert len(found) == 3
    for pair in found:
        assert pair["table"]["superiority"] == rows[pair["one"]].get(pair["other"])
        assert pair["better"] == 0 or pair["table"]["low"] > 0 or pair["table"]["high"] < 0
        level = next(row for row in board.rows if row["agent"] == pair["one"])["level_with"]
        assert (pair["other"] in level) == (pair["better"] == 0)


@pytest.mark.parametrize(("value", "text"), [(0.0312, "p = 0.031"), (1.2e-8, "p = 1e-08"), (math.ulp(0), "p < 1e-15")])
def test_a_p_value_is_never_zero(value: float, text: str) -> None:
    assert p_value_text(value) == text
    assert [percentage_points(one) for one in (-0.005, -0.0004, 0.394)] == ["-0.5", "0.0", "39.4"]
    assert [signed_points(one, 0) for one in (-0.15, -0.004, 0.0833)] == ["-15", "+0", "+8"]
    assert signed_points(0.0833) == "+8.3"


def test_an_interval_that_excludes_nothing_is_not_shown() -> None:
    """At the corrected level, three pairs exclude no score that a table can show, and no difference in Elo."""
    mixed = PairedGames.estimate_score([Pair.of(1, 0), Pair.of(0, 1), Pair.of(1, 0)], 1e-5)
    assert elo_words(mixed) == "Elo +120.4; likelihood of superiority 50.0 %."
    assert score_words(mixed) == "66.7 %"
    usual = PairedGames.estimate_score([Pair.of(1, 0), Pair.of(0, 1), Pair.of(1, 0)] * 20)
    assert "95 % interval" in elo_words(usual)
    assert "95 % interval" in score_words(usual)


def test_both_bounds_of_an_interval_in_elo_are_shown() -> None:
    """A score near 100 % has an upper bound above +1,320 Elo, which is printed with the value in JSON."""
    near = PairedGames.estimate_score([*[Pair.of(1, 0)] * 59, Pair.of(1, 1)])
    assert near.elo_low is not None
    assert near.elo_high is not None
    assert near.elo_high > 1320
    assert f"(95 % interval {near.elo_low:+.1f} to {near.elo_high:+.1f});" in elo_words(near)
    assert figures.elo_interval(300.0, 1500.0) == " (95 % interval +300 to +1500)"
    assert figures.elo_interval(300.0, None) == " (95 % interval above +300)"
    assert figures.elo_interval(None, 1500.0, "corrected interval") == " (corrected interval below +1500)"


def test_observations_from_one_position_are_called_rounds(tmp_path: Path) -> None:
    """All rounds of n-queens start from the empty board, so the observations are rounds and not positions.

    Both entries solve one or two of them.
    """
    agents = [{"agent": "hill-climb", "label": "plain"}, {"agent": "hill-climb", "sideways": 50, "label": "side"}]
    arena.run({"game": {"name": "n-queens", "n": 8}, "rounds": 20, "agents": agents}, store=tmp_path / "n.db")
    verdict = called("compare", str(tmp_path / "n.db"), "plain", "side").split("\n\n")[1]
    assert "nodes (too few rounds)" in verdict
    assert "position" not in verdict
