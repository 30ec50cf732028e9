"""Prompts of a language model from a stranger, which would compute for ever, or fill the memory, when a question is made."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from arena import SpecError
from arena.spec import load_spec
from arena_bridges.llm.template import MAX_QUESTION_CHARACTERS, PromptFile
from tests.conftest import Arena

pytestmark = pytest.mark.promise(hole="prompt", isolation="any")

VALUES: Mapping[str, Any] = {
    "game": "hex",
    "rules": "Black and white\nplace stones.",
    "form": "JSON",
    "position": "a/b",
    "board": "ä\n<b>",
    "seat": 2,
    "seats": 2,
    "legal": ["b2", "a1", "C3"],
    "history": ["seat 1: c1"],
    "fault": "",
}
ATTACKS = {
    "product": ('{{ "a" * 3000000000 }}', r"the operator \*$"),
    "power": ("{{ 9 ** 999999999 }}", r"the operator \*\*"),
    "modulo": ('{{ "%0999999999d" % 1 }}', "the operator %"),
    "sum": ("{{ legal + legal }}", r"the operator \+"),
    "concatenation": ("{{ rules ~ rules }}", "the operator ~"),
    "range": ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "the call"),
    "nested loops": ("{% for a in legal %}{% for b in legal %}{{ b }}{% endfor %}{% endfor %}", "no loop inside a loop"),
    "loop in a block": ("{% for a in legal %}{% block b %}{% for b in legal %}{% endfor %}{% endblock %}{% endfor %}", "no loop"),
    "list in a loop": ("{% for a in legal %}{{ legal | sort | length }}{% endfor %}", "one of a, seat, seats"),
    "text in a loop": ("{% for a in legal %}{{ rules | upper }}{% endfor %}", "one of a, seat, seats"),
    "list of a condition": ("{% for a in legal if a in history %}{% endfor %}", "one of a, seat, seats"),
    "loop over a text": ("{% for a in rules %}{{ a }}{% endfor %}", "a list after in"),
    "recursive loop": ("{% for a in legal recursive %}{{ loop(legal) }}{% endfor %}", "not recursive"),
    "shadow": ("{% for legal in legal %}{% endfor %}", "one new name after for"),
    "names": ("{% for a, b in legal %}{% endfor %}", "one new name after for"),
    "set": ('{% set a = "a" %}{% for b in legal %}{% set a = a ~ a %}{% endfor %}', "the tag set"),
    "captured set": ("{% set a %}{{ rules }}{% endset %}", "the tag set"),
    "namespace": ("{% set n = namespace(a='a') %}", "the tag set"),
    "with": ("{% with a = rules %}{{ a }}{% endwith %}", "the tag with"),
    "macro": ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "the tag macro"),
    "call": ("{% call rules.upper() %}{% endcall %}", "the tag call"),
    "filter tag": ("{% filter upper %}{% endfilter %}", "the tag filter"),
    "include": ("{% include 'p.j2' %}", "the tag include"),
    "extends": ("{% extends 'p.j2' %}", "the tag extends"),
    "lipsum": ("{{ lipsum(n=99999999) }}", "the call"),
    "cycler": ("{{ cycler }}", "unknown variable cycler"),
    "own block": ("{% block user %}{{ self.user() }}{% endblock %}", "the call"),
    "method": ('{{ "a".ljust(9999999999) }}', "the call"),
    "attribute": ("{{ rules.__class__ }}", "the attribute __class__"),
    "attribute of a loop": ("{% for a in legal %}{{ loop.cycle }}{% endfor %}", "the attribute cycle"),
    "slice": ("{{ rules[rules:] }}", r"whole numbers in \[ \]"),
    "key": ("{{ rules['__class__'] }}", r"whole numbers in \[ \]"),
    "centre": ("{{ rules | center(10000000000) }}", "the filter center"),
    "format": ('{{ "%0999999999d" | format(1) }}', "the filter format"),
    "replace": ('{{ rules | replace("", rules) }}', "the filter replace"),
    "batch": ("{{ legal | batch(999999999, 1) | list }}", "the filter (batch|list)"),
    "wide indent": ("{{ board | indent(9999999999) }}", "a text of at most 100 characters or a number up to 100"),
    "long indent": (f"{{{{ board | indent('{'a' * 101}') }}}}", "a text of at most 100 characters"),
    "variable argument": ("{{ legal | join(rules) }}", "a text of at most 100 characters"),
    "attribute of a filter": ("{{ legal | join(attribute='upper') }}", "the arguments d of the filter join"),
    "starred argument": ("{{ legal | join(*legal) }}", "the arguments d of the filter join"),
    "joined text": ("{{ legal | join('aaaaaaaaaa') | join('aaaaaaaaaa') }}", "a list before the filter join"),
    "chain": ("{{ rules" + " | tojson" * 40 + " }}", "at most (4 filters in a row|30 nested)"),
    "chain with slices": (
        "{{ ((((rules | tojson)[1:] | tojson)[1:] | tojson)[1:] | tojson)[1:] | tojson }}",
        "4 filters in a row",
    ),
    "chain with conditions": (
        "{{ (((rules | tojson | tojson | tojson) if seat else fault) | tojson | tojson | tojson) or fault }}",
        "a variable or a constant before a filter, got the condition",
    ),
    "hidden modulo": ('{{ "%0999999999d" is even }}', "the test even"),
    "test": ("{% if legal is iterable %}{% endif %}", "the test iterable"),
    "list": ("{{ [legal, legal] | join }}", "the list"),
    "deep brackets": ("{{ " + "(" * 40_000 + "1" + ")" * 40_000 + " }}", "at most 30 nested"),
    "deep operators": ("{{ " + "not " * 20_000 + "1 }}", "at most 30 nested"),
    "deep conditions": ("{% if seat %}" * 200 + "{% endif %}" * 200, "at most 30 nested"),
    "long comparison": ("{{ seat" + " == seat" * 5000 + " }}", "at most 1,000 nodes"),
    "many tags": ("{% if seat %}{% endif %}" * 2000, "at most 1,000 nodes"),
    "digits": ("{{ " + "9" * 90_000 + " }}", "a number of at most 100 digits, got 90,000"),
    "grouped digits": ("{{ 1" + "_0" * 45_000 + " }}", "a number of at most 100 digits, got 90,001"),
    "hexadecimal digits": ("{{ 0x" + "f" * 90_000 + " }}", "a number of at most 100 digits, got 90,002"),
    "octal digits": ("{{ legal[:0o" + "7" * 90_000 + "] }}", "a number of at most 100 digits, got 90,002"),
    "binary digits": ("{% if seat == 0b" + "1" * 90_000 + " %}{% endif %}", "a number of at most 100 digits, got 90,002"),
    "fraction": ("{{ 0." + "1" * 90_000 + " }}", "a number of at most 100 digits, got 90,002"),
    "surrogate": ('{{ "\\ud800" }}', "half of a surrogate pair"),
    "tags": ("{{" * 40_000, "nested|line 1"),
}


@pytest.mark.parametrize(("text", "message"), ATTACKS.values(), ids=ATTACKS)
def test_a_template_with_unbounded_work_is_refused_when_the_spec_is_read(text: str, message: str, tmp_path: Path) -> None:
    """The error names the file and, if the syntax has one, the line."""
    (tmp_path / "p.j2").write_text(f"{{{{ rules }}}}\n{text}")
    entry = {"agent": "llm", "url": "http://127.0.0.1:1/v1", "model": "m", "prompt": str(tmp_path / "p.j2")}
    with pytest.raises(SpecError, match=rf"prompt: p\.j2(, line \d+)?: .*({message})") as caught:
        load_spec({"game": "tic-tac-toe", "agents": [entry, "random"]})
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("digits", ["9" * 101, "0x" + "f" * 99])
def test_a_long_number_is_refused_with_its_line(digits: str, tmp_path: Path) -> None:
    """A number outside of tags is text."""
    (tmp_path / "p.j2").write_text(f"{'9' * 5000}\n{{# {digits} #}}\n\n{{{{ {digits} }}}}")
    with pytest.raises(ValueError, match=r"^prompt: p\.j2, line 4: expected a number of at most 100 digits, got 101$"):
        PromptFile.read(str(tmp_path / "p.j2"))
    (tmp_path / "p.j2").write_text(f"{'9' * 5000}\n{{# {digits} #}}\n\n{{{{ {digits[:-1]} }}}}")
    PromptFile.read(str(tmp_path / "p.j2"))


@pytest.mark.parametrize("kind", [MemoryError, OverflowError, RecursionError, SyntaxError, ValueError])
def test_an_error_of_the_compiler_names_the_file(kind: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise kind("too much")

    monkeypatch.setattr("jinja2.Environment.from_string", fail)
    (tmp_path / "p.j2").write_text(f"{{{{ rules }}}} {kind.__name__}")
    expected = rf"^prompt: p\.j2: expected a template that Python can compile, got {kind.__name__}: too much$"
    with pytest.raises(ValueError, match=expected):
        PromptFile.read(str(tmp_path / "p.j2"))


def test_arena_validate_refuses_an_unbounded_template_with_its_file_and_line(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "p.j2").write_text('{{ rules }}\n\n{{ "a" * 3000000000 }}')
    (tmp_path / "spec.yaml").write_text(
        "game: nim\nagents: [random, {agent: llm, url: 'http://127.0.0.1:1/v1', model: m, prompt: p.j2}]\n"
    )
    done = arena("validate", "spec.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "p.j2, line 3: expected only variables, if, for, block, comparisons and filters" in done.stderr.replace("\n", " ")


def test_a_question_has_a_maximum_length(tmp_path: Path) -> None:
    """The template of 90,000 characters repeats its text for each move, which makes 900 million characters of 10,000 moves."""
    (tmp_path / "p.j2").write_text("{% for move in legal %}" + "a" * 90_000 + "{% endfor %}")
    prompt = PromptFile.read(str(tmp_path / "p.j2"))
    fits = prompt.messages({**VALUES, "legal": ["1"] * 11})
    assert len(fits[0]["content"]) == 990_000 < MAX_QUESTION_CHARACTERS
    with pytest.raises(ValueError, match=r"^prompt: p\.j2: expected a question of at most 1,000,000 characters, got more$"):
        prompt.messages({**VALUES, "legal": ["1"] * 10_000})
    (tmp_path / "q.j2").write_text("{% block system %}{{ rules }}{% endblock %}{% block user %}{{ board }}{% endblock %}")
    with pytest.raises(ValueError, match=r"^prompt: q\.j2: expected a question of at most 1,000,000 characters, got more$"):
        PromptFile.read(str(tmp_path / "q.j2")).messages({**VALUES, "rules": "a" * 500_001, "board": "a" * 500_000})


def test_a_template_that_fails_in_a_position_names_its_file_and_line(tmp_path: Path) -> None:
    """The first question has no history, so an index into it fails when the spec is read. Others fail in a position."""
    (tmp_path / "p.j2").write_text("{{ rules }}\n{% block user %}\n{{ history[0] }}{% endblock %}")
    with pytest.raises(ValueError, match=r"^prompt: p\.j2, line 3: expected a template that works in every position"):
        PromptFile.read(str(tmp_path / "p.j2"))
    (tmp_path / "p.j2").write_text("{{ legal | first }}")
    with pytest.raises(ValueError, match=r"^prompt: p\.j2, line 1: expected a template"):
        PromptFile.read(str(tmp_path / "p.j2"), always_legal=False)
    PromptFile.read(str(tmp_path / "p.j2"))
    for text in (
        "{{ rules }}\n{% if seat < rules %}a{% endif %}",
        "{{ rules }}\n{{ 5[1] | lower }}",
        "{{ rules }}\n{{ seat[0] }}",
    ):
        (tmp_path / "p.j2").write_text(text)
        with pytest.raises(ValueError, match=r"^prompt: p\.j2, line 2: expected a template"):
            PromptFile.read(str(tmp_path / "p.j2"))
    (tmp_path / "p.j2").write_text("{% if seats == 2 %}a{% else %}\n{{ history[5] }}{% endif %}")
    prompt = PromptFile.read(str(tmp_path / "p.j2"))
    with pytest.raises(ValueError, match=r"^prompt: p\.j2, line 2: expected a template"):
        prompt.messages({**VALUES, "seats": 3})


@pytest.mark.parametrize(
    "text",
    [
        "{{ rules }}",
        "{# a comment #}{% raw %}{{ x }}{% endraw %}{{ 'é' }}",
        "{% if seat == 1 and legal or not fault %}a{% elif seat != 2 %}b{% else %}c{% endif %}",
        "{{ 'first' if seat == 1 else 'second' }}",
        (
            "{% for move in legal | sort(reverse=true) if move != 'a1' %}{{ loop.index }}/{{ loop.length }}: {{ move | upper }}"
            "{% if not loop.last and seats > 1 %}, {% endif %}{% else %}none{{ rules }}{% endfor %}"
        ),
        "{% for move in history[-10:] %}{{ move }}\n{% endfor %}{% for move in legal %}{{ move }}{% endfor %}",
        "{{ legal | join }} {{ legal | sort | join('; ') }} {{ legal | join(d='/') }} {{ legal | first }}{{ legal[-1] }}",
        "{{ legal | tojson }}{{ position | tojson }}{{ board | indent(2, first=true) }}{{ rules | trim('.') | title }}",
        "{{ legal | length }}{{ 'a1' in legal }}{{ 'Black' not in rules }}{{ fault is defined }}{{ board[:1] }}",
    ],
)
def test_an_honest_template_gives_the_text_of_jinja(text: str, tmp_path: Path) -> None:
    (tmp_path / "p.j2").write_text(text)
    expected = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined).from_string(text).render(VALUES)
    assert PromptFile.read(str(tmp_path / "p.j2")).messages(VALUES) == [{"role": "user", "content": expected}]
    assert expected
