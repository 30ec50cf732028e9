"""The key `report` of a spec adds columns by formulas and filters the matches of boards. pandas and scipy compute the expected
values.
"""

import contextlib
import json
import math
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scipy import stats  # type: ignore[import-untyped]

import arena
from arena.cli import cli
from arena.results.claims import Claims
from arena.results.leaderboard import Leaderboard
from arena.schedule.board_info import BoardInfo
from arena.schedule.schedule import Scheduled
from arena.spec import load_spec
from arena.store import Store
from arena_records.report import Report
from arena_records.report_key import apply_report
from arena_records.tidy import TidyTable
from arena_web.live import Watcher, run_state

pandas = pytest.importorskip("pandas")
PUZZLE: dict[str, Any] = {
    "name": "tiles",
    "game": {"name": "sliding-tiles", "shuffle": 20},
    "rounds": 12,
    "seed": 3,
    "agents": ["a-star", {"agent": "a-star", "weight": 4, "label": "fast"}, {"agent": "best-first", "limits": {"nodes": 15}}],
}
GAME: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 9, "agents": ["random", "greedy", {"agent": "lookahead", "depth": 1}]}
COLUMNS = {"efficiency": "cost / optimal", "hard": "nodes > 14"}


def invoke(*words: str) -> str:
    """Return the output of a command."""
    return str(CliRunner().invoke(cli, list(words), standalone_mode=False, catch_exceptions=False).output)


def estimate(values: Any, rounds: Any, within: tuple[float, float] | None = None) -> list[float | None]:
    """Return the mean with its interval, as the ratio of two sums over rounds, linearised (Cochran, 1977, chapter 6).

    If all n rounds agree, the distance of their mean from the true mean is unknown, and there is no interval. If values have a
    range, though, a round may differ with a probability of 1 - 0.05 ** (1 / n), and may then be at an end of the range.
    """
    by_round = pandas.DataFrame({"value": values, "round": rounds}).dropna().groupby("round").value.agg(["sum", "count"])
    mean = by_round["sum"].sum() / by_round["count"].sum()
    residuals = by_round["sum"] - mean * by_round["count"]
    error = math.sqrt((residuals**2).sum() * len(by_round) / (len(by_round) - 1)) / by_round["count"].sum()
    reach = stats.t.ppf(0.975, len(by_round) - 1) * error
    if within is None:
        return [mean, mean - reach, mean + reach] if error > 1e-12 else [mean, None, None]
    reach = reach if error > 1e-12 else 1 - 0.05 ** (1 / len(by_round))
    return [mean, max(within[0], mean - reach), min(within[1], mean + reach)]


def agrees(found: list[float | None], expected: list[float | None]) -> bool:
    """Return whether two estimates agree to nine digits, or both lack an interval."""
    known = [(one, other) for one, other in zip(found, expected, strict=True) if one is not None and other is not None]
    return found.count(None) == expected.count(None) == 3 - len(known) and all(
        one == pytest.approx(other, rel=1e-9) for one, other in known
    )


@pytest.mark.parametrize("where", [None, "nodes > 10"])
@pytest.mark.parametrize("stored", [False, True])
def test_columns_agree_with_pandas_and_scipy(tmp_path: Path, where: str | None, stored: bool) -> None:
    """The values of each match, the mean and the interval are computed from the data frame alone and agree to nine digits."""
    report = {"columns": COLUMNS} if where is None else {"columns": COLUMNS, "where": where}
    results = arena.run({**PUZZLE, "report": report}, store=tmp_path / "cup.db" if stored else None)
    frame = results.to_dataframe()
    assert frame.domain.eq("sliding-tiles").all()
    assert len(frame) == 36, "the data frame has all matches"
    best = frame[(frame.agent == "a-star") & frame.solved].set_index("round").path_cost
    assert frame.optimal.tolist() == [best[number] for number in frame["round"]]
    assert frame.efficiency.tolist() == pytest.approx((frame.path_cost / frame.optimal).tolist(), rel=1e-12, nan_ok=True)
    assert frame.hard.tolist() == (frame.nodes > 14).astype(float).tolist()
    assert frame.efficiency.isna().any(), "one attempt was not solved"
    if where is not None:
        assert frame.kept.tolist() == (frame.nodes > 10).tolist()
        assert 0 < frame.kept.sum() < len(frame)
        whole, frame = frame, frame[frame.kept]
    (board,) = Leaderboard.of_results(results)
    for row in board.rows:
        mine = frame[frame.agent == row["agent"]]
        for name in COLUMNS:
            found = [row[name], row[f"{name}_low"], row[f"{name}_high"]]
            within = (0.0, 1.0) if name == "hard" else None
            assert agrees(found, estimate(mine[name], mine["round"], within)), (row["agent"], name)
        assert (row["attempts"], row["solved"]) == (len(mine), pytest.approx(mine.solved.mean()))
        assert row["nodes_per_attempt"] == pytest.approx(mine.nodes.mean())
        if where is not None:
            assert row["kept"] == pytest.approx(whole[whole.agent == row["agent"]].kept.mean())
    assert "finished" not in board.facts, "a filtered match is not a missing one"


