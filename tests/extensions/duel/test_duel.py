"""`arena duel` compares an edited agent with its last version until a test decides, and keeps the history."""

import json
import os
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from math import exp
from pathlib import Path
from shutil import copytree, rmtree
from types import SimpleNamespace
from typing import Any

import pytest

from arena import Pairing, Spec, load_plugins, play
from arena.api.run import Monitor, RunSettings, play_tournament
from arena.api.spec import load_spec
from arena.cli import cli
from arena.errors import ArenaError
from arena.stats.calculator import EloEstimate
from arena.store import Store
from arena.tournament.results import PlayedMatch
from arena_duel import duel as duel_module, duel_setup
from arena_duel.decision_limits import DurationForecast
from arena_duel.duel import DuelOptions
from arena_duel.duel_history import PastDuel
from arena_duel.duel_match import DuelTerms
from arena_duel.duel_setup import agent_of, choose_plies, game_of, past_version
from arena_duel.llr_curve import LEVELS, frame
from arena_duel.version_folder import KeptVersion, VersionFolder, current_version
from arena_isolation.describe import DescribedAgent, Description
from arena_pairings.sprt import Sprt
from arena_pairings.sprt_state import SprtState
from tests.conftest import Arena, arena_in

AGENT = """
{before}
from arena import Agent, hookimpl

class Edge(Agent):
    name = "edge"
    def choose(self, game, state, search):
        return {choice}

@hookimpl
def arena_agents():
    return [Edge]
"""
GOOD = "search.rng.choice(game.actions(state))"
BAD = "None"
"""The agent returns no action and loses every game, so its opponent wins every pair."""
QUICK = ("--game", "tic-tac-toe", "--elo", "0", "200", "--openings", "2", "--workers", "1")


@pytest.fixture(autouse=True)
def _isolate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide repositories in parent folders, and use a new cache."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))


def write(folder: Path, choice: str, before: str = "") -> None:
    (folder / "edge.py").write_text(AGENT.format(choice=choice, before=before))


