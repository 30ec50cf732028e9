"""What a forger writes into a bundle is contradicted, or is named as not shown."""

import json
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.api.store import Store
from arena_bundle.bundle import bundle
from arena_bundle.layout import NoBundle
from arena_bundle.panel import describe_verdict
from arena_bundle.reader import Archive
from arena_bundle.replaced_entries import hides_host
from tests.extensions.bundle.conftest import PLUGIN, call, pack, pack_with_library, play, read, rehash, verdict_on, write
from tests.extensions.bundle.test_hostile import change_run, edit_record, reprint

Files = dict[str, bytes]
Forge = Callable[[Path, Callable[[Files], object]], Path]
OWN = "fairarena:builtin-agents"
LAZY = PLUGIN.replace("return game", "import {0}\n        return game")


@pytest.fixture
def forged(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that changes a bundle, with boards and hashes that fit, as a careful forger would."""

    def forge(place: Path, change: Callable[[Files], object]) -> Path:
        files = read(place)
        change(files)
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        reprint(files, folder)
        rehash(files)
        return write(tmp_path / "forged.arena", files)

    return forge


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize("isolation", ["none", "process"])
def test_a_library_that_is_missing_here_is_no_contradiction(
    isolation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a decision of the agent needs the library, so the spec can be loaded. All 6 matches are in the sample."""
    spec = f"game: tic-tac-toe\nplugins: [lazy.py]\nagents: [random, last]\nrounds: 3\nisolation: {isolation}\n"
    (tmp_path / "lazy.py").write_text(LAZY.format("importlib; importlib.import_module('lazy_library')"))
    code, verdict = verdict_on(pack_with_library(tmp_path, spec, "lazy_library", monkeypatch), capsys)
    assert (code, verdict["contradictions"], verdict["replayed"]) == (3, [], 0)
    assert "6 drawn matches cannot be replayed: lazy_library is not installed" in verdict["not_shown"]
    assert "all records follow the rules of their games" in str(verdict["shown"])


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize("module", ["click", "json", "fake"])
def test_an_invented_import_error_is_a_contradiction(module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The agent fails in every replay, with the name of a module that is installed, or that is in the bundle."""
    error = f"raise ModuleNotFoundError(\"No module named '{module}'\")"
    lines = f"import sys\n        if hasattr(sys.modules['__main__'], 'ReplayHost'):\n            {error}\n        return game"
    (tmp_path / "fake.py").write_text(PLUGIN.replace("return game", lines))
    out = pack(play(tmp_path, "game: tic-tac-toe\nplugins: [fake.py]\nagents: [random, last]\nrounds: 1\n"))
    code, verdict = verdict_on(out, capsys)
    assert code == 1
    assert "differs: actions was" in str(verdict["contradictions"])


def change_old(files: Files) -> None:
    """Let an earlier version of arena have made the bundle."""
    change_run(files, lambda values: values["runs"][-1]["versions"].update(arena="0.0.9"))
    environment = json.loads(files["environment.json"])
    environment["runs"][-1].update(arena="0.0.9")
    files["environment.json"] = json.dumps(environment).encode()


@pytest.mark.usefixtures("bubblewrap")
def test_another_version_excuses_no_invented_setting_or_plugin(
    packed: Path, forged: Forge, capsys: pytest.CaptureFixture[str]
) -> None:
    """What differs is named as not shown, because another version may give other values."""

    def change(files: Files) -> None:
        change_old(files)
        change_run(files, lambda values: values["boards"][0]["settings"][1].update(options={"depth": 6}))
        change_run(files, lambda values: values["runs"][-1].update(hash="0" * 32))
        change_run(files, lambda values: values["runs"][-1]["plugins"].update({"stockfish": ["17.1", f"agent fish={'a' * 32}"]}))

    code, verdict = verdict_on(forged(packed, change), capsys, "--replay", "1")
    assert (code, verdict["contradictions"]) == (3, [])
    told = "\n".join(verdict["not_shown"])
    assert "'options': {'depth': 6}} are not those of the entry in the spec; perhaps because another version" in told
    assert f"the hash of the last run is {'0' * 32}" in told
    assert "the plugins of the last run have agent fish, which the spec does not use" in told


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda plugins: plugins.update(stockfish=["17.1", ""]), "have a plugin without code, which the spec does not use"),
        (lambda plugins: plugins.update(stockfish=["17.1", plugins[OWN][1]]), "more than one plugin of the last run has agent"),
        (lambda plugins: plugins.update(stockfish=plugins.pop(OWN)), f"the plugins of the last run lack {OWN}"),
        (lambda plugins: plugins[OWN].__setitem__(0, "77.0"), f"the plugins of the last run lack {OWN}"),
    ],
)
def test_an_invented_name_of_a_plugin_is_caught(
    edit: Callable[[dict[str, Any]], object], expected: str, packed: Path, forged: Forge, capsys: pytest.CaptureFixture[str]
) -> None:
    """The hashes are true, but no plugin has this name or version."""
    place = forged(packed, lambda files: change_run(files, lambda values: edit(values["runs"][-1]["plugins"])))
    code, verdict = verdict_on(place, capsys, "--replay", "0")
    assert code == 1
    assert expected in verdict["contradictions"][0]


def end_first(files: Files, termination: str, message: str | None) -> None:
    """End the first match by a fault of its first seat, where this seat has to move."""

    def edit(values: dict[str, Any]) -> None:
        values.update(termination=termination, seat=0, returns=[-1.0, 1.0], moves=2, message=message)
        values.update(actions=values["actions"][:2], decisions=values["decisions"][:2])

    edit_record(files, edit)


@pytest.mark.usefixtures("no_sandbox")
@pytest.mark.parametrize(("termination", "message"), [("timeout", None), ("memory", None), ("memory", "too slow")])
def test_another_version_excuses_no_impossible_end(
    termination: str, message: str | None, packed: Path, forged: Forge, capsys: pytest.CaptureFixture[str]
) -> None:
    """The entries have no limits, and no processes of their own."""

    def change(files: Files) -> None:
        change_old(files)
        end_first(files, termination, message)

    code, verdict = verdict_on(forged(packed, change), capsys)
    assert code == 1
    assert f"termination: {termination} is impossible" in verdict["contradictions"][0]


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_the_verdict_counts_ends_that_may_be_invented(packed: Path, forged: Forge, capsys: pytest.CaptureFixture[str]) -> None:
    """Python raises MemoryError without any limit. 1 of 30 matches is 3.3 %."""
    code, verdict = verdict_on(forged(packed, lambda files: end_first(files, "memory", "MemoryError")), capsys)
    assert code == 3
    assert any("that 1 match of 30 (4 %) ended as recorded: memory (1)" in one for one in verdict["limits"])


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_an_invented_earlier_run_excuses_no_end_silently(packed: Path, forged: Forge, capsys: pytest.CaptureFixture[str]) -> None:

    def change(files: Files) -> None:
        end_first(files, "timeout", None)
        change_run(files, lambda values: values["runs"].insert(0, values["runs"][0]))

    code, verdict = verdict_on(forged(packed, change), capsys)
    assert (code, verdict["contradictions"]) == (3, [])
    assert any("how 1 match could end by a timeout" in one for one in verdict["not_shown"])


@pytest.mark.usefixtures("bubblewrap")
def test_a_void_match_with_a_whole_game_is_caught(packed: Path, forged: Forge, capsys: pytest.CaptureFixture[str]) -> None:
    """Only a fault of the game makes a match void, and this game reached its end."""

    def change(files: Files) -> None:
        edit_record(files, lambda values: values.update(termination="void", returns=[0.0, 0.0], message="KeyError: 1"))

    code, verdict = verdict_on(forged(packed, change), capsys, "--replay", "0")
    assert code == 1
    assert "void is impossible, because the game has reached its end" in verdict["contradictions"][0]


def rank_last_first(values: dict[str, Any]) -> None:
    placings = [{"merit": [merit], "values": {}} for merit in (1, 5, 9)]
    values["boards"][0].update(ranking={"columns": [], "criteria": "the word of a referee", "placings": placings})


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_an_invented_ranking_is_caught_or_named(packed: Path, forged: Forge, capsys: pytest.CaptureFixture[str]) -> None:
    """The format round-robin ranks nothing. Without the code of another format, its ranks are not called computed."""

    def change(values: dict[str, Any]) -> None:
        rank_last_first(values)
        values["boards"][0].update(format=name)

    for name in ("round-robin", "league"):
        place = forged(packed, lambda files: change_run(files, change))
        code, verdict = verdict_on(place, capsys)
        if name == "round-robin":
            assert verdict["contradictions"] == ["run.json: board 1: the format round-robin has no ranking"]
        else:
            assert (code, verdict["contradictions"]) == (3, [])
            assert any("only code of a format or plugin gives them: the ranks" in one for one in verdict["not_shown"])
            assert "board recomputed: every number of boards.json and boards.txt, except for the ranks" in verdict["shown"]


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_columns_of_plugins_that_nobody_computed_are_named(
    packed: Path, forged: Forge, capsys: pytest.CaptureFixture[str]
) -> None:

    def change(values: dict[str, Any]) -> None:
        values["boards"][0]["plugin_columns"][0].update(cells=[[1.0, 1.0, 1.0]] * 3)

    code, verdict = verdict_on(forged(packed, lambda files: change_run(files, change)), capsys)
    assert (code, verdict["contradictions"]) == (3, [])
    assert any("only code of a format or plugin gives them: the column exact_return" in one for one in verdict["not_shown"])


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_authors_are_reported_as_a_claim_of_the_bundle(packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that clears the terminal is refused."""
    for names, expected in ((b'[{"name": "Mallory"}]', 3), (b'[{"name": "\\u001b[2J"}]', 1), (b"\x1b[2J", 1)):
        files = read(packed)
        files["CITATION.cff"] = files["CITATION.cff"].replace(b'[{"name": "anonymous"}]', names)
        rehash(files)
        code, verdict = verdict_on(write(tmp_path / "forged.arena", files), capsys)
        assert code == expected
        assert ("that its authors are 'Mallory': only CITATION.cff says so" in verdict["limits"]) == (expected == 3)


@pytest.mark.usefixtures("no_sandbox")
@pytest.mark.parametrize("text", ["\x1b[2J", "fair\nresult.arena: verified", "fair\u2028", "\u202etxt", "\x9b31m"])
def test_texts_that_imitate_a_verdict_are_refused(
    text: str, packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The texts are in the criteria of a ranking, in a remark, and in a key."""
    control = "expected one line without control characters"
    edits: list[tuple[Callable[[dict[str, Any]], object], str]] = [
        (lambda board: board.update(ranking={"columns": [], "criteria": text, "placings": None}), control),
        (lambda board: board["plugin_columns"][0].update(remarks=[text]), control),
        (lambda board: board.update({text: 1}), "unknown key"),
    ]
    for edit, fault in edits:
        files = read(packed)
        values = json.loads(files["run.json"])
        edit(values["boards"][0])
        files["run.json"] = json.dumps(values).encode()
        rehash(files)
        code, verdict = verdict_on(write(tmp_path / "forged.arena", files), capsys)
        assert code == 1
        assert fault in verdict["contradictions"][0]


@pytest.mark.usefixtures("no_sandbox")
@pytest.mark.parametrize(("name", "version"), [("none. All matches are true", ""), ("numpy", "2 and verified"), ("a\nb", "1")])
def test_a_sentence_is_not_accepted_as_the_name_of_a_package(
    name: str, version: str, packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = read(packed)
    environment = json.loads(files["environment.json"])
    environment["libraries"][name] = version
    files["environment.json"] = json.dumps(environment).encode()
    rehash(files)
    code, verdict = verdict_on(write(tmp_path / "forged.arena", files), capsys)
    assert code == 1
    assert verdict["contradictions"][0].startswith("environment.json: ")


@pytest.mark.usefixtures("no_sandbox")
def test_true_is_not_accepted_as_1(packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = read(packed)
    boards = json.loads(files["boards.json"])
    key = next(key for key, one in boards["boards"][0]["rows"][0].items() if type(one) is int and one in (0, 1))
    boards["boards"][0]["rows"][0][key] = bool(boards["boards"][0]["rows"][0][key])
    files["boards.json"] = json.dumps(boards).encode()
    rehash(files)
    code, verdict = verdict_on(write(tmp_path / "forged.arena", files), capsys)
    assert code == 1
    assert f"boards[0].rows[0].{key} is " in verdict["contradictions"][0]


def test_only_a_host_in_an_address_counts_as_hidden() -> None:
    """`arena bundle` replaces the hosts of addresses. A label is written by the author, so a host in it means nothing."""
    assert hides_host({"agents": [{"url": "https://host-1.invalid/v1"}]})
    assert not hides_host(
        {"name": "cup http://host-1.invalid", "agents": [{"label": "http://host-1.invalid/"}, "host-1.invalid"]}
    )


def test_bytes_after_the_compressed_content_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The deflate stream of a file ends before its compressed size, which covers hidden bytes."""
    place, content = tmp_path / "x.arena", b"{}"
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = deflate.compress(content) + deflate.flush() + b"hidden"
    name, crc = b"manifest.json", zlib.crc32(content)
    sizes = struct.pack("<IIIHH", crc, len(packed), len(content), len(name), 0)
    local = struct.pack("<4sHHHHH", b"PK\3\4", 20, 0, 8, 0, 0x21) + sizes + name + packed
    listed = struct.pack("<4sHHHHHH", b"PK\1\2", 20, 20, 0, 8, 0, 0x21) + sizes + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, len(listed), len(local), 0)
    place.write_bytes(local + listed + end)
    with zipfile.ZipFile(place) as archive:
        assert archive.read("manifest.json") == content
    with Archive(place) as opened, pytest.raises(NoBundle, match=r"stray bytes after .*manifest"):
        opened._unpack_all(opened._zip.infolist())


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_a_verdict_of_somebody_else_is_not_shown(
    packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sender of a store can put any verdict beside it, even one signed with a key of their own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "giver"))
    store, file = tmp_path / "gift.db", tmp_path / "gift.verdict.json"
    assert verdict_on(packed, capsys, "--store", store)[0] == 3
    for name, word, mine in (("giver", "incomplete", True), ("giver", "verified", False), ("taker", "incomplete", False)):
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / name))
        file.write_text(file.read_text().replace('"verdict": "incomplete"', f'"verdict": "{word}"'))
        with Store.open(store) as opened:
            shown = describe_verdict(opened)
        assert shown is not None
        assert (shown[0]["sentences"] == [word]) is mine
        assert ("was not written by `arena verify` on this account" in str(shown)) is not mine
        file.write_text(file.read_text().replace(f'"verdict": "{word}"', '"verdict": "incomplete"'))


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize(
    ("invented", "expected"),
    [({"limits": {"random": {"nodes": 1}}}, "limits.random is"), ({"ranked_by": "rating"}, "ranked_by is")],
)
def test_a_missing_entry_hides_no_invented_limit(
    invented: dict[str, Any], expected: str, tmp_path: Path, forged: Forge, capsys: pytest.CaptureFixture[str]
) -> None:
    """The program of one entry is not installed here. The other limits, and what ranks the board, follow from the spec."""
    out = pack(play(tmp_path, "game: tic-tac-toe\nrounds: 1\nagents: [random, greedy, {agent: random, label: last}]\n"))

    def change(files: Files) -> None:
        spec = json.loads(files["tournament/spec.json"])
        spec["agents"][2] = {"agent": {"command": ["no-such-engine"]}, "label": "last"}
        files["tournament/spec.json"] = json.dumps(spec).encode()
        change_run(files, lambda values: values["boards"][0].update(invented))

    code, verdict = verdict_on(forged(out, change), capsys, "--replay", "0")
    assert code == 1
    assert expected in verdict["contradictions"][0]