@pytest.mark.parametrize("stored", [False, True])
def test_a_game_has_a_value_for_each_seat(tmp_path: Path, stored: bool) -> None:
    """Names with own_ refer to the seat. The interval counts the two games of a round as one observation."""
    report = {"where": "moves >= 6", "columns": {"share": "own_nodes / moves", "length": "moves"}}
    results = arena.run({**GAME, "report": report}, store=tmp_path / "cup.db" if stored else None)
    whole = results.to_dataframe()
    assert list(whole.columns)[-4:] == ["kept", "share_first", "share_second", "length"]
    assert whole.kept.tolist() == (whole.moves >= 6).tolist()
    frame = whole[whole.kept]
    assert 0 < len(frame) < len(whole)
    (board,) = Leaderboard.of_results(results)
    assert board.games == len(frame)
    for row in board.rows:
        first, second = frame[frame["first"] == row["agent"]], frame[frame.second == row["agent"]]
        rounds = [*first["round"], *second["round"]]
        for name in ("first", "second"):
            assert frame[f"share_{name}"].tolist() == pytest.approx((frame[f"nodes_{name}"] / frame.moves).tolist())
        own = estimate([*first.share_first, *second.share_second], rounds)
        assert agrees([row["share"], row["share_low"], row["share_high"]], own)
        length = estimate([*first.length, *second.length], rounds)
        assert agrees([row["length"], row["length_low"], row["length_high"]], length)
        assert row["wins"] == (frame.winner == row["agent"]).sum()
    left_out = len(whole) - len(frame)
    remark = (
        f"report.where (moves >= 6) leaves out {left_out} of {len(whole)} games. Whether a game counts depends on how it went"
    )
    assert any(line.startswith(remark) for line in board.remarks)


def test_every_output_shows_the_columns_of_the_key_report(tmp_path: Path) -> None:
    """These are tables of all formats, the export, a report and the page of a tournament. The spec may select and sort the
    columns.
    """
    spec = {**PUZZLE, "report": {"where": "nodes > 10", "columns": COLUMNS}}
    store = tmp_path / "cup.db"
    arena.run({**spec, "columns": ["agent", "efficiency", "efficiency_high", "kept"], "sort": "-efficiency"}, store=store)
    lines = invoke("leaderboard", str(store)).splitlines()
    assert lines[2].split() == ["Agent", "Efficiency", "Efficiency", "to", "Kept"]
    rows = json.loads(invoke("leaderboard", str(store), "--format", "json"))["boards"][0]["rows"]
    assert all(0 <= row["hard_low"] <= row["hard"] <= row["hard_high"] <= 1 for row in rows)
    assert lines[4].split()[0] == max(rows, key=lambda row: row["efficiency"])["agent"]
    assert r"\toprule" in (latex := invoke("leaderboard", str(store), "--format", "latex_booktabs"))
    assert "Efficiency" in latex
    assert "efficiency,efficiency_low,efficiency_high" in invoke("leaderboard", str(store), "--format", "csv").splitlines()[0]
    assert invoke("export", str(store), "--format", "tidy").splitlines()[0].endswith(",kept,efficiency,hard")
    page = tmp_path / "page.html"
    invoke("report", str(store), "-o", str(page), "--matches", "0")
    assert "Efficiency" in page.read_text()
    assert "report.where (nodes &gt; 10) leaves out" in page.read_text()
    (shown,) = Watcher(store)._read()["boards"]
    assert [column["heading"] for column in shown["table"]["columns"]] == ["Agent", "Efficiency", "Efficiency to", "Kept"]
    assert any(line.startswith("report.where (nodes > 10) leaves out") for line in shown["remarks"])


