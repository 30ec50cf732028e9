"""Options that are numbers refuse infinity and NaN, in all commands."""

from collections.abc import Iterator

import click
import pytest

from arena.api.cli import Number
from arena.cli import cli
from tests.conftest import Arena

pytestmark = pytest.mark.unit


def list_options(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Parameter]]:
    """Yield all options and arguments of a command and of the commands below it, each with its words on the command line."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from list_options(inner, (*words, name))
    for option in command.params:
        yield " ".join((*words, option.opts[0])), option


OPTIONS = dict(list_options(cli))
FRACTIONS = [name for name, option in OPTIONS.items() if isinstance(option.type, click.types.FloatParamType)]
SOME = {
    "check --patience", "duel --elo", "duel --margin", "plan --elo", "plan --pilot", "plan --power", "play --delay",
    "play --seconds", "review --minutes", "solve --delay", "solve --seconds", "stats --sprt", "try --seconds", "tune --elo",
    "tune --minutes",
}  # fmt: skip


def test_the_options_that_are_numbers_are_found() -> None:
    assert set(FRACTIONS) >= SOME


@pytest.mark.parametrize("name", FRACTIONS)
@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-inf", "1e400"])
def test_infinity_and_nan_are_refused(name: str, text: str) -> None:
    kind = OPTIONS[name].type
    with pytest.raises(click.BadParameter, match=r"expected a finite number|is not in the range"):
        kind.convert(text, OPTIONS[name], None)


def test_a_refused_number_is_a_usage_error(invoke: Arena) -> None:
    done = invoke("plan", "cup.yaml", "--elo", "nan")
    assert done.returncode == 2
    assert "Invalid value for '--elo': expected a finite number, got 'nan'" in done.stderr


def test_a_finite_number_is_kept() -> None:
    assert Number(0, 10, min_open=True).convert("2.5", None, None) == 2.5
