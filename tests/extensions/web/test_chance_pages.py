"""Games with dice, hidden cards and scores are played in a real browser. Outcomes of chance stay fixed, and hidden cards stay
hidden.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from arena import run
from tests.eventually import eventually


@pytest.fixture(scope="module")
def table(serve: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Run a server for a store with a match of pig and matches of Kuhn poker with both orders of seats."""
    folder = tmp_path_factory.mktemp("table")
    agents = ["random", {"agent": "random", "label": "other"}]
    run({"name": "cup", "games": ["pig", "kuhn-poker"], "rounds": 1, "agents": agents}, store=folder / "cup.db")
    with serve(folder, "cup.db") as running:
        yield running


@pytest.fixture
def page(browser: Any, table: Any, visiting: Any) -> Iterator[Any]:
    """Open a page, and assert at the end that its console is empty."""
    made = visiting(browser, table.address, 1000)
    yield made.go("/play?game=pig")
    assert made.errors == []
    made.end()


def said(page: Any) -> str:
    return str(page.locator(".status").inner_text())


def turn(page: Any) -> str:
    return str(page.locator(".turn").inner_text())


def sit(page: Any, game: str, *agents: str) -> None:
    """Start a game with these agents. An empty name means a person."""
    page.get_by_label("Game", exact=True).select_option(game)
    for seat, agent in enumerate(agents, 1):
        page.get_by_label(f"Seat {seat}").select_option(agent)
    with page.expect_response("**/api/position"):
        page.get_by_role("button", name="New game").click()
        page.wait_for_selector("[aria-busy]", state="detached")
    eventually(lambda: page.locator(".curtain:visible" if agents.count("") > 1 else f"svg.board-{game}").count(), page=page)


def play(page: Any, action: str) -> None:
    page.locator(".legal-move", has_text=re.compile(f"^{action}$")).click()


def described(page: Any, pattern: str) -> list[Any]:
    """Return the matches of a pattern in the description of the board."""
    return re.findall(pattern, str(page.locator("svg.board").get_attribute("aria-label")))


def cards(page: Any) -> tuple[str, str]:
    """Return both cards of Kuhn poker as the board describes them. An unknown card is `a card`."""
    first, second = described(page, r"[ab] holds (a card|[JQK])")
    return first, second


def test_a_die_shows_the_same_number_after_undo_and_reload(page: Any) -> None:
    page.wait_for_selector(".board-pig")
    sit(page, "pig", "", "hold-at")
    play(page, "roll")
    eventually(lambda: said(page).startswith("1. You: roll; chance: "), page=page)
    first, board = said(page), page.locator("svg.board").get_attribute("aria-label")
    face = int(first[-1])
    if face == 1:
        eventually(lambda: turn(page) == "Your turn" and not said(page).startswith("1."), page=page)
    else:
        assert page.locator(".pip").count() == face
        assert f"a has gathered {face}" in board
    page.get_by_role("button", name="Undo").click()
    eventually(lambda: said(page) == "start", page=page)
    play(page, "roll")
    eventually(lambda: said(page) == first, page=page)
    eventually(lambda: turn(page) == "Your turn", page=page)
    told = page.locator(".dealt").all_inner_texts()
    page.reload()
    eventually(lambda: page.locator(".dealt").count() == len(told) and turn(page) == "Your turn", page=page)
    assert page.locator(".dealt").all_inner_texts() == told
    assert told[0] == str(face)


def test_the_opponents_card_is_nowhere_on_the_page_before_the_end(page: Any) -> None:
    """The person holds one of three cards, so the unused card and the opponent's card are the two others."""
    sit(page, "kuhn-poker", "", "cfr-plus")
    own, other = cards(page)
    assert own in "JQK"
    assert other == "a card"
    play(page, "pass")
    eventually(lambda: turn(page) != "cfr-plus is thinking…" and "2. cfr-plus" in said(page), page=page)
    if turn(page) == "Your turn":
        shown = page.locator("section[aria-label=board]").inner_html()
        assert cards(page) == (own, "a card")
        assert "2. cfr-plus: has moved" in said(page)
        assert not [card for card in set("JQK") - {own} if f">{card}<" in shown or f"holds {card}" in shown]
        page.get_by_role("button", name="Hint").click()
        page.wait_for_selector(".hinted")
        play(page, "bet")
    eventually(lambda: re.search("win", turn(page)), page=page)
    assert set("".join(cards(page))) < set("JQK")
    page.get_by_role("button", name="back", exact=True).click()
    assert "a card" not in cards(page)


