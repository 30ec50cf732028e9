"""The pages are used in a real browser, at several widths, in light and dark, by mouse and by keyboard."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.eventually import eventually

WIDE = 1280


@pytest.fixture
def visit(browser: Any, server: Any, visiting: Any) -> Iterator[Any]:
    """Open a page on a narrow screen. Its checks are made on a wide screen too."""
    made = visiting(browser, server.address, 375)
    yield made
    made.end()


@pytest.fixture
def desktop(browser: Any, server: Any, visiting: Any) -> Iterator[Any]:
    """Open a page on a wide screen, for tests that do not depend on the width."""
    made = visiting(browser, server.address, WIDE)
    yield made
    made.end()


def until(page: Any, condition: str) -> None:
    """Wait for a condition of the page. Playwright's own wait evaluates text in the page, which the policy of the pages
    forbids.
    """
    eventually(lambda: page.evaluate(condition), lambda: f"{condition}\n{page.locator('body').inner_text()}", page=page)


def board(page: Any) -> Any:
    return page.locator("svg.board").first


def test_the_leaderboard_links_to_its_matches(visit: Any, server: Any) -> None:
    page = visit.go("/")
    page.wait_for_selector(".leaderboard")
    assert page.locator("h1").inner_text() == "Small <b>cup</b>"
    assert page.get_by_role("link", name="<script>").count() >= 1
    overall = page.get_by_role("region", name="overall", exact=True)
    assert overall.locator("thead th").all_inner_texts() == [
        "Agent",
        *[one["title"] for one in server.ask("/api/t/cup").json["boards"]],
    ]
    assert sorted(overall.locator("tbody th").all_inner_texts()) == ["<script>window.hit = 1</script>", "lookahead", "random"]
    rows = server.ask("/api/t/cup").json["boards"][0]["rows"]
    shown = page.locator(".leaderboard").first.locator(".interval span").all_inner_texts()
    assert len(shown) == len(rows)
    for words, one in zip(shown, rows, strict=True):
        bounds = [round(one[key]) for key in ("rating_low", "rating_high") if one[key] is not None]
        assert [int(part) for part in re.findall(r"[+-]\d+", words.replace("\N{MINUS SIGN}", "-"))] == bounds
        assert words.startswith("above") == (one["rating_high"] is None)
    tips = sum(one[key] is None for one in rows for key in ("rating_low", "rating_high"))
    assert page.locator(".leaderboard").first.locator(".interval-tip").count() == tips
    heads = page.locator(".cross").first.locator("thead th")
    assert heads.all_inner_texts() == ["1", "2", "3"]
    assert [head.get_attribute("title") for head in heads.all()] == [one["agent"] for one in rows]
    visit.check(WIDE)
    page.get_by_role("link", name="All matches").click()
    page.wait_for_selector("tbody tr")
    assert page.get_by_role("status").inner_text().startswith("72 matches")
    visit.check(WIDE)


def test_numbers_show_all_digits_before_the_decimal_point(desktop: Any) -> None:
    """Digits after the point are rounded, but zeros before the point are always shown."""
    page = desktop.go("/")
    figures = [0, 0.01234567, 1, 7.5, 10, 100, 159.93, 200, 990, 999.96, 1000, 12345.6, None]
    shown = page.evaluate(
        "(values) => import('/static/dom.js').then(({ figure }) => values.map((value) => figure(value)))", figures
    )  # fmt: skip
    assert shown == ["0", "0.0123", "1", "7.5", "10", "100", "160", "200", "990", "1,000", "1,000", "12,346", "-"]


def test_a_match_is_replayed(visit: Any) -> None:
    page = visit.go("/t/cup/matches?board=0")
    page.locator("tbody a").first.click()
    page.wait_for_selector("svg.board")
    last = len(page.locator(".move").all()) - 1
    status = page.locator(".status")
    assert status.inner_text() == "start"
    page.keyboard.press("ArrowRight")
    assert status.inner_text().startswith("1. ")
    assert page.locator(".layer-pieces > *").count() == 1
    page.keyboard.press("End")
    assert status.inner_text().startswith(f"{last}. ")
    assert page.locator(".layer-pieces > *").count() == last
    page.keyboard.press("Home")
    assert status.inner_text() == "start"
    page.get_by_role("button", name="forward").click()
    page.locator(".move").nth(2).click()
    assert status.inner_text().startswith("2. ")
    assert page.get_by_role("slider").input_value() == "2"
    visit.check(WIDE)


def test_a_person_plays_against_an_agent(visit: Any) -> None:
    page = visit.go("/play")
    turn = page.locator(".turn")
    page.get_by_role("button", name="row 2, column 2").click()
    until(page, "document.querySelectorAll('.layer-pieces > *').length === 2")
    assert turn.inner_text() == "Your turn"
    page.get_by_role("button", name="Hint").click()
    page.wait_for_selector(".hinted")
    visit.check(WIDE)


def test_a_click_before_a_new_game_starts_is_ignored(desktop: Any) -> None:
    """The old board is still visible, and a move on it would replace the new game."""
    page = desktop.go("/play")
    page.locator(".target").first.click()
    page.locator(".move").nth(2).wait_for()  # the start, the person's move and the reply
    held: list[Any] = []
    page.route("**/api/position", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
    page.get_by_role("button", name="New game").click()
    eventually(lambda: held, page=page)
    page.locator(".target").first.click()
    page.locator(".legal-move").first.click()
    held.pop().continue_()
    until(page, "document.querySelectorAll('.move').length === 1")
    assert page.locator(".turn").inner_text() == "Your turn"


def test_a_puzzle_is_solved(visit: Any) -> None:
    page = visit.go("/puzzles")
    page.wait_for_selector(".target")
    page.get_by_role("textbox", name="Position").fill("1 2 3 / 4 5 6 / . 7 8")
    page.get_by_role("button", name="Set up").click()
    until(page, "document.querySelector('svg.board').getAttribute('aria-label').endsWith('blank 7 8')")
    page.get_by_role("button", name="Solve", exact=True).click()
    page.wait_for_selector(".status:has-text('2. a-star: 8')")
    assert page.locator(".turn").inner_text() == "Solved"
    assert page.locator(".figures").inner_text().split("\n")[:4] == ["Result", "solved", "Moves", "2"]
    assert board(page).get_attribute("aria-label").endswith("1 2 3, 4 5 6, 7 8 blank")
    visit.check(WIDE)


def test_two_agents_solve_side_by_side(visit: Any) -> None:
    page = visit.go("/puzzles")
    page.get_by_label("Game", exact=True).select_option("n-queens")
    page.wait_for_selector(".board-n-queens")
    page.get_by_label("Compare two agents").check()
    until(page, "document.querySelectorAll('svg.board').length === 2")
    page.get_by_role("button", name="Solve both").click()
    until(page, "document.querySelectorAll('.panel .figures dt').length >= 10")
    named = [panel.locator(".figures dt").all_inner_texts()[1] for panel in page.locator(".panel").all()]
    assert named[0] == "Steps", "min-conflicts returns an answer and reports its steps"
    for panel in page.locator(".panel").all():
        panel.locator(".move").last.click()
        label = panel.locator("svg.board").get_attribute("aria-label")
        assert label == "n queens: 8 queens on a board of 8 by 8, no two attack each other"
    visit.check(WIDE)


def test_a_game_without_a_board_is_shown_as_text_on_the_same_page(visit: Any) -> None:
    page = visit.go("/play")
    page.get_by_label("Game", exact=True).select_option("pebbles")
    page.get_by_role("button", name="New game").click()
    page.wait_for_selector("[aria-busy]", state="detached")
    page.wait_for_selector(".board-text")
    assert page.locator(".board-text").inner_text() == "o o o o o <b>left</b>"
    page.get_by_role("group", name="legal moves").get_by_role("button", name="2").click()
    until(page, "document.querySelectorAll('tbody tr').length === 3")
    visit.check(WIDE)


def test_every_board_is_drawn(visit: Any) -> None:
    page = visit.go("/play")
    for game in ("connect-four", "othello"):
        page.get_by_label("Game", exact=True).select_option(game)
        page.get_by_role("button", name="New game").click()
        page.wait_for_selector("[aria-busy]", state="detached")
        page.wait_for_selector(f"svg.board-{game} .target")
        page.locator(".target").nth(2).click()
        until(page, "document.querySelectorAll('tbody tr').length === 3")
        visit.check(WIDE)
    page = visit.go("/puzzles")
    page.wait_for_selector(".target")
    page.get_by_label("Game", exact=True).select_option("sudoku")
    page.wait_for_selector("svg.board-sudoku .target")
    page.get_by_role("button", name="Solve", exact=True).click()
    page.wait_for_selector(".figures dt")
    page.locator(".move").last.click()
    assert board(page).get_attribute("aria-label") == "sudoku: 81 of 81 cells are filled"
    assert page.locator(".digit-given").count() >= 30
    visit.check(WIDE)


def test_a_whole_game_is_played_by_keyboard(desktop: Any) -> None:
    page = desktop.go("/play")
    page.wait_for_selector(".target")
    page.get_by_label("Seat 2").select_option("")
    page.get_by_role("button", name="New game").click()
    page.wait_for_selector("[aria-busy]", state="detached")
    page.wait_for_selector(".turn:has-text('to move')")
    page.locator(".target[tabindex='0']").focus()
    for keys in (
        ["Enter"],
        ["ArrowDown", "Enter"],
        ["ArrowUp", "Enter"],
        ["ArrowDown", "Space"],
        ["ArrowUp", "ArrowRight", "Enter"],
    ):
        before = page.locator(".layer-pieces > *").count()
        for key in keys:
            page.keyboard.press(key)
        until(page, f"document.querySelectorAll('.layer-pieces > *').length === {before + 1}")
        until(page, "document.activeElement.closest('svg') !== null || document.querySelector('.target') === null")
    assert page.locator(".layer-pieces > *").count() == 5


def test_each_seat_takes_any_player_and_two_agents_can_be_watched(desktop: Any) -> None:
    page = desktop.go("/play")
    page.wait_for_selector(".target")
    page.get_by_label("Seat 1").select_option("random")
    page.get_by_label("Seat 2").select_option("")
    page.get_by_role("button", name="New game").click()
    page.wait_for_selector("[aria-busy]", state="detached")
    until(page, "document.querySelectorAll('.layer-pieces > *').length === 1")
    page.wait_for_selector(".turn:has-text('Your turn')")
    page.get_by_label("Seat 2").select_option("greedy")
    page.get_by_role("button", name="New game").click()
    page.wait_for_selector("[aria-busy]", state="detached")
    until(page, "/wins|draw/.test(document.querySelector('.turn').textContent)")
    pieces = page.locator(".layer-pieces > *").count()
    assert pieces >= 5
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(".turn:has-text('paused')")
    assert page.locator(".layer-pieces > *").count() < pieces


def test_a_game_is_restored_after_a_reload_and_by_a_link(desktop: Any) -> None:
    page = desktop.go("/play")
    page.wait_for_selector(".target")
    page.get_by_label("columns").fill("4")
    page.get_by_label("Seat 2").select_option("lookahead")
    page.get_by_label("depth").fill("1")
    page.get_by_role("button", name="New game").click()
    page.wait_for_selector("[aria-busy]", state="detached")
    until(page, "document.querySelectorAll('.target').length === 12")
    page.get_by_role("button", name="row 2, column 2").click()
    until(page, "document.querySelectorAll('.layer-pieces > *').length === 2")
    page.wait_for_selector(".turn:has-text('Your turn')")
    before = board(page).get_attribute("aria-label")
    link = page.url
    page.reload()
    until(page, "document.querySelectorAll('.layer-pieces > *').length === 2")
    assert board(page).get_attribute("aria-label") == before
    assert page.get_by_label("Seat 2").input_value() == "lookahead"
    assert page.get_by_label("depth").input_value() == "1"
    page.get_by_role("link", name="Puzzles").click()
    page.wait_for_selector(".board-sliding-tiles")
    page.go_back()
    until(page, "document.querySelectorAll('.layer-pieces > *').length === 2")
    page.goto(link.replace("lookahead", "no-such"))
    page.wait_for_selector(".fault:has-text('\"no-such\" is not an agent for tic-tac-toe')")
    until(page, "document.querySelectorAll('.target').length === 9")
    page.goto(link.partition("#")[0] + "#%7B%22x")
    page.wait_for_selector(".fault:has-text('uses its defaults')")
    assert desktop.errors == []


def test_a_puzzle_and_its_form_are_restored_after_a_reload(desktop: Any) -> None:
    page = desktop.go("/puzzles")
    page.wait_for_selector(".target")
    page.get_by_role("textbox", name="Position").fill("1 2 3 / 4 5 6 / . 7 8")
    page.get_by_role("button", name="Set up").click()
    page.wait_for_selector("svg.board[aria-label$='blank 7 8']")
    page.get_by_role("button", name="slide tile 7").click()
    page.get_by_label("Agent", exact=True).select_option("ida-star")
    page.wait_for_selector(".status:has-text('1. you: 7')")
    page.reload()
    page.wait_for_selector(".status:has-text('1. you: 7')")
    assert board(page).get_attribute("aria-label").endswith("7 blank 8")
    assert page.get_by_role("textbox", name="Position").input_value() == "1 2 3 / 4 5 6 / . 7 8"
    assert page.get_by_label("Agent", exact=True).input_value() == "ida-star"
    assert desktop.errors == []


def test_a_puzzle_has_steps_hints_and_undo(desktop: Any) -> None:
    page = desktop.go("/puzzles")
    page.wait_for_selector(".target")
    page.get_by_role("textbox", name="Position").fill("1 2 3 / 4 5 6 / . 7 8")
    page.get_by_role("button", name="Set up").click()
    until(page, "document.querySelector('svg.board').getAttribute('aria-label').endsWith('blank 7 8')")
    page.get_by_role("button", name="Hint").click()
    page.wait_for_selector(".turn:has-text('Hint: 7')")
    page.get_by_role("button", name="slide tile 7").click()
    until(page, "document.querySelector('svg.board').getAttribute('aria-label').endsWith('7 blank 8')")
    page.get_by_role("button", name="Undo").click()
    until(page, "document.querySelector('svg.board').getAttribute('aria-label').endsWith('blank 7 8')")
    page.get_by_role("button", name="Step").click()
    until(page, "document.querySelector('svg.board').getAttribute('aria-label').endsWith('7 blank 8')")
    page.get_by_role("textbox", name="Position").fill("1 2 3 / 4 . 6 / 7 5 8")
    page.get_by_role("button", name="Set up").click()
    until(page, "document.querySelector('svg.board').getAttribute('aria-label').endsWith('7 5 8')")
    page.get_by_role("button", name="Step").click()
    until(page, "document.querySelector('svg.board').getAttribute('aria-label').endsWith('7 blank 8')")
    assert page.locator(".turn").inner_text().startswith("Move 1 of 2 (solution by ")  # not solved yet
    page.get_by_role("button", name="Step").click()
    page.wait_for_selector(".turn:text-is('Solved')")
    page.get_by_role("textbox", name="Position").fill("1 2 3 / 4 5 6 / 8 7 .")
    page.get_by_role("button", name="Set up").click()
    page.wait_for_selector(".fault:has-text('unsolvable')")
    assert desktop.errors == ["Failed to load resource: the server responded with a status of 400 (Bad Request)"]


def test_queens_that_attack_each_other_are_connected_by_lines(desktop: Any) -> None:
    page = desktop.go("/puzzles")
    page.wait_for_selector(".target")
    page.get_by_label("Game", exact=True).select_option("n-queens")
    page.wait_for_selector(".board-n-queens")
    page.get_by_role("textbox", name="Position").fill("1 2 3 8 8")
    page.get_by_role("button", name="Set up").click()
    page.wait_for_selector(".attack", state="attached")
    assert page.locator(".attack").count() == 3  # 1-2 and 2-3 on a diagonal, 8-8 on a row; between 1 and 3 is a queen
    assert page.locator(".queen-attacked").count() == 5


def test_the_page_of_a_running_tournament_is_updated_without_a_reload(
    serve: Callable[..., Any], browser: Any, visiting: Any, tmp_path: Path
) -> None:
    spec = "name: Grown\ngame: connect-four\nrounds: 30000\nagents: [random, greedy, {agent: lookahead, depth: 1}]\n"
    (tmp_path / "grown.yaml").write_text(spec + "limits: {nodes: 300}\n")  # slow enough not to end before it is stopped
    with serve(tmp_path, "grown.yaml") as server:
        desktop = visiting(browser, server.address, WIDE)
        watch_growth(desktop)
        desktop.end()


def watch_growth(desktop: Any) -> None:
    """Watch the page of a running tournament, and stop the tournament."""
    page = desktop.go("/t/grown")
    page.evaluate("window.kept = true")
    page.wait_for_selector(".tag:has-text('running')")
    until(page, "document.querySelector('progress').value > 20")
    page.get_by_role("region", name="cross-table of connect-four").focus()
    first = page.evaluate("document.querySelector('progress').value")
    until(page, f"document.querySelector('progress').value > {first}")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "cross-table of connect-four"
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector(".tag:has-text('interrupted')")
    assert page.evaluate("window.kept") is True
    assert desktop.errors == []


def test_the_start_page_without_a_store_links_to_play_and_puzzles(
    serve: Callable[..., Any], browser: Any, visiting: Any, tmp_path: Path
) -> None:
    with serve(tmp_path) as server:
        made = visiting(browser, server.address, WIDE)
        page = made.go("/")
        page.wait_for_selector(".door")
        assert page.locator(".door h2").all_inner_texts() == ["Play", "Puzzles"]
        made.check(375)
        made.end()


def follow(page: Any, address: str) -> int:
    """Click on a link to an address, and return the status of the answer."""
    page.evaluate("(address) => { document.querySelector('a').href = address; }", address)
    with page.expect_navigation() as opened:
        page.get_by_role("link").click()
    return int(opened.value.status)


@pytest.fixture
def mail(browser: Any) -> Iterator[Any]:
    """A page with a link, on a site that only this browser knows."""
    context = browser.new_context()
    page = context.new_page()
    words = "<a href='/'>a link</a>"
    page.route(
        re.compile(r"//(mail\.example|127\.0\.0\.1:18080)/"), lambda route: route.fulfill(body=words, content_type="text/html")
    )
    yield page
    context.close()


LOAD = """([kind, address]) => new Promise((done) => {
  const one = document.createElement(kind);
  one.onload = () => done("loaded");
  one.onerror = () => done("refused");
  one.src = address;
  document.body.append(one);
})"""


@pytest.mark.parametrize("site", ["http://mail.example/", "http://127.0.0.1:18080/"])
def test_a_link_on_another_site_opens_a_page(mail: Any, server: Any, site: str) -> None:
    """The other site can neither read nor frame it, nor let an agent play."""
    mail.goto(site)
    assert mail.evaluate(LOAD, ["img", f"{server.address}static/icon.svg"]) == "refused"
    assert mail.evaluate("(address) => fetch(address).then(() => 'read', () => 'refused')", server.address) == "refused"
    mail.evaluate(LOAD, ["iframe", f"{server.address}t/cup"])
    assert mail.frames[1].url == "chrome-error://chromewebdata/"
    for path, status in (("api/tournaments", 403), ("play", 403), ("t/cup", 200)):
        mail.goto(site)
        assert follow(mail, server.address + path) == status
    mail.wait_for_selector(".leaderboard")


def test_a_link_with_a_token_opens_a_page_from_another_site(mail: Any, serve: Any, place: Path) -> None:
    """The browser then keeps the token, so that later links need none."""
    with serve(place, "cup.db", "--host", "0.0.0.0") as server:
        plain = server.address.partition("?")[0]
        for address, status in ((plain, 401), (server.address, 200), (f"{plain}t/cup/matches", 200)):
            mail.goto("http://mail.example/")
            assert follow(mail, address) == status
            assert "token" not in mail.url
        mail.goto("http://mail.example/")
        for name in ("Play", "Puzzles"):
            address = f"{plain}{name.lower()}"
            assert follow(mail, address) == 403, name
            mail.goto(plain)  # as if the user had typed it
            with mail.expect_response(address) as found:
                mail.get_by_role("link", name=name, exact=True).first.click()
            assert found.value.status == 200, name
            mail.goto("http://mail.example/")
        with mail.expect_popup() as opened:
            mail.evaluate("(address) => void (window.other = open(address))", plain)
        opened.value.get_by_role("link", name="Play", exact=True).first.click()
        opened.value.wait_for_selector(".board-first .card")
        wait = "new Promise((done) => addEventListener('hashchange', () => setTimeout(done, 500, 'the same page')))"
        opened.value.evaluate(f"() => void (window.changed = {wait})")
        mail.evaluate("(address) => void (window.other.location = address)", f"{plain}play#{{}}")
        assert opened.value.evaluate("window.changed") == "the same page", "it was not loaded again with settings of the other"
        opened.value.close()
        mail.goto("http://mail.example/")
        assert mail.evaluate(LOAD, ["img", f"{plain}static/icon.svg"]) == "refused"
