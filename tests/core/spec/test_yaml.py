"""YAML 1.2 with its core schema, and faults with their places."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import SpecError
from arena.spec import document, load_spec
from arena.spec.document import Document

Write = Callable[..., Path]
Faults = Callable[..., list[str]]

MIB = 1 << 20
SOUND = "game: tic-tac-toe\nagents: [random, greedy]\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # The examples of the YAML 1.2.2 specification, section 10.3.2.
        ("null", None),
        ("true", True),
        ("True", True),
        ("false", False),
        ("FALSE", False),
        ("0", 0),
        ("0o7", 7),
        ("0x3A", 58),
        ("-19", -19),
        ("0.", 0.0),
        ("-0.0", 0.0),
        (".5", 0.5),
        ("+12e03", 12000),
        ("-2E+05", -200000),
        (".inf", math.inf),
        ("-.Inf", -math.inf),
        ("+.INF", math.inf),
        # Nothing at all, and numbers that YAML 1.1 reads as octal or not as numbers.
        ("~", None),
        ("", None),
        ("012", 12),
        ("08", 8),
        ("1e5", 100000),
        ("0x1F", 31),
        ("0o17", 15),
        ("2.5", 2.5),
    ],
)
def test_values_follow_the_core_schema(write: Write, text: str, value: Any) -> None:
    read = Document.read(write(f"key: {text}\n")).values["key"]
    assert (type(read), read) == (type(value), value)


@pytest.mark.parametrize(
    "text",
    [
        *["no", "yes", "on", "off", "y", "n", "No", "OFF"],
        *["1:30", "190:20:30", "1_000", "0b11", "0O17", "0X1F", "-0x1F", "0x", "1e", "."],
        *["2001-12-14", "2001-12-14t21:59:43.10-05:00", "nULL", "tRUE", "="],
    ],
)
def test_all_other_scalars_are_text(write: Write, text: str) -> None:
    assert Document.read(write(f"key: {text}\n")).values["key"] == text


def test_nan_is_a_number(write: Write) -> None:
    assert math.isnan(Document.read(write("key: .nan\n")).values["key"])


@pytest.mark.parametrize("text", ["'no'", '"1"', "!!str 1", "'null'"])
def test_quotes_and_the_tag_str_give_text(write: Write, text: str) -> None:
    assert isinstance(Document.read(write(f"key: {text}\n")).values["key"], str)


def test_keys_are_text(write: Write) -> None:
    assert Document.read(write("1: a\ntrue: b\n")).values == {"1": "a", "true": "b"}


def test_a_byte_order_mark_and_windows_line_ends_are_read(write: Write) -> None:
    assert Document.read(write(b"\xef\xbb\xbfname: x\r\nseed: 1\r\n")).values == {"name": "x", "seed": 1}


def test_json_is_read(write: Write) -> None:
    assert Document.read(write('{"name": "\\ud83d\\ude00", "seed": 1}')).values == {"name": "\U0001f600", "seed": 1}


def test_an_alias_stands_for_its_anchor(write: Write) -> None:
    values = Document.read(write("base: &b {x: 1}\none: *b\ntwo: [*b, *b]\n")).values
    assert values == {"base": {"x": 1}, "one": {"x": 1}, "two": [{"x": 1}, {"x": 1}]}


def test_an_error_in_an_alias_has_the_position_of_its_anchor(faults: Faults) -> None:
    found = faults("game: tic-tac-toe\nagents:\n  - &one {agent: lookahead, depth: four}\n  - *one\n")
    assert found == [
        "cup.yaml:3:36: agents[0].depth: expected an integer, got 'four'",
        "cup.yaml:3:36: agents[1].depth: expected an integer, got 'four'",
    ]


def test_duplicate_keys_are_refused(faults: Faults) -> None:
    found = faults("game: {name: tic-tac-toe, rows: 3, rows: 4}\nseed: 1\nagents: [randm, greedy]\nseed: 2\n")
    assert [fault.split(": ")[0] for fault in found] == ["cup.yaml:1:36", "cup.yaml:3:10", "cup.yaml:4:1"]
    assert "duplicate key 'rows'" in found[0]
    assert "did you mean 'random'" in found[1]
    assert "duplicate key 'seed'" in found[2]
    assert "2:1" in found[2]


def test_merge_keys_are_refused(faults: Faults) -> None:
    found = faults("base: &b {game: tic-tac-toe}\n<<: *b\nagents: [random, greedy]\n")
    assert any(fault.startswith("cup.yaml:2:1: ") and "merge keys" in fault for fault in found)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("name: !!python/object/apply:os.getcwd []\n", "1:7"),
        ("name: !!binary aGVsbG8=\n", "1:7"),
        ("name: !!set {a, b}\n", "1:7"),
        ("name: !!timestamp 2001-12-14\n", "1:7"),
        ("name: !!str [a]\n", "1:7"),
        ("name: !!map x\n", "1:7"),
        ("name: !mine x\n", "1:7"),
        ("!mine name: x\n", "1:1"),
        ("!!python/name:os.system name: x\n", "1:1"),
        ("limits: {!!binary nodes: 5}\n", "1:10"),
    ],
)
def test_tags_outside_the_core_schema_are_refused(faults: Faults, text: str, place: str) -> None:
    [fault] = [fault for fault in faults(f"{text}{SOUND}") if "tag" in fault]
    assert fault.startswith(f"cup.yaml:{place}: expected no tag here except !!")
    assert fault.endswith("; leave it out")
    assert f"got '{re.search('!+[a-z/:.]+', text)[0][:40]}" in fault  # type: ignore[index]


def test_a_tag_of_the_core_schema_may_stand_at_a_key(faults: Faults, write: Write) -> None:
    assert Document.read(write("!!str name: a\n!!int 1: b\n")).values == {"name": "a", "1": "b"}
    assert any(fault.startswith("cup.yaml:1:1: expected int, got 'name'") for fault in faults(f"!!int name: x\n{SOUND}"))


@pytest.mark.parametrize("text", ["!!int x", "!!int 1_000", "!!bool yes", "!!bool maybe", "!!float nan", "!!null x"])
def test_a_value_must_be_valid_for_its_tag(faults: Faults, text: str) -> None:
    assert any(fault.startswith("cup.yaml:1:7: expected ") for fault in faults(f"seed: {text}\n{SOUND}"))


@pytest.mark.parametrize("text", ["name: &a [1, *a]", "name: &a {b: *a}", "name: &a [[[*a]]]"])
def test_an_alias_inside_itself_is_refused(faults: Faults, text: str) -> None:
    (found,) = faults(f"{text}\n{SOUND}")
    assert found.startswith("cup.yaml:1:7: ")
    assert "alias" in found


def test_an_alias_without_anchor_is_refused(faults: Faults) -> None:
    (found,) = faults("name: x\ngame: *nowhere\n")
    assert found.startswith("cup.yaml:2:7: ")
    assert "'nowhere'" in found


def test_exponential_aliases_are_refused(faults: Faults) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 10)]
    (found,) = faults("\n".join(lines))
    assert found.startswith("cup.yaml:1:")
    assert "aliases" in found


def test_many_aliases_of_a_long_text_are_refused(faults: Faults) -> None:
    (found,) = faults(f"name: &a {'x' * 100_000}\npositions: [{'*a, ' * 10_000}]\n{SOUND}")
    assert found.startswith("cup.yaml:1:7: ")
    assert "aliases" in found


@pytest.mark.parametrize(
    "text", ["[" * 10000 + "]" * 10000, "[" * 10000, "{a: " * 10000 + "}" * 10000, "\n" + "- " * 10000 + "x"]
)
def test_nesting_of_10000_levels_is_refused(faults: Faults, text: str) -> None:
    (found,) = faults(f"name: {text}\n")
    assert found.startswith(("cup.yaml:1:", "cup.yaml:2:"))
    assert "deep" in found


def test_moderate_nesting_is_accepted(write: Write) -> None:
    value = Document.read(write(f"key: {'[' * 20}x{']' * 20}\n")).values["key"]
    for _ in range(20):
        (value,) = value
    assert value == "x"


@pytest.mark.parametrize("digits", ["9" * 5000, f"0x{'F' * 5000}", f"0o{'7' * 5000}"])
def test_a_number_of_5000_digits_is_refused(faults: Faults, digits: str) -> None:
    found = faults(f"seed: {digits}\n{SOUND}")
    assert all(fault.startswith("cup.yaml:1:7: ") and len(fault) < 200 for fault in found)
    assert "digits" in found[0]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("game: a: b\n", "1:8"),
        ("name: x\ngame: [a, b\nseed: 1\n", "3:5"),
        ("name: x\ngame: {a: b\n", "3:1"),
        ("name: 'x\n", "2:1"),
        ('name: "\\q"\n', "1:9"),
        ("name: @x\n", "1:7"),
        ("name: %x\n", "1:7"),
        ("game:\n  a: 1\n b: 2\n", "3:2"),
        ("name: x\n  game: y\n", "2:7"),
        ("agents:\n- a\n  - b: c\n", "3:6"),
        ("name: x\ngame: !un!known y\n", "2:7"),
    ],
)
def test_invalid_yaml_is_refused_with_its_position(faults: Faults, text: str, place: str) -> None:
    (found,) = faults(text)
    assert found.startswith(f"cup.yaml:{place}: not YAML: ")


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"name: x\ngame: \xff\n", "2:7"),
        ("näme: x\ngäme: ".encode() + b"\xc3(\n", "2:7"),
        (b"\xef\xbb\xbfname: \xe9\n", "1:7"),
        (b"name: x\r\ngame: \xe9\r\n", "2:7"),
        (b"\x89PNG\r\n\x1a\n\x00", "1:1"),
        ("game: x\n".encode("utf-16"), "1:1"),
    ],
)
def test_invalid_utf_8_is_refused_with_its_position(faults: Faults, data: bytes, place: str) -> None:
    """Columns count characters."""
    (found,) = faults(data)
    assert found.startswith(f"cup.yaml:{place}: ")
    assert "UTF-8" in found


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f"])
def test_control_characters_are_refused_with_their_position(faults: Faults, character: str) -> None:
    (found,) = faults(f"näme: x\ngame: {character}\n")
    assert found.startswith("cup.yaml:2:7: ")
    assert found.isprintable()


@pytest.mark.parametrize("escape", ["\\U00110000", "\\UFFFFFFFF"])
def test_an_escape_sequence_without_a_character_is_refused(faults: Faults, escape: str) -> None:
    """The largest character is U+10FFFF."""
    [fault] = faults(f'game: "{escape}"')
    assert "not YAML: an escape sequence stands for no character" in fault


def test_too_many_values_are_refused_before_all_of_them_are_in_memory(faults: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text does not end properly, which would be an error of its own."""
    monkeypatch.setattr(document, "MAX_NODES", 50)
    [fault] = faults(f"game: [{'x, ' * 100}")
    assert fault.endswith(f"expected at most {document.MAX_VALUES:,} values")


