"""The page agrees with the leaderboard, has the matches that it lists, and shows names as text."""

import base64
import json
import re
import shutil
import sqlite3
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.store import Store
from arena_web.report.page import mark_code
from tests.extensions.web.report.conftest import Page
from tests.rehash import rehash

if TYPE_CHECKING:
    from tests.conftest import Arena

MARKUP = "<script>alert(1)</script>"


def shown(text: str) -> float | None:
    """Return the number in a cell. A percentage becomes a fraction of 1."""
    if text in {"-", ""}:
        return None
    number = float(text.removesuffix(" %").replace(",", "").replace("+", ""))
    return number / 100 if text.endswith("%") else number


def close(text: str, value: float | None, margin: float) -> bool:
    number = shown(text)
    return number is value is None or (number is not None and value is not None and abs(number - value) <= margin)


def test_the_numbers_agree_with_the_leaderboard(page: Page, leaderboards: dict[str, Any]) -> None:
    """Every row agrees to the digits shown. The page also contains the same JSON for other programs."""
    assert json.loads(page.scripts["leaderboards"]) == leaderboards
    titles = ["tic-tac-toe", "take-away", "sliding-tiles", "n-queens"]
    for title, board in zip(titles, leaderboards["boards"], strict=True):
        heading, *rows = page.tables[f"leaderboard of {title}"]
        assert len(rows) == len(board["rows"])
        for cells, row in zip(rows, board["rows"], strict=True):
            cell = dict(zip(heading, cells, strict=True))
            assert cell["Agent"] == row["agent"]
            assert cell["Rank"].removesuffix(" ~") == str(row["rank"])
            if board["kind"] == "versus":
                assert [cell[key] for key in "WDL"] == [str(row[key]) for key in ("wins", "draws", "losses")]
                assert close(cell["Score"], row["score"], 0.0005001)
                bounds = re.findall(r"[+-]\d+", cell["95 % interval"])
                known = [row[key] for key in ("rating_low", "rating_high") if row[key] is not None]
                wide = row["rating"] is not None and (len(known) < 2 or known[1] - known[0] > 600)
                assert cell["Elo"] == "?" if wide else close(cell["Elo"], row["rating"], 0.5)
                if wide and len(known) != 1:
                    assert cell["95 % interval"] == "?"
                else:
                    assert all(abs(float(text) - value) <= 0.5 for text, value in zip(bounds, known, strict=True))
            else:
                assert cell["Attempts"] == str(row["attempts"])
                assert close(cell["Solved"], row["solved"], 0.0005001)
                assert close(cell["Generated"], row["nodes_per_attempt"], 0.5)


def test_several_games_have_the_overall_table_of_the_leaderboard(page: Page, invoke: "Arena") -> None:
    """The table has the same rows as the end of `arena leaderboard`, and the page links to it."""
    text = invoke("leaderboard", "cup.db").stdout
    printed = text[text.index("Report & <b>test</b>: overall") :].split("\n\n")[1].splitlines()
    heading, *rows = page.tables["leaderboard overall"]
    prefix = "leaderboard of "
    assert heading == ["Agent", *[name.removeprefix(prefix) for name in page.tables if name.startswith(prefix)]]
    assert [" ".join(row).split() for row in rows] == [line.split() for line in printed[2:]]
    assert ("a", {"href": "#overall"}) in page.tags


def test_words_in_backticks_are_shown_as_code(html: Path) -> None:
    """All other text of a remark is escaped."""
    assert "<code>arena compare STORE --across</code> compares agents" in html.read_text("utf-8")
    assert mark_code("<b> `a <i>` & c") == "&lt;b&gt; <code>a &lt;i&gt;</code> &amp; c"


def test_the_numbers_of_the_plots_agree_with_the_leaderboard(page: Page, leaderboards: dict[str, Any]) -> None:
    """This includes the ratings, the cross-table, and the last values of the curves."""
    for place, board in enumerate(leaderboards["boards"]):
        tables = [table for name, table in page.tables.items() if name.startswith("numbers of ")]
        assert tables
        if board["kind"] != "versus" or board["rows"][0]["rating"] is None:
            continue
        title = ["tic-tac-toe", "take-away"][place]
        ratings = page.tables[f"numbers of the plot Ratings of {title}"][1:]
        for cells, row in zip(ratings, board["rows"], strict=True):
            assert cells[0] == row["agent"]
            for text, key in zip(cells[1:], ("rating", "rating_low", "rating_high"), strict=True):
                whole = row[key] is not None and abs(row[key]) >= 1000  # such numbers are shown without decimals
                assert close(text, row[key], 0.50001 if whole else 0.05001)
        cross = page.tables[f"numbers of the plot Cross-table of {title}"][1:]
        for cells, shares in zip(cross, board["cross"], strict=True):
            assert all(close(text, share, 0.00005) for text, share in zip(cells[1:], shares, strict=True))
        last = page.tables[f"numbers of the plot Score over the run of {title}"][-1]
        assert all(close(text, row["score"], 0.00005) for text, row in zip(last[1:], board["rows"], strict=True))


