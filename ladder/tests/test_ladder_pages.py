"""The pages of a ladder in a real browser: wide and narrow, light and dark, by mouse and by keyboard."""

import re
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.eventually import DEADLINE_SECONDS, eventually
from tests.ladder.hosting import GOOD, SPEC, HostedLadder, agent

pytestmark = [pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

SHOTS = Path(__file__).parents[2] / "build" / "screenshots"
WIDE, NARROW = 1200, 390


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostedLadder]:
    """A ladder on which ada has an agent that plays, and one that was refused."""
    spec = SPEC.replace("interval: 200", "interval: 110")  # it soon rests, so that the tests do not pay for its matches
    with HostedLadder(tmp_path_factory.mktemp("pages"), f"{spec}feedback: {{at: 02:00Z}}\n") as hosted:
        yield hosted


@pytest.fixture(scope="module")
def ada(ladder: HostedLadder) -> str:
    """The token of ada, after a match of her agent."""
    (token,) = ladder.tokens("ada")
    contents = (agent("print('a move'); " + GOOD), agent("print('going out of bounds'); return 99"))
    for key in [ladder.submit(token, content).body["id"] for content in contents]:
        ladder.verdict(token, key)
    eventually(lambda: len(ladder.ask("/api/agents/ada/mine@1").body.get("course", ())) >= 2)
    return token


