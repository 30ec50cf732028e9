"""The pages of a ladder in a real browser: wide and narrow, light and dark, by mouse and by keyboard."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extensions.ladder.hosting import GOOD, SPEC, HostedLadder, agent

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

SHOTS = Path(__file__).parents[3] / "build" / "screenshots"
WIDE, NARROW = 1200, 390


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostedLadder]:
    """A ladder on which ada has an agent that plays, and one that was refused."""
    spec = SPEC.replace("interval: 60", "interval: 150")  # it soon rests, so that the tests do not pay for its matches
    with HostedLadder(tmp_path_factory.mktemp("pages"), spec) as hosted:
        yield hosted


@pytest.fixture(scope="module")
def ada(ladder: HostedLadder) -> str:
    """The token of ada, whose agent has met somebody."""
    (token,) = ladder.tokens("ada")
    for content in (agent("print('a move'); " + GOOD), agent("print('going out of bounds'); return 99")):
        ladder.verdict(token, ladder.submit(token, content).body["id"])
    until = time.monotonic() + 60
    while len(ladder.ask("/api/agents/ada/mine@1").body.get("course", ())) < 2:
        assert time.monotonic() < until
        time.sleep(0.1)
    return token


class Visitor:
    """A browser of somebody, with a token or none."""

    def __init__(self, browser: Any, ladder: HostedLadder, width: int = WIDE, token: str | None = None) -> None:
        self._ladder = ladder
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, reduced_motion="reduce", accept_downloads=True
        )
        if token is not None:
            self.context.add_init_script(f"sessionStorage.setItem('arena-ladder-token', '{token}')")
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
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

    def check(self, name: str, width: int) -> None:
        """Keep a picture in each theme; nothing overflows, axe finds nothing, nothing was complained of."""
        from axe_playwright_python.sync_playwright import Axe

        for theme in ("light", "dark"):
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
def test_pages_are_sound_in_light_and_dark(browser: Any, ladder: HostedLadder, ada: str, width: int) -> None:
    """All five of them: axe has no findings, and nothing is wider than the screen."""
    key = ladder.ask("/api/t/ladder/matches?agent=ada%2Fmine%401").body["matches"][0]["id"]
    with Visitor(browser, ladder, width, ada) as visitor:
        for name, (path, shown) in PAGES.items():
            visitor.go(path.replace("{id}", key), shown)
            visitor.check(name, width)


def test_standings_change_while_one_looks(browser: Any, ladder: HostedLadder, ada: str) -> None:
    """Somebody hands in an agent; it comes and its games grow without a reload."""
    (token,) = ladder.tokens("lou")
    with Visitor(browser, ladder) as visitor:
        page = visitor.go("/", "tbody th a")
        assert page.get_by_role("link", name="lou/mine@1").count() == 0
        page.evaluate("window.kept = 1")
        key = ladder.submit(token, agent(f"{GOOD}  # lou")).body["id"]
        row = page.get_by_role("row").filter(has_text="lou/mine@1")
        row.wait_for()
        _until(page, lambda: int(row.locator("td").nth(4).inner_text().replace(",", "")) > 0)
        assert page.evaluate("window.kept") == 1
        ladder.ask(f"/api/submissions/{key}/withdraw", token, b"")
        row.wait_for(state="detached")
        assert visitor.errors == []


def test_the_page_of_an_agent_and_its_replay(browser: Any, ladder: HostedLadder, ada: str) -> None:
    """Its course with the band, its score against each, and a match that can be stepped through to the end."""
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
        _until(page, lambda: page.locator("svg.board").inner_html() != marks)
        page.keyboard.press("Home")
        _until(page, lambda: page.locator("svg.board").inner_html() == marks)
        assert visitor.errors == []


def test_a_file_is_handed_in_by_choosing_and_by_dropping(browser: Any, ladder: HostedLadder, tmp_path: Path) -> None:
    """Both are taken, and the ladder says what became of them on the page of their author alone."""
    (token,) = ladder.tokens("max")
    (tmp_path / "chosen.py").write_bytes(agent())
    with Visitor(browser, ladder) as visitor:
        page = visitor.go("/hand-in", "form[aria-label='hand in']")
        page.get_by_label("Your token").fill(token)
        page.get_by_role("button", name="Hand in").click()
        page.get_by_text("No file: choose one first.").wait_for()
        page.get_by_label("The file, dropped here or chosen").set_input_files(tmp_path / "chosen.py")
        page.get_by_text(f"chosen.py, {len(agent()):,} bytes").wait_for()
        page.get_by_role("button", name="Hand in").click()
        chosen = page.get_by_text("Taken as").inner_text().split()[2].rstrip(".")
        data = page.evaluate_handle(
            "text => { const data = new DataTransfer(); data.items.add(new File([text], 'dropped.py')); return data; }",
            agent("return 99").decode(),
        )
        page.locator(".drop").dispatch_event("drop", {"dataTransfer": data})
        page.get_by_label("Its name").fill("other")
        page.get_by_role("button", name="Hand in").click()
        _until(page, lambda: page.get_by_text("Taken as").count() and chosen not in page.get_by_text("Taken as").inner_text())
        assert ladder.verdict(token, chosen)["status"] == "playing"
        page.get_by_role("link", name="See what becomes of it").click()
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


def test_the_starter_file_plays_here(browser: Any, ladder: HostedLadder, tmp_path: Path) -> None:
    """Who registers, takes it and hands it in has an agent in play: all of it on one page, without a reload."""
    with Visitor(browser, ladder) as visitor:
        page = visitor.go("/hand-in", "form[aria-label='register']")
        page.get_by_label("Your name here").fill("nia")
        page.get_by_role("button", name="Register").click()
        token = page.get_by_role("form", name="register").locator("code").inner_text()
        with page.expect_download() as download:
            page.get_by_role("link", name="starter file").click()
        assert download.value.suggested_filename == "my_agent.py"
        download.value.save_as(tmp_path / "my_agent.py")
        page.get_by_label("The file, dropped here or chosen").set_input_files(tmp_path / "my_agent.py")
        page.get_by_role("button", name="Hand in").click()
        key = page.get_by_text("Taken as").inner_text().split()[2].rstrip(".")
        told = ladder.verdict(token, key)
        assert (told["status"], told["agent"]) == ("playing", "nia/my-agent@1"), told
        page.get_by_label("Your name here").fill("nia")
        page.get_by_role("button", name="Register").click()
        page.get_by_text("the name nia is taken").wait_for()


def test_an_agent_is_handed_in_by_keyboard_alone(browser: Any, ladder: HostedLadder, tmp_path: Path) -> None:
    """From the standings by tabs, Enter and Space."""
    (token,) = ladder.tokens("oda")
    (tmp_path / "mine.py").write_bytes(agent())
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
        key = page.get_by_text("Taken as").inner_text().split()[2].rstrip(".")
        assert ladder.verdict(token, key)["agent"] == "oda/mine@1"


def test_an_author_reads_the_log_of_what_he_handed_in(browser: Any, ladder: HostedLadder, ada: str) -> None:
    """That of a refused one is open beside its reason; that of one that plays is read when it is opened, and stays open."""
    with Visitor(browser, ladder, NARROW, ada) as visitor:
        page = visitor.go("/yours", "section[aria-label='ada/mine@1']")
        refused = page.get_by_role("region", name="mine.py", exact=True)
        refused.get_by_text("going out of bounds").wait_for()
        assert "first move: illegal-action" in refused.locator(".fault").inner_text()
        playing = page.get_by_role("region", name="ada/mine@1")
        assert playing.locator("pre").count() == 0
        playing.get_by_text("Log").focus()
        page.keyboard.press("Enter")
        _until(page, lambda: playing.locator("pre").inner_text().rstrip().endswith("a move"))
        playing.get_by_text("It has lost no match by its own fault.").wait_for()
        page.get_by_label("Your token").fill("")
        page.get_by_text("Your token opens this page.").wait_for()
        assert page.locator("pre").count() == 0
        page.get_by_label("Your token").fill(ada)
        playing.get_by_text("a move").wait_for()
        visitor.check("log", NARROW)


def test_a_wrong_token_is_told(browser: Any, ladder: HostedLadder) -> None:
    """And nobody's submissions are shown."""
    with Visitor(browser, ladder, token="wrong") as visitor:
        page = visitor.go("/yours", ".fault")
        page.get_by_text("this token is not known").wait_for()
        assert page.locator("details").count() == 0


def _tab_to(page: Any, condition: str) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate(condition):
            return
    raise AssertionError(f"no tab leads to {condition}")


def _until(page: Any, condition: Any) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        page.wait_for_timeout(50)