@pytest.mark.parametrize("shard", [None, "1/2", "2/2"])
def test_totals_include_filtered_matches(tmp_path: Path, shard: str | None) -> None:
    """Three agents attempt 12 positions, so the schedule has 36 matches, however many `where` leaves out."""
    store = tmp_path / "cup.db"
    (tmp_path / "cup.json").write_text(json.dumps({**PUZZLE, "report": {"where": "round < 5"}}))
    invoke(
        "run", str(tmp_path / "cup.json"), "--store", str(store), "--workers", "1", *([] if shard is None else ["--shard", shard])
    )
    with Store.open(store) as opened:
        played = len(opened)
    if shard is None:  # as if the run had been killed before its last match
        with contextlib.closing(sqlite3.connect(store)) as connection, connection:
            connection.execute("DELETE FROM place WHERE number = (SELECT max(number) FROM place)")
            connection.execute("UPDATE run SET ended = NULL")
        played -= 1
    (board,) = Leaderboard.load(store)
    assert board.facts["size"] == 36
    words = "1 of 36 matches is missing" if shard is None else "all shards together have 36 matches"
    assert any(words in line for line in board.remarks)
    with Store.open(store) as opened, opened.snapshot():
        state = run_state(opened, Leaderboard.last_run(opened), writing=False)
    assert (state.done, state.total) == (played, 36 if shard is None else played), "a shard is complete without the others"
    page = tmp_path / "page.html"
    done = CliRunner().invoke(cli, ["report", str(store), "-o", str(page)], catch_exceptions=False)
    shown = board.games
    assert f"{shown} of {shown} matches ({played - shown} more excluded by report.where)" in done.output
    assert f"The key report.where leaves out {played - shown} more." in page.read_text()


def test_a_changed_report_plays_no_new_match(tmp_path: Path) -> None:
    """The next run of the same matches shows the new columns. Without the key it shows all matches."""
    store = tmp_path / "cup.db"
    arena.run(PUZZLE, store=store)
    played: list[Any] = []
    arena.run({**PUZZLE, "report": {"columns": {"rate": "nodes / moves"}}}, store=store, observe=played.append)
    (board,) = Leaderboard.load(store)
    assert not played
    assert all(row["rate"] > 0 for row in board.rows)
    arena.run({**PUZZLE, "report": {"where": "round < 5"}}, store=store)
    (board,) = Leaderboard.load(store)
    assert [row["attempts"] for row in board.rows] == [5, 5, 5]
    remark = (
        "leaves out 21 of 36 attempts. The same positions are left out for all agents, so their rows can be compared with "
        "each other"
    )
    assert any(remark in line for line in board.remarks)
    arena.run(PUZZLE, store=store)
    (board,) = Leaderboard.load(store)
    assert [row["attempts"] for row in board.rows] == [12, 12, 12]
    assert not any("report" in line for line in board.remarks)


def test_a_filter_may_leave_out_all_matches_or_none(tmp_path: Path) -> None:
    """The board exists in both cases, and a remark describes the filter."""
    for where, attempts, words in [("nodes < 0", 0, "leaves out 36 of 36 attempts"), ("nodes >= 0", 12, "keeps all attempts")]:
        store = tmp_path / f"{attempts}.db"
        results = arena.run({**PUZZLE, "report": {"where": where, "columns": COLUMNS}}, store=store)
        here = arena.run({**PUZZLE, "report": {"where": where, "columns": COLUMNS}})
        for (board,) in (Leaderboard.of_results(results), Leaderboard.of_results(here)):
            assert [row["attempts"] for row in board.rows] == [attempts] * 3
            assert any(words in line for line in board.remarks)
            assert (board.rows[0]["efficiency"] is None) == (not attempts)
            assert "finished" not in board.facts
        assert words in invoke("leaderboard", str(store))


