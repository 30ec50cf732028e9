"""Small files and texts for which Python's parser needs minutes or gigabytes."""

import ast
from pathlib import Path
from time import process_time

import pytest

from arena import Game, SpecError
from arena.errors import CodeTooComplex
from arena.plugins import syntax
from arena.spec import load_spec
from arena_games.nim import Nim

AGENT = "from arena import Agent, hookimpl\n"
BOMBS = {
    "an f-string of many parts": "x = f'" + "{1}" * 300_000 + "'\n",
    "an import of a long name": "import a" + ".a" * 125_000 + "\n",
}
ORDINARY = {
    "a table of data": "import json.decoder as d\nx = [\n" + "    (1, 2, 'abc'),\n" * 5_000 + "]\n",
    "many functions": "".join(
        f"def f{number}(a, b=1):\n    from mine import c{number}\n    return a\n" for number in range(2_000)
    ),
    "deep nesting": "x = " + "-" * 100_000 + "1\n",
    "no Python": "{" * 100_000,
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.promise(hole="text", isolation="any")
def test_a_file_that_takes_too_long_to_parse_is_a_fault_of_its_entry(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syntax, "MAX_SECONDS", 3.0)
    file = tmp_path / "bomb.py"
    file.write_text(AGENT + BOMBS[name])
    began = process_time()
    with pytest.raises(SpecError, match=r"agents\[0\]\.plugin: .*bomb\.py: parsing takes more than 10 s .* bytes"):
        load_spec({"game": "nim", "agents": [{"agent": "mine", "plugin": str(file), "isolation": "sandbox"}, "random"]})
    assert process_time() - began < 2
    with pytest.raises(CodeTooComplex):
        syntax.parse_file(file)


@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.promise(hole="text", isolation="any")
def test_a_large_honest_file_is_parsed_like_a_small_one(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The separate process computes the same digest and imports."""
    file = tmp_path / "large.py"
    file.write_text(ORDINARY[name])
    assert file.stat().st_size > syntax.MAX_HERE_BYTES
    apart = syntax.parse_file(file)
    monkeypatch.setattr(syntax, "MAX_HERE_BYTES", 1 << 30)
    assert apart == syntax._parse(file)


@pytest.mark.parametrize("text", ["f'{}'", "(1, Rf'''{}''')", '(#"""\nfr\'{}\'\n#"""\n)', "('\\'', F\"{}\")"])
@pytest.mark.promise(hole="text", isolation="any")
def test_a_state_that_takes_minutes_to_parse_is_refused_at_once(text: str) -> None:
    """An f-string is not a literal."""
    assert any(isinstance(node, ast.JoinedStr) for node in ast.walk(ast.parse(text.format("{1}"))))
    began = process_time()
    with pytest.raises(ValueError, match="expected a Python literal, got an f-string"):
        Game.parse_state(Nim(), text.replace("{}", "{1}" * 300_000))
    assert process_time() - began < 5


@pytest.mark.parametrize("state", [("f'", 'f"', "\\", "\nf'''"), {"f": 1, "rf'{1}'": b"f'"}, "f" * 20_000, ("it's f",)])
def test_literals_that_contain_text_like_f_strings_are_accepted(state: object) -> None:
    """Long states contain strings that look like an f-string."""
    assert Game.parse_state(Nim(), repr([state] * 3_000)) == [state] * 3_000


@pytest.mark.parametrize("text", ["'", "\"'", "\\'", "a", "'a\\", "'''\"\"\"", "f"])
def test_invalid_text_is_refused_in_linear_time(text: str) -> None:
    """A search for the ends of strings could start again at each character."""
    began = process_time()
    with pytest.raises(ValueError, match="expected a Python literal"):
        Game.parse_state(Nim(), "(" + text * 300_001)
    assert process_time() - began < 5