def test_a_long_text_is_refused_before_it_is_scanned() -> None:
    """A file of positions may have more bytes than a spec."""
    with pytest.raises(SpecError, match=r"expected at most 4,194,304 characters of YAML, got 4,194,305"):
        Document.parse("x.yaml", "#" * 4_194_305, Path())


def test_half_a_surrogate_pair_is_refused(faults: Faults) -> None:
    found = faults(f'name: "\\ud800"\n{SOUND}')
    assert found[0].startswith("cup.yaml:1:7: ")
    "\n".join(found).encode()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("\n# nothing but a comment\n", "empty"),
        ("- random\n- greedy\n", "list"),
        ("just words\n", "single value"),
        ("null\n", "single value"),
        ("---\na: 1\n---\nb: 2\n", "single document"),
    ],
)
def test_a_spec_must_be_one_mapping(faults: Faults, text: str, word: str) -> None:
    (found,) = faults(text)
    assert word in found


def test_a_document_may_have_start_and_end_markers(write: Write) -> None:
    assert Document.read(write("---\nseed: 1\n...\n")).values == {"seed": 1}


def test_a_file_of_more_than_one_mebibyte_is_refused(write: Write) -> None:
    padding = "#" * (MIB - len(SOUND))
    assert load_spec(write(f"{SOUND}{padding}")).name == "cup"
    with pytest.raises(SpecError, match=r"cup\.yaml: .*1,048,577.*1,048,576"):
        load_spec(write(f"{SOUND}{padding}#"))


