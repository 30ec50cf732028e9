"""Texts of an author on the pages of a ladder, in a real browser: what agents print, and the errors with which they fail."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.eventually import eventually
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
    """One agent prints the script in its matches. Another agent raises it as an error in its check, and is refused."""
    with HostedLadder(tmp_path, f"{SPEC}feedback: {{at: 02:00Z}}\n") as ladder:
        (token,) = ladder.tokens("ada")
        bodies = (f"print({ODD!r}); {GOOD}", f"raise RuntimeError({ODD!r})")
        keys = [ladder.submit(token, agent(body)).body["id"] for body in bodies]
        accepted, refused = [ladder.verdict(token, key) for key in keys]
        assert (accepted["status"], refused["status"]) == ("playing", "refused")
        assert "onerror" in str(refused)
        visit.page.add_init_script(f"sessionStorage.setItem('arena-ladder-token', '{token}')")
        visit.open(f"{ladder.url}/", "tbody tr")
        visit.open(f"{ladder.url}/yours", "section[aria-label='ada/mine@1']")
        eventually(lambda: visit.page.inner_text("main").count("onerror") > 0, page=visit.page)
        visit.open(f"{ladder.url}/t/ladder/matches", "tbody tr")
        visit.open(f"{ladder.url}/t/ladder/entry?name=ada/mine@1", "main h1")
        visit.open(f"{ladder.url}/hand-in", "form[aria-label='hand in']")
