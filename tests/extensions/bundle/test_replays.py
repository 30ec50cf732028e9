"""Replays in a sandbox confirm or contradict a bundle, even for another user with only the wheel."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.api.run import Fingerprint
from arena.api.spec import load_spec
from arena.formats import RoundRobin
from arena_bundle import sandboxed
from arena_bundle.bundle import bundle
from arena_bundle.layout import read_line
from arena_isolation import agent_start
from arena_isolation.agent_start import counts_memory
from tests.conftest import Arena, library_folders
from tests.core.formats.test_balance import first_entry_first
from tests.extensions.bundle.conftest import PLUGIN, SPEC, call, pack, pack_with_library, play, read, rehash, verdict_on, write
from tests.extensions.bundle.test_hostile import change_run, change_version, drop_match, edit_record, exchange_plugin, reprint

pytestmark = [pytest.mark.usefixtures("bubblewrap")]
USER = 54321
"""No account has this user id."""


def test_a_bundle_is_verified(packed: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """All 30 matches are replayed, some of them with an agent of a plugin. The agent's output does not reach the terminal."""
    code, verdict = verdict_on(packed, capfd)
    assert (code, verdict["verdict"]) == (0, "verified")
    assert (verdict["matches"], verdict["replayed"], verdict["equal"]) == (30, 30, 30)
    assert "30 of 30 matches replayed equal" in verdict["shown"]
    assert "the schedule is complete: no match was added or dropped" in verdict["shown"]


