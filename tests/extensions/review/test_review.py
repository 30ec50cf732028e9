"""The command `arena review`: what it finds, keeps, and says."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing, suppress
from io import StringIO
from pathlib import Path
from shlex import quote
from shutil import copy
from typing import Any

import click
import pytest
import yaml

import arena
from arena.api.cli import LiveLine
from arena.api.errors import Interrupted
from arena.api.store import Store
from arena.cli import cli
from arena_check.positions import read_positions, report_positions
from arena_review.judges import JUDGES
from arena_review.judging import Judging
from arena_review.matches import PlayedMatch
from arena_review.summary import AgentReview
from arena_review.texts import how_sure
from arena_web.panels import collect_panels
from tests.conftest import arena_in
from tests.eventually import eventually
from tests.extensions.review.test_judges import NIM
from tests.extensions.web.conftest import served

Review = Callable[..., tuple[str, str]]

PLANTED = '''
from arena import Agent, hookimpl


class Planted(Agent):
    """Plays perfectly, but answers a first move into the middle on an edge."""

    name = "planted"

    def choose(self, game, state, search):
        if game.format_state(state) == ".../.x./...":
            return 2
        seat = game.to_move(state)

        def value(state):
            if game.is_terminal(state):
                return game.returns(state)[seat]
            values = [value(game.result(state, action)) for action in game.actions(state)]
            return max(values) if game.to_move(state) == seat else min(values)

        if len(game.actions(state)) == 9:
            return 1
        return search.best(game.actions(state), key=lambda action: value(game.result(state, action)))


@hookimpl
def arena_agents():
    return [Planted]
'''


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the store of a small tournament of an agent that errs in one position."""
    folder = tmp_path_factory.mktemp("cup")
    (folder / "planted.py").write_text(PLANTED)
    spec = {
        "game": "tic-tac-toe",
        "agents": ["planted", "greedy"],
        "rounds": 6,
        "seed": 1,
        "plugins": [str(folder / "planted.py")],
    }
    arena.run(spec, store=folder / "cup.db")
    return folder


