"""Panels of plugins are shown on the pages of a match, an agent and a leaderboard, and in a report. A faulty panel does not
affect others.
"""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from arena import PluginError, Registry, load_plugins, run
from arena.api.store import Store
from arena_web.api import Panel
from arena_web.panels import collect_panels
from tests.conftest import arena_in
from tests.extensions.web.conftest import HOSTILE, Served, served

PANELS = """
from arena import hookimpl
from arena_web.api import Panel

DRAW = '''import { h } from "arena/dom.js";
export function draw(element, data) {
  element.append(h("p", { class: "drawn" }, `drawn: ${data.join(" ")}`));
}
'''
SCRIPT_FAULT = 'export function draw(element, data) { throw new Error("no chalk"); }'


def actions(store, match):
    return list(store.record(match)[0].actions)


def lengths(store, board):
    rows = store.query("SELECT r.moves FROM place p JOIN record r ON r.number = p.record WHERE p.board = ?", [board])
    moves = [moves for (moves,) in rows]
    return [{"Length": word, "Moves": number} for word, number in (("least", min(moves)), ("most", max(moves)))]


def call(store, label):
    return {"Name": label, "Letters": len(label), "Here": True, "Age": None}


def fail(store, subject):
    raise RuntimeError("<b>nothing</b> to see")


@hookimpl
def arena_panels():
    return [
        Panel("actions", "match", "Actions", actions, DRAW),
        Panel("chalk", "match", "Chalk", actions, SCRIPT_FAULT),
        Panel("absent", "match", "Absent", lambda store, match: None),
        Panel("called", "agent", "Called", call),
        Panel("fails", "agent", "Fails", fail),
        Panel("huge", "agent", "Huge", lambda store, label: "x" * 2_000_000, DRAW),
        Panel("nan", "agent", "NaN", lambda store, label: {"Value": float("nan")}),
        Panel("nested", "agent", "Nested", lambda store, label: {"Value": [1]}),
        Panel("lengths", "board", "Lengths", lengths),
        Panel("boards", "report", "Boards", lambda store, nothing: [len(store.last().boards), str(nothing)], DRAW),
        Panel("broken", "report", "Broken", lambda store, nothing: [], "export function draw() {}\\n}}} this is no JavaScript"),
    ]
"""


