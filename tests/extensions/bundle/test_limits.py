"""The reader has limits and checks for single values. Each test fails if one of its checks is removed."""

import io
import json
import zipfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import click
import pytest

from arena.api.store import Store
from arena_bundle import bundle as packer, reader
from arena_bundle.bundle import bundle
from arena_bundle.layout import Contradiction, NoBundle, read_json, read_line
from arena_bundle.lot import LotSize, LotSizeType, describe_bound
from arena_bundle.privacy import Privacy, PrivateValue
from arena_bundle.reader import Archive
from arena_bundle.replaced_entries import find_wrong_settings
from tests.extensions.bundle.conftest import call, play, read, rehash, verdict_on, write
from tests.extensions.bundle.test_hostile import change_run, edit_record, reprint

Files = dict[str, bytes]


def refuse(place: Path, message: str) -> None:
    """Check that the archive is refused with this message."""
    with pytest.raises(NoBundle, match=message), Archive(place) as archive:
        archive.check()


def test_a_bundle_exactly_at_the_limits_is_accepted(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits equal the number of files of the bundle and the bytes of its longest line. Smaller limits are exceeded."""
    files = read(packed)
    monkeypatch.setattr(reader, "MAX_MEMBERS", len(files))
    longest = max(map(len, files["records.jsonl"].splitlines(keepends=True)))
    monkeypatch.setattr(reader, "MAX_RECORD_BYTES", longest)
    with Archive(packed) as archive:
        archive.check()
        assert len(list(archive.lines())) == 30
        assert archive.read("run.json", len(files["run.json"])) == files["run.json"]
        with pytest.raises(NoBundle, match=r"run\.json has more than"):
            archive.read("run.json", len(files["run.json"]) - 1)
        monkeypatch.setattr(reader, "MAX_RECORD_BYTES", longest - 1)
        with pytest.raises(Contradiction, match="the line has more than"):
            list(archive.lines())
    monkeypatch.setattr(reader, "MAX_MEMBERS", len(files) - 1)
    refuse(packed, "a bundle contains at most")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tournament/" + "a/" * 31 + "x", "too deep or too long"),
        ("tournament/" + "x" * 200 + "/" + "x" * 200 + "/" + "x" * 88, "too deep or too long"),
        ("tournament/" + "x" * 256, "too deep or too long"),
        ("tournament/./x", "is not a plain path"),
        ("tournament//x", "is not a plain path"),
        ("tournament/a\nb", "is not a plain path"),
    ],
)
def test_an_unsafe_file_name_is_refused(name: str, message: str, packed: Path, tmp_path: Path) -> None:
    """The manifest lists the file, so only the name is invalid. A name that is shorter by one is allowed."""
    files = read(packed)
    changed, place = {**files, name: b"x"}, tmp_path / "name.arena"
    rehash(changed)
    refuse(write(place, changed), message)
    if "plain" not in message:
        changed = {**files, name.replace("a/", "", 1) if "a/" in name else name[:-1]: b"x"}
        rehash(changed)
        with Archive(write(place, changed)) as archive:
            archive.check()


def test_other_kinds_of_zip_archives_are_refused(packed: Path, tmp_path: Path) -> None:
    """The archives are encrypted, compressed by bzip2, or written to a stream, so that bytes follow each file."""
    files, place = read(packed), tmp_path / "other.arena"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_BZIP2) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    refuse(place, "a method other than deflate")
    data = bytearray(write(place, files).read_bytes())
    data[6] |= 1  # the flags of the first file, here and in the list of files
    data[data.index(b"PK\x01\x02") + 8] |= 1
    place.write_bytes(data)
    refuse(place, "is encrypted")

    class Stream(io.BytesIO):
        def seekable(self) -> bool:
            return False

    stream = Stream()
    stream.seek = stream.tell = cast("Any", lambda *_: (_ for _ in ()).throw(OSError))  # type: ignore[method-assign]
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    place.write_bytes(stream.getvalue())
    refuse(place, "has stray bytes before")


def test_a_truncated_bundle_is_reported(packed: Path, tmp_path: Path) -> None:
    """An interrupted download leaves the first half. Other files are not zip archives at all."""
    place = tmp_path / "half.arena"
    for content, message in (
        (packed.read_bytes()[: packed.stat().st_size // 2], "damaged or cut off"),
        (packed.read_bytes() + b"x", "damaged or cut off"),
        (b"<html>not found</html>" * 9, "is not a bundle: expected a zip archive"),
    ):
        place.write_bytes(content)
        refuse(place, message)


def test_a_bundle_of_an_unknown_older_version_is_refused(packed: Path, tmp_path: Path) -> None:
    """The first version is 1."""
    files = read(packed)
    files["manifest.json"] = files["manifest.json"].replace(b'"version": 1', b'"version": 0')
    refuse(write(tmp_path / "old.arena", files), "expected bundle version 1, got 0")


def test_extracted_files_are_read_only_and_programs_stay_executable(packed: Path, tmp_path: Path) -> None:
    """Files beside the tournament, such as the records, are not extracted."""
    files, place = {**read(packed), "tournament/run.sh": b"#!/bin/sh\n"}, tmp_path / "program.arena"
    rehash(files)
    with zipfile.ZipFile(place, "w") as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o100755 if name.endswith(".sh") else 0o100644) << 16
            archive.writestr(info, content)
    with Archive(place) as opened:
        opened.check()
        opened.extract(tmp_path / "out")
    found = {str(one.relative_to(tmp_path / "out")): one.stat().st_mode & 0o777 for one in (tmp_path / "out").rglob("*.*")}
    assert found == {"tournament/spec.json": 0o444, "tournament/last.py": 0o444, "tournament/run.sh": 0o555}


def drop_matches_from_size(files: Files) -> None:
    """Set the size of the schedule to one match less."""
    change_run(files, lambda run: run["boards"][0].update(size=29))


def forge_secret(values: dict[str, Any], revealed: str | None, more: str = "") -> None:
    """Mark the seed of the run as a secret one."""
    secret = f"{'a' * 32}{more}"
    commitment = blake2b(secret[-32:].encode(), digest_size=32).hexdigest()
    values["runs"][-1].update(secret=secret, commitment=commitment, revealed=revealed)


def repeat_match(files: Files) -> None:
    """Add the first match a second time, at the end of the schedule."""
    first = json.loads(files["records.jsonl"].splitlines()[0])
    first["places"][0][0] = 30
    files["records.jsonl"] += json.dumps(first).encode() + b"\n"


def change_spec(files: Files, **values: object) -> None:
    """Change keys of the spec."""
    files["tournament/spec.json"] = json.dumps({**json.loads(files["tournament/spec.json"]), **values}).encode()


def claim_another_processor(files: Files) -> None:
    """Change the environment, but not the versions of the run."""
    values = json.loads(files["environment.json"])
    values["runs"][0]["processor"] = "a faster one"
    files["environment.json"] = json.dumps(values).encode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda files: change_spec(files, seed=7), "tournament/spec.json: seed: expected 0, the seed of the run, got 7"),
        (lambda files: change_spec(files, seed="secret"), "seed: expected 0, the seed of the run, got 'secret'"),
        (lambda files: change_spec(files, seed=False), "seed: expected 0, the seed of the run, got False"),
        (lambda files: change_spec(files, name="final"), "name: expected 'cup', the name of the run, got 'final'"),
        (lambda files: change_spec(files, plugins=["first.py"]), "plugins: 'first.py' is not a plugin of the run"),
        (lambda files: change_spec(files, plugins=7), "tournament/spec.json: plugins: expected a list, got 7"),
        (
            lambda files: files.update(
                {
                    "manifest.json": files["manifest.json"].replace(
                        b'"left_out": {}', b'"left_out": {"x.py": "' + b"0" * 64 + b'"}'
                    )
                }
            ),
            "manifest.json: left_out names files",
        ),
        (
            lambda files: change_run(files, lambda run: run["boards"][0].update(title="a\x01b")),
            "run.json: a board cannot be read",
        ),
        (claim_another_processor, "environment.json: its runs do not have the versions in run.json"),
        (lambda files: files.pop("tournament/last.py"), "tournament/last.py is missing"),
        (lambda files: change_run(files, lambda run: forge_secret(run, "2026")), "is not the secret seed that was revealed"),
        (lambda files: change_run(files, lambda run: forge_secret(run, None)), "is not the secret seed that was revealed"),
        (repeat_match, "occurs twice in the records"),
        (lambda files: edit_record(files, lambda one: one["places"][0].__setitem__(0, 0), 1), "its place 0 in the schedule"),
        (lambda files: edit_record(files, lambda one: one.update(labels=one["labels"][::-1])), "expected ('tic-tac-toe'"),
        (
            lambda files: change_run(files, lambda run: run["boards"][0].update(game=[])),
            "0.game: expected a mapping, got an empty list",
        ),
        (lambda files: change_run(files, lambda run: run["boards"][0].update(size=2**53 + 1)), "board 1: size cannot be"),
        (
            lambda files: change_run(files, lambda run: forge_secret(run, "2026", f",5:{'b' * 32},5:{'c' * 32}")),
            "not in the order",
        ),
        (drop_matches_from_size, "has 30 of the 29 matches"),
        (
            lambda files: files.update({"CITATION.cff": files["CITATION.cff"] + b"url: x\n"}),
            "CITATION.cff: expected no line, got 'url: x'",
        ),
    ],
)
@pytest.mark.usefixtures("no_sandbox")
def test_each_wrong_value_is_detected_by_its_own_check(
    change: Callable[[Files], object], message: str, packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The hashes are correct, except for a missing file. The leaderboards still belong to the unchanged records."""
    files = read(packed)
    before = set(files)
    change(files)
    if change is drop_matches_from_size:
        reprint(files, tmp_path)
    if set(files) == before:
        rehash(files)
    code, verdict = verdict_on(write(tmp_path / "changed.arena", files), capsys)
    assert code == 1
    assert message in verdict["contradictions"][0]


def test_a_text_with_too_many_values_is_not_parsed() -> None:
    """An empty list takes twenty times as much memory as its text."""
    text = b"[" + b"[]," * 2_000_001 + b"[]]"
    said = r"has too many values: expected at most 4,000,000 commas and brackets, got 4,000,004"
    for read_one in (lambda: read_json(text, "run.json"), lambda: read_line(text, 1)):
        with pytest.raises(NoBundle, match=said):
            read_one()


def test_settings_of_entries_must_agree_with_the_spec() -> None:
    """Each entry has its own settings. If a host was replaced, the key of its entry differs."""
    known: list[dict[str, Any]] = [
        {"key": "aa", "agent": "lookahead", "options": {"depth": 1}, "heuristic": None},
        {"key": "bb", "agent": "llm", "options": {"url": "http://host-1.invalid/v1"}, "heuristic": None},
    ]
    assert list(find_wrong_settings(known, known)) == []
    assert list(find_wrong_settings([known[0], {**known[1], "key": "cc"}], known)) == []
    assert list(find_wrong_settings(known[::-1], known)) == known[::-1]
    wrongs: list[Any] = [
        {**known[0], "options": {"depth": 2}},
        {**known[0], "key": "cc"},
        {**known[1], "agent": "other"},
        "x",
        {},
    ]
    for wrong in wrongs:
        assert list(find_wrong_settings([wrong, known[1]], known)) == [wrong]


def test_a_file_above_the_limit_of_the_verifier_is_not_packed(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The limit for a JSON file is 32 MiB."""
    assert reader.MAX_JSON_BYTES == 32 << 20
    monkeypatch.setattr(packer, "MAX_JSON_BYTES", 500)
    out = tmp_path / "large.arena"
    assert call(bundle, packed.with_suffix(".db"), "-o", out, "--spec", packed.with_suffix(".yaml")) == 2
    assert "run.json takes" in capsys.readouterr().out
    assert not out.exists()


@pytest.mark.parametrize("text", ["-1", "101%", "-5%", "nan%", "half", "%"])
def test_an_invalid_size_of_the_sample_is_refused(text: str) -> None:
    """The smallest and the largest values are allowed."""
    with pytest.raises(click.BadParameter, match="expected a number of matches"):
        LotSizeType().convert(text, None, None)
    assert LotSizeType().convert("100%", None, None) == LotSize(share=1.0)
    assert LotSizeType().convert("0", None, None) == LotSize(count=0)


def test_the_bound_for_a_sample_of_all_matches_but_one_is_exact() -> None:
    """Samples of 59 of 60 records miss a single different record with a probability of 1/60, and samples of 19 of 20 with 1/20
    = 5 %.
    """
    assert describe_bound(59, 60).endswith("with 95 % confidence at most 0 % of the records differ")
    assert describe_bound(19, 20).endswith("with 95 % confidence at most 5 % of the records differ")


def test_private_values_of_a_spec_and_of_records_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The values are hosts, paths in the home folder, tracebacks, and secrets in URL encoding."""
    privacy = Privacy({"agents": [{"agent": "llm", "base_url": "http://gpu7.uni-example.org:80/v1"}]})
    assert privacy.rename_hosts(["http://gpu7.uni-example.org:80/v1"]) == ["http://host-1.invalid:80/v1"]
    assert privacy.rename_hosts(str(Path.home() / "course" / "w.txt")) == "w.txt"
    assert privacy.rename_hosts("/opt/w.txt") == "/opt/w.txt"
    monkeypatch.setenv("PLANTED_TOKEN", "planted/secret 4711")
    with pytest.raises(PrivateValue, match="secret environment variable"):
        Privacy({}).check("tournament/a.py", b"http://x/?key=planted%2Fsecret%204711")
    Privacy({}).check("tournament/w.bin", b"\xff\0\1a@b.de\xe9")  # a binary file needs a longer match for an address
    with Store.open(play(tmp_path)) as opened:
        record = next(one for one, _ in opened.records())
    assert privacy.clean(record._replace(traceback=f"{Path.home()}/x.py")).traceback is None