@pytest.mark.parametrize(("cost", "excess"), [(0.1 + 0.2, 0.0), (0.3, 0.0), (0.31, 0.01)])
def test_equal_costs_have_the_difference_0(cost: float, excess: float) -> None:
    """A search has found a path of cost 0.3. The same steps in another order sum to 0.30000000000000004."""
    played = arena.run({**PUZZLE, "rounds": 1, "agents": ["a-star"]})
    boards = [BoardInfo.of(board) for board in played.spec.boards]
    claims = Claims(boards[0])
    claims.add(0, 0, solved=True, cost=0.3, termination="normal", decisions=1, nodes=30, seconds=0.1)
    _, board, pairing, record = played.played[0]
    record = record._replace(cost=cost)
    row = TidyTable(boards, 0, [claims], Report.read(None)).plain_row(record, Scheduled(0, board, pairing))
    assert row["path_cost"] == cost
    assert row["path_cost"] - row["optimal"] == pytest.approx(excess, abs=0 if not excess else 1e-9)


def test_a_cost_counts_as_optimal_only_if_a_complete_search_claims_it() -> None:
    """A search that a limit has stopped is not complete."""
    board = BoardInfo.of(
        load_spec({**PUZZLE, "agents": [*PUZZLE["agents"][:2], {"agent": "bfs", "limits": {"nodes": 50}}]}).boards[0]
    )
    assert board.optimal == ("a-star", "bfs")
    claims = Claims(board)
    for round_, entry, cost, decisions, nodes in [
        (1, 0, 8.0, 1, 30),
        (2, 1, 8.0, 1, 30),  # does not claim to be optimal
        (3, 2, 8.0, 1, 50),  # the limit stopped the search
        (3, 1, 6.0, 1, 30),  # so this refutes nothing
        (4, 0, 8.0, 8, 30),  # step by step
        (5, 0, 0.1 + 0.2, 1, 30),
        (5, 1, 0.3, 1, 30),  # the same sum in another order
    ]:
        claims.add(round_, entry, solved=True, cost=cost, termination="normal", decisions=decisions, nodes=nodes, seconds=0.1)
    assert claims.find_optima() == {1: 8.0, 5: pytest.approx(0.3)}
    assert claims.find_refutations() == {}
    unclaimed = {**PUZZLE, "agents": [{"agent": "a-star", "weight": 4}, "best-first"]}
    assert arena.run(unclaimed).to_dataframe().optimal.isna().all()


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (
            {"where": "cots > 3"},
            "report.where: unknown name 'cots'; did you mean 'cost'? The known names are compiled, cost, expanded, fallbacks,",
        ),
        ({"where": "open('x')"}, "report.where: a call is not allowed: open('x')"),
        ({"columns": {"a": "agent"}}, "report.columns.a: agent is text"),
        ({"columns": {"nodes": "moves"}}, "report.columns.nodes: boards or data frames already have a column with this name"),
        ({"columns": {"solved": "moves"}}, "report.columns.solved: boards or data frames already have"),
        ({"columns": {"A b": "moves"}}, "report.columns.A b: expected a name of at most 30 lowercase letters, digits and _"),
        ({"columns": {"a_low": "moves"}}, "which does not end in _low or _high, got 'a_low'"),
        ({"columns": {f"c{n}": "moves" for n in range(21)}}, "report.columns: expected at most 20 columns, got 21"),
        ({"columns": {"a": 3}}, "report.columns.a: expected text, got 3"),
        ({"columns": ["a"]}, "report.columns: expected a mapping"),
        ({"wher": "moves > 3"}, "report.wher: unknown key; did you mean 'where'?"),
        ("moves > 3", "report: expected a mapping"),
    ],
)
def test_an_error_in_a_formula_is_reported_with_its_position_in_the_spec(report: Any, words: str) -> None:
    """The spec is refused when it is loaded, before the first match."""
    with pytest.raises(arena.SpecError) as fault:
        arena.run({**PUZZLE, "report": report})
    assert words in str(fault.value)


def test_a_condition_can_only_leave_out_whole_games() -> None:
    """A condition may not use values of one seat. A format that needs every result allows no condition."""
    with pytest.raises(arena.SpecError, match=r"report.where: unknown name 'own_nodes'.*names with own_ work only in columns"):
        arena.run({**GAME, "report": {"where": "own_nodes > 3"}})
    for name in ("swiss", "knockout"):
        with pytest.raises(arena.SpecError, match=f"report.where: the format {name} needs all its matches"):
            arena.run({**GAME, "format": name, "report": {"where": "moves > 3"}})
    assert arena.run({**GAME, "rounds": 2, "format": "swiss", "report": {"columns": {"length": "moves"}}}).records


