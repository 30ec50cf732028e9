"""A format of a plugin with a ranking, columns and options of its own."""

import json
import re
import shutil
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

import arena
from arena import Outcomes, Placing
from arena.errors import PluginError, SpecError
from arena.formats import RoundRobin
from arena.plugins.sources import load_plugins
from arena.results.leaderboard import Leaderboard
from arena.results.tally import Facts, Tally
from arena.schedule.board_info import BoardInfo
from arena.spec import load_spec
from arena.stats.observations import GameResults
from arena.stats.ratings import rate
from tests.conftest import Arena

LEAGUE = Path(__file__).with_name("league.py")
SPEC: dict[str, Any] = {
    "name": "Premier",
    "game": "tic-tac-toe",
    "rounds": 2,
    "seed": 5,
    "agents": ["random", "greedy", {"agent": "lookahead", "depth": 2}, "type-a-plus"],
    "format": {"name": "league", "win": 2, "draw": 7},
    "plugins": ["league.py"],
}
UNRANKED = "Ranked by score for now: the format league ranks the board when `arena run` ends."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The plugin, and a spec that uses it."""
    shutil.copy(LEAGUE, tmp_path)
    (tmp_path / "premier.yaml").write_text(yaml.safe_dump(SPEC))
    return tmp_path


def rows_of(done: Any) -> list[dict[str, Any]]:
    """The rows of the only board in the JSON that a command printed."""
    assert done.returncode == 0, done.stderr
    (board,) = json.loads(done.stdout)["boards"]
    return list(board["rows"])


def test_a_plugin_format_ranks_its_board_by_its_own_column(folder: Path) -> None:
    results = arena.run(folder / "premier.yaml")
    points: Counter[str] = Counter()
    for record in results.records:
        for seat, label in enumerate(record.labels):
            points[label] += {1: 2, 0: 7, -1: 0}[int(record.returns[seat])]
    (board,) = Leaderboard.of_results(results)
    assert {row["agent"]: row["league_points"] for row in board.rows} == points
    found = [row["league_points"] for row in board.rows]
    assert found == sorted(found, reverse=True)
    assert [row["rank"] for row in board.rows] == [1 + sum(more > mine for more in found) for mine in found]
    scores = [row["score"] for row in board.rows]
    assert scores != sorted(scores, reverse=True)


def test_every_command_shows_a_ranking_without_loading_the_plugin(folder: Path, invoke: Arena) -> None:
    """The output equals that of `arena run`, even if the plugin was deleted or replaced."""
    rows = rows_of(invoke("run", "premier.yaml", "--format", "json", "--quiet", "--workers", "1"))
    assert [row["league_points"] for row in rows] == sorted([row["league_points"] for row in rows], reverse=True)
    assert all(set(row["form"]) <= set("WDL") for row in rows)
    printed = invoke("run", "premier.yaml", "--quiet").stdout
    headings = re.split(" {2,}", printed.splitlines()[2])
    assert headings.index("League points") == headings.index("95 % interval") + 1 == headings.index("Form") - 1
    (folder / "league.py").unlink()
    assert invoke("leaderboard", "results/premier.db").stdout == printed
    (folder / "league.py").write_text("open('loaded', 'w')\nraise SystemExit('loaded')\n")
    assert rows_of(invoke("leaderboard", "results/premier.db", "--format", "json")) == rows
    assert invoke("compare", "results/premier.db").returncode == 0
    assert "league_points" in invoke("leaderboard", "results/premier.db", "--format", "csv").stdout.splitlines()[0]
    assert not (folder / "loaded").exists()


@pytest.mark.usefixtures("folder")
def test_show_lists_the_columns_and_options_of_a_format(invoke: Arena) -> None:
    said = invoke("show", "league", "--plugin", "league.py").stdout
    assert "for games; boards are ranked by the format itself" in said
    assert "league_points: League points, the points of all games" in said
    assert "win: whole number from 1; default 3\n      points for a win" in said
    assert "draw: whole number from 0; default 1\n      points for a draw" in said


def test_a_spec_may_use_the_columns_and_options_of_a_format(folder: Path) -> None:
    chosen = {**SPEC, "columns": ["agent", "league_points"], "sort": "league_points"}
    (folder / "chosen.yaml").write_text(yaml.safe_dump(chosen))
    (board,) = Leaderboard.of_results(arena.run(folder / "chosen.yaml"))
    assert (board.sheet.columns, board.sheet.sort) == (("agent", "league_points"), "league_points")
    wrong = {**SPEC, "format": {"name": "league", "win": 0}, "columns": ["agent", "leage_points"]}
    (folder / "wrong.yaml").write_text(yaml.safe_dump(wrong))
    with pytest.raises(SpecError) as refused:
        load_spec(folder / "wrong.yaml")
    assert "format.win: " in str(refused.value)
    assert "unknown column 'leage_points'; did you mean 'league_points'?" in str(refused.value)


def test_an_unfinished_board_is_ranked_by_score(folder: Path, invoke: Arena) -> None:
    """Shards and merged shards are not complete runs. The next run of the merged store ranks the board."""
    for part in (1, 2):
        invoke("run", "premier.yaml", "--quiet", "--store", f"{part}.db", "--shard", f"{part}/2", "--workers", "1")
    invoke("merge", "all.db", "1.db", "2.db")
    for store in ("1.db", "all.db"):
        assert UNRANKED in " ".join(invoke("leaderboard", store).stdout.split())
        rows = rows_of(invoke("leaderboard", store, "--format", "json"))
        assert [row["score"] for row in rows] == sorted([row["score"] for row in rows], reverse=True)
        assert "league_points" not in rows[0]
    said = invoke("run", "premier.yaml", "--store", "all.db", "--format", "json")
    assert "there were no matches left to play" in said.stderr
    whole = Leaderboard.of_results(arena.run(folder / "premier.yaml"))[0].rows
    keys = ("rank", "agent", "league_points", "form")
    assert [[row[key] for key in keys] for row in rows_of(said)] == [[row[key] for key in keys] for row in whole]


QUICK = [{"agent": "greedy", "label": label} for label in "abcd"]
"""Four entries that play fast."""
WRONG = [
    ("return 1 / 0", r"ZeroDivisionError: division by zero \(.*league\.py:\d+\)"),
    ("return []", "expected a Placing for each of 4 entries"),
    ("return [Placing((float('nan'),))] * 4", "merit: expected the same number of finite values for each entry"),
    ("return [Placing((1,))] * 3 + [Placing((1, 2))]", "merit: expected the same number of finite values for each entry"),
    ("return [Placing((1,), {'goals': 1})] * 4", "values: no column of the format has the key 'goals'"),
    ("return [Placing((1,), {'form': float('inf')})] * 4", "values: form: expected a finite number, a string or None"),
]


@pytest.mark.parametrize(("body", "message"), WRONG)
def test_an_invalid_ranking_is_reported_as_an_error_of_the_plugin(folder: Path, body: str, message: str) -> None:
    plugin = LEAGUE.read_text().replace('results: list[str] = [""] * entries', body)
    (folder / "league.py").write_text(plugin)
    with pytest.raises(PluginError, match=rf"league\.py:\d+: format league: ranking: {message}"):
        Leaderboard.of_results(arena.run({**SPEC, "agents": QUICK, "rounds": 1, "plugins": [str(folder / "league.py")]}))


def test_an_invalid_ranking_does_not_lose_matches(folder: Path, invoke: Arena) -> None:
    (folder / "league.py").write_text(LEAGUE.read_text().replace('results: list[str] = [""] * entries', "return []"))
    with pytest.raises(PluginError):
        arena.run(folder / "premier.yaml", store=folder / "kept.db")
    said = invoke("leaderboard", "kept.db").stdout
    assert "24 games" in said
    assert UNRANKED in " ".join(said.split())


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"form", "Form"', '"score", "Form"', "expected an unused key of lowercase letters, digits and _, got 'score'"),
        ('"form", "Form"', '"league_points", "Form"', "expected an unused key"),
        ('"Form", "text"', '"Form", "txt"', "unknown style 'txt'; did you mean 'text'?"),
    ],
)
def test_invalid_columns_are_refused_when_the_plugin_is_loaded(folder: Path, before: str, after: str, message: str) -> None:
    (folder / "league.py").write_text(LEAGUE.read_text().replace(before, after))
    with pytest.raises(PluginError, match=r"league\.py:\d+\): columns: ") as refused:
        load_plugins([folder / "league.py"], environ=False)
    assert message in str(refused.value)


def test_members_of_a_format_with_another_type_are_ignored(folder: Path) -> None:
    text = LEAGUE.read_text().replace("columns = (", "columns = ('points',)\n    more = (")
    (folder / "league.py").write_text(text.replace("self, entries: int, outcomes: Outcomes", "self"))
    rows = Leaderboard.of_results(arena.run(folder / "premier.yaml"))[0].rows
    assert [row["score"] for row in rows] == sorted([row["score"] for row in rows], reverse=True)


@pytest.mark.parametrize(
    ("format_", "said"),
    [
        ("swiss", "Ranked by points, then by the Buchholz score, then by the Sonneborn-Berger score."),
        ("knockout", "Ranked by the number of rounds survived, in which a bye counts as a round."),
        ({"name": "league", "win": 2}, "Ranked by League points."),
    ],
)
def test_a_board_says_how_its_format_ranks_the_entries(folder: Path, format_: Any, said: str) -> None:
    """The remark about the mark `~` refers to the ratings, because only these are tested."""
    spec = {**SPEC, "format": format_, "rounds": 1, "plugins": [str(folder / "league.py")]}
    (board,) = Leaderboard.of_results(arena.run(spec))
    ranked = [remark for remark in board.remarks if "Ranked by" in remark]
    assert len(ranked) == 1
    assert ranked[0].startswith(said)
    (marks,) = [remark for remark in board.remarks if remark.startswith("~ : ")]
    assert marks.startswith("~ : the ratings do not distinguish this agent from another one")


@pytest.mark.parametrize(("format_", "rounds"), [("knockout", 12), ("swiss", 3)])
def test_rank_marks_depend_on_ratings_if_a_game_is_not_zero_sum(format_: str, rounds: int) -> None:
    """Two agents have no mark if their ratings differ in the order of the board."""
    agents = [{"agent": "always", "action": action, "label": label} for action, label in (("D", "hawk"), ("C", "dove"))]
    spec = {
        "game": {"name": "prisoners-dilemma", "turns": 3},
        "format": format_,
        "rounds": rounds,
        "agents": [agents[0], "tit-for-tat", agents[1], "random"],
    }
    results = arena.run(spec)
    games: GameResults[str] = GameResults()
    pairs: defaultdict[tuple[int, str, str], float] = defaultdict(float)
    for _, _, pairing, record in results.played:
        one, two = sorted(record.labels)
        mine, theirs = (record.returns[record.labels.index(name)] for name in (one, two))
        pairs[pairing.round, one, two] += (mine > theirs) + (mine == theirs) / 2
    for (round_, one, two), points in pairs.items():
        games.add_pair(round_, one, two, points)
    ratings = rate(games)
    (board,) = Leaderboard.of_results(results)
    rows = {row["agent"]: row for row in board.rows}
    assert "tit-for-tat" in rows["dove"]["level_with"]
    for one, two in combinations(rows, 2):  # in the order of the board
        found = ratings.difference(one, two)
        if found.p_value > 0.05 or (found.elo or 0) < 0 or rows[one]["rank"] == rows[two]["rank"]:
            assert two in rows[one]["level_with"]
    assert not any("return" in remark for remark in board.remarks)


def test_entries_are_not_distinguished_if_their_ratings_contradict_their_ranks() -> None:
    class Upside(RoundRobin):
        def ranking(self, entries: int, outcomes: Outcomes) -> list[Placing]:
            return [Placing((float(entry),)) for entry in range(entries)]

    sheet = BoardInfo("game", {"name": "game"}, "versus", ("winner", "loser"), 40, exact=True, has_chance=True)
    for kind, level in ((Upside, True), (RoundRobin, False)):
        tally = Tally(sheet, kind())
        for number in range(20):
            for seats, returns in (((0, 1), (1.0, -1.0)), ((1, 0), (-1.0, 1.0))):
                tally.count(Facts(seats, returns, "normal", None, None))
                tally.add_game(number, seats, returns, number, drew=True, adjusted=None)
        rows = Leaderboard.of(tally, finished=True).rows
        assert [bool(row["level_with"]) for row in rows] == [level, level]