class Visitor:
    """Return a browser page, with or without a token."""

    def __init__(
        self, browser: Any, ladder: HostedLadder, width: int = WIDE, token: str | None = None, host: str | None = None
    ) -> None:
        self._ladder = ladder
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, reduced_motion="reduce", accept_downloads=True
        )
        if token is not None:
            self.context.add_init_script(f"sessionStorage.setItem('arena-ladder-token', '{token}')")
        if host is not None:
            self.context.add_init_script(f"sessionStorage.setItem('arena-ladder-host', '{host}')")
        self.page = self.context.new_page()
        self.page.set_default_timeout(1000 * DEADLINE_SECONDS)
        self.errors: list[str] = []
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def go(self, path: str, shown: str) -> Any:
        """Open a page and wait for something on it."""
        self.page.goto(self._ladder.url + path)
        self.page.wait_for_selector(shown)
        return self.page

    def check(self, name: str, *widths: int) -> None:
        """Keep pictures at these widths. Nothing overflows, axe finds nothing, and the browser has reported no error.

        The wide page is checked in both themes, and the narrow page only in the dark one.
        """
        from axe_playwright_python.sync_playwright import Axe

        for width, theme in product(widths, ("light", "dark")):
            if (width, theme) == (NARROW, "light"):
                continue
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.emulate_media(color_scheme=theme)
            SHOTS.mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=SHOTS / f"ladder-{name}-{width}-{theme}.png", full_page=True)
            found = Axe().run(self.page).response["violations"]
            told = [f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes']]}" for one in found]
            assert told == [], (name, width, theme)
            assert self.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (name, width)
        assert self.errors == [], name


MATCH = "/t/ladder/match/{id}?agent=ada%2Fmine%401"
PAGES = {
    "standings": ("/", "tbody th a"),
    "agent": ("/t/ladder/entry?name=ada%2Fmine%401", "section[aria-label='latest matches'] tbody tr"),
    "hand-in": ("/hand-in", "form[aria-label='hand in']"),
    "yours": ("/yours", "section[aria-label='ada/mine@1']"),
    "match": (MATCH, "svg.board"),
}


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_pages_are_accessible_in_light_and_dark(browser: Any, ladder: HostedLadder, ada: str, width: int) -> None:
    """On all five pages, axe reports no violations, and no element is wider than the screen."""
    key = ladder.ask("/api/t/ladder/matches?agent=ada%2Fmine%401").body["matches"][0]["id"]
    with Visitor(browser, ladder, width, ada) as visitor:
        for name, (path, shown) in PAGES.items():
            visitor.go(path.replace("{id}", key), shown)
            visitor.check(name, width)


def _feedback(ladder: HostedLadder, token: str) -> Any:
    return ladder.ask("/api/submissions", token).body["rows"][-1]["feedback"]


def test_feedback_shows_the_boards_of_costly_positions(browser: Any, ladder: HostedLadder, ada: str) -> None:
    """Each board shows the move that was played and a better one. The link opens the match at this position."""
    assert ladder.admin("feedback").returncode == 0
    eventually(lambda: ladder.ask("/health").body["state"] != "reviewing" and _feedback(ladder, ada) is not None)
    costly = _feedback(ladder, ada)["costly"]
    assert costly  # an agent that plays at random gives something away
    with Visitor(browser, ladder, token=ada) as visitor:
        page = visitor.go("/yours", "section[aria-label='ada/mine@1']")
        page.get_by_text(re.compile("^Feedback of")).click()
        places = page.get_by_role("region", name=re.compile("^position "))
        places.nth(len(costly) - 1).locator("svg.board").wait_for()
        assert places.count() == page.locator("svg.board").count() == len(costly)
        marks = [place.locator("svg.board").get_attribute("aria-label") for place in places.all()]
        visitor.check("feedback", WIDE)
        for one, place in zip(costly, places.all(), strict=True):
            assert f"Played: {one['action']}" in place.inner_text()
        places.first.get_by_role("link", name="The match").click()
        page.locator(".stage svg.board").wait_for()
        eventually(lambda: page.locator("svg.board").get_attribute("aria-label") == marks[0], page=page)
        assert visitor.errors == []


def test_older_submissions_of_an_author_are_on_further_pages(browser: Any, ladder: HostedLadder) -> None:
    (token,) = ladder.tokens("max")
    row = "'max', 'python', '', x'00', 1, 'refused'"
    with closing(sqlite3.connect(ladder.folder / "results" / "course.db")) as kept, kept:
        kept.executemany(
            f"INSERT INTO ladder_submission (id, file, author, kind, digest, content, received, status) VALUES (?, ?, {row})",
            [(f"max-{number}", f"file-{number}.py") for number in range(25)],
        )
    with Visitor(browser, ladder, token=token) as visitor:
        page = visitor.go("/yours", "section[aria-label='file-24.py']")
        cards = page.locator("section[aria-label^='file-']")
        assert cards.count() == 20
        assert page.get_by_text("25 submissions, page 1 of 2").is_visible()
        assert page.get_by_role("button", name="Newer").is_disabled()
        page.get_by_role("button", name="Older").click()
        page.locator("section[aria-label='file-0.py']").wait_for()
        assert cards.count() == 5
        assert page.get_by_role("button", name="Older").is_disabled()
        visitor.check("older", WIDE)
        page.get_by_role("button", name="Newer").click()
        page.locator("section[aria-label='file-24.py']").wait_for()
        assert cards.count() == 20
        assert visitor.errors == []


def test_standings_are_updated_without_a_reload(browser: Any, ladder: HostedLadder, ada: str) -> None:
    """Another agent is submitted. It appears in the standings, and its number of games grows."""
    (token,) = ladder.tokens("lou")
    with Visitor(browser, ladder) as visitor:
        page = visitor.go("/", "tbody th a")
        assert page.get_by_role("link", name="lou/mine@1").count() == 0
        page.evaluate("window.kept = 1")
        key = ladder.submit(token, agent(f"{GOOD}  # lou")).body["id"]
        row = page.get_by_role("row").filter(has_text="lou/mine@1")
        row.wait_for()
        eventually(lambda: int(row.locator("td").nth(4).inner_text().replace(",", "")) > 0, page=page)
        assert page.evaluate("window.kept") == 1
        ladder.ask(f"/api/submissions/{key}/withdraw", token, b"")
        row.wait_for(state="detached")
        assert visitor.errors == []


def test_the_page_of_an_agent_shows_its_results_and_replays(browser: Any, ladder: HostedLadder, ada: str) -> None:
    """The page shows the rating curve, the score against each opponent, and a match that can be stepped through to its end."""
    with Visitor(browser, ladder) as visitor:
        page = visitor.go("/", "tbody th a")
        page.get_by_role("link", name="ada/mine@1").click()
        page.wait_for_selector("polygon.chart-band")
        met = page.get_by_role("region", name=re.compile("^opponents on")).locator("tbody th").all_inner_texts()
        assert set(met) <= {"random", "greedy", "lou/mine@1"}
        assert met
        latest = page.get_by_role("region", name="list of the latest matches").locator("tbody tr")
        results = set(latest.locator("td:nth-child(2)").all_inner_texts())
        assert results <= {"won", "lost", "drawn"}
        page.get_by_role("region", name="list of the latest matches").get_by_role("link").first.click()
        page.wait_for_selector("svg.board")
        marks = page.locator("svg.board").inner_html()
        page.keyboard.press("End")
        eventually(lambda: page.locator("svg.board").inner_html() != marks, page=page)
        page.keyboard.press("Home")
        eventually(lambda: page.locator("svg.board").inner_html() == marks, page=page)
        assert visitor.errors == []


def test_a_file_can_be_submitted_by_choosing_or_dropping_it(browser: Any, ladder: HostedLadder, tmp_path: Path) -> None:
    """Both files are accepted, and the page of their author shows the results of the checks."""
    (token,) = ladder.tokens("max")
    (tmp_path / "chosen.py").write_bytes(agent())
    with Visitor(browser, ladder) as visitor:
        page = visitor.go("/hand-in", "form[aria-label='hand in']")
        page.get_by_label("Your token").fill(token)
        page.get_by_role("button", name="Hand in").click()
        page.get_by_text("Choose a file first.").wait_for()
        page.get_by_label("The file: drop it here, or choose it").set_input_files(tmp_path / "chosen.py")
        page.get_by_text(f"chosen.py, {len(agent()):,} bytes").wait_for()
        page.get_by_role("button", name="Hand in").click()
        chosen = page.get_by_text("Accepted as").inner_text().split()[2].rstrip(".")
        data = page.evaluate_handle(
            "text => { const data = new DataTransfer(); data.items.add(new File([text], 'dropped.py')); return data; }",
            agent("return 99").decode(),
        )
        page.locator(".drop").dispatch_event("drop", {"dataTransfer": data})
        page.get_by_label("Name of the agent").fill("other")
        page.get_by_role("button", name="Hand in").click()
        accepted = page.get_by_text("Accepted as")
        eventually(lambda: accepted.count() and chosen not in accepted.inner_text(), page=page)
        assert ladder.verdict(token, chosen)["status"] == "playing"
        page.get_by_role("link", name="See its status").click()
        page.get_by_text("You are max.").wait_for()
        refused = page.get_by_role("region", name="other", exact=True)
        refused.get_by_text("first move: illegal-action").first.wait_for()
        assert "dropped.py" in refused.inner_text()
        playing = page.get_by_role("region", name="max/mine@1")
        playing.get_by_text("checks").click()
        assert playing.get_by_role("listitem").count() >= 3
        playing.get_by_role("button", name="Withdraw").click()
        playing.get_by_text("withdrawn by its author").wait_for()
        assert visitor.errors == []


def test_the_starter_file_can_be_submitted_unchanged(browser: Any, ladder: HostedLadder, tmp_path: Path) -> None:
    """A visitor registers, downloads the file and submits it on one page without a reload. Then the agent plays."""
    with Visitor(browser, ladder) as visitor:
        page = visitor.go("/hand-in", "form[aria-label='register']")
        page.get_by_label("Your name on this ladder").fill("nia")
        page.get_by_role("button", name="Register").click()
        token = page.get_by_role("form", name="register").locator("code").inner_text()
        with page.expect_download() as download:
            page.get_by_role("link", name="starter file").click()
        assert download.value.suggested_filename == "my_agent.py"
        download.value.save_as(tmp_path / "my_agent.py")
        page.get_by_label("The file: drop it here, or choose it").set_input_files(tmp_path / "my_agent.py")
        page.get_by_role("button", name="Hand in").click()
        key = page.get_by_text("Accepted as").inner_text().split()[2].rstrip(".")
        told = ladder.verdict(token, key)
        assert (told["status"], told["agent"]) == ("playing", "nia/my-agent@1"), told
        page.get_by_label("Your name on this ladder").fill("nia")
        page.get_by_role("button", name="Register").click()
        page.get_by_text("the name nia is taken").wait_for()
    assert ladder.ask(f"/api/submissions/{key}/withdraw", token, b"").status == 200  # so that later seasons do not start it


def test_an_agent_can_be_submitted_with_the_keyboard_only(browser: Any, ladder: HostedLadder, tmp_path: Path) -> None:
    """The test starts at the standings and uses Tab, Enter and Space."""
    (token,) = ladder.tokens("oda")
    (tmp_path / "mine.py").write_text("x = 1")  # the check refuses it soon, so that it plays no matches
    with Visitor(browser, ladder) as visitor:
        page = visitor.go("/", "tbody th a")
        _tab_to(page, "document.activeElement.textContent === 'Hand in an agent'")
        page.keyboard.press("Enter")
        page.wait_for_selector("form[aria-label='hand in']")
        _tab_to(page, "document.activeElement.type === 'password'")
        page.keyboard.type(token)
        _tab_to(page, "document.activeElement.type === 'file'")
        with page.expect_file_chooser() as chooser:
            page.keyboard.press("Space")
        chooser.value.set_files(tmp_path / "mine.py")
        _tab_to(page, "document.activeElement.textContent === 'Hand in' && document.activeElement.type === 'submit'")
        page.keyboard.press("Enter")
        key = page.get_by_text("Accepted as").inner_text().split()[2].rstrip(".")
        assert ladder.verdict(token, key)["file"] == "mine.py"


def test_an_author_reads_the_log_of_a_submission(browser: Any, ladder: HostedLadder, ada: str) -> None:
    """The log of a refused agent is open beside the reason. The log of an active agent is loaded when it is opened."""
    with Visitor(browser, ladder, NARROW, ada) as visitor:
        page = visitor.go("/yours", "section[aria-label='ada/mine@1']")
        refused = page.get_by_role("region", name="mine.py", exact=True)
        refused.get_by_text("going out of bounds").wait_for()
        assert "first move: illegal-action" in refused.locator(".fault").inner_text()
        playing = page.get_by_role("region", name="ada/mine@1")
        assert playing.locator("pre").count() == 0
        playing.get_by_text("Log").focus()
        page.keyboard.press("Enter")
        eventually(lambda: playing.locator("pre").inner_text().rstrip().endswith("a move"), page=page)
        playing.get_by_text("The agent has not lost any match through its own fault.").wait_for()
        page.get_by_label("Your token").fill("")
        page.get_by_text("Your token opens this page.").wait_for()
        assert page.locator("pre").count() == 0
        page.get_by_label("Your token").fill(ada)
        playing.get_by_text("a move").wait_for()
        visitor.check("log", NARROW)


def test_a_wrong_token_is_refused(browser: Any, ladder: HostedLadder) -> None:
    """No submissions are shown."""
    with Visitor(browser, ladder, token="wrong") as visitor:
        page = visitor.go("/yours", ".fault")
        page.get_by_text("this token is unknown").wait_for()
        assert page.locator("details").count() == 0


def test_a_link_in_a_mail_shows_a_token_once(browser: Any, ladder: HostedLadder) -> None:
    """The page of the mail is on another site. The page of the link requests the token only when the button is pressed, and then
    links to the form for submissions.
    """
    ladder.tokens("zoe")
    _, row = ladder.admin("links", "zoe", "--to", ladder.url).stdout.splitlines()
    path = row.rpartition(",")[2].removeprefix(ladder.url)
    with Visitor(browser, ladder, NARROW) as visitor:
        page = visitor.page
        mail = f'<a href="{ladder.url}{path}">your token</a>'
        page.route("http://mail.example/**", lambda route: route.fulfill(body=mail, content_type="text/html"))
        page.goto("http://mail.example/")
        page.get_by_role("link", name="your token").click()
        page.get_by_role("button", name="Show my token").click()
        page.get_by_text("The token of zoe:").wait_for()
        visitor.check("claim", NARROW, WIDE)
        token = page.locator("code").inner_text()
        assert "#" not in page.url
        page.get_by_role("link", name="Hand in an agent").click()
        assert page.get_by_label("Your token").input_value() == token
        command = page.get_by_label("how to begin").locator("code").first.inner_text()
        assert command.startswith(f"pip install {ladder.url}/dist/fairarena-")
        assert ladder.ask("/api/submissions", token).status == 200
    with Visitor(browser, ladder, NARROW) as visitor:
        page = visitor.go(path, "section[aria-label='your token']")
        page.get_by_role("button", name="Show my token").click()
        page.get_by_text("has already been used").wait_for()


def test_the_host_repeats_a_check_on_the_page(browser: Any, ladder: HostedLadder, ada: str) -> None:
    """The host finds the refused file, reads its code and log, repeats the check, and sends the author a message."""
    host = ladder.admin("host-token").stdout.strip()
    with Visitor(browser, ladder, NARROW, ada, host) as visitor:
        page = visitor.go("/host", "section[aria-label='submissions'] tbody tr")
        page.get_by_label("Status").select_option("refused")
        visitor.check("host", NARROW, WIDE)
        page.get_by_role("button", name="ada/mine.py").first.click()
        card = page.get_by_role("region", name="ada/mine.py", exact=True)
        card.get_by_text("Log", exact=True).click()
        card.get_by_text("Code", exact=True).click()
        assert "going out of bounds" in card.get_by_label("output of the agent").inner_text()
        assert "print('going out of bounds'); return 99" in card.get_by_label("mine.py").inner_text()
        text = "It plays 99, and a board has nine squares."
        card.get_by_label("A new message").fill(text)
        visitor.check("host-detail", NARROW, WIDE)
        card.get_by_role("button", name="Send").click()
        card.get_by_text("The message was sent.").wait_for()
        card.get_by_role("button", name="Check again").click()
        card.get_by_text("The submission is waiting for its check.").wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download code and logs").click()
        with zipfile.ZipFile(download.value.path()) as archive:
            assert "index.csv" in archive.namelist()
        visitor.go("/yours", "section[aria-label='messages from the host']")
        page.get_by_text(text).wait_for()
        visitor.check("yours-message", NARROW, WIDE)
        page.goto(f"{ladder.url}/host")
        page.get_by_label("The host's token").fill(ada)
        page.get_by_text("this is not the token of the host").wait_for()
        assert page.locator("tbody tr").count() == 0


def _tab_to(page: Any, condition: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate(condition):
            return
    raise AssertionError(f"no tab leads to {condition}")
