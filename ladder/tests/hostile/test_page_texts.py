"""Texts of an author in the pages of a ladder: what his agent prints, how it fails, and its description, in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.test_page_texts import ATTACK, Visit
from tests.ladder.hosting import GOOD, SPEC, HostedLadder, agent

pytestmark = [pytest.mark.promise(hole="script", isolation="any"), pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

ODD = f"{ATTACK}\u202e\u2066\x1b[2J\u2028"


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    made = Visit(browser)
    yield made
    made.end()


def test_a_text_of_an_author_runs_no_script_in_a_page_of_a_ladder(visit: Visit, tmp_path: Path) -> None:
    """One agent prints the attack, and has it in its code. Another one is refused with it."""
    prints = f"print({ODD!r}); {GOOD}"
    raises = f"raise RuntimeError({ODD!r})"
    with HostedLadder(tmp_path, f"{SPEC}feedback: {{at: 02:00Z}}\n") as ladder:
        (token,) = ladder.tokens("ada")
        body = f"{prints}\n\n    {ODD!r}"
        keys = [ladder.submit(token, agent(text)).body["id"] for text in (body, raises)]
        verdicts = [ladder.verdict(token, key) for key in keys]
        assert any("onerror" in str(one) for one in verdicts), verdicts
        visit.page.add_init_script(f"sessionStorage.setItem('arena-ladder-token', '{token}')")
        visit.open(f"{ladder.url}/", "tbody tr")
        visit.open(f"{ladder.url}/yours", "section[aria-label='ada/mine@1']")
        visit.open(f"{ladder.url}/t/ladder/matches", "main h1")
        for path in ("/hand-in", "/t/ladder/entry?name=ada/mine@1"):
            visit.open(f"{ladder.url}{path}", "main h1")
