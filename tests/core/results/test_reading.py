"""Tidy rows, data frames, and the display in a notebook."""

import csv
import io
import json
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.cli import cli
from arena.results.cells import board_table
from arena.results.leaderboard import Leaderboard
from tests.players import PLAYERS

GAME: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 4, "agents": ["random", "greedy", {"agent": "lookahead", "depth": 1}]}
PUZZLE: dict[str, Any] = {"game": {"name": "sliding-tiles", "shuffle": 8}, "rounds": 4, "agents": ["a-star", "random"]}
BOTH: dict[str, Any] = {**GAME, "game": None, "games": [GAME["game"], PUZZLE["game"]], "agents": [*GAME["agents"], "a-star"]}
SEATS = ["returns_first", "returns_second"]
EFFORT = ["termination", "at_fault", "message", "fallbacks", "nodes", "expanded", "seconds", "compiled", "plain"]
PER_SEAT = ["nodes_first", "nodes_second", "seconds_first", "seconds_second"]
PLACE = ["id", "board", "domain", "round", "game", "position"]


@pytest.fixture
def exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[list[dict[str, str]], list[Any]]]:
    """The tidy rows of a spec's matches, and their records."""

    def exported(spec: dict[str, Any]) -> tuple[list[dict[str, str]], list[Any]]:
        arena.run(spec, store=tmp_path / "cup.db")
        texts = []
        for style in ("tidy", "jsonl"):
            assert cli.main(["export", str(tmp_path / "cup.db"), "--format", style], standalone_mode=False) == 0
            texts.append(capsys.readouterr().out)
        return list(csv.DictReader(io.StringIO(texts[0]))), [json.loads(line) for line in texts[1].splitlines()]

    return exported


@pytest.mark.parametrize(
    ("spec", "columns"),
    [
        (
            GAME,
            [*PLACE, "first", "second", "winner", *SEATS, "moves", *[name for name in EFFORT if name != "expanded"], *PER_SEAT],
        ),
        (PUZZLE, [*PLACE, "agent", "solved", "moves", "path_cost", "optimal", *EFFORT]),
        (
            BOTH,
            [*PLACE, "agent", "first", "second", "winner", *SEATS, "solved", "moves", "path_cost", "optimal", *EFFORT, *PER_SEAT],
        ),
    ],
    ids=["game", "puzzle", "both"],
)
def test_rows_for_data_frames_agree_with_the_records(
    exported: Callable[..., Any], spec: dict[str, Any], columns: list[str]
) -> None:
    rows, records = exported(spec)
    assert list(rows[0]) == columns
    assert sorted(row["id"] for row in rows) == sorted(record["id"] for record in records)
    assert not [cell for row in rows for cell in row.values() if cell[:1] in ("[", "{")]
    by_id = {record["id"]: record for record in records}
    for row in rows:
        record = by_id[row["id"]]
        assert (row["board"], int(row["round"]), row["position"]) == (record["board"], record["round"], record["position"])
        assert (int(row["moves"]), row["termination"]) == (record["moves"], record["termination"])
        assert int(row["nodes"]) == sum(decision["nodes"] for decision in record["decisions"])
        expanded = [decision["spent"]["expanded"] for decision in record["decisions"] if "expanded" in decision.get("spent", {})]
        assert row.get("expanded", "") == (str(sum(expanded)) if expanded else "")
        if record["solved"] is None:
            assert [row["first"], row["second"]] == record["labels"]
            assert [float(row[key]) for key in SEATS] == record["returns"]
            assert row["winner"] == {1.0: row["first"], -1.0: row["second"], 0.0: ""}[record["returns"][0]]
            second = [decision for decision in record["decisions"] if decision["seat"] == 1]
            assert int(row["nodes_second"]) == sum(decision["nodes"] for decision in second)
            assert float(row["seconds_second"]) == pytest.approx(sum(decision["seconds"] for decision in second))
        else:
            assert (row["agent"], row["solved"], float(row["path_cost"]) if row["path_cost"] else None) == (
                record["labels"][0],
                str(record["solved"]).lower(),
                record["cost"] if record["solved"] else None,
            )