def test_a_formula_of_a_foreign_store_is_checked(tmp_path: Path) -> None:
    """The formula in the file is parsed again, and refused as in a spec."""
    import sqlite3

    from arena.store.run import RUN
    from arena.store.schema import digest

    store = tmp_path / "cup.db"
    arena.run({**PUZZLE, "report": {"where": "nodes > 10"}}, store=store)
    with sqlite3.connect(store) as opened:
        cells = list(opened.execute(f"SELECT {RUN} FROM run").fetchone())
        place = RUN.split(", ").index("spec")
        cells[place] = cells[place].replace("nodes > 10", "open('x')")
        opened.execute("UPDATE run SET spec = ?, digest = ?", (cells[place], digest(tuple(cells))))
    with pytest.raises(arena.ArenaError, match=r"report: a call is not allowed: open\('x'\)"):
        Leaderboard.load(store)


def test_compare_accepts_columns_of_the_key_report(tmp_path: Path) -> None:
    """The mean difference agrees with the data frame, over rounds in which both agents have a value. A note names the filter."""
    report = {"columns": COLUMNS, "where": "nodes > 10"}
    frame = arena.run({**PUZZLE, "report": report}, store=tmp_path / "cup.db").to_dataframe()
    wide = frame.pivot_table(index="round", columns="agent", values="efficiency").dropna(subset=["fast", "best-first"])
    words = ("compare", str(tmp_path / "cup.db"), "fast", "best-first", "--by", "efficiency", "--format", "json")
    done = CliRunner().invoke(cli, list(words), standalone_mode=False, catch_exceptions=False)
    (board,) = json.loads(done.stdout)
    assert board["pairs"][0]["rounds"] == len(wide)
    assert board["pairs"][0]["difference"] == pytest.approx((wide["fast"] - wide["best-first"]).mean(), rel=1e-9)
    assert "including those that report.where (nodes > 10) excludes" in done.stderr
    with pytest.raises(arena.ArenaError, match="unknown measure 'effort'"):
        invoke("compare", str(tmp_path / "cup.db"), "--by", "effort")


@pytest.mark.parametrize("factor", [1e152, 1e290])
def test_intervals_and_tests_do_not_depend_on_the_unit_of_a_column(tmp_path: Path, factor: float) -> None:
    """This also holds for comparisons over all domains."""
    games = ["sliding-tiles", {"name": "pancake", "n": 6}, "top-spin", {"name": "pancake", "n": 5}, {"name": "hanoi", "discs": 3}]
    report = {"columns": {"large": f"nodes * {factor:g}", "usual": "nodes"}}
    spec = {**PUZZLE, "games": games, "rounds": 6, "limits": {"nodes": 300}, "report": report}
    arena.run({key: value for key, value in spec.items() if key != "game"}, store=tmp_path / "cup.db")
    for board in Leaderboard.load(tmp_path / "cup.db"):
        for row in board.rows:
            large, plain = [[row[name], row[f"{name}_low"], row[f"{name}_high"]] for name in ("large", "usual")]
            assert agrees([None if one is None else one / factor for one in large], plain)
    words = ("compare", str(tmp_path / "cup.db"), "--format", "json", "--by")
    boards = [json.loads(invoke(*words, name)) for name in ("large", "usual")]
    for large, plain in zip(*[[pair for board in of for pair in board["pairs"]] for of in boards], strict=True):
        assert large["difference"] / factor == pytest.approx(plain["difference"], rel=1e-9)
        assert large["p_value"] == pytest.approx(plain["p_value"], rel=1e-9)
    overall = [json.loads(invoke(*words[:-1], "--across", "--by", name)) for name in ("large", "usual")]
    assert overall[0]["entries"] == overall[1]["entries"]
    for large, plain in zip(*[of["pairs"] for of in overall], strict=True):
        for key in ("value", "low", "high"):
            assert large["overall"][key] / factor == pytest.approx(plain["overall"][key], rel=1e-9)
        for key in ("overall", "cochran", "wilcoxon", "sign"):
            assert large[key]["p_value"] == pytest.approx(plain[key]["p_value"], rel=1e-9)


