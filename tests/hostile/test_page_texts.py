"""Labels, names and texts with scripts, in every page that arena writes or serves, opened in a real browser.

The texts come from an agent, a game, and a store that a stranger has changed. Its hashes are right.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import arena
from arena.store import Store
from tests.eventually import eventually
from tests.extensions.web.conftest import served
from tests.rehash import rehash

pytestmark = [pytest.mark.promise(hole="script", isolation="any"), pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

ATTACK = (
    '"\'><img src=x onerror="window.hit=1"></script></style></title></textarea><script>window.hit=2</script>'
    '<svg><foreignObject><iframe srcdoc="<script>parent.hit=3</script>"></iframe></foreignObject></svg>'
    '${window.hit=5}{{7*7}}<!--<script>--><a href="javascript:window.hit=4">x</a>$\\frac{$&lt;`'
)
"""It ends attributes, comments and elements, including those with content that is not parsed, such as a script with JSON."""
WIDE = "W" * 500
REFUSED = "Failed to load resource: the server responded with a status of 4"
"""How a message on the console begins if a request was refused: no spec has such labels, so the server cannot load this one."""
LINK = "javascript:window.hit=6"
LABELS = {"NAME": ATTACK, "FIRST": ATTACK, "SECOND": WIDE, "THIRD": f"{ATTACK}2", "FOURTH": LINK}
PLUGIN = f"""
from arena import Agent, Game, hookimpl

ATTACK = {ATTACK!r}
ODD = ATTACK + "\\u202e\\u2066\\x00\\x1b[2J\\u2028"


class Pebbles(Game):
    __doc__ = ATTACK
    name = "pebbles"
    rules_text = ATTACK

    def initial(self, rng): return (5, 0)
    def to_move(self, state): return state[1]
    def actions(self, state): return [n for n in (1, 2) if n <= state[0]]
    def result(self, state, action): return (state[0] - action, 1 - state[1])
    def returns(self, state): return (-1.0, 1.0) if state[1] == 0 else (1.0, -1.0)
    def render(self, state): return "o " * state[0] + ODD + "W" * 10_000
    def format_state(self, state): return f"{{state[0]}} {{state[1]}} {{ODD}}"
    def parse_state(self, text): return tuple(map(int, text.split()[:2]))
    def format_action(self, state, action): return f"{{action}} {{ATTACK}}"
    def parse_action(self, state, text): return int(text.split()[0])


class Angry(Agent):
    __doc__ = ATTACK
    name = "angry"

    def choose(self, game, state, search):
        said = {{"messages": [{{"role": "user", "content": ODD}}], "answer": ODD, "thoughts": ODD, "fault": ODD}}
        search.transcribe({{**said, "outcome": "illegal", "model": ODD}})
        if state[0] < 3:
            raise RuntimeError(ODD + "\\ud800" + "x" * 10_000)
        return game.actions(state)[0]


@hookimpl
def arena_games(): return [Pebbles]


@hookimpl
def arena_agents(): return [Angry]
"""


def replace_words(value: Any) -> Any:
    """Return a JSON value with LABELS in place of its words."""
    if isinstance(value, dict):
        return {replace_words(key): replace_words(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [replace_words(inner) for inner in value]
    for word, label in LABELS.items() if isinstance(value, str) else ():
        value = value.replace(word, label)
    return value


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a plugin and a store in which each label and the name is an attack."""
    folder = tmp_path_factory.mktemp("texts")
    (folder / "pebbles.py").write_text(PLUGIN)
    agents = [
        {"agent": agent, "label": label}
        for agent, label in zip(["random"] * 2 + ["angry", "random"], list(LABELS)[1:], strict=True)
    ]
    spec = {"name": "NAME", "game": "pebbles", "rounds": 3, "seed": 1, "plugins": [str(folder / "pebbles.py")], "agents": agents}
    arena.run(spec, store=folder / "cup.db")
    with closing(sqlite3.connect(folder / "cup.db")) as connection, connection:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for column in [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]:
                for (text,) in connection.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall():
                    if isinstance(text, str) and any(word in text for word in LABELS):
                        new = json.dumps(replace_words(json.loads(text))) if text[:1] in "[{" else replace_words(text)
                        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, text))
    rehash(folder / "cup.db")
    with Store.open(folder / "cup.db") as store:
        assert {label for record, _ in store.records() for label in record.labels} == set(LABELS.values())
    return folder


