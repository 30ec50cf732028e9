"""What an admin of a ladder types."""

from contextlib import closing
from pathlib import Path

import click
import pytest

from arena.cli import cli
from arena.errors import ArenaError
from arena.store import Store
from arena_ladder.ledger import Ledger

PAGES = Path(__file__).parents[2] / "ladder" / "docs"
SPEC = "game: tic-tac-toe\nagents: [random, greedy]\n"


@pytest.mark.parametrize(
    "words",
    [
        ["admin", "--store", "own.db", "course.yaml", "tokens"],
        ["admin", "course.yaml", "--store", "own.db", "tokens"],
        ["admin", "course.yaml", "tokens", "--store=own.db"],
        ["--store", "own.db", "admin", "course.yaml", "tokens"],
    ],
)
def test_the_option_store_may_stand_anywhere_in_an_admin_command(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each order of the words uses the same store, and words after the action are passed to the action."""
    monkeypatch.chdir(tmp_path)
    Path("course.yaml").write_text(SPEC)
    Store.open("own.db", write=True).close()
    assert cli(["ladder", *words, "ada"], standalone_mode=False) == 0
    assert capsys.readouterr().out.startswith("ada ")
    assert cli(["ladder", *words], standalone_mode=False) == 0
    assert capsys.readouterr().out == "ada\n"
    audited = ["audit" if word == "tokens" else word for word in words]
    assert cli(["ladder", *audited, "--most", "1"], standalone_mode=False) == 0
    assert capsys.readouterr().out.endswith(" admin token ada\n")


def test_tokens_are_created_before_the_first_start_and_help_needs_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`tokens` creates the store, which the ladder then uses."""
    monkeypatch.chdir(tmp_path)
    for action in ("tokens", "ban"):
        assert cli(["ladder", "admin", "course.yaml", action, "--help"], standalone_mode=False) == 0
    Path("course.yaml").write_text(SPEC)
    capsys.readouterr()
    assert cli(["ladder", "admin", "course.yaml", "tokens", "ada"], standalone_mode=False) == 0
    assert capsys.readouterr().out.startswith("ada ")
    with closing(Ledger(Path("results/course.db"))) as ledger:
        assert ledger.authors() == [("ada", False)]
        assert str(ledger.setting("games")).startswith('[["tic-tac-toe",')


def test_validate_accepts_the_spec_of_a_ladder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The spec comes from the manual and uses all keys that tournaments do not have."""
    monkeypatch.chdir(tmp_path)
    Path("authors.txt").write_text("ada\nbob\n")
    manual = (PAGES / "ladder.md").read_text().partition("<!-- file: course.yaml -->\n```yaml\n")[2].partition("```")[0]
    Path("course.yaml").write_text(manual)
    assert cli(["validate", "course.yaml"], standalone_mode=False) == 0
    assert capsys.readouterr().out == "course.yaml: no faults, a ladder of connect-four, 2 authors\n"
    with pytest.raises(
        ArenaError, match=r"course\.yaml is not a tournament spec, but a spec for `arena ladder`: arena ladder course"
    ):
        cli(["run", "course.yaml"], standalone_mode=False)
    Path("course.yaml").write_text(manual.replace("per_day", "perday"))
    assert cli(["validate", "course.yaml"], standalone_mode=False) == 2
    assert "did you mean 'per_day'" in capsys.readouterr().err


def test_an_option_without_its_value_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the command would silently use the default store."""
    monkeypatch.chdir(tmp_path)
    Path("course.yaml").write_text(SPEC)
    with pytest.raises(click.BadOptionUsage, match=r"'--store' requires an argument"):
        cli(["ladder", "admin", "course.yaml", "tokens", "--store"], standalone_mode=False)
    Path("my course.yaml").write_text(SPEC)
    with pytest.raises(ArenaError, match=r"my course\.db does not exist; start `arena ladder 'my course\.yaml'` to create it"):
        cli(["ladder", "admin", "my course.yaml", "tokens"], standalone_mode=False)