def test_names_and_messages_are_shown_as_text(page: Page) -> None:
    """A label never becomes markup: the page has only its own elements."""
    tags = [tag for tag, _ in page.tags]
    assert "img" not in tags
    assert "b" not in tags
    inline = [found for tag, found in page.tags if tag == "script" and "type" not in found]
    assert len(inline) == 2
    assert any(MARKUP in cell for row in page.tables["leaderboard of tic-tac-toe"] for cell in row)
    assert "Report & <b>test</b>" in "".join(page.text)
    fault = "".join(cell for row in page.tables["failures at tic-tac-toe"] for cell in row)
    assert "<img src=x onerror=alert(1)>" in fault
    assert '_ id="x" #01a0f1' in "".join(page.text), "a label in a drawing is unchanged"


def test_ids_are_unique_and_nothing_is_loaded(page: Page, html: Path) -> None:
    """Each plot has its own ids, and the page contains no address that a browser would request."""
    assert len(page.ids) == len(set(page.ids))
    loading = [(tag, key) for tag, found in page.tags for key in found if key in {"src", "srcset", "data", "action", "poster"}]
    assert loading == []
    links = [found["href"] or "" for _, found in page.tags if "href" in found]
    assert all(link.startswith("#") for link in links)
    assert all(link[1:] in page.ids for link in links)
    assert "@import" not in html.read_text()


def test_every_match_is_listed_and_unpacks_to_its_record(page: Page, played: Path) -> None:
    """The list contains each match once. The packed match contains the positions that follow from the record according to the
    rules.
    """
    listing = json.loads(page.scripts["listing"])
    packs = [json.loads(zlib.decompress(base64.b64decode(pack))) for pack in page.packs]
    with Store.open(played / "cup.db") as store:
        records = {record.id: record for record, _ in store.records(boards=True)}
    assert sorted(line["id"] for line in listing["matches"]) == sorted(records)
    for line in listing["matches"]:
        shown, record = packs[line["pack"]][line["at"]], records[line["id"]]
        frames = [dict(zip(listing["frame"], frame, strict=True)) for frame in shown["frames"]]
        assert shown["id"] == record.id
        assert shown["differences"] == []
        assert frames[0]["state"] == record.position
        assert [frame["action"] for frame in frames[1:] if frame["number"] > 0] == list(record.actions)
        assert [listing["boards"][line["board"]]["labels"][entry] for entry in line["seats"]] == list(record.labels)
        if record.answer is not None:
            assert frames[-1]["state"] == record.answer
        if record.game == "take-away":
            assert frames[0]["rendered"] == "counters: *******"


def test_failures_have_commands_that_replay_them(page: Page, invoke: "Arena") -> None:
    """The command in the page, typed unchanged, shows the fault."""
    commands = [re.search(r"arena (replay \S+ [0-9a-f]{32})", row[-1]) for row in page.tables["failures at tic-tac-toe"][1:]]
    found = [command[1] for command in commands if command]
    assert found
    assert "exception" in invoke(*found[0].split()).stdout


def test_two_reports_of_one_store_are_equal(played: Path, invoke: "Arena") -> None:
    """The files are equal byte for byte, even if the processes use different hash seeds."""
    for name, variables in (("one", {}), ("again", {"PYTHONHASHSEED": "7"})):
        assert invoke("report", "small.db", "-o", f"{name}.html", **variables).returncode == 0
    assert (played / "one.html").read_bytes() == (played / "again.html").read_bytes()


def test_missing_parts_are_mentioned(tmp_path: Path, played: Path, invoke: "Arena", page: Page) -> None:
    """A report of an unfinished run, without its plugin and with a limit of matches, has leaderboards, plots, and matches as
    text. Half of the ten matches are failures, because there are enough of both kinds.
    """
    shutil.copy(played / "cup.db", tmp_path / "cup.db")
    with sqlite3.connect(tmp_path / "cup.db") as connection:
        (spec,) = connection.execute("SELECT spec FROM run").fetchone()
        recipe = json.loads(spec)
        recipe["folder"] = str(tmp_path / "elsewhere")
        recipe["plugins"] = [str(tmp_path / "elsewhere" / "plugin.py")]
        connection.execute("UPDATE run SET ended = NULL, spec = ?", (json.dumps(recipe),))
        connection.execute("DELETE FROM place WHERE number % 3 > 0")
        (total,) = connection.execute("SELECT count(*) FROM place").fetchone()
    connection.close()
    rehash(tmp_path / "cup.db")
    done = invoke("report", tmp_path / "cup.db", "-o", tmp_path / "page.html", "--matches", 10)
    assert done.returncode == 0, done.stderr
    few = Page((tmp_path / "page.html").read_text("utf-8"))
    text = "".join(few.text)
    assert "The run is not finished" in text
    assert "take-away: unknown" in text
    assert f"10 of {total} are here" in text
    assert 10 < total < len(json.loads(page.scripts["listing"])["matches"])
    assert [line["rank"] for line in json.loads(few.scripts["listing"])["matches"]] == [0] * 5 + [1] * 5
    first = json.loads(zlib.decompress(base64.b64decode(few.packs[0])))[0]
    assert first["frames"]