def test_a_replaced_plugin_with_recomputed_hashes_is_detected(
    attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The run has the hash of the original code. A different set of packages is no explanation, because the hash of a plugin
    depends only on its text.
    """

    def change(files: dict[str, bytes]) -> None:
        exchange_plugin(files)
        files["environment.json"] = files["environment.json"].replace(b'"libraries": {', b'"libraries": {"none": "1",')

    code, verdict = verdict_on(attacked(change), capsys)
    assert code == 1
    assert verdict["contradictions"] == [
        "tournament/last.py is not 0/last.py, the code that played the matches: their hashes differ",
        "the code of agent last is not the code that played the matches",
    ]


def test_an_emptied_plugin_file_is_detected(attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The spec cannot be loaded without the plugin, but the hash of its text shows that this code did not play."""
    code, verdict = verdict_on(attacked(lambda files: files.update({"tournament/last.py": b""})), capsys)
    assert code == 1
    assert "tournament/last.py is not 0/last.py, the code that played the matches" in verdict["contradictions"][0]


def test_an_emptied_module_that_a_plugin_imports_is_detected(
    tmp_path: Path, invoke: Arena, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hash of an agent covers the modules that its file imports."""
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nplugins: [mine.py]\nagents: [random, last]\nrounds: 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "bundled_chooser.py").write_text("def choose_last(actions):\n    return actions[-1]\n")
    body = PLUGIN.replace("return game.actions(state)[-1]", "return choose_last(game.actions(state))")
    (tmp_path / "mine.py").write_text(body.replace("from arena", "from bundled_chooser import choose_last\nfrom arena", 1))
    assert invoke("run", "cup.yaml", "--store", "cup.db", "--workers", "1").returncode == 0
    bundle = pack(tmp_path / "cup.db")
    assert verdict_on(bundle, capsys)[0] == 0
    files = read(bundle)
    files["tournament/bundled_chooser.py"] = b""
    rehash(files)
    code, verdict = verdict_on(write(tmp_path / "changed.arena", files), capsys)
    assert code == 1
    assert "tournament/mine.py is not 0/mine.py, the code that played the matches" in verdict["contradictions"][0]


def patch_host(files: dict[str, bytes], code: str) -> None:
    """Let the plugin change the program that answers the verifier, and record the plugin's new hash."""
    lines = "".join([f"    {line}\n" for line in code.splitlines()])
    patch = f"\nimport sys\nhost = getattr(sys.modules['__main__'], 'ReplayHost', None)\nif host is not None:\n{lines}"
    files["tournament/last.py"] += patch.encode()
    file = Path(tempfile.mkdtemp()) / "last.py"
    file.write_bytes(files["tournament/last.py"])
    spec = load_spec({"game": "tic-tac-toe", "agents": ["random", "last"]}, plugins=[str(file)])
    [found] = [one for name, one in Fingerprint.take_all(spec).items() if name.endswith("last.py")]
    shutil.rmtree(file.parent)
    change_run(files, lambda values: values["runs"][-1]["plugins"].update({"0/last.py": [None, found.text]}))


def test_a_plugin_cannot_change_its_own_hash(attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The verifier computes the hash from the text, outside the process that runs the plugin."""

    def change(files: dict[str, bytes]) -> None:
        before = files["run.json"]
        recorded = json.loads(before)["runs"][-1]["plugins"]["0/last.py"][1].partition("=")[2]
        patch = "import arena.schedule.fingerprint as known\nhonest = known.Part.hash\n"
        patch_host(files, f"{patch}known.Part.hash = lambda one: {recorded!r} if one.key == 'agent last' else honest(one)")
        files["run.json"] = before

    code, verdict = verdict_on(attacked(change), capsys, "--replay", "1")
    assert code == 1
    assert verdict["contradictions"] == [
        "tournament/last.py is not 0/last.py, the code that played the matches: their hashes differ"
    ]


def test_a_plugin_cannot_fake_replays_and_rules(
    attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plugin claims that every replay is equal and that every record follows the rules, but one record does not."""
    names = "host.do_play = lambda self, request: {'record': known[request['match'][0]], 'message': '', 'traceback': ''}"
    known: dict[int, Any] = {}

    def change(files: dict[str, bytes]) -> None:
        def edit(values: dict[str, Any]) -> None:
            values["returns"] = [-1.0, 1.0] if values["returns"][0] == 1.0 else [1.0, -1.0]

        edit_record(files, edit)
        reprint(files, tmp_path)
        for number, line in enumerate(files["records.jsonl"].splitlines(), 1):
            record, places = read_line(line, number)
            known[places[0].number] = json.loads(json.dumps(record.timeless()))
        patch = f"import json\nknown = {{int(key): one for key, one in json.loads({json.dumps(known)!r}).items()}}\n{names}\n"
        patch_host(files, f"{patch}host.do_follow = lambda self, request: {{'differences': [], 'over': True}}")

    code, verdict = verdict_on(attacked(change), capsys)
    assert verdict["equal"] == 30, verdict
    assert code == 1
    assert verdict["contradictions"][0].startswith("match ")
    assert any("code from the bundle plays them" in one for one in verdict["limits"])


@pytest.mark.parametrize(
    "code",
    [
        "host.do_play = lambda self, request: b'hello\\n'",
        "host.do_play = lambda self, request: {'record': []}",
        "host.do_take = lambda self, request: {'matches': [[10**9, 0, 0, [0, 1], None]]}",
        "host.do_take = lambda self, request: {'matches': [['x']]}",
        "host.do_boards = lambda self, request: {'boards': [1]}",
    ],
)
def test_an_invalid_answer_from_the_sandbox_makes_the_verdict_incomplete(
    code: str, attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A schedule of an unfinished run may be longer than the records, but not endless."""

    def change(files: dict[str, bytes]) -> None:
        patch_host(files, code)
        change_run(
            files, lambda values: values["runs"][-1].update(ended=None if "10**9" in code else values["runs"][-1]["ended"])
        )
        reprint(files, tmp_path)

    assert verdict_on(attacked(change), capsys, "--replay", "1")[0] == 3


@pytest.mark.parametrize("way", ["group", "watcher"])
def test_a_plugin_cannot_allocate_memory_outside_its_limit(
    way: str, attacked: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It writes 800 MB into shared memory and unmaps it; the limit is 400 MB. Either a control group counts the memory, or
    the system call that allocates it is refused. Private memory is counted in both cases.
    """
    if way == "watcher":
        monkeypatch.setattr(agent_start, "new_group", lambda *_: None)
    group = agent_start.open_group(64 << 20, 9)
    counted = counts_memory(group)
    if group is not None:
        group.remove()
    if way == "group" and not counted:
        pytest.skip("no controller of memory can be had here")
    monkeypatch.setattr(sandboxed, "MAX_MEMORY_BYTES", 400 << 20)
    hide = """
import mmap, time
def take(flags):
    for _ in range(160):
        host.kept = [*getattr(host, "kept", ()), mmap.mmap(-1, 5 << 20, flags)]
        host.kept[-1].write(bytes(5 << 20))
        if flags & mmap.MAP_SHARED: host.kept[-1].madvise(mmap.MADV_DONTNEED)
    time.sleep(1)
    return {}
"""
    refused = "PermissionError: [Errno 1] Operation not permitted"
    for flags, expected in (("MAP_SHARED", "it needs too much memory" if way == "group" else refused), ("MAP_PRIVATE", "memory")):
        code = f"{hide}host.do_take = lambda self, request: take(mmap.{flags} | mmap.MAP_ANONYMOUS)"
        found, verdict = verdict_on(attacked(lambda files, code=code: patch_host(files, code)), capsys, "--replay", "1")
        assert found == 3
        assert any(expected.lower() in one.lower() for one in verdict["not_shown"]), verdict["not_shown"]


def test_a_forged_remark_of_a_plugin_column_is_detected(
    attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Remarks of plugins are shown below the leaderboards."""

    def change(files: dict[str, bytes]) -> None:
        change_run(files, lambda values: values["boards"][0]["plugin_columns"][0].update(remarks=["Certified by a referee."]))
        reprint(files, tmp_path)

    code, verdict = verdict_on(attacked(change), capsys, "--replay", "1")
    assert code == 1
    assert "column exact_return.remarks" in verdict["contradictions"][0]


def test_a_bundle_with_columns_of_the_key_report_is_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Boards fill these columns when they are shown, so the stored run has no cells for them."""
    report = "report: {where: moves > 5, columns: {double: moves * 2}}\n"
    code, verdict = verdict_on(pack(play(tmp_path, SPEC + report)), capsys)
    assert (code, verdict["contradictions"]) == (0, [])


def test_false_facts_about_a_run_are_detected(attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """No number on a leaderboard depends on them."""

    def give_settings_twice(values: dict[str, Any]) -> None:
        settings = values["boards"][0]["settings"]
        settings.append(settings[0])

    def exchange_settings(values: dict[str, Any]) -> None:
        values["boards"][0]["settings"].reverse()

    def remove_settings(values: dict[str, Any]) -> None:
        values["boards"][0]["settings"].clear()

    def change_hash(values: dict[str, Any]) -> None:
        values["runs"][-1].update(hash="0" * 32)

    for change, expected in (
        (give_settings_twice, "board 1 has the settings of 4 entries, the spec has 3"),
        (exchange_settings, "board 1: the settings {'agent': 'last'"),
        (remove_settings, "board 1 has the settings of 0 entries, the spec has 3"),
        (change_hash, f"run.json: the hash of the last run is {'0' * 32}"),
    ):
        code, verdict = verdict_on(attacked(lambda files, change=change: change_run(files, change)), capsys, "--replay", "1")
        assert code == 1
        assert expected in verdict["contradictions"][0]


def test_a_plugin_that_is_a_package_is_packed_as_a_whole(
    tmp_path: Path, invoke: Arena, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack/part.py").write_text("def choose_last(actions):\n    return actions[-1]\n")
    body = PLUGIN.replace("return game.actions(state)[-1]", "return choose_last(game.actions(state))")
    (tmp_path / "pack/__init__.py").write_text(body.replace("from arena", "from .part import choose_last\nfrom arena", 1))
    (tmp_path / "cup.yaml").write_text(
        "game: tic-tac-toe\nplugins: [pack/__init__.py]\nagents: [random, {agent: last, isolation: process}]\nrounds: 2\n"
    )
    assert invoke("run", "cup.yaml", "--store", "cup.db", "--workers", "1").returncode == 0
    bundle = pack(tmp_path / "cup.db")
    code, verdict = verdict_on(bundle, capsys)
    assert (code, "tournament/pack/part.py" in read(bundle)) == (0, True), verdict
    assert any("in the isolation that the spec names" in text for text in verdict["limits"])


def test_merged_shards_of_a_whole_run_are_verified(tmp_path: Path, invoke: Arena, capsys: pytest.CaptureFixture[str]) -> None:
    """A shard alone is not a run. In the merged store no match is missing, but its run ends only with `arena run`."""
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nagents: [random, greedy]\nrounds: 4\n")
    for shard in ("1", "2"):
        assert invoke("run", "cup.yaml", "--store", f"{shard}.db", "--shard", f"{shard}/2").returncode == 0
    refused = invoke("bundle", "1.db", "-o", "cup.arena", "--spec", "cup.yaml")
    assert refused.returncode == 2
    assert "1.db contains only shard 1/2 of its tournament" in refused.stderr
    assert invoke("merge", "cup.db", "1.db", "2.db").returncode == 0
    assert "the last run has not ended" in invoke("bundle", "cup.db", "-o", "cup.arena", "--spec", "cup.yaml").stderr
    code, verdict = verdict_on(tmp_path / "cup.arena", capsys)
    assert (code, verdict["not_shown"]) == (3, ["the columns and remarks of plugins, because the run has not ended"])
    assert "the schedule is complete: no match was added or dropped" in verdict["shown"]
    assert invoke("run", "cup.yaml", "--store", "cup.db").returncode == 0
    code, verdict = verdict_on(pack(tmp_path / "cup.db"), capsys)
    assert (code, verdict["not_shown"]) == (0, [])
    assert "the schedule is complete: no match was added or dropped" in verdict["shown"]


def test_a_missing_key_of_a_leaderboard_is_detected(
    attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The leaderboard would look different without the key."""

    def change(files: dict[str, bytes]) -> None:
        change_run(files, lambda values: values["boards"][0].pop("test"))
        reprint(files, tmp_path)

    code, verdict = verdict_on(attacked(change), capsys, "--replay", "1")
    assert code == 1
    assert "test is missing" in verdict["contradictions"][0]


def test_a_changed_record_is_detected_even_if_all_hashes_and_boards_are_recomputed(
    attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The attacker changes the nodes of a decision, which breaks neither a leaderboard in Elo nor the rules. The replay
    differs.
    """

    def change(files: dict[str, bytes]) -> None:
        def edit(values: dict[str, Any]) -> None:
            values["decisions"][0][1] += 7

        edit_record(files, edit)
        reprint(files, tmp_path)

    code, verdict = verdict_on(attacked(change), capsys)
    assert code == 1
    assert any("differs: decisions was" in one for one in verdict["contradictions"])


def test_a_match_removed_from_the_records_and_the_schedule_is_detected(
    attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The spec, not the bundle, determines the number of matches."""

    def change(files: dict[str, bytes]) -> None:
        drop_match(files)
        values = json.loads(files["run.json"])
        values["boards"][0]["size"] -= 1
        files["run.json"] = json.dumps(values).encode()
        reprint(files, tmp_path)

    code, verdict = verdict_on(attacked(change), capsys)
    assert code == 1
    assert "is not the board of the spec: size is 29, recomputed 30" in verdict["contradictions"][0]


def test_matches_that_cannot_be_replayed_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Greedy has a time limit, and the entry `last` has its own code."""
    spec = (
        "game: tic-tac-toe\nrounds: 4\nagents:\n  - random\n  - {agent: greedy, limits: {seconds: 60}, isolation: none}\n"
        "  - {agent: last, plugin: last.py}\n"
    )
    out = pack(play(tmp_path, spec))
    code, verdict = verdict_on(out, capsys, "--replay", "50%", "--seed", "3")
    assert code == 3
    assert verdict["contradictions"] == []
    assert verdict["not_replayable"] == {"time limits": 16}
    assert verdict["replayed"] == 4
    assert any("4 of 8 matches that can be replayed" in one for one in verdict["shown"])


def test_the_schedule_of_a_sequential_test_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict says that the spec alone does not determine it. A dropped match is noticed nevertheless."""
    test = "format: head-to-head\ntest: {sprt: {elo0: 0, elo1: 100}}\n"
    spec = f"game: tic-tac-toe\nrounds: 100\n{test}openings: {{plies: 2}}\nagents: [random, minimax]\n"
    out = pack(play(tmp_path, spec))
    code, verdict = verdict_on(out, capsys, "--replay", "5")
    assert code == 0, verdict
    assert any("the spec alone does not determine it" in one for one in verdict["notes"])
    files = read(out)
    drop_match(files)
    reprint(files, tmp_path)
    rehash(files)
    code, verdict = verdict_on(write(tmp_path / "less.arena", files), capsys, "--replay", "5")
    assert code == 1
    assert "of the schedule is missing" in verdict["contradictions"][0]


def test_a_bundle_with_another_order_of_matches_in_its_schedule_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bundle was made by a version that played the pairs in another order. A replaced match is noticed nevertheless."""
    with monkeypatch.context() as before:
        before.setattr(RoundRobin, "schedule", first_entry_first)
        out = pack(play(tmp_path, "game: tic-tac-toe\nrounds: 4\nagents: [random, greedy, lookahead, type-a]\n"))
    files = read(out)
    change_version(files, tmp_path)
    rehash(files)
    code, verdict = verdict_on(write(tmp_path / "old.arena", files), capsys, "--replay", "5")
    assert (code, verdict["contradictions"]) == (3, [])
    assert any("the order of the matches: match" in one for one in verdict["not_shown"])
    assert "the schedule is complete: no match was added or dropped" in verdict["shown"]
    edit_record(files, lambda one: one["places"][0].__setitem__(2, 3))  # the first match of the first round, as one of the last
    rehash(files)
    code, verdict = verdict_on(write(tmp_path / "other.arena", files), capsys, "--replay", "5")
    assert code == 1


def test_exchanged_numbers_of_matches_in_the_schedule_are_detected(
    attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The plots over the run would show the two matches in another order."""

    def change(files: dict[str, bytes]) -> None:
        edit_record(files, lambda one: one["places"][0].__setitem__(0, 29))
        edit_record(files, lambda one: one["places"][0].__setitem__(0, 0), 29)
        reprint(files, tmp_path)

    code, verdict = verdict_on(attacked(change), capsys, "--replay", "1")
    assert code == 1
    assert "has the number 29 in the schedule, but 0 according to the spec" in verdict["contradictions"][0]


def reverse_result(files: dict[str, bytes], folder: Path, number: int | None = None) -> None:
    """Reverse the result of a match, by default of the first one with a winner, as a careful attacker would."""
    records = [json.loads(line) for line in files["records.jsonl"].splitlines()]
    first = next(place for place, one in enumerate(records) if one["returns"][0]) if number is None else number
    edit_record(files, lambda one: one.update(returns=one["returns"][::-1]), first)
    reprint(files, folder)
    rehash(files)


LIBRARY_USER = PLUGIN.replace("from arena", "import importlib\n\nimportlib.import_module('bundled_library')\nfrom arena", 1)


def test_only_matches_of_an_entry_that_cannot_be_loaded_are_not_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library that one of three entries imports is missing. The 16 matches of the others are replayed, and all 48 are
    checked against the rules.
    """
    spec = "game: tic-tac-toe\nagents: [random, greedy, {agent: last, plugin: mine.py}]\nrounds: 8\n"
    (tmp_path / "mine.py").write_text(LIBRARY_USER)
    out = pack_with_library(tmp_path, spec, "bundled_library", monkeypatch)
    code, verdict = verdict_on(out, capsys)
    assert (code, verdict["contradictions"]) == (3, [])
    assert verdict["not_replayable"] == {"entries that cannot be loaded here": 32}
    assert (verdict["replayed"], verdict["equal"]) == (16, 16)
    assert any("last cannot be loaded here" in one for one in verdict["not_shown"])
    assert "all records follow the rules of their games" in str(verdict["shown"])
    files = read(out)
    records = enumerate(map(json.loads, files["records.jsonl"].splitlines()))
    reverse_result(files, tmp_path, next(place for place, one in records if one["returns"][0] and "last" in one["labels"]))
    code, verdict = verdict_on(write(tmp_path / "changed.arena", files), capsys)
    assert code == 1
    assert "but the rules give" in verdict["contradictions"][0]


def test_a_bundle_without_code_must_follow_the_rules(packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Arena has the game, so only the replays need the code."""
    out = tmp_path / "hashes.arena"
    words = ("-o", out, "--without-code", "--spec", packed.with_suffix(".yaml"))
    assert call(bundle, packed.with_suffix(".db"), *words) == 0
    code, verdict = verdict_on(out, capsys)
    assert (code, verdict["not_shown"]) == (
        3,
        [
            "not replayed: the bundle does not contain code",
            "the settings and limits of last: only the author says so",
        ],
    )
    assert "the schedule is complete: no match was added or dropped" in verdict["shown"]
    files = read(out)
    reverse_result(files, tmp_path)
    code, verdict = verdict_on(write(tmp_path / "changed.arena", files), capsys)
    assert code == 1
    assert "but the rules give" in verdict["contradictions"][0]


def test_a_spec_that_is_invalid_with_any_software_is_detected(
    attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """No agent of the spec has costs, so the key `max_cost` is wrong with any installed software."""

    def change(files: dict[str, bytes]) -> None:
        files["tournament/spec.json"] = files["tournament/spec.json"].replace(b'"rounds": 5', b'"rounds": 5, "max_cost": 5')

    code, verdict = verdict_on(attacked(change), capsys)
    assert code == 1
    assert "tournament/spec.json is not a valid spec: " in verdict["contradictions"][0]


def test_a_plugin_that_no_entry_uses_is_detected(attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The spec uses no such agent."""

    def add(values: dict[str, Any]) -> None:
        values["runs"][-1]["plugins"]["my-secret-engine"] = ["3.0", f"agent zero={'2' * 32}"]

    code, verdict = verdict_on(attacked(lambda files: change_run(files, add)), capsys, "--replay", "1")
    assert code == 1
    assert verdict["contradictions"] == ["run.json: the plugins of the last run have agent zero, which the spec does not use"]


@pytest.fixture
def other_user() -> Iterator[Path]:
    """Return a folder of another user with the wheel in a new environment, which shares the libraries of this one."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="stranger-"))
    folder.chmod(0o755)
    environment = folder / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    [packages] = environment.glob("lib/python3*/site-packages")
    (packages / "libraries.pth").write_text("\n".join(library_folders()))
    wheel = pytest.importorskip("arena_ladder.wheel").read_wheel("fairarena")
    assert wheel is not None
    (folder / "arena.whl").write_bytes(wheel)
    with zipfile.ZipFile(folder / "arena.whl") as archive:
        archive.extractall(packages)
    home = folder / "home"
    home.mkdir()
    os.chown(home, USER, USER)
    yield folder
    shutil.rmtree(folder)


def test_another_user_verifies_a_bundle_with_only_the_wheel(packed: Path, other_user: Path) -> None:
    """The folder has no sources, and the user is not root."""
    place = other_user / "result.arena"
    place.write_bytes(packed.read_bytes())
    place.chmod(0o644)
    home = str(other_user / "home")
    become = ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups"]
    python = Path(sys.base_prefix)
    private = [folder for folder in reversed(python.parents) if folder.stat().st_mode & 0o5 != 0o5]
    if private:  # only root can read the folder of Python: hide all other contents of the folder
        shown = ["--perms", "0755", "--tmpfs", str(private[0])]
        for folder in [one for one in reversed(python.parents) if one != private[0] and one.is_relative_to(private[0])]:
            shown += ["--perms", "0755", "--dir", str(folder)]
        become = ["bwrap", "--dev-bind", "/", "/", *shown, "--ro-bind", str(python), str(python), "--cap-add", "ALL", *become]
    words = [*become, str(other_user / "env/bin/python"), "-P", "-m", "arena", "verify", str(place), "--format", "json"]
    clean = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": home}
    done = subprocess.run(words, cwd=home, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["equal"] == 30


def test_a_report_shows_the_verdict_on_its_bundle(
    packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page shows the verdict below its leaderboard."""
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    from arena_web.report.command import report

    store = tmp_path / "checked.db"
    assert verdict_on(packed, capsys, "--replay", "1", "--store", store)[0] == 0
    assert call(report, store, "-o", tmp_path / "page.html") == 0
    page = (tmp_path / "page.html").read_text()
    assert "Verification" in page
    assert "1 of 30 matches replayed equal: with 95 % confidence at most" in page
