"""Several ladders in one process: one address, one roster, and tokens that are valid in all of them."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from arena.cli import cli
from arena.errors import ArenaError
from arena_ladder.spec import list_assignments
from tests.eventually import eventually
from tests.ladder.hosting import SPEC, HostedLadder, agent
from tests.ladder.test_ladder_pages import NARROW, WIDE, Visitor

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


def make_term(folder: Path) -> None:
    """Two assignments with the same roster."""
    term = folder / "term"
    term.mkdir()
    (term / "roster.csv").write_text("id,name,e-mail\n4711,Ada,ada@example.org\n4712,Bob,bob@example.org\n")
    spec = SPEC.replace("{per_day: 1000}", "{authors: roster.csv}").replace("200", "400")
    (term / "noughts.yaml").write_text(spec)
    (term / "four.yaml").write_text(spec.replace("tic-tac-toe", "connect-four"))


def test_names_of_specs_become_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without specs, and names that cannot be part of an address, are refused."""
    with pytest.raises(ArenaError, match="expected specs of ladders"):
        list_assignments(tmp_path)
    make_term(tmp_path)
    assert [file.name for file in list_assignments(tmp_path / "term")] == ["four.yaml", "noughts.yaml"]
    for name in ("static.yaml", "Four.yaml", "four.yml"):
        (tmp_path / "term" / name).touch()
        with pytest.raises(ArenaError, match="part of the address"):
            list_assignments(tmp_path / "term")
        (tmp_path / "term" / name).unlink()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception, match="need one spec"):
        cli(["ladder", "term", "--store", "a.db"], standalone_mode=False)


def test_two_assignments_of_a_term_share_tokens(browser: Any, tmp_path: Path) -> None:
    """Tokens are valid in both assignments. Each has its own submissions, logs and matches, and the pages link to each other."""
    make_term(tmp_path)
    with HostedLadder(tmp_path, target="term") as ladder:
        made = ladder.admin("tokens", "--all", spec="term/four.yaml")
        ada = next(iter(csv.DictReader(io.StringIO(made.stdout))))["token"]
        host = ladder.admin("host-token", spec="term/noughts.yaml").stdout.strip()
        base, keys = ladder.url, {}
        assert set(ladder.ask("/health").body["assignments"]) == {"four", "noughts"}
        assert ladder.ask("/api/standings").status == 404
        for name in ("four", "noughts"):
            ladder.url = f"{base}/{name}"
            code = agent(f"print('a move of {name}'); return search.rng.choice(game.actions(state))")
            keys[name] = ladder.submit(ada, code).body["id"]
            told = ladder.verdict(ada, keys[name])
            assert (told["status"], told["agent"]) == ("playing", "4711/mine@1"), told
            assert len(ladder.ask("/api/submissions", ada).body["rows"]) == 1
            assert [row["author"] for row in ladder.ask("/api/host/submissions", host).body["rows"]] == ["4711"]
            assert f"a move of {name}" in ladder.ask(f"/api/submissions/{keys[name]}/log", ada).body["log"]
            assert ladder.ask("/openapi.json").body["servers"] == [{"url": f"/{name}"}]
            found = eventually(lambda: ladder.ask("/api/t/ladder/matches?agent=4711%2Fmine%401").body["matches"])
        match = found[0]["id"]
        ladder.url = base
        assert ladder.ask(f"/four/api/submissions/{keys['noughts']}", ada).status == 404
        with Visitor(browser, ladder, NARROW, ada, host) as visitor:
            page = visitor.go("/", "a.door")
            visitor.check("assignments", NARROW, WIDE)
            page.get_by_role("link", name="noughts").click()
            page.wait_for_selector("tbody th a")
            assert page.url == f"{base}/noughts/"
            page.get_by_role("link", name="4711/mine@1").click()
            page.get_by_text("Latest matches").wait_for()
            page.get_by_role("link", name="Hand in", exact=True).click()
            page.get_by_text(f"arena submit my_agent.py --to {base}/noughts").wait_for()
            page.get_by_role("link", name="Yours").click()
            page.get_by_role("region", name="4711/mine@1").wait_for()
            visitor.go(f"/noughts/t/ladder/match/{match}", "svg.board")
            visitor.go("/noughts/host", "section[aria-label='submissions'] tbody tr")
            visitor.go("/four", "tbody th a")
            assert visitor.errors == []
        assert ladder.end()[0] == 0