@pytest.fixture
def review(cup: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """The command in this process: what it writes to stdout and to stderr."""

    def run(*words: object) -> tuple[str, str]:
        capfd.readouterr()
        assert cli.main(["review", str(cup / "cup.db"), *map(str, words)], standalone_mode=False) == 0
        return capfd.readouterr()

    return run


def test_a_planted_error_is_found_and_named_first(review: Review) -> None:
    """The agent loses something in exactly one position, and the review names it."""
    (board,) = json.loads(review("--format", "json")[0])["boards"]
    planted = next(one for one in board["agents"] if one["label"] == "planted")
    (worst,) = planted["worst"]
    assert (worst["position"], worst["action"], worst["grade"]) == (".../.x./...", "2", "decisive mistake")
    assert worst["times"] == planted["grades"]["decisive mistake"] == 6
    assert planted["without_verdict"] == 0
    assert planted["loss"] == pytest.approx(6 / planted["decisions"])


FAILING = """
from arena import Agent, hookimpl


class Failing(Agent):
    "In the first seat, an illegal action; in the second, an exception at its second turn."

    name = "failing"

    def choose(self, game, state, search):
        actions = game.actions(state)
        if len(actions) == 9:
            return "nowhere"
        if len(actions) < 8:
            raise LookupError("lost")
        return actions[0]


@hookimpl
def arena_agents():
    return [Failing]
"""


def test_the_json_lists_failures(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each round has a game from either seat. A line needs three squares, so every game lasts until the agent fails."""
    (tmp_path / "failing.py").write_text(FAILING)
    spec = {"game": "tic-tac-toe", "agents": ["failing", "greedy"], "rounds": 3, "plugins": [str(tmp_path / "failing.py")]}
    results = arena.run(spec, store=tmp_path / "cup.db", workers=1)
    ended = {kind: [one.id for one in results.records if one.termination == kind] for kind in ("illegal-action", "exception")}

    def review(*words: str) -> Any:
        capfd.readouterr()
        assert cli.main(["review", str(tmp_path / "cup.db"), *words, "--format", "json"], standalone_mode=False) == 0
        (board,) = json.loads(capfd.readouterr().out)["boards"]
        return {one["kind"]: (one["agent"], one["matches"], one["first"] in ended[one["kind"]]) for one in board["failures"]}

    assert review() == {"illegal-action": ("failing", 3, True), "exception": ("failing", 3, True)}
    assert review("--agent", "greedy") == {}
    assert review(ended["exception"][1]) == {"exception": ("failing", 1, True)}


def test_a_second_review_makes_no_searches(cup: Path, review: Review) -> None:
    """Each answer is stored once, in a file beside the store."""
    review()
    before = count_answers(cup / "cup.review")
    assert "to search" not in review()[1]
    assert count_answers(cup / "cup.review") == before > 0


@pytest.mark.process
def test_workers_and_one_process_give_the_same_review(cup: Path, review: Review) -> None:
    """Two workers load the plugins themselves."""
    alone = json.loads(review("--format", "json")[0])
    (cup / "cup.review").unlink()
    assert json.loads(review("--format", "json", "--workers", 2)[0]) == alone


def test_one_match_is_shown_decision_by_decision(review: Review) -> None:
    """The table shows the action that was played and the better ones."""
    (board,) = json.loads(review("--format", "json")[0])["boards"]
    match, number = next(iter(board["first_decisive"].items()))
    shown = review(match[:10])[0]
    assert f"match {match[:10]}" in shown
    (row,) = [line.split() for line in shown.splitlines() if line.strip().startswith(f"{number + 1} ")]
    assert row[1:4] == ["planted", "2", "1"]


def test_the_number_of_costly_positions_is_shown(review: Review) -> None:
    """The number is shown even if only one position is listed. The other agent errs in several positions, and the planted agent
    in one.
    """
    out = json.loads(review("--format", "json", "--agent", "greedy")[0])
    several = len(out["boards"][0]["agents"][0]["worst"])
    assert several > 1
    shown = review("--worst", 1)[0]
    assert f"greedy loses most in this one of {several} positions at tic-tac-toe:" in shown
    assert "planted loses most in this position at tic-tac-toe:" in shown


def test_an_unknown_agent_and_an_unknown_judge_are_refused(cup: Path) -> None:
    """The message lists the known names, or explains why a judge cannot be used."""
    for words, said in [
        (("--agent", "greedi"), "greedy"),
        (("--judge", "oracle"), "regret"),
        (("--judge", "regret"), "not a puzzle"),
    ]:
        with pytest.raises(arena.ArenaError, match=said):
            cli.main(["review", str(cup / "cup.db"), *words], standalone_mode=False)


@pytest.mark.process
def test_the_positions_of_a_planted_error_become_a_test(cup: Path, review: Review) -> None:
    """The agent fails this test, which `arena check` reports, and the repaired agent passes."""
    files = [cup / "the worst.yaml", cup / "the worst.py"]
    said = review("--agent", "planted", "-o", files[0], "--tests", files[1])[1]
    assert said.endswith(
        f"{files[0]}: 1 position; next: arena try FILE --positions {quote(str(files[0]))}\n"
        f"{files[1]}: 1 position; next: pytest {quote(str(files[1]))}\n"
    )
    written = yaml.safe_load(files[0].read_text())
    assert [(one["position"], one["good"]) for one in written["positions"]] == [(".../.x./...", ["1", "3", "7", "9"])]
    repaired = PLANTED.replace('".../.x./...":\n            return 2', '".../.x./...":\n            return 3')
    assert repaired != PLANTED
    for source, code, said in [(PLANTED, 1, "FAILED  .../.x./...: plays 2; good: 1, 3, 7, 9"), (repaired, 0, "solves 1 of 1")]:
        (cup / "planted.py").write_text(source)
        tested = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "the worst.py"],
            cwd=cup, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert tested.returncode == code, tested.stdout
        checked = arena_in(cup)("check", "planted.py", "--game", "tic-tac-toe", "--matches", 1, "--positions", "the worst.yaml")
        assert (checked.returncode, said in checked.stdout) == (code, True), checked.stdout


@pytest.mark.process
@pytest.mark.parametrize("words", [["check", "random"], ["try", "planted.py"]])
def test_an_unreadable_file_of_positions_is_reported_once(cup: Path, words: list[str]) -> None:
    """The file is read before the process that checks the plugin starts."""
    (cup / "broken.yaml").write_text("game: [")
    (cup / "bytes.yaml").write_bytes(b"\xff")
    for name, reason in {"missing": "cannot be read: No such file", "broken": "not YAML", "bytes": "it is not UTF-8"}.items():
        refused = arena_in(cup)(*words, "--positions", f"{name}.yaml")
        assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
        assert refused.stderr.startswith(f"{name}.yaml")
        assert reason in refused.stderr


def test_a_run_can_use_the_positions_as_openings(cup: Path, review: Review) -> None:
    """The spec names the file, and every position is played once."""
    review("--agent", "planted", "-o", cup / "openings.yaml")
    (cup / "openings-spec.yaml").write_text("game: tic-tac-toe\nagents: [random, greedy]\npositions: openings.yaml\n")
    results = arena.run(cup / "openings-spec.yaml")
    assert {record.position for record in results.records} == {".../.x./..."}
    (cup / "openings.yaml").write_text("positions: [{position: '.../.x./...'}, {position: 'x'}]\n")
    with pytest.raises(arena.SpecError, match=r"openings\.yaml:1:1: positions: not a position of tic-tac-toe"):
        arena.run(cup / "openings-spec.yaml")
    (cup / "openings.yaml").write_text("positions: [1]\n")
    with pytest.raises(arena.SpecError, match="expected `positions`, a list of mappings"):
        arena.run(cup / "openings-spec.yaml")


@pytest.mark.process
def test_a_review_notes_the_faults_of_agents(tmp_path: Path) -> None:
    """An agent that fails has few decisions to review, so its losses alone say little."""
    (tmp_path / "broken.py").write_text(
        "from arena import Agent, hookimpl\n\n"
        "class Broken(Agent):\n    name = 'broken'\n"
        "    def choose(self, game, state, search):\n        raise ValueError('no')\n\n"
        "@hookimpl\ndef arena_agents():\n    return [Broken]\n"
    )
    agents = ["greedy", "random", "broken"]
    spec = {"game": "tic-tac-toe", "agents": agents, "rounds": 1, "plugins": [str(tmp_path / "broken.py")]}
    arena.run(spec, store=tmp_path / "cup.db")
    said = "note: tic-tac-toe: broken failed 4 times by exception, first in match "
    run = arena_in(tmp_path)
    assert said in run("review", "cup.db").stderr
    assert said not in run("review", "cup.db", "--agent", "greedy").stderr


@pytest.mark.process
def test_a_review_continues_after_an_interrupt(tmp_path: Path) -> None:
    """The answers found so far are kept, and the same command finds the others. The whole review would take minutes."""
    arena.run({"game": "connect-four", "agents": ["greedy", "random"], "rounds": 50}, store=tmp_path / "cup.db")
    words = [sys.executable, "-m", "arena", "review", "cup.db", "--workers", "2"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as started:
        assert started.stderr is not None
        assert any("positions to search" in line for line in started.stderr)  # without numba, another line comes first
        eventually(lambda: count_answers(tmp_path / "cup.review") >= 10)
        started.send_signal(signal.SIGINT)
        said = started.stderr.read()
    assert started.returncode == 130
    assert "run the same command again to continue" in said
    kept = count_answers(tmp_path / "cup.review")
    assert kept >= 10
    done = arena_in(tmp_path)("review", "cup.db", "--minutes", 0.01)
    assert done.returncode == 0
    assert count_answers(tmp_path / "cup.review") >= kept
    assert "matches were left out, because the time set by --minutes was too short" in done.stdout


def test_an_interrupt_during_the_forecast_says_how_to_continue_too(
    cup: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The forecast already finds and keeps answers. Six rounds with both seat orders are 12 matches."""

    def interrupt(*_: object) -> None:
        raise Interrupted

    monkeypatch.setattr(Judging, "measure", interrupt)
    with pytest.raises(click.Abort):
        cli.main(["review", str(cup / "cup.db")], standalone_mode=False)
    assert "reviewed 0 of 12 matches; run the same command again to continue" in capfd.readouterr().err


def test_the_forecast_of_a_long_review_names_the_option_that_limits_the_time(
    cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """If stderr is a file, the number of reviewed matches is written at intervals."""
    monkeypatch.setattr("arena_review.review.SECONDS_FOR_HINT", 0)
    monkeypatch.setattr(LiveLine, "SECONDS_BETWEEN_LINES", 0)
    copy(cup / "cup.db", tmp_path / "cup.db")
    with Store.open(tmp_path / "cup.db") as store:
        match = next(iter(store.records()))[0].id
    cli.main(["review", str(tmp_path / "cup.db"), match], standalone_mode=False)
    said = capfd.readouterr().err
    assert re.search(r"decisions of 1 match, \d+ positions to search: about 1 s on 1 process; --minutes M stops sooner\n", said)
    assert "reviewed 1 of 1 match\n" in said


def test_decisive_games_come_first_if_the_time_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The time ends after the last decisive game. The output gives the number of matches that were not reviewed."""
    agents = ["random", {"agent": "random", "label": "other"}]
    results = arena.run({"game": "tic-tac-toe", "agents": agents, "rounds": 40, "seed": 3}, store=tmp_path / "cup.db")
    decisive = sum(set(record.returns) != {0.0} for record in results.records)
    assert 0 < decisive < len(results.records) == 80
    order: list[bool] = []
    judge_match = Judging.judge_match

    def count(judging: Judging, match: PlayedMatch, find: Any) -> Any:
        if len(order) == decisive:
            judging.until = 0
        order.append(set(match.record.returns) != {0.0})
        return judge_match(judging, match, find)

    monkeypatch.setattr(Judging, "judge_match", count)
    cli.main(["review", str(tmp_path / "cup.db"), "--minutes", "60", "--workers", "1"], standalone_mode=False)
    assert order[:decisive] == [True] * decisive
    out = capfd.readouterr()[0]
    left = int(out.partition(" matches were left out, because the time set by --minutes was too short")[0].split()[-1])
    with closing(sqlite3.connect(tmp_path / "cup.review")) as kept:
        (judged,) = kept.execute('SELECT count(DISTINCT "match") FROM decision').fetchone()
    assert left == 80 - judged > 0


@pytest.mark.parametrize(("move", "solved"), [(2, False), (3, True)])
def test_agents_are_tested_on_the_positions_of_a_file(tmp_path: Path, move: int, solved: bool) -> None:
    """The agent decides in each position, and its action is compared with the good ones."""
    source = PLANTED.replace("return 2", f"return {move}")
    (tmp_path / "planted.py").write_text(source)
    (tmp_path / "worst.yaml").write_text("game: tic-tac-toe\npositions: [{position: '.../.x./...', good: [1, 3, 7, 9]}]\n")
    plugins = [str(tmp_path / "planted.py")]
    registry = arena.load_plugins(plugins)
    out = StringIO()
    file = read_positions(str(tmp_path / "worst.yaml"))
    assert report_positions(file, {"planted": registry.agents["planted"]}, registry, plugins, out) == solved
    assert f"planted solves {int(solved)} of 1 position" in out.getvalue()
    with pytest.raises(arena.ArenaError, match="no agent here can play tic-tac-toe"):
        report_positions(file, {"a-star": registry.agents["a-star"]}, registry, plugins, out)
    (tmp_path / "worst.yaml").write_text("game: tic-tac-toe\npositions: [{position: '.../.x./...'}]\n")
    with pytest.raises(arena.ArenaError, match=r"worst\.yaml: position 1: expected"):
        read_positions(str(tmp_path / "worst.yaml"))


def count_answers(place: Path) -> int:
    """The number of answers in a file."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as kept:
        return int(kept.execute("SELECT count(*) FROM answer").fetchone()[0])
    return 0


BLIND = '''
from arena import Agent, hookimpl


class Blind(Agent):
    """Plays the column with the lowest number that is not full."""

    name = "blind"

    def choose(self, game, state, search):
        return min(game.actions(state))


@hookimpl
def arena_agents():
    return [Blind]
'''


def test_games_too_large_for_exact_verdicts_are_judged_by_a_limited_search(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An action that lets the opponent complete four in a row at once is a decisive mistake, unless the position was already
    lost.
    """
    (tmp_path / "blind.py").write_text(BLIND)
    agents: list[Any] = [{"agent": "mcts", "limits": {"nodes": 100}}, "blind"]
    spec = {"game": "connect-four", "agents": agents, "plugins": [str(tmp_path / "blind.py")], "rounds": 1, "seed": 2}
    arena.run(spec, store=tmp_path / "cup.db")
    words = ["review", str(tmp_path / "cup.db"), "--judge", "search", "--effort", "1", "--format", "json"]
    cli.main(words, standalone_mode=False)
    (board,) = json.loads(capfd.readouterr()[0])["boards"]
    game = arena.load_plugins().game("connect-four")()
    gifts = set()
    for one in board["decisions"]:
        state = game.parse_state(one["position"])
        after = game.result(state, game.parse_action(state, one["action"]))
        lets = any(game.is_terminal(game.result(after, reply)) for reply in game.actions(after)) if one["value"] != 1 else False
        if one["grade"] is not None and lets and one["best_value"] > -0.5:
            assert (one["grade"], one["judge"], one["exact"]) == ("decisive mistake", "search", False)
            gifts.add(one["agent"])
    assert "blind" in gifts
    judged = {one["label"]: one["judged"] for one in board["agents"]}
    assert judged["mcts"] > 0
    for one in board["agents"]:
        groups = one["by_ply"]
        assert sum(group["without_verdict"] for group in groups) == one["decisions"] - one["judged"]
        assert sum(group["decisions"] for group in groups) == one["judged"]


def test_simulated_games_judge_a_game_without_a_heuristic(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`mcts` judges Nim. Actions that both budgets call decisive lose by Bouton's theorem, and the best actions win."""
    (tmp_path / "nim.py").write_text(NIM.replace("(3, 4, 5)", "(2, 3, 4)"))
    plugins = [str(tmp_path / "nim.py")]
    arena.run(
        {"game": "nim-of-heaps", "agents": ["random", "mcts"], "plugins": plugins, "limits": {"nodes": 200}, "rounds": 4},
        store=tmp_path / "nim.db",
    )
    cli.main(
        ["review", str(tmp_path / "nim.db"), "--judge", "search", "--format", "json", "--plugin", *plugins], standalone_mode=False
    )
    (board,) = json.loads(capfd.readouterr()[0])["boards"]
    game = arena.load_plugins(plugins).game("nim-of-heaps")()
    grades: dict[str, int] = {}
    for one in board["decisions"]:
        state = game.parse_state(one["position"])
        before, after = [a ^ b ^ c for a, b, c in (state[1], game.result(state, game.parse_action(state, one["action"]))[1])]
        if one["grade"] in ("best", "decisive mistake"):
            assert (one["grade"] == "decisive mistake") == bool(before and after), one
            grades[one["grade"]] = grades.get(one["grade"], 0) + 1
    assert min(grades["best"], grades["decisive mistake"]) >= 3


def test_differences_computed_from_losses_and_from_returns_agree(
    cup: Path, review: Review, capfd: pytest.CaptureFixture[str]
) -> None:
    """A return is the value of the start, plus the opponent's losses, minus the agent's own losses."""
    review()
    found = {}
    for measure in ("loss", "return"):
        capfd.readouterr()
        cli.main(["compare", str(cup / "cup.db"), "--by", measure, "--format", "json"], standalone_mode=False)
        (found[measure],) = json.loads(capfd.readouterr()[0])[0]["pairs"]
    assert found["loss"]["difference"] == pytest.approx(-found["return"]["difference"] / 2)
    assert (
        found["loss"]["remarks"][2]
        == "A comparison by returns instead of losses needs 1 times as many games for the same certainty."
    )


EARLY_END = '''
from arena import Game, hookimpl


class EarlyEnd(Game):
    """Seat 0 stops with a draw, or lets seat 1 decide who wins."""

    name = "early-end"

    def initial(self, rng):
        return "start"

    def to_move(self, state):
        return int(state == "go")

    def actions(self, state):
        return {"start": ("stop", "go"), "go": ("give", "take")}.get(state, ())

    def result(self, state, action):
        return action

    def returns(self, state):
        return {"stop": (0.0, 0.0), "give": (1.0, -1.0), "take": (-1.0, 1.0)}[state]


@hookimpl
def arena_games():
    return [EarlyEnd]
'''


def test_a_match_without_a_decision_of_the_agent_counts_as_a_loss_of_0(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The difference in returns is twice the difference in losses, even if a match ends before seat 1 decides. Losses of entries
    that were not reviewed are unknown.
    """
    (tmp_path / "early.py").write_text(EARLY_END)
    store, plugin = str(tmp_path / "cup.db"), str(tmp_path / "early.py")
    agents = ["random", {"agent": "random", "label": "other"}]
    results = arena.run({"game": "early-end", "agents": agents, "plugins": [plugin], "rounds": 12, "seed": 3}, store=store)
    pairs = [pair for one in results.records for pair in zip(one.labels, one.returns, strict=True)]
    lead = sum(got * (1 if label == "random" else -1) for label, got in pairs)
    assert 0 < sum(one.actions == ("stop",) for one in results.records) < 24
    assert lead != 0
    cli.main(["review", store, "--plugin", plugin, "--agent", "random"], standalone_mode=False)
    with pytest.raises(arena.ArenaError, match="have no round with a value of loss for both"):
        cli.main(["compare", store, "--by", "loss"], standalone_mode=False)
    cli.main(["review", store, "--plugin", plugin], standalone_mode=False)
    capfd.readouterr()
    cli.main(["compare", store, "--by", "loss", "--format", "json"], standalone_mode=False)
    (pair,) = json.loads(capfd.readouterr()[0])[0]["pairs"]
    assert pair["rounds"] == 12
    assert pair["difference"] == pytest.approx(-lead / 24 / 2)
    factor = "A comparison by returns instead of losses needs 1 times as many games for the same certainty."
    assert pair["remarks"][2] == factor


def test_losses_per_decision_and_per_match_name_their_units(cup: Path, review: Review, capfd: pytest.CaptureFixture[str]) -> None:
    """The planted agent loses 1 in 6 of 12 matches: 0.5 per match, and per decision 6 divided by the number of its decisions."""
    shown = review("--agent", "planted")[0]
    assert "Loss per decision" in shown
    decisions, loss = next(line.split()[1:3] for line in shown.splitlines() if line.startswith("planted  "))
    assert float(loss) == pytest.approx(6 / int(decisions), rel=0.01)
    assert "planted: loss per decision by ply: " in shown
    review()
    cli.main(["compare", str(cup / "cup.db"), "planted", "greedy", "--by", "loss"], standalone_mode=False)
    said = capfd.readouterr()[0].replace("\n", " ")
    assert "planted has 0.5 on average" in said
    assert "Each loss is per match: the sum over the decisions of an entry." in said


def test_losses_vary_less_than_returns(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """If both agents also play a random opponent, its errors affect only the returns, so returns need more games."""
    arena.run({"game": "tic-tac-toe", "agents": ["greedy", "lookahead", "random"], "rounds": 8}, store=tmp_path / "cup.db")
    store = str(tmp_path / "cup.db")
    cli.main(["review", store], standalone_mode=False)
    capfd.readouterr()
    cli.main(["compare", store, "greedy", "lookahead", "--by", "loss", "--format", "json"], standalone_mode=False)
    (pair,) = json.loads(capfd.readouterr()[0])[0]["pairs"]
    worth = float(pair["remarks"][2].partition(" needs ")[2].partition(" ")[0])
    assert worth > 1.5, pair


@pytest.mark.process
def test_no_factor_of_games_is_given_if_returns_have_no_variance(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """With this seed, both agents beat the random player by the same returns in each round, but their losses vary."""
    spec = {"game": "tic-tac-toe", "agents": ["greedy", "lookahead", "random"], "rounds": 5, "seed": 31}
    results = arena.run(spec, store=tmp_path / "cup.db")
    leads: dict[int, float] = defaultdict(float)
    for number, record in enumerate(results.records):
        for label, got in zip(record.labels, record.returns, strict=True):
            leads[number // 6] += got * ((label == "greedy") - (label == "lookahead"))
    assert len(leads) == 5
    assert len(set(leads.values())) == 1
    cli.main(["review", str(tmp_path / "cup.db")], standalone_mode=False)
    capfd.readouterr()
    cli.main(
        ["compare", str(tmp_path / "cup.db"), "greedy", "lookahead", "--by", "loss", "--format", "json"], standalone_mode=False
    )
    (pair,) = json.loads(capfd.readouterr()[0])[0]["pairs"]
    assert pair["difference"] > 0
    assert [remark for remark in pair["remarks"] if "times as many" in remark] == []


def test_a_review_of_one_agent_keeps_the_decisions_of_others(
    tmp_path: Path, cup: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """They are dropped only if they were judged with another effort, because they cannot be compared."""
    copy(cup / "cup.db", tmp_path / "cup.db")
    store, plugin = str(tmp_path / "cup.db"), str(cup / "planted.py")
    compare = ["compare", store, "planted", "greedy", "--by", "loss"]
    cli.main(["review", store, "--plugin", plugin], standalone_mode=False)
    capfd.readouterr()
    cli.main(compare, standalone_mode=False)
    before = capfd.readouterr()[0]
    cli.main(["review", store, "--agent", "planted", "--plugin", plugin], standalone_mode=False)
    capfd.readouterr()
    cli.main(compare, standalone_mode=False)
    assert capfd.readouterr()[0] == before
    cli.main(["review", store, "--agent", "planted", "--effort", "20", "--plugin", plugin], standalone_mode=False)
    with pytest.raises(arena.ArenaError, match="planted and greedy have no round with a value of loss for both"):
        cli.main(compare, standalone_mode=False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-o", "cup.db"), "-o cup.db is a database, or part of one, which would be overwritten"),
        (("--tests", "worst.yaml"), "--tests worst.yaml: expected a name that ends in .py"),
        (("-o", "nowhere/worst.yaml"), "nowhere/worst.yaml: the folder "),
    ],
)
def test_output_files_are_checked_before_the_review(
    cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    copy(cup / "cup.db", "cup.db")
    with pytest.raises(arena.ArenaError) as caught:
        cli.main(["review", "cup.db", "--agent", "planted", *words], standalone_mode=False)
    assert message in str(caught.value)
    assert not Path("cup.review").exists()


def test_positions_of_two_games_are_refused_before_the_review(tmp_path: Path) -> None:
    """A file of positions is for one game. The error names both games."""
    agents = ["random", {"agent": "random", "label": "other"}]
    arena.run({"games": ["tic-tac-toe", "nim"], "agents": agents, "rounds": 1}, store=tmp_path / "my cup.db")
    store = str(tmp_path / "my cup.db")
    with pytest.raises(arena.ArenaError) as caught:
        cli.main(["review", store, "--agent", "other", "-o", str(tmp_path / "w.yaml")], standalone_mode=False)
    said = "but other played tic-tac-toe, nim; give the ids of matches of one game, which"
    assert str(caught.value) == f"a file of positions is for one game, {said} `arena matches {quote(store)}` lists"
    assert not (tmp_path / "my cup.review").exists()


@pytest.mark.parametrize(
    ("agent", "judge", "told"),
    [
        ("minimax", "exact", "minimax lost nothing with the decisions that could be judged (16 of 16)"),
        ("random", "estimate", "random has no decision that could be judged (0 of "),
    ],
)
@pytest.mark.process
def test_no_file_is_written_without_a_costly_position(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], agent: str, judge: str, told: str
) -> None:
    """Minimax plays tic-tac-toe perfectly, with 4 decisions in each of 4 draws. If there are only estimates, the message is
    another one.
    """
    game = {"exact": "tic-tac-toe", "estimate": "kuhn-poker"}[judge]
    twins = [agent, {"agent": agent, "label": "twin"}]
    arena.run({"game": game, "agents": twins, "rounds": 2, "seed": 1}, store=tmp_path / "cup.db")
    place = tmp_path / "worst.yaml"
    words = ["review", str(tmp_path / "cup.db"), "--agent", agent, "--judge", judge, "-o", str(place)]
    capfd.readouterr()
    assert cli.main(words, standalone_mode=False) == 0
    assert told in capfd.readouterr()[1]
    assert not place.exists()


def test_no_review_file_is_written_for_a_game_without_a_judge(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """No judge supports simultaneous moves, so a comparison still reports that there is no review."""
    arena.run(
        {"game": "rock-paper-scissors", "agents": ["random", {"agent": "random", "label": "other"}], "rounds": 1},
        store=tmp_path / "cup.db",
    )
    assert cli.main(["review", str(tmp_path / "cup.db")], standalone_mode=False) == 2
    assert "has simultaneous moves" in capfd.readouterr()[1]
    assert not (tmp_path / "cup.review").exists()


def test_the_wait_for_an_equilibrium_is_announced(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The note is printed before the computation, which is part of the forecast. A second review does not compute the
    equilibrium again.
    """
    arena.run({"game": "kuhn-poker", "agents": ["random", "mccfr"], "rounds": 2}, store=tmp_path / "cup.db")
    capfd.readouterr()
    cli.main(["review", str(tmp_path / "cup.db")], standalone_mode=False)
    first, second = capfd.readouterr()[1].splitlines()
    assert first.startswith("kuhn-poker: computing an equilibrium of the whole game first")
    assert "positions to search: about" in second
    cli.main(["review", str(tmp_path / "cup.db")], standalone_mode=False)
    assert capfd.readouterr()[1] == ""


def test_workers_do_not_solve_a_game_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The command itself solves the game for the forecast and starts no worker. The verdicts are the same."""
    store = tmp_path / "cup.db"
    arena.run({"game": "kuhn-poker", "agents": ["random", "mccfr"], "rounds": 6}, store=store)
    words = ["review", str(store), "--format", "json", "--workers"]
    capfd.readouterr()
    cli.main([*words, "1"], standalone_mode=False)
    alone = capfd.readouterr()[0]
    (tmp_path / "cup.review").unlink()
    monkeypatch.setattr("arena_review.judging.SAMPLED_DECISIONS", 1)
    monkeypatch.delattr(Judging, "_start")
    cli.main([*words, "2"], standalone_mode=False)
    assert capfd.readouterr()[0] == alone


def test_decisions_in_a_lost_puzzle_have_no_verdict(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A random player of n-queens soon has no solution left. No number says what that costs, so nothing is compared.

    Each attempt ends without a solution, so one of its decisions made the puzzle unsolvable.
    """
    store = str(tmp_path / "cup.db")
    agents = ["random", {"agent": "random", "label": "other"}]
    results = arena.run({"game": "n-queens", "agents": agents, "rounds": 4, "seed": 1}, store=store)
    lost = {label: sum(one.labels == (label,) and not one.solved for one in results.records) for label in ("random", "other")}
    cli.main(["review", store], standalone_mode=False)
    said = capfd.readouterr()[0]
    assert "decisions have no verdict, because their positions have no solution." in said
    for label, count in lost.items():
        assert f"{label}: {count} decisions made the puzzle unsolvable, which the loss per decision does not include" in said
    cli.main(["compare", store, "--by", "loss"], standalone_mode=False)
    assert f"No verdict: {sum(lost.values())} decisions made the puzzle unsolvable" in capfd.readouterr()[0]


def test_positions_that_look_the_same_to_the_mover_are_listed_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In Kuhn poker, a player sees only one card and the bets. The terminal and the pages list the same positions."""
    store = tmp_path / "cup.db"
    agents = ["random", {"agent": "random", "label": "other"}]
    arena.run({"game": "kuhn-poker", "agents": agents, "rounds": 40, "seed": 1}, store=store)
    capfd.readouterr()
    cli.main(["review", str(store), "--format", "json"], standalone_mode=False)
    (board,) = json.loads(capfd.readouterr()[0])["boards"]
    game = arena.load_plugins().game("kuhn-poker")()
    lost: dict[Any, list[float]] = defaultdict(list)
    for one in board["decisions"]:
        if one["agent"] == "random" and one["grade"] not in (None, "best"):
            cards, bets = game.parse_state(one["position"])
            lost[cards[one["seat"]], bets].append(one["loss"])
    assert len({one["position"] for one in board["decisions"] if one["agent"] == "random" and one["loss"]}) > len(lost) > 1
    worst = board["agents"][0]["worst"]
    assert board["agents"][0]["label"] == "random"
    assert sorted(one["times"] for one in worst) == sorted(map(len, lost.values()))
    assert sorted(one["total"] for one in worst) == pytest.approx(sorted(map(sum, lost.values())))
    with Store.open(store) as opened:
        (panel,) = [
            one for one in collect_panels(arena.load_plugins(), "agent", opened, "random") if one["name"] == "costly-positions"
        ]
    assert [one["position"] for one in panel["data"]["positions"]] == [one["position"] for one in worst]


PIT = '''
from arena import Puzzle, hookimpl


class Pit(Puzzle):
    """Walk from 0 to 3. From the pit, 9, there is no way out; the start of some rounds is in it."""

    name = "pit"
    default_moves = 6

    def initial(self, rng):
        return rng.choice([0, 0, 9])

    def actions(self, state):
        return (8, 9) if state > 3 else (state + 1, 9)

    def result(self, state, action):
        return action

    def is_goal(self, state):
        return state == 3


@hookimpl
def arena_games():
    return [Pit]
'''


def test_positions_without_a_solution_are_counted_separately(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """These are all decisions in the pit, including an attempt that starts there. The search is exhausted after two states."""
    (tmp_path / "pit.py").write_text(PIT)
    store, plugin = str(tmp_path / "cup.db"), str(tmp_path / "pit.py")
    results = arena.run({"game": "pit", "agents": ["random"], "plugins": [plugin], "rounds": 12, "seed": 1}, store=store)
    assert {record.position for record in results.records} == {"0", "9"}
    places = [place for one in results.records for place in [one.position, *one.actions][:-1]]
    lost = sum(int(place) > 3 for place in places)
    assert 0 < lost < len(places)
    cli.main(["review", store, "--plugin", plugin], standalone_mode=False)
    said = capfd.readouterr()[0]
    assert f"The judge regret judged {len(places) - lost} of {len(places)} decisions." in said
    assert f"{lost} decisions have no verdict, because their positions have no solution." in said
    assert "far enough" not in said


def test_an_exhausted_budget_is_reported_separately() -> None:
    """Each reason for a missing verdict has its own line."""
    review = AgentReview(0, "walker", decisions=9, judges={"regret": 4, "none": 2}, ungraded={"regret": 3})
    assert list(how_sure([JUDGES["regret"]], [review]))[1:] == [
        "3 decisions have no verdict, because their positions have no solution.",
        "2 decisions have no verdict, because the search did not get far enough.",
    ]


def test_too_many_decisions_without_a_verdict_prevent_a_comparison(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """An exact judge with a small budget cannot judge the openings of Connect Four."""
    game = {"name": "connect-four", "rows": 4, "columns": 6}
    store = str(tmp_path / "my cup.db")
    arena.run({"game": game, "agents": ["greedy", "random"], "rounds": 1}, store=store)
    with pytest.raises(arena.ArenaError) as caught:
        cli.main(["compare", store, "--by", "loss"], standalone_mode=False)
    assert str(caught.value) == f"{store} has no review yet; try: arena review {quote(store)}"
    cli.main(["review", store, "--judge", "exact", "--effort", "1"], standalone_mode=False)
    capfd.readouterr()
    cli.main(["compare", store, "--by", "loss"], standalone_mode=False)
    assert "No verdict: more than 20 % of one entry's decisions could not be judged." in capfd.readouterr()[0]


def test_panels_show_the_review_of_a_match_and_of_an_entry(cup: Path, review: Review) -> None:
    """They show the value for the first seat before each decision, the first decisive mistake, and the costliest position."""
    review()
    with Store.open(cup / "cup.db") as store:
        registry = arena.load_plugins()
        records = [record for record, _ in store.records() if record.labels == ("greedy", "planted") and record.actions[0] == "5"]
        (panel,) = [one for one in collect_panels(registry, "match", store, records[0].id) if one["name"] == "review"]
        (costly,) = [one for one in collect_panels(registry, "agent", store, "planted") if one["name"] == "costly-positions"]
        (board,) = [one for one in collect_panels(registry, "board", store, 0) if one["name"] == "review-of-board"]
    assert panel["error"] is costly["error"] is board["error"] is None
    assert panel["data"]["first"] == 1
    assert [one["worth"] for one in panel["data"]["decisions"][:3]] == [0.0, 0.0, 1.0]
    assert (panel["data"]["decisions"][1]["best"], panel["data"]["whose"]) == ("1", "Value to greedy")
    assert [one["position"] for one in costly["data"]["positions"]] == [".../.x./..."]
    graded = {one["action"]: one["grade"] for one in panel["data"]["decisions"][1]["options"]}
    corners = dict.fromkeys("1379", "best")
    assert graded == dict.fromkeys("2468", "decisive mistake") | corners
    assert [row["Agent"] for row in board["data"]] == ["planted", "greedy"]


def test_a_page_shows_the_review_and_a_click_shows_the_position(cup: Path, review: Review, browser: Any) -> None:
    """The page of an entry links to the position in its match, where a user can look for a better move and continue to play."""
    review()
    with served(cup, "cup.db", "--plugin", "planted.py") as server:
        page = browser.new_page()
        page.goto(server.address)  # with the token of this server
        page.goto(f"http://127.0.0.1:{server.port}/t/cup/entry?name=planted")
        page.get_by_role("link", name="Try it").click()
        page.get_by_text("planted played 2 here, a decisive mistake. Find a better move.").wait_for()
        assert page.get_by_text("best was 1").count() == 0
        section = page.get_by_role("region", name="Review", exact=True)
        section.get_by_role("button", name="4", exact=True).click()
        page.get_by_text("No: 4 is a decisive mistake, too, and loses 1.").wait_for()
        section.get_by_role("button", name="9", exact=True).click()
        page.get_by_text("Right: 9 loses nothing.").wait_for()
        page.get_by_role("button", name="Show the review").click()
        page.get_by_text("best was 1").wait_for()
        page.get_by_text("Continue in place of").first.wait_for()
        slider = page.locator("input[type=range]")
        assert slider.input_value() == "1"
        page.keyboard.press("End")
        assert slider.input_value() != "1"
        page.get_by_role("button", name="best was 1").click()
        assert slider.input_value() == "1"


def test_a_report_shows_the_review_below_a_replay(cup: Path, review: Review, browser: Any, tmp_path: Path) -> None:
    """The page needs no server. It has the value curve and the mistakes, and a click on a mistake shows its position."""
    (board,) = json.loads(review("--format", "json")[0])["boards"]
    match, number = next(iter(board["first_decisive"].items()))
    cli.main(["report", str(cup / "cup.db"), "-o", str(tmp_path / "report.html")], standalone_mode=False)
    page = browser.new_page()
    page.goto(f"{(tmp_path / 'report.html').as_uri()}#match-{match}")
    page.get_by_role("img", name="Value to").wait_for()
    page.get_by_role("button", name="best was 1").click()
    assert page.locator("input[type=range]").input_value() == str(number)
    page.get_by_role("button", name="Find the better moves yourself").click()
    page.get_by_text("Find a better move.").wait_for()


LIAR = '''
from arena import Puzzle, heuristic, hookimpl


class Steps(Puzzle):
    """Walk from a mark down to 0, by steps of one for 1 or by steps of three for 2."""

    name, default_heuristic = "steps", "liar"

    def initial(self, rng):
        return rng.randrange(5, 12)

    def actions(self, state):
        return (1, 3)

    def result(self, state, action):
        return max(0, state - action)

    def step_cost(self, state, action, successor):
        return 1 if action == 1 else 2

    def is_goal(self, state):
        return state == 0


@heuristic("liar", game="steps", admissible=True, consistent=True)
def liar(game, state, player=0):
    return 0 if state == 0 else 20 - state if state % 2 else 1


@hookimpl
def arena_games():
    return [Steps]


@hookimpl
def arena_heuristics():
    return [liar]
'''


@pytest.mark.parametrize("claim", ["refuted", "unproven", "none"])
def test_a_claim_that_a_stored_solution_refutes_is_not_trusted(
    claim: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Uniform-cost search is optimal, so it loses nothing. A step from mark 1 costs 1, but the heuristic says 19."""
    code = {"refuted": LIAR, "unproven": LIAR.replace("20 - state if state % 2 else 1", "0"), "none": LIAR}[claim]
    code = code.replace("admissible=True, consistent=True", "admissible=False") if claim == "none" else code
    (tmp_path / "steps.py").write_text(code)
    spec = {"game": "steps", "rounds": 6, "agents": ["uniform-cost", "random"], "plugins": [str(tmp_path / "steps.py")]}
    arena.run(spec, store=tmp_path / "cup.db")
    words = ["review", str(tmp_path / "cup.db"), "--plugin", str(tmp_path / "steps.py"), "--format", "json"]
    assert cli.main(words, standalone_mode=False) == 0
    (board,) = json.loads(capfd.readouterr().out)["boards"]
    losses = {one["label"]: one["loss"] for one in board["agents"]}
    assert losses["uniform-cost"] == 0
    assert losses["random"] > 0
    (judge,) = [one for one in board["judges"] if one["name"] == "regret"]
    assert ("its judgements are certain" in judge["description"]) == (claim != "unproven")
    assert ("It does not use the heuristic liar" in judge["description"]) == (claim == "refuted")
    assert ("if the heuristic liar never overestimates" in judge["description"]) == (claim == "unproven")