@pytest.fixture
def raising() -> dict[str, Any]:
    """A spec with an agent that raises, whose label must be escaped in HTML."""
    return {
        **GAME,
        "name": "A & B",
        "agents": ["random", {"agent": "raiser", "message": "<script>alert(1)</script>", "label": "<b>x</b>"}],
        "plugins": [str(PLAYERS)],
    }


def test_rows_for_data_frames_contain_faults(exported: Callable[..., Any], raising: dict[str, Any]) -> None:
    rows, _ = exported(raising)
    assert {(row["at_fault"], row["winner"], row["termination"]) for row in rows} == {("<b>x</b>", "random", "exception")}
    assert all(row["message"].startswith("RuntimeError: <script>alert(1)</script>") for row in rows)


@pytest.mark.parametrize("spec", [GAME, PUZZLE, BOTH], ids=["game", "puzzle", "both"])
def test_a_data_frame_has_the_same_rows(exported: Callable[..., Any], spec: dict[str, Any], tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rows, _ = exported(spec)
    in_memory, results = arena.run(spec), arena.run(spec, store=tmp_path / "cup.db")
    frame = results.to_dataframe()
    assert list(frame.columns) == list(rows[0])
    assert list(frame["id"]) == [row["id"] for row in rows]
    clock = [column for column in frame.columns if "seconds" in column]
    pandas.testing.assert_frame_equal(in_memory.to_dataframe().drop(columns=clock), frame.drop(columns=clock))
    read = pandas.read_csv(io.StringIO(pandas.DataFrame(rows).to_csv(index=False)))
    for column in [column for column in frame.columns if column.startswith(("returns", "nodes", "moves", "seconds"))]:
        assert frame[column].to_numpy(float) == pytest.approx(read[column].to_numpy(float), nan_ok=True), column
    for board in Leaderboard.of_results(results):
        mine = frame[frame.board == board.title]
        for row in board.rows:
            if board.kind == "versus":
                assert (mine.winner == row["agent"]).sum() == row["wins"]
            else:
                assert mine[mine.agent == row["agent"]].solved.mean() == row["solved"]


def test_without_pandas_the_error_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    results = arena.run({**GAME, "rounds": 1})
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(arena.ArenaError, match=r"^a data frame needs pandas \(.*\); install it with: pip install 'pandas>=2'$"):
        results.to_dataframe()


def test_the_repr_contains_the_name_of_the_tournament(tmp_path: Path) -> None:
    assert repr(arena.run({**GAME, "name": "Cup"})) == "<Results of 'Cup': 24 matches at tic-tac-toe>"
    results = arena.run({**BOTH, "name": "Both"}, store=tmp_path / "cup.db")
    assert repr(results) == f"<Results of 'Both': 40 matches at tic-tac-toe, sliding-tiles, in {tmp_path / 'cup.db'}>"


class Read(HTMLParser):
    """The content of a page as a browser would read it: the tags, the cells of the tables, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.cells and self.tags[-1] in ("td", "th"):
            self.cells[-1] += data


def test_a_notebook_shows_the_board_and_escapes_labels(raising: dict[str, Any]) -> None:
    results = arena.run(raising)
    shown = Read(results._repr_html_())
    table = board_table(Leaderboard.of_results(results)[0])
    expected = [*table.headings, *[cell for row in table.cells for cell in row]]
    assert [cell.strip() for cell in shown.cells] == expected
    assert set(shown.tags) == {"div", "h3", "h4", "table", "thead", "tbody", "tr", "th", "td", "p", "br"}
    assert "A & B" in shown.text
    assert "<b>x</b> failed 8 times by exception" in shown.text
    assert "<script>alert(1)</script>" in shown.text


def test_a_notebook_shows_every_board_and_the_overall_table() -> None:
    shown = Read(arena.run(BOTH)._repr_html_())
    assert shown.tags.count("table") == 3
    assert shown.tags.count("h4") == 3
    assert "overall" in shown.text