SLOW = PLUGIN.replace(
    "return game", "for _ in range(50):\n            game.result(state, game.actions(state)[0])\n        return game"
)
TILES = "game: {name: sliding-tiles, columns: 2}\nagents: [a-star, bfs]\nrounds: 2\n"


def edit_decisions(files: Files, edit: Callable[[dict[str, Any], list[Any]], object]) -> None:
    """Change every decision of all matches."""
    records = [json.loads(line) for line in files["records.jsonl"].splitlines()]
    for record in records:
        for decision in record["decisions"]:
            edit(record, decision)
    files["records.jsonl"] = b"".join([json.dumps(one).encode() + b"\n" for one in records])


@pytest.mark.usefixtures("bubblewrap")
def test_invented_numbers_of_expanded_states_are_caught(
    tmp_path: Path, forged: Forge, capsys: pytest.CaptureFixture[str]
) -> None:
    """Records of earlier versions lack these numbers. Without them, nothing contradicts, but the verdict says so."""
    out = pack(play(tmp_path, TILES))
    assert verdict_on(out, capsys)[0] == 0
    less = forged(out, lambda files: edit_decisions(files, lambda _, one: one[6].update(expanded=1)))
    code, verdict = verdict_on(less, capsys)
    assert code == 1
    assert "differs: decisions was recorded" in verdict["contradictions"][0]

    def drop(files: Files) -> None:
        change_old(files)
        edit_decisions(files, lambda _, one: one.__setitem__(6, None))

    code, verdict = verdict_on(forged(out, drop), capsys)
    assert (code, verdict["contradictions"], verdict["equal"]) == (3, [], 4)
    assert sum("the expanded states and the agents whose actions were random" in one for one in verdict["not_shown"]) == 1


