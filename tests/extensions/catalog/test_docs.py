"""`arena docs` shows the manual, even if only the wheel is installed."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from arena import ArenaError, Game
from arena.cli import cli
from arena_catalog import docs
from arena_catalog.docs import contents, find, for_terminal, groups, manual, rendered
from tests.conftest import ROOT, Arena

DOCS = ROOT / "docs"
OF_LADDER = {f"ladder/{file.stem}" for file in (DOCS / "ladder").glob("*.md")}
"""The pages of another distribution, fairarena-ladder."""
WRITTEN = {file.relative_to(DOCS).with_suffix("").as_posix() for file in DOCS.rglob("*.md")} | OF_LADDER


def test_every_page_of_the_manual_is_available() -> None:
    """The test runs in a checkout and in the installed wheel; .ci/run moves the sources out of the way for it."""
    pages = manual()
    assert set(pages) == WRITTEN
    assert {topic: page.path.read_text("utf-8") for topic, page in pages.items()} == {
        topic: (DOCS / f"{topic}.md").read_text("utf-8") for topic in WRITTEN
    }


def test_the_api_page_is_rendered_from_docstrings(invoke: Arena) -> None:
    """It contains the signatures and docstrings of the API, and no Sphinx directives."""
    shown = invoke("docs", "api").stdout
    assert "eval-rst" not in shown
    assert ".. auto" not in shown
    assert "**`Game.result(self, state: Any, action: Any) -> Any`**" in shown
    assert (inspect.getdoc(Game.result) or "nothing") in shown


@pytest.mark.process
def test_the_wheel_contains_pages_and_examples_without_pictures() -> None:
    """The build backend lists its files without a build."""
    if not (ROOT / "arena").is_dir():
        pytest.skip("the sources are out of the way")
    code = "from hatchling.builders.wheel import WheelBuilder\n"
    code += "print(*[file.distribution_path for file in WheelBuilder('.').recurse_included_files()], sep='\\n')"
    listed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    files = {Path(line) for line in listed.stdout.splitlines()}
    below = {file.relative_to("arena_catalog/manual") for file in files if file.is_relative_to("arena_catalog/manual")}
    assert {file.with_suffix("").as_posix() for file in below if file.suffix == ".md"} == WRITTEN - OF_LADDER
    examples = {file.relative_to(DOCS) for file in (DOCS / "examples").rglob("*") if file.is_file() and file.suffix != ".pyc"}
    assert {file for file in below if file.suffix != ".md"} == examples
    extensions = {folder.name for folder in (ROOT / "extensions").glob("arena_*")}
    assert {file.parts[0] for file in files} == {"arena", "arena_agents", "arena_bridges", "arena_games"} | extensions
    assert Path("arena_games/boards/othello.js") in files


def test_a_page_of_a_distribution_that_is_missing_names_this_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command works in a checkout. The list of pages has no heading for the missing pages."""
    assert "The ladder (fairarena-ladder)" in contents(manual(), 80)
    monkeypatch.setattr(docs, "entry_points", lambda group: [])
    pages = manual()
    assert set(pages) == WRITTEN - OF_LADDER
    assert "The ladder (fairarena-ladder)" not in contents(pages, 80)
    for topic in ("course", "ladder/course", "ladder"):
        with pytest.raises(ArenaError, match=r"fairarena-ladder defines it: .* `pip install \./ladder`"):
            find(topic, pages)


def test_the_list_contains_every_page_once_with_its_title(invoke: Arena) -> None:
    """The order is the order of the manual's contents. The first page is the list itself."""
    listed = [page.topic for _, group in groups(manual()) for page in group]
    assert sorted(listed) == sorted(WRITTEN - {"index"})
    done = invoke("docs")
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  ")]
    assert [topic for topic, _ in lines] == listed
    assert ["reference/spec", "The spec of a tournament"] in lines
    assert max(map(len, contents(manual(), 80))) <= 80


@pytest.mark.parametrize("topic", ["spec", "how-to/board", "board", "how-to/board.md", "../how-to/board.md", "Board"])
def test_a_page_is_found_by_its_path_or_the_end_of_its_path(topic: str) -> None:
    """Links on other pages have these forms, too."""
    assert find(topic, manual()).path.name == ("spec.md" if topic == "spec" else "board.md")


def test_output_to_a_pipe_is_the_original_markdown(invoke: Arena) -> None:
    assert invoke("docs", "explanation/nodes").stdout == (DOCS / "explanation" / "nodes.md").read_text("utf-8")


def test_path_prints_the_location_of_pages(invoke: Arena) -> None:
    """The option prints the file of a page, or the folder of all pages and examples."""
    file = Path(invoke("docs", "spec", "--path").stdout.strip())
    assert (file.name, file.is_file()) == ("spec.md", True)
    folder = Path(invoke("docs", "--path").stdout.strip())
    assert folder / "reference" == file.parent
    assert (folder / "examples" / "python_agent.py").is_file()


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("boards", "unknown topic 'boards'; did you mean board or cards?; pages that contain this word: "),
        ("how-to/overnite", "unknown topic 'how-to/overnite'; did you mean how-to/overnight"),
        ("sprt", "unknown topic 'sprt'; pages that contain this word: "),
        ("xyzzy", "unknown topic 'xyzzy'; `arena docs` lists all pages"),
    ],
)
def test_an_unknown_topic_suggests_similar_ones(topic: str, said: str) -> None:
    with pytest.raises(ArenaError) as unknown:
        cli(["docs", topic], standalone_mode=False)
    assert str(unknown.value).startswith(said)
    assert "\n" not in str(unknown.value)


@pytest.mark.parametrize("topic", sorted(WRITTEN))
def test_every_page_can_be_rendered_without_directives(topic: str) -> None:
    """Sphinx directives are left out, names of files are shown, and no line is wider than the terminal."""
    page = manual()[topic]
    text = for_terminal(page.text)
    assert "```{" not in text
    assert "<!--" not in text
    shown = rendered(page.text, 80, colors=False)
    assert page.title.split()[0].strip("`,") in shown
    assert all(len(line) <= 80 for line in shown.replace("\x1b[0m", "").splitlines() if "\x1b" not in line)


@pytest.mark.process
def test_the_api_page_is_shown_without_pytest() -> None:
    """Pytest is missing after a plain installation. One line explains this, and the rest of the page is shown with decorators
    and attributes.
    """
    code = "import sys; sys.modules['pytest'] = None; import arena.cli; sys.exit(arena.cli.main(['docs', 'reference/api']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for text in ("`heuristic(name: str, *, game: str", "`encoding(name: str, *, game: str", "`Game.zero_sum: bool = True`"):
        assert text in done.stdout, text
    assert "`Game.default_heuristic: " in done.stdout
    assert "`arena_check.pytest_plugin` cannot be shown here: " in done.stdout