def test_the_cards_are_covered_between_the_turns_of_two_persons(page: Any) -> None:
    sit(page, "kuhn-poker", "", "")
    lift = page.locator(".curtain button")
    seen = []
    for number, action in ((1, "bet"), (2, "bet")):
        assert lift.inner_text() == f"You ({number}), it is your turn: show my view"
        assert page.locator("svg.board").count() == page.locator(".legal-move:visible").count() == 0
        assert page.get_by_role("button", name="Hint").is_disabled()
        lift.click()
        seen.append(cards(page))
        assert page.locator(".curtain:visible").count() == 0
        play(page, action)
        eventually(lambda told=f"{number}. You ({number}): ": told in said(page), page=page)  # type: ignore[misc]
    (first, hidden), (unknown, second) = seen
    assert (hidden, unknown) == ("a card", "a card")
    assert cards(page) == (first, second)
    higher = 1 if "JQK".index(first) > "JQK".index(second) else 2
    assert turn(page) == f"You ({higher}) wins"


def test_a_simultaneous_action_is_hidden_until_both_have_chosen(page: Any) -> None:
    """In rock, paper, scissors, a person in the second seat acts after the agent, and does not see its action."""
    sit(page, "rock-paper-scissors", "random", "")
    eventually(lambda: turn(page) == "Your turn" and said(page) == "1. random: has moved", page=page)
    assert page.locator(".layer-pieces .round-hidden").count() == 1
    shown = page.locator(".stage").inner_html() + page.locator(".moves").inner_html()
    assert not re.search("✊<|✋<|✌<|>rock|>paper|>scissors", re.sub(r'<text class="choice-text".*?</text>', "", shown))


def test_a_game_for_a_score_shows_the_score_at_its_end(page: Any) -> None:
    """2048 on a board of two by two is played by any legal action until there is none."""
    page.wait_for_selector(".board-pig")
    page.get_by_label("Game", exact=True).select_option("2048")
    page.get_by_label("Rows").fill("2")
    page.get_by_label("Columns").fill("2")
    page.get_by_role("button", name="New game").click()
    page.wait_for_selector("[aria-busy]", state="detached")
    eventually(lambda: re.match(r"start; chance: r[12]c[12]=[24], r[12]c[12]=[24]$", said(page)), page=page)
    for number in range(1, 200):
        if turn(page) != "Your turn":
            break
        if number % 2:
            page.locator(".legal-move").first.click()
        else:
            page.locator(".target[tabindex='0']").focus()
            page.keyboard.press(f"Arrow{page.locator('.legal-move').first.inner_text().title()}")
        eventually(lambda told=f"{number}. You: ": said(page).startswith(told), page=page)  # type: ignore[misc]
    (score,) = described(page, r"score (\d+)")
    assert turn(page) == f"Score {int(score):,}"
    assert said(page).endswith(f"; score {int(score):,}")
    assert page.locator(".seat-score, .fault").count() == 0


def test_play_continues_from_any_position_of_a_match(page: Any) -> None:
    """Before the deal, chance deals once. Afterwards the opponent's card is hidden, although the page of the match showed it."""
    address = page.url.partition("/play")[0]
    for number, steps, words in ((0, 1, "a has 0 of 100"), (1, 0, "b holds a card"), (1, 2, "b holds a card")):
        page.goto(f"{address}/t/cup/matches?board={number}")
        page.locator("tbody a").last.click()  # the oldest match, in which random has the first seat
        page.get_by_role("link", name="Continue in place of random").wait_for()
        for _ in range(steps):
            page.get_by_role("button", name="forward", exact=True).click()
        assert not described(page, "a card")
        page.get_by_role("link", name="Continue in place of random").click()
        eventually(lambda: page.locator(".turn").count() and page.locator("svg.board").count(), page=page)
        eventually(lambda: turn(page) == "Your turn", page=page)
        assert page.locator(".fault").count() == 0
        assert described(page, words)


def test_boards_are_visible_without_scrolling(page: Any) -> None:
    """This covers every game with a board and with chance or hidden information, on a laptop and on a phone."""
    for game in (
        "pig",
        "backgammon",
        "2048",
        "kuhn-poker",
        "leduc-poker",
        "liars-dice",
        "goofspiel",
        "hearts",
        "prisoners-dilemma",
    ):
        page.get_by_label("Game", exact=True).select_option(game)
        page.wait_for_selector(f"svg.board-{game}")
        for width, height in ((1280, 800), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate("scrollTo(0, 0)")
            box = page.locator(f"svg.board-{game}").bounding_box()
            assert box["y"] >= 0, game
            assert box["y"] + box["height"] <= height, game
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, game
