"""Similar agents on the page of the host, in a real browser."""

from pathlib import Path
from typing import Any

import pytest

from tests.ladder.hosting import SPEC, HostedLadder, agent
from tests.ladder.test_ladder_pages import NARROW, WIDE, Visitor

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]


def test_the_host_compares_all_pairs_of_authors(browser: Any, tmp_path: Path) -> None:
    """Two authors have submitted the same code, so they are at the top of the table."""
    with HostedLadder(tmp_path, SPEC.replace("200", "400")) as ladder:
        keys = {}
        for name, own in (
            ("ada", "x = 1"),
            ("bob", "x = 1"),
            ("cyd", "y = sum(number * number for number in range(9) if number)"),
        ):
            (token,) = ladder.tokens(name)
            content = agent(f"{own}; moves = sorted(game.actions(state), key=str); return moves[0 if len(moves) > 3 else -1]")
            keys[token] = ladder.submit(token, content).body["id"]
        assert {ladder.verdict(token, key)["status"] for token, key in keys.items()} == {"playing"}
        host = ladder.admin("host-token").stdout.strip()
        with Visitor(browser, ladder, NARROW, None, host) as visitor:
            page = visitor.go("/host", "tbody tr")
            page.get_by_role("button", name="Compare code and moves").click()
            first = page.get_by_role("region", name="similar agents").locator("tbody tr").first
            first.wait_for()
            assert first.locator("th").inner_text().startswith("ada, bob")
            assert first.locator("td").first.inner_text() == "100 %"
            visitor.check("similar", NARROW, WIDE)
