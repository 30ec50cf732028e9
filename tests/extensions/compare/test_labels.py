"""The names of intervals: corrected ones are called so wherever they are shown, and 95 % intervals have that level."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli
from arena.results.pairs import PairedGames
from arena.stats import PairedShares, agree, difference_interval
from arena.stats.observations import Pair
from arena_compare.texts import elo_words, score_words
from arena_compare.verdicts import interval_name

GAME = {"game": "tic-tac-toe", "rounds": 20, "openings": {"plies": 2}, "seed": 3}
RANDOM, GREEDY, DEEP = "random", "greedy", {"agent": "lookahead", "depth": 2}
PUZZLE = {
    "game": {"name": "sliding-tiles", "shuffle": 40},
    "rounds": 20,
    "seed": 1,
    "limits": {"nodes": 100},
    "agents": [{"agent": "a-star", "heuristic": name, "label": name} for name in ("misplaced", "manhattan")],
}
NAMED = re.compile(r"(95 % interval|[Cc]orrected interval)")


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("stores")
    specs: dict[str, Any] = {
        "two": {**GAME, "agents": [RANDOM, DEEP]},
        "three": {**GAME, "agents": [RANDOM, GREEDY, DEEP]},
        "puzzle": PUZZLE,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_PLAIN", "1")
        for name, spec in specs.items():
            arena.run(spec, store=folder / f"{name}.db")
    return {name: str(folder / f"{name}.db") for name in specs}


def tell(*words: str) -> str:
    return CliRunner().invoke(cli, ["compare", *words], standalone_mode=False, catch_exceptions=False).stdout


@pytest.mark.parametrize(
    ("store", "words", "several"),
    [
        ("two", (), False),
        ("two", ("--by", "return"), False),
        ("three", ("random", "greedy"), True),
        ("three", ("random", "greedy", "--by", "score"), True),
        ("puzzle", (), True),
        ("puzzle", ("--by", "nodes"), False),
    ],
)
@pytest.mark.parametrize("style", ["simple", "html", "latex"])
def test_an_interval_is_called_corrected_if_there_are_several_tests(
    store: str, words: tuple[str, ...], several: bool, style: str, stores: dict[str, str], tmp_path: Path
) -> None:
    """The level comes from Holm's method: 0.05 divided by the number of tests not yet rejected, and 0.05 for a single test."""
    (board,) = json.loads(tell(stores[store], *words, "--format", "json"))
    (pair,) = board["pairs"]
    assert (board["tests"] > 1) == several
    assert 0.05 / board["tests"] <= pair["chance"] <= 0.05
    assert (pair["chance"] == 0.05) or several
    if style == "simple":
        text = tell(stores[store], *words)
    else:
        page = tmp_path / ("page.html" if style == "html" else "page.tex")
        assert tell(stores[store], *words, "-o", str(page)) == ""
        text = unescape(page.read_text("utf-8")).replace("\\%", "%")
        text = text.replace("Lines are 95 % intervals from rounds", "")  # those of the board, each for one rating
    names = {name.lower() for name in NAMED.findall(text)}
    assert names == {"corrected interval" if several else "95 % interval"}
    assert ("corrected together for all" in text) == several


def test_the_level_of_the_interval_of_solved_shares_is_stated(stores: dict[str, str]) -> None:
    (board,) = json.loads(tell(stores["puzzle"], "--format", "json"))
    (pair,) = board["pairs"]
    assert pair["chance"] < 0.05
    assert pair["test"]
    bounds = difference_interval(PairedShares(*pair["solved"]), pair["chance"])
    assert agree(bounds, decided=pair["p_value_holm"] <= 0.05, value=pair["difference"]) == pytest.approx(
        (pair["low"], pair["high"])
    )


def test_a_difference_that_is_not_tested_has_a_95_percent_interval(stores: dict[str, str], tmp_path: Path) -> None:
    """Both solve all positions, so nothing is tested about that, while other figures are corrected for several tests."""
    spec = {**PUZZLE, "limits": {"nodes": 100_000}}
    arena.run(spec, store=tmp_path / "all.db")
    (board,) = json.loads(tell(str(tmp_path / "all.db"), "--format", "json"))
    (pair,) = board["pairs"]
    assert board["tests"] > 1
    assert (pair["test"], pair["chance"]) == ("", 0.05)
    low, high = (f"{100 * bound:+.1f}" for bound in (pair["low"], pair["high"]))
    text = tell(str(tmp_path / "all.db"))
    assert f"{low} to {high} (95 %)" in text
    assert f"what they solve (95 % interval {low} to {high} points" in text
    assert "Corrected interval" in text


def test_the_name_of_an_interval_is_repeated_after_one_of_another_kind(tmp_path: Path) -> None:
    """The weights hardly change the number of nodes, so no entries are distinguished. Solved shares are not tested, and the
    other figures are corrected.
    """
    agents = [{"agent": "a-star", "heuristic": "misplaced", "weight": weight, "label": f"w{weight}"} for weight in (1, 2)]
    arena.run({**PUZZLE, "limits": {"nodes": 100_000}, "agents": agents}, store=tmp_path / "near.db")
    text = tell(str(tmp_path / "near.db"))
    assert re.search(
        r"cannot be told apart by what they solve \(95 % interval [^)]*\), solution length \([^)]*\)(,| or) "
        r"nodes \((corrected interval )?x [\d.]+ to [\d.]+\)",
        text,
    )
    sentence = text.splitlines()[2]  # it may also claim a difference in time
    assert sentence.count("corrected interval ") == 1 + (" time than " in sentence)


def test_the_paragraph_on_methods_gives_the_level_of_intervals(stores: dict[str, str]) -> None:
    text = " ".join(tell(stores["three"], "--methods").split())
    assert "each interval of a difference has the level of its test (Serlin 1993)" in text
    assert "Holm" not in tell(stores["two"], "--methods")


def test_comparisons_of_games_name_the_interval_that_they_show() -> None:
    match = PairedGames.estimate_score([Pair.of(1, 0), Pair.of(0, 1), Pair.of(1, 0)] * 20)
    for corrected in (False, True):
        name = interval_name(corrected=corrected)
        assert f"({name} " in elo_words(match, corrected=corrected)
        assert f"({name} " in score_words(match, corrected=corrected)