def test_the_overall_table_contains_intervals_and_names_the_filter(tmp_path: Path) -> None:
    spec = {**PUZZLE, "games": ["sliding-tiles", {"name": "hanoi", "discs": 3}], "game": None, "rounds": 6}
    spec = {key: value for key, value in spec.items() if value is not None} | {"report": {"where": "nodes > 10"}}
    arena.run(spec, store=tmp_path / "cup.db")
    boards = Leaderboard.of_results(arena.open_store(tmp_path / "cup.db"))
    table = Leaderboard.overall(boards)
    assert table is not None
    assert "Filtered: report.where (nodes > 10)." in table.note
    for row in table.rows:
        for cell, board in zip(row[1:], boards, strict=True):
            (shown,) = [one for one in board.rows if one["agent"] == row[0]]
            low, high, value = [f"{100 * shown[key]:.1f} %" for key in ("solved_low", "solved_high", "solved")]
            assert cell == f"{value} ({low} to {high})"


def test_the_interval_of_a_share_stays_between_0_and_1() -> None:
    """Student's interval of a few values would exceed these bounds."""
    agents: list[Any] = ["a-star", {"agent": "a-star", "weight": 3, "label": "fast"}, "best-first", "random"]
    report = {"where": "nodes > 30 or not solved", "columns": {"share": "moves > 10", "own": "own_nodes"}}
    spec = {"game": {"name": "sliding-tiles", "shuffle": 20}, "rounds": 20, "agents": agents, "limits": {"moves": 200}}
    results = arena.run({**spec, "report": report})
    frame = results.to_dataframe()
    plain = [
        estimate(mine.share, mine["round"]) for name in ("a-star", "fast") for mine in [frame[frame.kept & (frame.agent == name)]]
    ]
    assert any(low is not None and low < 0 for _, low, _ in plain)
    assert any(high is not None and high > 1 for _, _, high in plain)
    (board,) = Leaderboard.of_results(results)
    bounds = [(row["share_low"], row["share_high"]) for row in board.rows if row["share_low"] is not None]
    assert len(bounds) > 2
    assert all(0 <= low <= high <= 1 for low, high in bounds)


def test_a_column_of_zeros_and_ones_is_a_share() -> None:
    """It stays between 0 and 1, and has a width even if an entry always has 1. Equal values of another kind have no interval."""
    agents: list[Any] = ["a-star", {"agent": "a-star", "limits": {"nodes": 60}, "label": "hasty"}, "random"]
    spec = {"game": {"name": "sliding-tiles", "shuffle": 20}, "rounds": 20, "agents": agents, "limits": {"moves": 200}}
    results = arena.run({**spec, "report": {"columns": {"won": "1 * solved", "three": "3 + 0 * nodes"}}})
    rows = {row["agent"]: row for row in Leaderboard.of_results(results)[0].rows}
    assert (rows["a-star"]["won"], rows["a-star"]["won_high"]) == (1, 1)
    assert 0.8 < rows["a-star"]["won_low"] < 0.95  # 0.05^(1 / 20) = 0.861
    assert 0 <= rows["hasty"]["won_low"] < rows["hasty"]["won"] < rows["hasty"]["won_high"] <= 1
    assert rows["a-star"]["three_low"] is None
    (board,) = Leaderboard.of_results(arena.run({**spec, "agents": ["a-star"], "report": {"columns": {"won": "solved"}}}))
    assert board.rows[0]["won_low"] == rows["a-star"]["won_low"]


def test_a_column_has_the_interval_of_the_board_if_a_pairing_repeats() -> None:
    """`alpha-beta` and `minimax` repeat two games. A column of the returns has the interval of the mean return, except that the
    board limits it to the range of returns.
    """
    agents = ["random", *[{"agent": name, "depth": 4} for name in ("alpha-beta", "minimax")]]
    spec = {
        "game": "tic-tac-toe",
        "rank": "returns",
        "rounds": 8,
        "agents": agents,
        "report": {"columns": {"gain": "own_returns"}},
    }
    [board] = Leaderboard.of_results(arena.run(spec))
    for row in board.rows:
        assert row["gain"] == pytest.approx(row["mean_return"])
        assert max(-1.0, row["gain_low"]) == pytest.approx(row["return_low"])
        assert min(1.0, row["gain_high"]) == pytest.approx(row["return_high"])
    [alone] = Leaderboard.of_results(arena.run({**spec, "agents": agents[1:]}))
    assert [(row["gain_low"], row["gain_high"]) for row in alone.rows] == [(None, None)] * 2