class Visit:
    """Opens pages, and notes everything that a page must not do."""

    def __init__(self, browser: Any) -> None:
        self._context = browser.new_context(viewport={"width": 375, "height": 900}, reduced_motion="reduce")
        self.page = self._context.new_page()
        self.trouble: list[str] = []
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", lambda dialog: self.trouble.append(dialog.message))

    def _note(self, message: Any) -> None:
        """Note an error, such as a script that the policy of a page stops; but no hints of the browser, such as on forms."""
        if message.type in ("error", "warning"):
            self.trouble.append(message.text)

    def open(self, address: str, ready: str) -> None:
        """Open a page, wait for an element, and check the page in two widths."""
        self.page.goto(address)
        eventually(lambda: self.page.locator(ready).count() > 0, lambda: self.page.inner_text("body")[:500], page=self.page)
        self.page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        strange = "img[onerror], iframe, foreignObject, a[href^='javascript' i], [srcdoc]"
        for width in (375, 1280):
            self.page.set_viewport_size({"width": width, "height": 900})
            assert self.page.evaluate("window.hit") is None
            assert self.page.locator(strange).count() == 0
            assert self.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (address, width)
            tallest = (
                "Math.max(0, ...[...document.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect().height))"
            )
            assert self.page.evaluate(tallest) < 3000, (address, width)
        assert [text for text in self.trouble if not text.startswith(REFUSED)] == []
        shown = self.page.inner_text("body")
        assert not {"\u202e", "\u2066", "\x00", "\x1b"} & set(shown)

    def end(self) -> None:
        """Close the page."""
        self._context.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    made = Visit(browser)
    yield made
    made.end()


PAGES = {
    "report": ["report", "cup.db", "-o", "page.html", "--plugin", "pebbles.py"],
    "comparison": ["compare", "cup.db", "-o", "page.html"],
    "comparison of two": ["compare", "cup.db", ATTACK, LINK, "-o", "page.html"],
}


@pytest.mark.parametrize("words", PAGES.values(), ids=PAGES)
def test_a_text_runs_no_script_in_a_page_on_the_disk(
    words: list[str], visit: Visit, place: Path, invoke: Callable[..., Any]
) -> None:
    done = invoke(*[str(place / word) if Path(word).suffix in (".db", ".html", ".py") else word for word in words])
    assert done.returncode == 0, done.stderr
    visit.open((place / "page.html").as_uri(), "table")
    assert ATTACK in visit.page.inner_text("body")


def test_a_text_runs_no_script_in_a_served_page(visit: Visit, place: Path) -> None:
    """The pages are those of a store, and the page on which a visitor plays the game."""
    pytest.importorskip("fastapi")
    with served(place, "cup.db", "--plugin", "pebbles.py") as server:
        address = server.address.rstrip("/")
        matches = server.ask("/api/t/cup/matches").json["matches"]
        [failed, *_] = [one["id"] for one in matches if f"{ATTACK}2" in one["labels"]]
        visit.open(f"{address}/t/cup", ".leaderboard tbody tr")
        assert ATTACK in visit.page.inner_text("body")
        assert visit.page.locator(".leaderboard tbody tr").count() == len(LABELS) - 1
        visit.open(f"{address}/t/cup/matches", ".matches tbody tr")
        visit.open(f"{address}/t/cup/match/{failed}", ".player")
        for label in list(LABELS.values())[1:]:
            visit.open(f"{address}/t/cup/entry?name={quote(label, safe='')}", "main h1")
        visit.open(f"{address}/t/cup/compare", "table")
        visit.open(f"{address}/play?game=pebbles", "main h1")
        visit.open(f"{address}/t/{quote(ATTACK, safe='')}", "main")


def test_a_label_that_hides_other_rows_is_refused(tmp_path: Path) -> None:
    """The limit holds for labels that arena makes and for those of a store. A label in a spec has at most 100 characters."""
    program = {"command": ["/bin/cat"]}
    agents = [{"agent": program, "text": letter * 600} for letter in "ab"]
    with pytest.raises(arena.SpecError, match=r"agents\[0\]: expected a label of at most 500 characters, got 'cat\(text=aaa"):
        arena.spec.load_spec({"game": "nim", "agents": agents})
    store = tmp_path / "cup.db"
    arena.run({"game": "nim", "rounds": 1, "agents": [{"agent": "random", "label": "LABEL"}, "greedy"]}, store=store)
    with closing(sqlite3.connect(store)) as connection, connection:
        for table, column in (("run", "boards"), ("detail", "labels")):
            connection.execute(f"UPDATE {table} SET {column} = replace({column}, 'LABEL', ?)", ("W" * 501,))
    rehash(store)
    with pytest.raises(arena.ArenaError, match="title, labels: expected at most 500 characters, got 'WWW"):
        arena.open_store(store)


def test_a_label_that_arena_makes_is_printable() -> None:
    program = {"command": ["/bin/cat"]}
    agents = [{"agent": program, "text": text} for text in ("\x1b[2J\u202e", "plain")]
    board = arena.spec.load_spec({"game": "nim", "agents": agents}).boards[0]
    assert [seat.label for seat in board.seats] == ["cat(text=\\x1b[2J\\u202e)", "cat(text=plain)"]
