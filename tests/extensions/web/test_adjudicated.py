"""The page of an adjudicated match explains its end, but not as a fault."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena import run


def test_the_page_explains_an_adjudication_but_not_as_a_fault(
    serve: Callable[..., Any], browser: Any, visiting: Any, tmp_path: Path
) -> None:
    """The sentence is below the names, and the list of matches shows no failure."""
    both = [{"agent": "alpha-beta", "depth": 1, "label": label} for label in ("a", "b")]
    draw = {"draw": {"after": 0, "moves": 1, "value": 1}}
    spec = {"game": "tic-tac-toe", "rounds": 1, "agents": both, "adjudicate": draw, "limits": {"nodes": 100}}
    record = run(spec, store=tmp_path / "cup.db").records[0]
    with serve(tmp_path, "cup.db") as server:
        made = visiting(browser, server.address, 390)
        page = made.go(f"/t/cup/match/{record.id}")
        page.wait_for_selector("svg.board")
        said = page.locator("h1 + p").inner_text()
        assert said == "Match 1: tic-tac-toe, a draw (adjudicated): both seats reported values within 1 of 0 in the last move"
        assert page.get_by_role("alert").inner_text() == ""
        page = made.go("/t/cup/matches")
        page.wait_for_selector("tbody tr")
        assert page.locator("tbody").get_by_text("a draw (adjudicated)").count() == 2
        assert page.locator("tbody .bad").count() == 0
        made.end()