RATE = {"columns": {"rate": "nodes / seconds", "own_rate": "own_nodes / own_seconds", "size": "nodes + 1"}}


@pytest.mark.parametrize("timings", [("compiled", "compiled", "plain"), ("plain", None, "compiled"), ("plain", "plain", "plain")])
def test_rates_of_times_that_cannot_be_compared_are_left_out(timings: tuple[str | None, ...]) -> None:
    """A board leaves out the times of decisions that ran differently from the others (compiled, plain, or both, which is None),
    and also rates such as nodes per second.
    """
    results = arena.run({**PUZZLE, "report": RATE})
    labels = [seat.label for seat in results.spec.boards[0].seats]
    ways = dict(zip(labels, timings, strict=True))

    def matches() -> list[Any]:
        found = []
        for number, one in enumerate(results.played):
            way = ways[one.record.labels[0]] or ("plain", "compiled")[number % 2]
            place = Scheduled(one.number, one.board, one.pairing)
            found.append((one.record._replace(timing={way: [1], f"{way}_seconds": [0.5]}), place))
        return found

    boards = [BoardInfo.of(board, results.spec.registry) for board in results.spec.boards]
    (board,), _ = apply_report(RATE, boards, matches)
    shown = {one.column.key: [cell.mean is not None for cell in one.cells or ()] for one in board.plugin_columns}
    assert shown["size"] == [True] * 3
    expected = [way == ("compiled" if "compiled" in timings else "plain") for way in timings]
    assert shown["rate"] == shown["own_rate"] == expected


def test_compare_leaves_out_the_same_times_and_rates_as_the_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--by seconds` and `--by` with a column of seconds compare the same entries. Other columns compare all entries."""
    store = str(tmp_path / "rates.db")
    arena.run({**PUZZLE, "report": RATE}, store=store)
    monkeypatch.setattr("arena_records.report_key.read_ways", lambda *_: [["compiled", "compiled", "plain"]])
    pairs = {}
    for measure in ("seconds", "rate", "own_rate", "size"):
        words = ["compare", store, "--by", measure, "--format", "json"]
        (board,) = json.loads(CliRunner().invoke(cli, words, standalone_mode=False).stdout)
        pairs[measure] = [(one["one"], one["other"]) for one in board["pairs"]]
    assert pairs["seconds"] == pairs["rate"] == pairs["own_rate"] == [("a-star", "fast")]
    assert len(pairs["size"]) == 3
    monkeypatch.setattr("arena_records.report_key.read_ways", lambda *_: [["compiled", None, "plain"]])
    for measure in ("seconds", "rate"):
        error = CliRunner().invoke(cli, ["compare", store, "--by", measure], standalone_mode=False).exception
        assert str(error).startswith("The times of fast are left out")


def test_the_seconds_of_a_game_include_all_seats() -> None:
    """A column includes a game only if the times of all seats in its formula can be compared."""
    values = {"columns": {"whole": "seconds", "own": "own_seconds"}}
    results = arena.run({**GAME, "report": values})
    slow = 1  # greedy is the second entry
    found = []
    for one in results.played:
        plain = [int(entry == slow) for entry in one.pairing.seats]
        timing = {"plain": plain, "compiled": [1 - count for count in plain]}
        found.append((one.record._replace(timing=timing), Scheduled(one.number, one.board, one.pairing)))
    boards = [BoardInfo.of(board, results.spec.registry) for board in results.spec.boards]
    (board,), _ = apply_report(values, boards, lambda: found)
    cells = {one.column.key: [cell.mean for cell in one.cells or ()] for one in board.plugin_columns}
    assert [mean is not None for mean in cells["own"]] == [True, False, True]
    for entry in (0, 2):
        other = 2 - entry
        met = [record for record, place in found if {*place.pairing.seats} == {entry, other}]
        expected = sum(sum(one.seconds for one in record.decisions) for record in met) / len(met)
        assert cells["whole"][entry] == pytest.approx(expected)
    assert cells["whole"][slow] is None
