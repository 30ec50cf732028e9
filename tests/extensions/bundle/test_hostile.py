"""A bundle from an attacker is refused before any file is written, or its changes are found without a sandbox."""

import json
import os
import shutil
import stat
import subprocess
import zipfile
from collections.abc import Callable
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import pytest

from arena_bundle import reader
from arena_bundle.bundle import BundleContent, bundle
from arena_bundle.layout import SIGNATURE, NoBundle
from arena_bundle.reader import Archive
from arena_bundle.rebuild import print_boards
from tests.extensions.bundle.conftest import Change, call, pack, play, read, rehash, verdict_on, write

Files = dict[str, bytes]
HASH_OF_A = "cfd2ba025f16d28c90d9ea00770bbb2cb585551b430e7e049c5ce6a8507a03a7"
HASH_OF_B = "4902b7a0707c01e546b48ed6f93036616e26dedcbe3fb627e93162f55f6af11f"


def link(name: str, target: str) -> zipfile.ZipInfo:
    """Return a symbolic link in an archive."""
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info


BAD: dict[str, tuple[list[tuple[str | zipfile.ZipInfo, bytes]], str]] = {
    "absolute": ([("/etc/passwd", b"x")], "is outside the bundle"),
    "above": ([("tournament/../../x.py", b"x")], "not a plain path|is outside"),
    "windows": ([("tournament\\x.py", b"x"), ("C:/x.py", b"x")], "not a plain path|does not belong in a bundle"),
    "link": ([(link("tournament/x.py", "/etc/passwd"), b"/etc/passwd")], "a link or a device"),
    "twice": ([("tournament/last.py", b"x")], "twice"),
    "twice in other letters": ([("tournament/LAST.py", b"x")], "twice"),
    "file and folder": ([("tournament/last.py/x.py", b"x")], "as a file and as a folder"),
    "unknown": ([("setup.py", b"x")], "does not belong in a bundle"),
    "unlisted": ([("tournament/more.py", b"x")], "is not in its manifest.json"),
    "folder": ([("tournament/sub/", b"")], "is a folder, a link"),
    "bomb": ([("tournament/bomb.bin", bytes(8 << 20))], "is not in its manifest.json"),
}