@pytest.fixture(scope="module")
def folder(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the store of `place`, and with a store whose spec names a plugin with panels. This plugin leaves a
    file if it is run.
    """
    folder = tmp_path_factory.mktemp("panels")
    shutil.copy(place / "cup.db", folder)
    (folder / "panels.py").write_text(PANELS)
    own = PANELS.replace('Panel("', 'Panel("strange-')
    (folder / "stranger.py").write_text(f"open({str(folder / 'ran')!r}, 'w').close()\n{own}")
    spec = {"game": "tic-tac-toe", "rounds": 1, "plugins": [str(folder / "stranger.py")], "agents": ["random", "greedy"]}
    run(spec, store=folder / "strange.db")
    (folder / "ran").unlink()
    return folder


@pytest.fixture(scope="module")
def panelled(folder: Path, place: Path) -> Iterator[Served]:
    """Run a server with the plugin of the panels."""
    pytest.importorskip("fastapi")
    with served(folder, ".", "--plugin", str(place / "pebbles.py"), "--plugin", "panels.py") as server:
        yield server


def panels(server: Any, place: str, subject: str) -> dict[str, Any]:
    answer = server.ask(f"/api/t/cup/panels?place={place}&id={quote(subject)}")
    assert answer.status == 200, answer.text
    return {panel["name"]: panel for panel in answer.json["panels"]}


def a_match(server: Any) -> Any:
    return server.ask("/api/t/cup/matches?board=0").json["matches"][0]


@pytest.mark.process
def test_panels_have_plain_data_and_faults_do_not_affect_others(panelled: Served) -> None:
    match = a_match(panelled)
    found = panels(panelled, "match", match["id"])
    assert list(found) == ["actions", "chalk", "resources"]
    frames = panelled.ask(f"/api/t/cup/match/{match['id']}").json["view"]["frames"]
    assert found["actions"]["data"] == [frame["action"] for frame in frames[1:]]
    source = panelled.ask(found["actions"]["script"])
    assert source.status == 200
    assert 'from "/static/dom.js"' in source.text
    told = panels(panelled, "agent", HOSTILE)
    assert told["called"]["data"] == {"Name": HOSTILE, "Letters": len(HOSTILE), "Here": True, "Age": None}
    errors = {name: panel["error"] for name, panel in told.items() if panel["error"] is not None}
    assert set(errors) == {"fails", "huge", "nan", "nested"}
    assert errors["fails"].startswith("RuntimeError: <b>nothing</b> to see (")
    assert "at most 1,048,576 characters, got 2,000,002" in errors["huge"]
    assert panels(panelled, "board", "1")["lengths"]["data"] == [
        {"Length": "least", "Moves": 3},
        {"Length": "most", "Moves": max(one["moves"] for one in panelled.ask("/api/t/cup/matches?board=1").json["matches"])},
    ]


@pytest.mark.process
@pytest.mark.parametrize("wanted", ["place=match&id=none", "place=agent&id=nobody", "place=board&id=2", "place=board&id=x"])
def test_panels_of_a_missing_subject_are_refused(panelled: Served, wanted: str) -> None:
    assert panelled.ask(f"/api/t/cup/panels?{wanted}").status == 400


@pytest.mark.process
@pytest.mark.parametrize("wanted", ["", "place=report&id=", "place=match", "place=margin&id=0"])
def test_a_request_needs_a_place_and_an_id(panelled: Served, wanted: str) -> None:
    assert panelled.ask(f"/api/t/cup/panels?{wanted}").status == 400


@pytest.mark.process
def test_resources_agree_with_the_frames(panelled: Served) -> None:
    """The built-in panel of a match shows the sums over its frames."""
    match = a_match(panelled)
    view = panelled.ask(f"/api/t/cup/match/{match['id']}").json["view"]
    data = panels(panelled, "match", match["id"])["resources"]["data"]
    assert data["Moves"] == view["moves"] == match["moves"]
    assert [data[f"Nodes of {label}"] for label in view["labels"]] == [total["nodes"] for total in view["totals"]]
    assert data["Match"] == match["id"][:12]


@pytest.mark.process
def test_code_named_by_a_store_adds_no_panels(folder: Path, panelled: Served) -> None:
    """Only installed plugins and requested ones are loaded, not code that a spec in a store names."""
    match = panelled.ask("/api/t/strange/matches?board=0").json["matches"][0]["id"]
    found = panelled.ask(f"/api/t/strange/panels?place=match&id={match}").json["panels"]
    assert [panel["name"] for panel in found] == ["actions", "chalk", "resources"]
    assert not (folder / "ran").exists()


def test_other_users_see_public_panels_without_paths_of_the_host(place: Path) -> None:
    """On a ladder, only its host sees the message of a failure."""

    def fail(store: Store, match: str) -> None:
        raise RuntimeError(str(store.path))

    registry = Registry()
    panels = [Panel("open", "match", "Open", fail, public=True), Panel("own", "match", "Own", fail)]
    registry.parts["panel"] = {panel.name: panel for panel in panels}
    with Store.open(place / "cup.db") as store:
        (shown,) = collect_panels(registry, "match", store, "none", public=True)
        known = collect_panels(registry, "match", store, "none")
    assert (shown["name"], shown["error"]) == ("open", "RuntimeError")
    assert [str(place) in panel["error"] for panel in known] == [True, True]


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        (("margin", "Title", len), "panel one: place: expected match, agent, board or report, got 'margin'"),
        (("match", "Title", len, "const a = 1;"), "panel one: script: missing exports: draw; a module must export draw"),
        (("match", "Title", len, 'import { x } from "./own.js";'), "panel one: script: expected imports only from arena/dom.js"),
    ],
)
def test_an_invalid_panel_is_refused(values: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Panel("one", *values)


def test_a_hook_of_an_extension_is_checked_like_core_hooks(tmp_path: Path) -> None:
    (tmp_path / "text.py").write_text("import arena\n\n@arena.hookimpl\ndef arena_panels():\n    return ['a text']\n")
    with pytest.raises(PluginError, match="arena_panels returned 'a text'; expected objects of Panel"):
        load_plugins([tmp_path / "text.py"])
    (tmp_path / "mine.py").write_text(PANELS.replace("arena_panels", "arena_pannels"))
    with pytest.raises(PluginError, match="unknown hook 'arena_pannels'"):
        load_plugins([tmp_path / "mine.py"])
    (tmp_path / "plain.py").write_text(PANELS.replace("@hookimpl", ""))
    with pytest.raises(PluginError, match="arena_panels is not decorated with @hookimpl"):
        load_plugins([tmp_path / "plain.py"])


def test_pages_draw_panels(panelled: Served, browser: Any, visiting: Any) -> None:
    """Panels are drawn by their modules, as figures or as a table. A fault is shown as a line in the panel."""
    visit = visiting(browser, panelled.address, 375)
    match = a_match(panelled)
    page = visit.go(f"/t/cup/match/{match['id']}")
    page.wait_for_selector("section[aria-label=Resources] dd")
    page.wait_for_selector("section[aria-label=Actions] .drawn")
    page.wait_for_selector("section[aria-label=Chalk] .fault")
    assert page.inner_text("section[aria-label=Chalk] .fault") == "This panel cannot be shown: no chalk"
    figures = dict(
        zip(
            page.locator("section[aria-label=Resources] dt").all_inner_texts(),
            page.locator("section[aria-label=Resources] dd").all_inner_texts(),
            strict=True,
        )
    )
    assert figures["Moves"] == str(match["moves"])
    visit.check(1280)
    page = visit.go(f"/t/cup/entry?name={quote(HOSTILE)}")
    page.wait_for_selector("section[aria-label='Over the run'] svg.chart")
    page.wait_for_selector("section[aria-label=Fails] .fault")
    assert page.inner_text("section[aria-label=Fails] .fault").startswith(
        "This panel cannot be shown: RuntimeError: <b>nothing</b>"
    )
    assert page.locator("section[aria-label=Called] dd").all_inner_texts() == [HOSTILE, str(len(HOSTILE)), "yes", "-"]
    visit.check(1280)
    page = visit.go("/t/cup")
    page.wait_for_selector("section[aria-label='tic-tac-toe: Lengths'] td >> nth=3")
    page.wait_for_selector("section[aria-label='pebbles: Lengths'] td >> nth=3")
    assert page.locator("section[aria-label='pebbles: Lengths'] td").all_inner_texts()[:2] == ["least", "3"]
    visit.check(1280)
    visit.end()


def test_a_report_draws_panels_without_a_server(folder: Path, place: Path, browser: Any, visiting: Any) -> None:
    if find_spec("matplotlib") is None:
        pytest.skip("reports need matplotlib")
    arena, plugin = arena_in(folder), str(place / "pebbles.py")
    plain = arena("report", "strange.db", "-o", "plain.html")
    assert plain.returncode == 0, plain.stderr
    assert 'arenaModules["panels.js"] =' not in (folder / "plain.html").read_text()
    done = arena("report", "cup.db", "-o", "panels.html", "--plugin", plugin, "--plugin", "panels.py")
    assert done.returncode == 0, done.stderr
    visit = visiting(browser, (folder / "panels.html").as_uri(), 1280)
    page = visit.go("")
    page.wait_for_selector("section[aria-label=Boards] .drawn")
    assert page.inner_text("section[aria-label=Boards] .drawn") == "drawn: 2 None"
    page.wait_for_selector("section[aria-label=Broken] .fault")
    assert page.inner_text("section[aria-label=Broken] .fault") == "This panel cannot be shown: its script did not start"
    assert page.locator("section[aria-label=Lengths] td").all_inner_texts()[4:6] == ["least", "3"]
    page.wait_for_selector("#match .player")
    visit.end()