def refuse(*words: str) -> str:
    """Return the error message of a call in this process. Such a call does not load the file of the agent here."""
    with pytest.raises(ArenaError) as caught:
        cli.main(["duel", *words], standalone_mode=False)
    return str(caught.value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a committed agent that loses every game, and a better one that has played against it."""
    folder = tmp_path_factory.mktemp("duel")
    write(folder, BAD)
    mine = ["-c", "user.email=a@example.org", "-c", "user.name=a", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "edge.py"], ["commit", "-q", "-m", "one"]):
        subprocess.run(["git", *mine, *words], cwd=folder, check=True)
    write(folder, GOOD)
    done = arena_in(folder)("duel", "edge.py", *QUICK)
    (folder / "out").write_text(done.stdout)
    (folder / "err").write_text(done.stderr)
    return folder


@pytest.fixture
def played(folder: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder for this test. The path of a folder does not affect a duel."""
    copytree(folder, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.mark.process
def test_a_better_agent_wins_the_duel(folder: Path) -> None:
    """By default, the agent plays against the last commit. The output gives the verdict, the opponent and the store."""
    out, err = (folder / "out").read_text(), (folder / "err").read_text()
    assert out.startswith("edge v2 is better than edge v1 (error probability at most 5 %).\n"), err
    assert "edge v1 lost" in out
    assert "duel-edge/001-v2-v1.db" in out
    assert "v1 (" in err
    assert "git:" in err
    assert "edge v2 against v1: " in err, "progress is printed as a line without a terminal"


def test_the_history_lists_every_duel(
    played: Path, arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A duel with unchanged code plays no games. The old code is recognised as v1 and is not better. The history contains both
    verdicts.
    """
    write(played, GOOD, before="# a comment")
    same = arena("duel", "edge.py", *QUICK)
    assert "\nNothing was played: this is the same code as v2 " in same.stdout
    monkeypatch.chdir(played)
    wrong = refuse("edge.py", *QUICK, "--limits", "nodes=x", "--elo", "50", "0")
    assert "--limits: nodes: expected" in wrong, "errors are reported even if there is nothing to play"
    assert "--elo: " in wrong
    assert "expected elo0 below elo1" in wrong
    write(played, BAD)
    worse = arena("duel", "edge.py", *QUICK, "--elo", "0", "120", "--format", "json", "--exit-code")
    assert worse.returncode == 4, "the agent loses every pair, so it is worse"
    found = json.loads(worse.stdout)
    assert (found["version"]["name"], found["against"]["name"], found["verdict"]) == ("v1", "v2", "not better")

    def show_history(*words: str) -> str:
        cli.main(["duel", "edge.py", "--history", *words], standalone_mode=False)  # this loads no agent, so it needs no process
        return capsys.readouterr().out

    history = json.loads(show_history("--format", "json"))
    assert [(one["number"], one["version"]["name"], one["against"]["name"], one["hypothesis"]) for one in history] == [
        (1, "v2", "v1", "H1"),
        (2, "v1", "v2", "H0"),
    ]
    assert [(one["elo0"], one["elo1"], one["game"]["name"]) for one in history] == [
        (0, 200, "tic-tac-toe"),
        (0, 120, "tic-tac-toe"),
    ]
    assert history[0]["pairs"][:4] == [0, 0, 0, 0], "v2 won every pair"
    assert history[0]["llr"] > history[0]["upper"]
    assert history[1] == found
    assert all(one["started"] and one["ended"] for one in history)
    table = show_history().splitlines()
    assert [line.split()[0] for line in table[-2:]] == ["1", "2"]
    assert max(map(len, table)) < 80


def test_an_interrupted_duel_continues(played: Path, arena: Arena) -> None:
    """The store lacks its last games and its end, as after a kill. The same command plays only these games, with the same
    result.
    """
    store = played / "duel-edge" / "001-v2-v1.db"

    def records() -> list[tuple[bytes, str]]:
        with closing(sqlite3.connect(store)) as connection:
            return sorted(connection.execute("SELECT r.id, d.actions FROM record r JOIN detail d ON d.record = r.number"))

    before = records()
    with closing(sqlite3.connect(store)) as connection:
        gone = "SELECT number FROM record WHERE number > (SELECT max(number) - 5 FROM record)"
        for table, column in (("place", "record"), ("detail", "record"), ("record", "number")):
            connection.execute(f"DELETE FROM {table} WHERE {column} IN (SELECT * FROM ({gone}))")
        connection.execute("UPDATE run SET ended = NULL")
        connection.commit()
    assert len(records()) < len(before)
    again = arena("duel", "edge.py", *QUICK)
    assert again.stdout.startswith("edge v2 is better than edge v1"), again.stderr
    assert records() == before
    assert list((played / "duel-edge").glob("*.db")) == [store]


OWN_GAME = """
from arena import hookimpl
from arena_games.tic_tac_toe import TicTacToe

class Mine(TicTacToe):
    name = "mine"
    default_heuristic = None

@hookimpl
def arena_games():
    return [Mine]
"""


def test_the_next_duel_uses_the_game_and_the_plugins_of_the_last(
    tmp_path: Path, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of a repository, the first version has no opponent. The next duels use the game of the last one, with its
    parameters, from any folder, unless the call names another game. Each version plays the version before it, unless --against
    names another one. The same code plays again under other conditions.
    """
    write(tmp_path, BAD)
    first = arena("duel", "edge.py", "--exit-code")
    assert first.returncode == 0
    assert re.match(
        r"v1 \(.*\) is kept in .*\.\n"
        r"Nothing was played: no earlier version exists to play against \(edge\.py is not in a git repository",
        first.stdout,
    ), first.stderr
    assert [one.name for one in VersionFolder(tmp_path / "duel-edge", "edge.py").versions()] == ["v1"]
    few = ("--pairs", "1", "--workers", "1", "--format", "json", "--exit-code")
    (tmp_path / "game.py").write_text(OWN_GAME)
    (tmp_path / "old.py").write_text(AGENT.format(choice=BAD, before="y = 1"))
    write(tmp_path, GOOD)
    second = arena("duel", "edge.py", *few, "--game", "mine", "--set", "columns=4", "--plugin", "game.py", "--against", "old.py")
    found = json.loads(second.stdout)
    assert (second.returncode, found["version"]["name"], found["against"]["name"]) == (5, "v3", "v2"), second.stderr
    write(tmp_path, GOOD, before="x = 1")
    (tmp_path / "elsewhere").mkdir()
    third = arena_in(tmp_path / "elsewhere")("duel", "../edge.py", *few)
    found = json.loads(third.stdout)
    assert (found["version"]["name"], found["against"]["name"]) == ("v4", "v3"), third.stderr
    assert found["game"].items() >= {"name": "mine", "columns": 4}.items()
    assert f"as in the last duel: the game mine and the plugins {tmp_path / 'game.py'};" in third.stderr
    other = arena("duel", "edge.py", *few, "--openings", "3")
    assert json.loads(other.stdout)["game"]["name"] == "mine", other.stderr
    stores = sorted(store.name for store in (tmp_path / "duel-edge").glob("*.db"))
    assert stores == ["001-v3-v2.db", "002-v4-v3.db", "003-v4-v3.db"]
    monkeypatch.chdir(tmp_path)
    assert "a duel needs a game for two players, but sudoku has 1 seat;" in refuse("edge.py", "--game", "sudoku")


@pytest.mark.process
def test_invalid_calls_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each error gives the expected value. No game is played."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, GOOD)
    assert "no such file: nope.py" in refuse("nope.py")
    assert "--against: no such file" in refuse("edge.py", "--against", "nope.py")
    write(tmp_path, BAD)
    (tmp_path / "edge.py").rename("old.py")
    write(tmp_path, GOOD)
    wrong = refuse("edge.py", "--against", "old.py", "--game", "tic-tac-toe", "--set", "row=4")
    assert wrong.startswith("--set: tic-tac-toe has no parameter 'row'; did you mean 'rows'?")
    for name in ("a", "b"):
        (tmp_path / f"duel-{name}" / "versions" / f"1-{'0' * 32}").mkdir(parents=True)
        (tmp_path / f"duel-{name}" / "versions" / f"1-{'0' * 32}" / "two.py").touch()
    assert "has duels of several agents; choose one with --agent: a, b" in refuse("two.py", "--history")


EDGE = DescribedAgent(
    "edge", frozenset(), frozenset(), frozenset(), wants_heuristic=False, chooses=True, solves=False, options={}
)


def test_the_default_game_is_connect_four() -> None:
    """If the file has a heuristic for a game, this game is the default. Other games for two are named in a note."""
    for heuristics, name in ((frozenset(), "connect-four"), (frozenset({("othello", "corners")}), "othello")):
        description = Description({"edge": EDGE}, frozenset(), heuristics, frozenset())
        game, others = game_of(load_plugins(), description, "edge", None, {})
        assert (game, "tic-tac-toe" in others, name in others) == ({"name": name}, True, False)


@pytest.mark.parametrize(
    ("pairs", "games", "most"), [(None, None, None), (7, None, 7), (None, 9, 4), (3, 100, 3), (50, 20, 10), (None, 2, 1)]
)
def test_a_limit_of_games_allows_half_as_many_pairs(pairs: int | None, games: int | None, most: int | None) -> None:
    """If both numbers are given, the smaller limit applies."""
    options: Any = SimpleNamespace(pairs=pairs, games=games)
    assert DuelOptions.max_pairs.fget(options) == most  # type: ignore[attr-defined]


def test_a_file_must_have_one_agent_or_the_call_must_name_one() -> None:
    """A file without an agent is refused, and so are a file with several agents and a name that the file does not define."""
    empty, two = [Description(agents, frozenset(), frozenset(), frozenset()) for agents in ({}, {"edge": EDGE, "b": EDGE})]
    with pytest.raises(ArenaError, match=r"none\.py defines no agent"):
        agent_of(empty, Path("none.py"), None)
    with pytest.raises(ArenaError, match="defines several agents; choose one with --agent: b, edge"):
        agent_of(two, Path("two.py"), None)
    with pytest.raises(ArenaError, match="edgy"):
        agent_of(two, Path("two.py"), "edgy")
    assert agent_of(two, Path("two.py"), "b") == "b"


def test_a_version_is_kept_with_its_imports_and_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version includes the modules that it imports from its folder and the data files that it names, so that later edits do
    not change it.
    """
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "edge_words_of_test.py").write_text("X = 0")
    (tmp_path / "weights.txt").write_text("7")
    (tmp_path / "diary.txt").write_text("not for it")
    write(tmp_path, BAD, before="import edge_words_of_test, pathlib\nW = pathlib.Path(__file__).parent / 'weights.txt'")
    folder = VersionFolder(tmp_path / "duel-edge", "edge.py")
    version = current_version(tmp_path / "edge.py")
    kept = folder.keep(version, "edge.py")
    assert {one.name for one in kept.file.parent.iterdir()} == {"edge.py", "edge_words_of_test.py", "weights.txt", "origin"}
    assert current_version(kept.file).code == version.code == kept.code
    (tmp_path / "edge_words_of_test.py").write_text("X = 1")
    changed = current_version(tmp_path / "edge.py")
    assert changed.code != version.code, "an imported module is a part of the version"
    assert current_version(kept.file).code == version.code
    assert [one.name for one in folder.versions()] == ["v1"]
    assert folder.keep(changed, "edge.py").name == "v2"
    assert folder.named(changed.code[:6]) == folder.named("v2") != folder.named("v1")
    assert folder.named("v3") is None


def test_two_files_with_equal_code_have_separate_versions(tmp_path: Path) -> None:
    """Both files define the same agent, so they use the same folder."""
    write(tmp_path, GOOD)
    (tmp_path / "copy.py").write_bytes((tmp_path / "edge.py").read_bytes())
    for file, number in (("edge.py", 1), ("copy.py", 2), ("edge.py", 1), ("copy.py", 2)):
        kept = VersionFolder(tmp_path / "duel-edge", file).keep(current_version(tmp_path / file), file)
        assert (kept.number, kept.file.name) == (number, file)


@pytest.mark.parametrize(("llr", "place"), [(-3.0, 0), (0.0, 10), (3.0, 20), (1.5, 15), (9.0, 20)])
def test_the_progress_bar_shows_the_state_of_the_sequential_test(llr: float, place: int) -> None:
    """The bounds are -3 and 3 (by Wald, the logarithm of 0.95 / 0.05 is 2.94). Each of 21 columns is 0.3 wide."""
    risk = 1 / (1 + exp(3))
    test = Sprt(0, 10, alpha=risk, beta=risk)
    assert (test.lower, test.upper) == pytest.approx((-3, 3))
    state = SprtState("a", "b", test, llr, None, (0, 0, 1, 0, 0), EloEstimate.of_pairs((0, 0, 1, 0, 0)), None)
    bar, curve = frame(state, [-3.0, 0.0, 3.0], 21)
    assert bar.partition("├")[2].partition("┤")[0].index("●") == place
    assert curve.strip() == LEVELS[0] + LEVELS[4] + LEVELS[7]
    assert len(frame(state, [0.0] * 500, 21)[1].strip()) == 21


@pytest.mark.parametrize(
    ("elo0", "elo1", "verdict", "word"),
    [
        (0, 10, "H1", "better"),
        (0, 10, "H0", "not better"),
        (-10, 0, "H1", "passed"),
        (-10, 0, "H0", "worse"),
        (-10, 10, "H1", "passed"),
    ],
)
def test_the_verdict_claims_only_the_result_of_the_test(elo0: float, elo1: float, verdict: Any, word: str) -> None:
    """A test of -10 against 0 that accepts 0 shows only that the new version is not 10 Elo worse."""
    test, counts = Sprt(elo0, elo1), (0, 0, 1, 0, 0)
    better = test.find_better(verdict, lambda _: 0.0)
    state = SprtState("a", "b", test, 0.0, verdict, counts, EloEstimate.of_pairs(counts), None, better=better)
    assert PastDuel.verdict.fget(SimpleNamespace(state=state, ended=None)) == word  # type: ignore[attr-defined]


LOOKING = "max(game.actions(state), key=lambda action: search.evaluate(game.result(state, action), game.to_move(state)))"
"""This expression generates a state for each action, and reports no action before the end."""


@pytest.mark.process
def test_moves_are_random_only_under_limits_of_the_user(tmp_path: Path, arena: Arena) -> None:
    """Without limits, the new version always looks one ply ahead. Under a limit of one node, its move is its own choice only if
    there is a single action.
    """
    write(tmp_path, GOOD)
    arena("duel", "edge.py", "--game", "tic-tac-toe")
    write(tmp_path, LOOKING)
    arena("duel", "edge.py", *QUICK, "--pairs", "2")
    shown = arena("duel", "edge.py", *QUICK, "--pairs", "2", "--limits", "nodes=1").stdout
    free, limited = json.loads(arena("duel", "edge.py", "--history", "--format", "json").stdout)
    assert (free["limits"], free["random_moves"]) == ({}, {})
    with closing(sqlite3.connect(free["store"])) as store:
        assert store.execute("SELECT sum(fallbacks) FROM record").fetchone() == (0,)
    with Store.open(Path(limited["store"])) as kept:
        records = [record for record, _ in kept.records()]
    decisions = [(record.labels[one.seat], one.nodes) for record in records for one in record.decisions]
    mine = [nodes for label, nodes in decisions if label == "edge v2"]
    share = sum(record.fallbacks for record in records) / len(mine)
    assert share > 0.5
    assert limited["random_moves"] == {"edge v2": pytest.approx(share)}
    sentence = f"Limits nodes=1: {100 * share:.1f} % of the moves of edge v2 were random"
    assert sentence in " ".join(shown.split())
    assert sentence in " ".join(arena("duel", "edge.py", "--history").stdout.split())


def a_game(seconds: float) -> PlayedMatch:
    """Return a game with decisions that took this time in total, in seconds."""
    record = play("tic-tac-toe", ["random", "random"])
    each = seconds / len(record.decisions)
    return PlayedMatch(
        0, 0, Pairing(0, (0, 1)), record._replace(decisions=tuple([one._replace(seconds=each) for one in record.decisions]))
    )


@pytest.mark.parametrize(
    ("seconds", "line"),
    [
        ((1.0, 2.0), "a game takes about 1.5 s, so the decisions of about 100 pairs may take 2 min 30 s"),
        (
            (80.0, 60.0),
            (
                "a game takes about 1 min 10 s, so the decisions of about 100 pairs may take 1 h 56 min; "
                "use --limits nodes=N or --limits seconds=S to limit each decision"
            ),
        ),
    ],
)
def test_the_duration_is_estimated_from_the_first_pair(seconds: tuple[float, float], line: str) -> None:
    """With two workers, 100 pairs take 100 times as long as a game. Only games of more than 60 s mention `--limits`, and only
    once.
    """
    said: list[str] = []
    forecast = DurationForecast(2, said.append, lambda: 100.0)
    for one in (*seconds, *seconds):
        forecast.note(a_game(one))
    forecast.remind()
    assert said == [line]


def test_limits_are_suggested_if_the_first_pair_takes_long() -> None:
    said: list[str] = []
    forecast = DurationForecast(2, said.append)
    forecast.note(a_game(50.0))
    forecast.remind()
    forecast.note(a_game(500.0))
    assert said == [
        "the first pair of games has taken 60 s so far; use --limits nodes=N or --limits seconds=S to limit each decision",
        "a game takes about 4 min 35 s",
    ]


@pytest.mark.parametrize(
    ("game", "plies"),
    [
        ({"name": "tic-tac-toe"}, 2),  # a random game has 7.7 moves on average
        ({"name": "connect-four"}, 4),  # 21 moves
        ({"name": "nim", "heaps": [1, 1, 1]}, 1),
        ({"name": "pig"}, 0),  # dice
        ({"name": "kuhn-poker"}, 0),  # cards
    ],
)
def test_random_openings_are_a_small_part_of_a_game(game: dict[str, Any], plies: int) -> None:
    assert choose_plies(load_plugins(environ=False), game) == plies


@pytest.mark.parametrize(("moves", "plies"), [(1, 2), (2, 0)])
def test_a_game_with_varied_starts_needs_no_random_moves(moves: int, plies: int) -> None:
    """9 * 8 start positions are enough for different games, but 9 are not."""
    registry = load_plugins(environ=False)

    class Scattered(registry.game("tic-tac-toe")):  # type: ignore[misc]
        name = "scattered"

        def initial(self, rng: random.Random) -> Any:
            state = super().initial(rng)
            for _ in range(moves):
                state = self.result(state, rng.choice(self.actions(state)))
            return state

    registry.games["scattered"] = Scattered
    assert choose_plies(registry, {"name": "scattered"}) == plies


def test_a_game_that_raises_an_exception_gets_the_default_number_of_opening_plies() -> None:
    registry = load_plugins(environ=False)

    class Broken(registry.game("tic-tac-toe")):  # type: ignore[misc]
        name = "broken"

        def initial(self, rng: random.Random) -> Any:
            raise ValueError("no board")

    registry.games["broken"] = Broken
    assert choose_plies(registry, {"name": "broken"}) == 4


def test_the_opponent_in_the_next_duel_is_the_last_version_that_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds among four versions, even if --against has named another version since."""
    versions = [KeptVersion(number, f"code {number}", tmp_path, "edge.py", "") for number in range(1, 6)]

    def play(*pairs: tuple[int, int]) -> list[SimpleNamespace]:
        return [SimpleNamespace(new=versions[new - 1], old=versions[old - 1], ended="now", games=2) for new, old in pairs]

    def find(code: str) -> int | None:
        found = past_version(VersionFolder(tmp_path, "edge.py"), tmp_path / "edge.py", code, None).version
        return None if found is None else found.number

    for duels, code, expected in (
        (play((2, 1), (3, 2)), "code 4", 3),
        (play((2, 1), (3, 2), (4, 3)), "code 5", 4),
        (play((2, 1), (3, 2), (4, 1)), "code 5", 4),
        (play((2, 1), (3, 2)), "code 3", 2),
        (play((2, 1)), "code 2", 1),
    ):
        monkeypatch.setattr(duel_setup, "past_duels", lambda folder, duels=duels: duels)
        assert find(code) == expected


WRITING_EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.chmod", "sqlite3.connect"}
interruption: dict[str, Any] = {"folder": None, "at": 0, "writes": 0}


def _interrupt(event: str, args: tuple[Any, ...]) -> None:
    """Raise KeyboardInterrupt instead of write number `at` to the folder of the duels."""
    folder = interruption["folder"]
    if folder is None or event not in WRITING_EVENTS or str(folder) not in str(args[0]):
        return
    if event == "open" and not args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        return
    interruption["writes"] += 1
    if interruption["writes"] == interruption["at"]:
        raise KeyboardInterrupt


@pytest.fixture(scope="module")
def _hook() -> None:
    """Add the audit hook, which cannot be removed; it is idle while `folder` is None."""
    sys.addaudithook(_interrupt)


@pytest.fixture
def duels(_hook: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Return the names of the duels that are played. The file of the agent is described without being loaded, and a duel is a run
    of two built-in agents.
    """
    played: list[str] = []

    def play(spec: Spec, place: Path, _workers: int, *, quiet: bool) -> int:
        played.append(spec.name)
        play_tournament(spec, place, RunSettings(workers=1), Monitor())
        return 2

    def spec(self: DuelTerms, new: KeptVersion, old: KeptVersion) -> Spec:
        test = {"sprt": {"elo0": self.elo[0], "elo1": self.elo[1]}}
        agents = [{"agent": "random", "label": f"edge {one.name}"} for one in (new, old)]
        keys = {"game": self.game, "format": {"name": "head-to-head", "test": test}, "rounds": 2, "agents": agents}
        return load_spec({**keys, "name": f"{new.name} against {old.name}"})

    described = Description({"edge": EDGE}, frozenset(), frozenset(), frozenset())
    monkeypatch.setattr(duel_module, "describe_file", lambda *_: described)
    monkeypatch.setattr(duel_module, "play_duel", play)
    monkeypatch.setattr(DuelTerms, "spec", spec)
    yield played
    interruption["folder"] = None


FEW = ("duel", "edge.py", "--game", "tic-tac-toe", "--exit-code")


@pytest.mark.process
@pytest.mark.parametrize(("kept", "imports"), [(1, "import part_of_edge"), (2, "from package_of_edge import part")])
def test_an_interrupted_start_of_a_duel_can_be_repeated(
    kept: int, imports: str, duels: list[str], tmp_path: Path, invoke: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command is interrupted before each of its writes in turn. The same command then plays the same versions."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "part_of_edge.py").write_text("X = 0")
    (tmp_path / "package_of_edge").mkdir()
    for name in ("__init__", "part"):
        (tmp_path / "package_of_edge" / f"{name}.py").write_text("X = 0")
    for number in range(kept):
        write(tmp_path, GOOD, before=f"x = {number}")
        invoke(*FEW)
    write(tmp_path, GOOD, before=f"{imports}\nx = {kept}")
    copytree(tmp_path / "duel-edge", tmp_path / "before")
    expected = f"v{kept + 1} against v{kept}"
    interrupted = 0
    for at in range(1, 100):
        rmtree(tmp_path / "duel-edge")
        copytree(tmp_path / "before", tmp_path / "duel-edge")
        duels.clear()
        interruption.update(folder=tmp_path / "duel-edge", at=at, writes=0)
        code = invoke(*FEW).returncode
        interruption["folder"] = None
        if interruption["writes"] < at:
            assert duels == [expected]
            break
        assert code == 130
        interrupted += 1
        assert invoke("duel", "edge.py", "--history").returncode == 0
        again = invoke(*FEW)
        assert (again.returncode, duels[-1:]) == (5, [expected]), (at, again.stdout, again.stderr)
        assert re.search(rf"^loading edge\.py$(.|\n)*^v{kept + 1} \(.*\) is kept$", again.stderr, re.MULTILINE)
        assert len(list((tmp_path / "duel-edge").glob("*.db"))) == kept
        assert [one.number for one in VersionFolder(tmp_path / "duel-edge", "edge.py").versions()] == list(range(1, kept + 2))
    assert interrupted > 10


@pytest.mark.process
def test_an_interrupted_duel_continues_after_a_duel_with_other_hypotheses(
    duels: list[str], tmp_path: Path, invoke: Arena
) -> None:
    """A duel with `--elo 0 50` is finished. Another one with `--elo 0 10` has begun, and the same command continues it."""
    for number in range(2):
        write(tmp_path, GOOD, before=f"x = {number}")
        invoke(*FEW, "--elo", "0", "50")
    assert "Nothing was played: this is the same code as v2 " in invoke(*FEW, "--elo", "0", "50").stdout
    invoke(*FEW, "--elo", "0", "10")
    with closing(sqlite3.connect(tmp_path / "duel-edge" / "002-v2-v1.db")) as connection:
        connection.execute("UPDATE run SET ended = NULL")
        connection.commit()
    invoke(*FEW, "--elo", "0", "10")
    assert duels == ["v2 against v1"] * 3
    assert len(list((tmp_path / "duel-edge").glob("*.db"))) == 2


@pytest.mark.process
def test_a_version_that_has_not_played_is_not_chosen_as_the_opponent(duels: list[str], tmp_path: Path, invoke: Arena) -> None:
    """The duel of v3 was stopped before its first game, so v4 plays against v2."""
    for number in range(3):
        write(tmp_path, GOOD, before=f"x = {number}")
        invoke(*FEW)
    with closing(sqlite3.connect(tmp_path / "duel-edge" / "002-v3-v2.db")) as connection:
        for table in ("place", "detail", "record"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("UPDATE run SET ended = NULL")
        connection.commit()
    write(tmp_path, GOOD, before="x = 3")
    invoke(*FEW)
    assert duels[-1] == "v4 against v2"
