"""Results become data frames, comparisons and plots: of a run in memory or in a store, and of a store opened by its path."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import arena
from arena.cli import cli

pandas = pytest.importorskip("pandas")
SPEC = {"name": "Cup", "game": "tic-tac-toe", "rounds": 12, "agents": ["random", "greedy", {"agent": "minimax", "depth": 2}],
        "openings": {"plies": 2}}  # fmt: skip
PUZZLE = {"game": {"name": "sliding-tiles", "shuffle": 20}, "rounds": 12, "agents": ["a-star", "bfs"]}


@pytest.fixture(scope="module")
def played() -> arena.Results:
    """Return the results of a run in memory."""
    return arena.run(SPEC)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cup") / "cup.db"
    arena.run(SPEC, store=path)
    return path


def test_tab_completion_offers_the_public_names() -> None:
    """Public names that are imported on first use are listed, and internal modules are not."""
    assert {"run", "play", "load_plugins", "open_store", "Record", "Results"} <= set(dir(arena))
    assert not {"configured", "lazy", "unmetered", "TYPE_CHECKING"} & set(dir(arena))
    assert all(hasattr(arena, name) for name in dir(arena))


def test_a_store_is_opened_without_its_spec(path: Path, played: arena.Results) -> None:
    """The results equal the results of the run, except for the missing spec, which raises an error."""
    opened, run = arena.open_store(path), played
    assert (opened.name, opened.seed, len(opened.records)) == ("Cup", run.seed, len(run.records))
    assert repr(opened) == f"<Results of 'Cup': {len(run.records)} matches at tic-tac-toe, in {path}>"
    clock = [column for column in opened.to_dataframe() if "seconds" in column]
    pandas.testing.assert_frame_equal(opened.to_dataframe().drop(columns=clock), run.to_dataframe().drop(columns=clock))
    with pytest.raises(arena.ArenaError, match=r"the results of open_store have no spec"):
        _ = opened.spec


def test_the_frame_of_a_leaderboard_has_its_rows(path: Path, played: arena.Results) -> None:
    """The frame has the values of the JSON leaderboard in the same order. Ratings that a table hides are flagged."""
    printed = json.loads(CliRunner().invoke(cli, ["leaderboard", str(path), "--format", "json"]).output)["boards"][0]
    for results in (arena.open_store(path), played):
        frame = results.leaderboard()
        assert frame["agent"].tolist() == [row["agent"] for row in printed["rows"]]
        assert frame["rating"].tolist() == pytest.approx([row["rating"] for row in printed["rows"]])
        hidden = set(frame[~frame["rating_shown"]]["agent"])
        assert hidden == set(printed.get("unrated", []))
        ratings = results.ratings()
        assert list(ratings) == ["agent", "rating", "rating_low", "rating_high", "games", "score", "rating_shown"]
        assert ratings["rating_low"].tolist() == pytest.approx(frame["rating_low"].tolist(), nan_ok=True)


def test_compare_agrees_with_the_command(path: Path, played: arena.Results) -> None:
    """The results come from a store or from memory."""
    printed = json.loads(CliRunner().invoke(cli, ["compare", str(path), "greedy", "random", "--format", "json"]).output)
    [expected] = printed[0]["pairs"]
    for results in (arena.open_store(path), played):
        found = results.compare("greedy", "random")
        assert found.worth.score == pytest.approx(expected["worth"]["score"])
        assert found.p_value == pytest.approx(expected["p_value"])
        back = results.compare("random", "greedy")
        assert back.worth.score == pytest.approx(1 - found.worth.score)
    with pytest.raises(arena.UnknownName, match="gredy"):
        results.compare("gredy", "random")


def test_boards_are_selected_by_title_or_number() -> None:
    """With two boards, a plot needs the name of a board, and the frame contains both."""
    both = arena.run({"games": ["tic-tac-toe", {"name": "connect-four"}], "rounds": 1, "agents": ["random", "greedy"]})
    assert set(both.leaderboard()["board"]) == {"tic-tac-toe", "connect-four"}
    assert both.leaderboard("connect-four").equals(both.leaderboard(1))
    with pytest.raises(arena.ArenaError, match=r"board: expected a number from 0 to 1, or one of tic-tac-toe, connect-four"):
        both.plot()
    with pytest.raises(arena.UnknownName, match="tic-tac"):
        both.leaderboard("tic-tac")


def test_a_plot_shows_every_entry_and_its_interval(path: Path) -> None:
    """The result has axes of matplotlib, with the names on one axis, and a point and an interval for each entry."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = arena.open_store(path).plot()
    frame = arena.open_store(path).ratings()
    assert [label.get_text() for label in axes.get_yticklabels()] == frame["agent"].tolist()[::-1]
    points = [line for line in axes.get_lines() if line.get_marker() == "o"]
    assert [float(point.get_xdata()[0]) for point in points] == pytest.approx(frame["rating"].tolist()[::-1])
    assert axes.get_xlabel() == "Elo, 95 % intervals"
    solved = arena.run(PUZZLE).plot(agents=["bfs"])
    assert [label.get_text() for label in solved.get_yticklabels()] == ["bfs"]
    assert solved.get_xlabel() == "solved share, 95 % intervals"