@pytest.mark.parametrize("case", BAD)
def test_an_unsafe_archive_is_refused_in_one_line(
    case: str, packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No file is written beside the bundle, and the exit code is 2."""
    members, expected = BAD[case]
    place = tmp_path / "bad.arena"
    place.write_bytes(packed.read_bytes())
    with zipfile.ZipFile(place, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            with pytest.warns(UserWarning, match="Duplicate name") if case == "twice" else pytest.MonkeyPatch.context():
                archive.writestr(name, content)
    code, found = verdict_on(place, capsys)
    assert code == 2
    assert found["verdict"] == "refused"
    assert "\n" not in found["message"]
    assert any(one in found["message"] for one in expected.split("|"))
    assert list(tmp_path.iterdir()) == [place]


def test_a_zip_bomb_is_refused_because_of_its_unpacked_size(
    attacked: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest lists the file, but the directory of the archive gives a size of 10 bytes."""

    def add(files: Files) -> None:
        files["tournament/bomb.bin"] = bytes(8 << 20)

    place = attacked(add)
    with Archive(place) as archive, pytest.raises(NoBundle, match="200 times as large"):
        archive.check()
    monkeypatch.setattr(reader, "MAX_RATIO", 10**6)
    monkeypatch.setattr(reader, "MAX_UNPACKED_BYTES", 1 << 20)
    with Archive(place) as archive, pytest.raises(NoBundle, match="GiB when unpacked"):
        archive.check()
    data = place.read_bytes()
    size = (8 << 20).to_bytes(4, "little")
    place.write_bytes(data.replace(size, (10).to_bytes(4, "little")))
    with Archive(place) as archive, pytest.raises(NoBundle):
        archive.check()


def test_an_archive_with_too_many_files_is_refused(packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """10,001 files are too many. A directory that is larger than needed for any bundle is not even read."""
    files = read(packed)
    place = write(tmp_path / "many.arena", files | {f"tournament/{number}": b"" for number in range(10_001 - len(files))})
    code, found = verdict_on(place, capsys)
    assert code == 2
    assert "10,001 files" in found["message"]
    data = bytearray(place.read_bytes())
    data[-10:-6] = (64 << 20).to_bytes(4, "little")
    place.write_bytes(data)
    assert "too many files" in verdict_on(place, capsys)[1]["message"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is not a bundle"),
        (b"PK\x05\x06" + bytes(18), "is not a bundle"),
        (b"game: tic-tac-toe\n" * 9, "is not a bundle"),
        (b"PK\x06\x07" + bytes(16) + b"PK\x05\x06" + bytes(18), "more than 4 GiB"),
    ],
)
def test_a_file_that_is_not_a_bundle_is_refused(
    content: bytes, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.arena").write_bytes(content)
    code, found = verdict_on(tmp_path / "x.arena", capsys)
    assert code == 2
    assert expected in found["message"]


def test_a_bundle_of_a_newer_version_is_refused(attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The manifest of a newer version may have other keys."""

    def change(files: Files) -> None:
        files["manifest.json"] = json.dumps({"format": "fairarena-bundle", "version": 2, "new": 1}).encode()

    code, found = verdict_on(attacked(change, fits=False), capsys)
    assert code == 2
    assert "made by a newer version of arena (bundle version 2, here 1)" in found["message"]


# Planted changes


def edit_record(files: Files, edit: Callable[[dict[str, Any]], None], number: int = 0) -> None:
    """Change a record."""
    lines = files["records.jsonl"].splitlines()
    values = json.loads(lines[number])
    edit(values)
    lines[number] = json.dumps(values).encode()
    files["records.jsonl"] = b"\n".join(lines) + b"\n"


def change_record(files: Files) -> None:
    """Reverse the result of a decided match."""
    lines = [json.loads(line) for line in files["records.jsonl"].splitlines()]
    number = next(number for number, values in enumerate(lines) if values["returns"][0])
    edit_record(files, lambda values: values.update(returns=values["returns"][::-1]), number)


def change_cell(files: Files) -> None:
    """Give the first agent one more win in the printed board."""
    lines = files["boards.txt"].decode().splitlines()
    row = 5
    lines[row] = lines[row][:-1] + ("1" if lines[row][-1] != "1" else "2")
    files["boards.txt"] = ("\n".join(lines) + "\n").encode()


def change_number(files: Files) -> None:
    """Give the first agent a better score in the board as JSON."""
    values = json.loads(files["boards.json"])
    values["boards"][0]["rows"][0]["score"] += 0.01
    files["boards.json"] = json.dumps(values).encode()


def exchange_plugin(files: Files) -> None:
    """Replace the plugin by one that plays other actions."""
    files["tournament/last.py"] = files["tournament/last.py"].replace(b"[-1]", b"[0]")


def drop_match(files: Files) -> None:
    """Leave out the last match."""
    files["records.jsonl"] = b"".join(files["records.jsonl"].splitlines(keepends=True)[:-1])


CHANGES: list[Change] = [change_record, change_cell, change_number, exchange_plugin, drop_match]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.usefixtures("no_sandbox")
def test_a_changed_file_is_detected_by_its_hash(
    change: Change, attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The verdict names the file."""
    code, verdict = verdict_on(attacked(change, fits=False), capsys)
    assert (code, verdict["verdict"]) == (1, "contradicted")
    assert "does not have the SHA-256 of the manifest" in verdict["contradictions"][0]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (change_record, "boards.json: "),
        (change_cell, "boards.txt:6 is not a line of these boards"),
        (change_number, "boards.json: boards[0].rows[0].score is"),
        (drop_match, "boards.json: "),
    ],
)
@pytest.mark.usefixtures("no_sandbox")
def test_a_change_with_recomputed_hashes_is_detected_without_a_sandbox(
    change: Change, expected: str, attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The leaderboards are computed from the records again."""
    code, verdict = verdict_on(attacked(change), capsys)
    assert code == 1
    assert expected in verdict["contradictions"][0]


def reprint(files: Files, folder: Path) -> None:
    """Compute the boards and the citation from the changed records, as a careful attacker would."""
    from arena_bundle.citation import write_citation
    from arena_bundle.layout import RunFile, read_line, read_model, runs_of
    from arena_bundle.rebuild import build_store

    values = json.loads(files["tournament/spec.json"])
    file = read_model(RunFile, json.loads(files["run.json"]), "run.json")
    runs = list(runs_of(file, values))
    files["CITATION.cff"] = write_citation(file, (), sha256(files["records.jsonl"]).hexdigest())
    lines = [read_line(line, 1) for line in files["records.jsonl"].splitlines()]
    build_store(folder / "attack.db", runs, lines)
    files["boards.json"], files["boards.txt"] = print_boards(folder / "attack.db")


@pytest.mark.usefixtures("no_sandbox")
def test_a_removed_match_is_detected_even_if_the_boards_are_recomputed(
    attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The schedule has 30 matches."""

    def change(files: Files) -> None:
        drop_match(files)
        reprint(files, tmp_path)

    code, verdict = verdict_on(attacked(change), capsys)
    assert code == 1
    assert "has 29 of the 30 matches in its schedule, although the run has ended" in verdict["contradictions"][0]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ({"termination": "timeout"}, "seat: expected the seat that caused timeout"),
        ({"labels": ["greedy", "random"]}, "expected ("),
        ({"seed": 1}, "seed: expected the seed of the run"),
        ({"moves": -1}, "moves: "),
        ({"returns": [float(10**308) * 10, 0.0]}, "is not a JSON number"),
        ({"places": [[0, 7, 0, [0, 1]]]}, "its place 0 in the schedule is impossible"),
        ({"id": "xyz"}, "id: expected 32 hexadecimal digits"),
        ({"more": 1}, "expected the keys"),
        ({"decisions": [[0, 1, 1, 0.0, None, None, {"tokens": "many"}, 0]]}, "decisions[0]"),
    ],
)
@pytest.mark.usefixtures("no_sandbox")
def test_a_record_of_an_invalid_format_is_detected(
    edit: dict[str, Any], expected: str, attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the record, and no exception is raised."""
    code, verdict = verdict_on(attacked(lambda files: edit_record(files, lambda values: values.update(edit))), capsys)
    assert code in (1, 2)
    assert expected in (verdict.get("message") or verdict["contradictions"][0])


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_without_a_sandbox_the_rest_is_verified(packed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 3, because no match was replayed."""
    code, verdict = verdict_on(packed, capsys)
    assert (code, verdict["verdict"]) == (3, "incomplete")
    assert verdict["not_shown"] == ["not replayed: no sandbox"]
    assert any("board recomputed" in one for one in verdict["shown"])
    assert any("did not select this run from several" in one for one in verdict["limits"])


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_missing_packages_and_other_versions_are_listed(
    attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:

    def change(files: Files) -> None:
        values = json.loads(files["environment.json"])
        values["libraries"] |= {"no-such-package": "1.0", "click": "0.1"}
        files["environment.json"] = json.dumps(values).encode()

    notes = verdict_on(attacked(change), capsys)[1]["notes"]
    assert any("no-such-package 1.0" in one for one in notes if one.startswith("missing packages: "))
    assert any(one.startswith("other versions: click 0.1 (here ") for one in notes)


@pytest.mark.parametrize("values", [[], "text", 3, None], ids=["list", "text", "number", "null"])
@pytest.mark.parametrize("name", ["manifest.json", "run.json", "boards.json", "environment.json", "tournament/spec.json"])
def test_a_json_file_of_another_type_is_reported_by_its_name(
    name: str, values: object, packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {**read(packed), name: json.dumps(values).encode()}
    if name != "manifest.json":
        rehash(files)
    code, found = verdict_on(write(tmp_path / "bad.arena", files), capsys, "--replay", "0")
    assert code in (1, 2)
    (told,) = [found["message"]] if found["verdict"] == "refused" else found["contradictions"]
    assert name in told
    assert "cannot read some values" not in told


@pytest.mark.parametrize("edit", [{"libraries": []}, {"libraries": {"click": 8}}, {"runs": {}}, {"runs": [3]}, {"more": 1}])
def test_a_value_of_another_type_in_the_environment_is_reported_by_its_key(
    edit: dict[str, object], attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:

    def change(files: Files) -> None:
        files["environment.json"] = json.dumps({**json.loads(files["environment.json"]), **edit}).encode()

    code, found = verdict_on(attacked(change), capsys, "--replay", "0")
    assert (code, found["verdict"]) == (2, "refused")
    assert f"environment.json: {next(iter(edit))}" in found["message"]


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_a_valid_signature_is_reported_with_its_signer(tmp_path: Path, missing: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """`ssh-keygen` makes the keys. Another signer and a changed manifest are detected."""
    program = shutil.which("ssh-keygen", path=os.defpath)
    if program is None:
        missing("languages", "there is no ssh-keygen")
    (tmp_path / "ssh-keygen").symlink_to(str(program))
    for name in ("own", "other"):
        words = ["-q", "-t", "ed25519", "-N", "", "-C", "ada@planted-host.example.org", "-f", str(tmp_path / name)]
        subprocess.run([str(program), *words], check=True)
    out = pack(play(tmp_path), "--sign", tmp_path / "own")
    assert b"planted-host" not in b"".join(read(out).values())
    for name in ("own", "other"):
        public = (tmp_path / f"{name}.pub").read_text()
        (tmp_path / f"{name}.signers").write_text(f"{name}@signers {public}")
    shown = verdict_on(out, capsys, "--signers", tmp_path / "own.signers")
    assert "the manifest is signed by own@signers" in shown[1]["shown"]
    code, verdict = verdict_on(out, capsys, "--signers", tmp_path / "other.signers")
    assert code == 1
    assert "the signature was not made by any of the signers" in verdict["contradictions"][0]
    files = read(out)
    unsigned = {name: data for name, data in files.items() if name != SIGNATURE}
    code, verdict = verdict_on(write(tmp_path / "unsigned.arena", unsigned), capsys, "--signers", tmp_path / "own.signers")
    assert (code, "its author: the bundle has no signature" in verdict["not_shown"]) == (3, True)
    change_cell(files)
    rehash(files)
    code, verdict = verdict_on(write(tmp_path / "x.arena", files), capsys, "--signers", tmp_path / "own.signers")
    assert code == 1
    assert "the signature was not made by any of the signers" in verdict["contradictions"][0]


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_a_bundle_is_not_rejected_if_its_signature_cannot_be_checked(
    tmp_path: Path, missing: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file of signers has a line without a key, or an expired key, or is a folder. Or ssh-keygen does not work, as for a user
    id without an account.
    """
    program = shutil.which("ssh-keygen", path=os.defpath)
    if program is None:
        missing("languages", "there is no ssh-keygen")
    (tmp_path / "ssh-keygen").symlink_to(str(program))
    subprocess.run([str(program), "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "own")], check=True)
    out, signers = pack(play(tmp_path), "--sign", tmp_path / "own"), tmp_path / "signers"
    public = (tmp_path / "own.pub").read_text()
    for line, message in (("ada", f"{signers}:1: missing key"), (f'ada valid-before="20200101" {public}', "key has expired")):
        signers.write_text(f"{line}\n")
        code, found = verdict_on(out, capsys, "--signers", signers)
        assert code == 2
        assert message in found["message"]
        assert "expected a name and a key that is valid now" in found["message"]
    code, found = verdict_on(out, capsys, "--signers", tmp_path)
    assert (code, "it is a folder; expected a regular file" in found["message"]) == (2, True)
    signers.write_text(f"ada {public}")
    (tmp_path / "ssh-keygen").unlink()
    (tmp_path / "ssh-keygen").write_text("#!/bin/sh\necho No user exists for uid 54321 >&2\nexit 255\n")
    (tmp_path / "ssh-keygen").chmod(0o755)
    code, found = verdict_on(out, capsys, "--signers", signers)
    assert code == 2
    assert "ssh-keygen, which does not work here: No user exists for uid 54321" in found["message"]


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_the_verdict_is_shown_on_the_pages_of_the_store(
    packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--store` writes the matches and the verdict, which a panel shows below each leaderboard."""
    from arena.api.store import Store
    from arena_bundle.panel import describe_verdict

    store = tmp_path / "checked.db"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    assert verdict_on(packed, capsys, "--store", store)[0] == 3
    with Store.open(store) as opened:
        shown = describe_verdict(opened)
    assert shown is not None
    assert shown[0] == {"title": "Verdict", "sentences": ["incomplete"]}
    assert shown[-1]["title"] == "No bundle shows"
    with Store.open(store, write=True) as opened:
        opened.discard([1])
    with Store.open(store) as opened:
        stale = "out of date: the store has changed since it was verified"
        assert describe_verdict(opened) == [{"title": "Verdict", "sentences": [stale]}]


def change_version(files: Files, folder: Path) -> None:
    """Let another version of arena have made the bundle."""
    change_run(files, lambda values: values["runs"][-1]["versions"].update(arena="0.0.1"))
    environment = json.loads(files["environment.json"])
    environment["runs"][-1].update(arena="0.0.1")
    files["environment.json"] = json.dumps(environment).encode()
    reprint(files, folder)


def change_run(files: Files, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change `run.json`."""
    values = json.loads(files["run.json"])
    edit(values)
    files["run.json"] = json.dumps(values).encode()


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_a_published_seed_that_no_match_uses_is_detected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The author publishes the hash of a seed that no match uses, tries out other seeds, and changes `arena bundle` so that
    it does not refuse the store.
    """
    from arena import run
    from arena.api.spec import Document, reload_spec

    values = {"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 2, "seed": "secret"}
    (tmp_path / "cup.yaml").write_text(json.dumps(values))
    for name, secret in (("free", f"{'a' * 32},999999:{'b' * 32}"), ("fair", f"{'a' * 32},1:{'b' * 32}")):
        store = tmp_path / f"{name}.db"
        run(reload_spec(Document("cup.yaml", values, tmp_path), [], secret, secret=True), store=store)
        (tmp_path / f"{name}.yaml").write_text(json.dumps(values))
        if name == "free":
            assert call(bundle, store, "-o", tmp_path / "free.arena", "--spec", tmp_path / "free.yaml") == 2
            assert "`arena verify` would contradict it: run.json: no match uses the secret" in capsys.readouterr().out
            monkeypatch.setattr(BundleContent, "_check", lambda *_: None)
        code, verdict = verdict_on(pack(store), capsys)
        if name == "free":
            assert code == 1
            assert "no match uses the secret seed for the rounds from 999,999 on" in verdict["contradictions"][0]
        else:  # `printf '%032d' | tr 0 a | b2sum -l 256` prints the first hash
            assert code == 3, verdict
            assert f"all of {HASH_OF_A} (from round 0 on), {HASH_OF_B} (from round 1 on)" in verdict["limits"][0]


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_a_bundle_of_an_unfinished_run_is_accepted_without_the_missing_matches(
    attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The verdict says so, even if the matches in the schedule depend on results, so that their number is unknown."""

    def change(files: Files) -> None:
        change_run(files, lambda values: values["runs"][-1].update(ended=None))
        change_run(files, lambda values: values["boards"][0].update(exact=False))
        drop_match(files)
        reprint(files, tmp_path)

    code, verdict = verdict_on(attacked(change), capsys)
    assert code == 3, verdict
    assert any(
        "the run has not ended, so a dropped match cannot be noticed (29 of at most 30" in one for one in verdict["not_shown"]
    )


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_an_empty_leaderboard_is_not_verified_if_the_versions_differ(
    attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The verdict does not claim that every number was computed again."""

    def change(files: Files) -> None:
        change_version(files, tmp_path)
        files["boards.json"] = b'{"boards": [{"rows": [{}, {}, {}]}]}'

    code, verdict = verdict_on(attacked(change), capsys)
    assert code in (1, 3)
    assert not any("every number" in one for one in verdict["shown"])
    assert any("boards.json lacks values" in one for one in verdict["not_shown"]), verdict


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_a_citation_with_a_changed_title_is_detected(attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """Only the authors may be changed."""

    def change(files: Files) -> None:
        files["CITATION.cff"] = files["CITATION.cff"].replace(b"anonymous", b"Somebody")
        if title is not None:
            files["CITATION.cff"] = files["CITATION.cff"].replace(b"Results of", title)

    title = None
    code, verdict = verdict_on(attacked(change), capsys)
    assert code == 3
    assert any("times, the messages, the versions and environment.json" in one for one in verdict["limits"])
    title = b"Certified results of"
    code, verdict = verdict_on(attacked(change), capsys)
    assert code == 1
    assert "CITATION.cff: expected" in verdict["contradictions"][0]


@pytest.mark.usefixtures("no_sandbox")
def test_a_repeated_key_in_json_is_refused(attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    """JSON parsers disagree on which value counts."""

    def change(files: Files) -> None:
        files["tournament/spec.json"] = files["tournament/spec.json"].replace(b'"rounds": 5', b'"rounds": 500, "rounds": 5')

    code, found = verdict_on(attacked(change), capsys)
    assert code == 2
    assert "'rounds' occurs twice in the same object" in found["message"]


def test_an_archive_with_bytes_outside_its_files_is_refused(
    packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The bytes are before the archive, or between its files and the list of its files."""
    data, place = packed.read_bytes(), tmp_path / "more.arena"
    at = data.index(b"PK\x01\x02")
    moved = bytearray(data[:at] + b"hidden" + data[at:])
    moved[-6:-2] = (at + 6).to_bytes(4, "little")
    for content in (b"#!/bin/sh\n" + data, bytes(moved)):
        place.write_bytes(content)
        code, found = verdict_on(place, capsys)
        assert code == 2, found
        assert "has stray bytes before" in found["message"]


@pytest.mark.parametrize(
    "edit",
    [
        lambda values: values["boards"][0].update(game=[]),
        lambda values: values["boards"][0].update(game=None),
        lambda values: values["boards"][0].update(size="x", exact=False),
        lambda values: values["boards"][0].update(size=10**400),
        lambda values: values["runs"][-1].update(secret=f"zz:{'a' * 32}", revealed="2026", commitment="0" * 64),
        lambda values: values["boards"][0].update(sort=5),
        lambda values: values["boards"][0].update(ranking={"columns": [], "placings": [{"merit": [1], "values": {}}]}),
    ],
)
@pytest.mark.usefixtures("no_sandbox")
def test_values_of_wrong_types_are_contradictions(
    edit: Callable[[dict[str, Any]], object], attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """No exception other than ArenaError is raised."""
    assert verdict_on(attacked(lambda files: change_run(files, edit)), capsys)[0] in (1, 2)


@pytest.mark.usefixtures("no_sandbox")
def test_no_store_is_written_for_a_contradicted_bundle(
    attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An existing verdict is not overwritten either."""
    store = tmp_path / "kept.db"
    code, verdict = verdict_on(attacked(change_cell, fits=False), capsys, "--store", store)
    assert (code, verdict["verdict"], store.exists()) == (1, "contradicted", False)
    (tmp_path / "kept.verdict.json").write_text("mine")
    code, found = verdict_on(attacked(change_cell, fits=False), capsys, "--store", store)
    assert code == 2
    assert "kept.verdict.json exists" in found["message"]


def give_submissions(values: dict[str, Any]) -> None:
    values["submissions"] = {"random": "0" * 64}


def reveal_early(values: dict[str, Any]) -> None:
    """The hash of a secret seed is the BLAKE2b of its digits."""
    secret = "0" * 31 + "1"
    values["seed"] = secret
    hash_ = blake2b(secret.encode(), digest_size=32).hexdigest()
    values["runs"][-1].update(secret=secret, commitment=hash_, started="2026-01-02T00:00:00+00:00")
    values["runs"][-1].update(revealed="2026-01-01T23:59:59+00:00")


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (give_submissions, "run.json: submissions: expected none, because the bundle is not of a ladder"),
        (reveal_early, "run.json: the secret seed was revealed at 2026-01-01T23:59:59+00:00, before its run started"),
    ],
)
@pytest.mark.usefixtures("no_sandbox")
def test_an_impossible_fact_about_a_run_is_detected(
    edit: Callable[[dict[str, Any]], None], expected: str, attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """No number on a leaderboard depends on it."""
    code, verdict = verdict_on(attacked(lambda files: change_run(files, edit)), capsys)
    assert (code, verdict["contradictions"]) == (1, [expected])


@pytest.mark.parametrize(("termination", "left"), [("timeout", 0), ("timeout", 2), ("crash", 2)])
@pytest.mark.usefixtures("no_sandbox")
def test_an_impossible_end_of_a_match_is_detected(
    termination: str, left: int, attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The entries have no time limit and no processes of their own. The match is cut where the first seat has to move."""

    def change(files: Files) -> None:
        def edit(values: dict[str, Any]) -> None:
            values.update(termination=termination, seat=0, returns=[-1.0, 1.0], moves=left)
            values.update(actions=values["actions"][:left], decisions=values["decisions"][:left])

        edit_record(files, edit)
        reprint(files, tmp_path)

    code, verdict = verdict_on(attacked(change), capsys)
    assert code == 1
    assert f"termination: {termination} is impossible" in verdict["contradictions"][0]


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_the_order_of_records_in_a_file_changes_no_plot(
    attacked: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All wins of one agent come first in the file. The plots over the run use the numbers in the schedule."""
    from arena_web.report.evidence import read as read_findings

    def change(files: Files) -> None:
        lines = [json.loads(line) for line in files["records.jsonl"].splitlines()]
        lines.sort(key=lambda one: "greedy" not in one["labels"] or -one["returns"][one["labels"].index("greedy")])
        files["records.jsonl"] = b"".join([json.dumps(one).encode() + b"\n" for one in lines])
        reprint(files, tmp_path)

    place, store = attacked(change), tmp_path / "sorted.db"
    numbers = [json.loads(line)["places"][0][0] for line in read(place)["records.jsonl"].splitlines()]
    assert numbers != sorted(numbers)
    assert verdict_on(place, capsys, "--store", store)[0] == 3
    assert [match.place for match in read_findings(store).boards[0].matches] == list(range(30))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("environment.json", b"[]", "attacked.arena: environment.json: expected "),
        ("environment.json", b"[" * 100_000 + b"]" * 100_000, "environment.json is not JSON that arena reads: its values are"),
        ("run.json", b"9" * 5000, "run.json is not JSON: a number has more than 4,300 digits"),
    ],
)
@pytest.mark.usefixtures("no_sandbox")
def test_the_message_about_a_file_of_another_type_names_the_bundle_and_no_python_function(
    name: str, content: bytes, expected: str, attacked: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = verdict_on(attacked(lambda files: files.update({name: content})), capsys)
    assert code == 2
    assert expected in found["message"]
    assert "attacked.arena" in found["message"]