def test_a_large_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    file = tmp_path / "huge.yaml"
    with file.open("wb") as stream:
        stream.truncate(8 << 30)
    with pytest.raises(SpecError, match="expected a spec of at most"):
        load_spec(file)


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(SpecError, match="/dev/zero"):
        load_spec("/dev/zero")


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as missing:
        load_spec(tmp_path / "cap.yaml")
    assert str(missing.value) == f"{tmp_path / 'cap.yaml'}: no such file"
    with pytest.raises(SpecError) as directory:
        load_spec(tmp_path)
    assert str(directory.value).startswith(f"{tmp_path}: is a directory")


@pytest.mark.parametrize("name", ["a\0b.yaml", "x" * 300 + ".yaml", "no/such/folder.yaml"])
def test_a_name_that_cannot_be_a_file_is_refused(name: str) -> None:
    with pytest.raises(SpecError):
        load_spec(name)


def test_a_mapping_is_read_like_a_file() -> None:
    assert load_spec({"game": "tic-tac-toe", "agents": ("random", "greedy")}).boards[0].size == 20
    with pytest.raises(SpecError) as caught:
        load_spec({"game": "tic-tac-toe", "agents": ["random", {"agent": "lookahead", "depth": "four"}]})
    assert str(caught.value) == "<spec>: agents[1].depth: expected an integer, got 'four'"


def test_a_mapping_that_yaml_cannot_represent_is_refused() -> None:
    endless: dict[str, Any] = {"agent": "greedy"}
    endless["heuristic"] = endless
    sound: dict[Any, Any] = {"game": "tic-tac-toe", "agents": ["random", "greedy"]}
    for spec in ({**sound, 1: 2}, {**sound, None: 2}, {**sound, "seed": object()}, {**sound, "agents": [endless]}):
        with pytest.raises(SpecError):
            load_spec(spec)


def test_a_python_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """The text would also be YAML."""
    (tmp_path / "my agents.py").write_text("name: str\n")
    with pytest.raises(SpecError) as refused:
        load_spec(str(tmp_path / "my agents.py"))
    told = str(refused.value)
    assert "this is a Python file, and not a spec in YAML" in told
    assert f"`arena try '{tmp_path}/my agents.py'`" in told
    assert f"--plugin '{tmp_path}/my agents.py'`" in told