def mark(owner: str | None, record: dict[str, Any], decision: list[Any]) -> None:
    """Say that the decisions of one agent were random; None for nobody."""
    decision[8] = record["labels"][decision[0]] == owner
    record["fallbacks"] = sum([one[8] for one in record["decisions"]]) if owner else record["fallbacks"]


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize(
    ("owner", "old", "expected"),
    [("random", False, "differs: "), ("random", True, "differs: "), (None, False, "marked decisions, got 0")],
)
def test_random_actions_of_another_agent_are_caught(
    owner: str | None, old: bool, expected: str, tmp_path: Path, forged: Forge, capsys: pytest.CaptureFixture[str]
) -> None:
    """The agent of the plugin uses up its budget before it answers. The marks go to its opponent, or they are missing."""
    (tmp_path / "slow.py").write_text(SLOW)
    spec = "game: tic-tac-toe\nplugins: [slow.py]\nrounds: 2\nagents: [random, {agent: last, limits: {nodes: 5}}]\n"
    out = pack(play(tmp_path, spec))
    assert verdict_on(out, capsys)[0] == 0

    def change(files: Files) -> None:
        change_old(files) if old else None
        edit_decisions(files, lambda record, one: mark(owner, record, one))

    code, verdict = verdict_on(forged(out, change), capsys)
    assert code == 1
    assert expected in verdict["contradictions"][0]


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize(
    ("invented", "expected"),
    [
        ({"title": "tic-tac-toe (hard)"}, "title is"),
        ({"anchor": "random"}, "anchor is"),
        ({"columns": ["rank", "agent"]}, "columns is"),
        ({"sort": "agent"}, "sort is"),
        ({"ranked_by": "returns"}, "ranked_by is"),
        ({"has_openings": True}, "has_openings is"),
        ({"optimal": ["random"]}, "optimal is"),
        ({"limits": {"greedy": {"nodes": 5}}}, "limits.greedy is"),
        ({"limits": {"last": {"nodes": 5}}}, None),
    ],
)
def test_a_board_without_code_must_follow_from_its_spec(
    invented: dict[str, Any],
    expected: str | None,
    packed: Path,
    tmp_path: Path,
    forged: Forge,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The bundle lacks the code of the agent `last`, so the limits of this agent alone are the word of the author."""
    out = tmp_path / "hashes.arena"
    words = ("-o", out, "--without-code", "--spec", packed.with_suffix(".yaml"))
    assert call(bundle, packed.with_suffix(".db"), *words) == 0
    place = forged(out, lambda files: change_run(files, lambda values: values["boards"][0].update(invented)))
    code, verdict = verdict_on(place, capsys)
    if expected is None:
        assert (code, verdict["contradictions"]) == (3, [])
        assert any(one.startswith("the settings and limits of last: ") for one in verdict["not_shown"])
    else:
        assert code == 1
        assert f"board 1 is not the board of the spec: {expected}" in verdict["contradictions"][0]


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize("words", [(), ("--without-code",)])
def test_another_formula_of_a_column_is_caught(
    words: tuple[str, ...], tmp_path: Path, forged: Forge, capsys: pytest.CaptureFixture[str]
) -> None:
    """The key `report` of the spec defines the column, and `run.json` still has the old formula."""
    out = pack(play(tmp_path, f"{TILES}report: {{columns: {{double: nodes * 2}}}}\n"), *words)
    assert verdict_on(out, capsys, "--replay", "1")[1]["contradictions"] == []

    def change(files: Files) -> None:
        files["tournament/spec.json"] = files["tournament/spec.json"].replace(b"nodes * 2", b"nodes * 3")

    code, verdict = verdict_on(forged(out, change), capsys, "--replay", "1")
    assert code == 1
    assert "columns" in verdict["contradictions"][0]


def adjust(files: Files, values: list[float] | None) -> None:
    """Give the first match other adjusted returns."""
    edit_record(files, lambda one: one.update(adjusted=values))


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize("values", [[9.5, -9.5], None])
def test_invented_adjusted_returns_are_caught_without_a_replay(
    values: list[float] | None, tmp_path: Path, forged: Forge, capsys: pytest.CaptureFixture[str]
) -> None:
    """They follow from the actions. With another agent in the place of `last`, which may give a policy, they are only named."""
    timed = "game: {name: pig, target: 20}\nrounds: 1\nlimits: {seconds: 60}\nagents: [random, greedy]\n"
    out = pack(play(tmp_path, timed))
    assert verdict_on(out, capsys)[1]["contradictions"] == []
    code, verdict = verdict_on(forged(out, lambda files: adjust(files, values)), capsys)
    assert code == 1
    assert "adjusted: recorded" in verdict["contradictions"][0]

    copes = 'name = "last"\n    copes = frozenset({"chance"})'
    (tmp_path / "copes.py").write_text(PLUGIN.replace('name = "last"', copes))
    spec = "game: {name: pig, target: 20}\nrounds: 1\nplugins: [copes.py]\nagents: [random, last]\n"
    out = pack(play(tmp_path, spec, "other"), "--without-code")
    assert not any("adjusted" in one for one in verdict_on(out, capsys)[1]["not_shown"])
    code, verdict = verdict_on(forged(out, lambda files: adjust(files, values)), capsys)
    assert (code, verdict["contradictions"]) == (3, [])
    assert any(one.startswith("the adjusted returns of 1 match, which") for one in verdict["not_shown"])
