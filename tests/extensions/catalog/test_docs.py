"""`arena docs`: the manual at hand, also where nothing but the wheel is installed."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from arena import ArenaError, Game
from arena.cli import cli
from arena_catalog.docs import contents, find, for_terminal, groups, manual, rendered
from tests.conftest import ROOT, Arena

DOCS = ROOT / "docs"
WRITTEN = {file.relative_to(DOCS).with_suffix("").as_posix() for file in DOCS.rglob("*.md")}


def test_every_page_of_the_manual_is_there() -> None:
    """In a checkout, and in the installed wheel, where .ci/run has this test run with the sources out of the way."""
    pages = manual()
    assert set(pages) == WRITTEN
    assert {topic: page.path.read_text("utf-8") for topic, page in pages.items()} == {
        topic: (DOCS / f"{topic}.md").read_text("utf-8") for topic in WRITTEN
    }


def test_what_is_made_from_docstrings_is_spelled_out(arena: Arena) -> None:
    """Signatures and first sentences of the API, and no directive of Sphinx."""
    shown = arena("docs", "api").stdout
    assert "eval-rst" not in shown
    assert ".. auto" not in shown
    assert "**`Game.result(self, state: Any, action: Any) -> Any`**" in shown
    assert (inspect.getdoc(Game.result) or "nothing") in shown


@pytest.mark.process
def test_the_wheel_has_the_pages_and_their_examples_and_no_pictures() -> None:
    """As the build backend lists its files; nothing is built for it."""
    if not (ROOT / "arena").is_dir():
        pytest.skip("the sources are out of the way")
    code = "from hatchling.builders.wheel import WheelBuilder\n"
    code += "print(*[file.distribution_path for file in WheelBuilder('.').recurse_included_files()], sep='\\n')"
    listed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    files = {Path(line) for line in listed.stdout.splitlines()}
    below = {file.relative_to("arena_catalog/manual") for file in files if file.is_relative_to("arena_catalog/manual")}
    assert {file.with_suffix("").as_posix() for file in below if file.suffix == ".md"} == WRITTEN
    examples = {file.relative_to(DOCS) for file in (DOCS / "examples").rglob("*") if file.is_file() and file.suffix != ".pyc"}
    assert {file for file in below if file.suffix != ".md"} == examples
    extensions = {folder.name for folder in (ROOT / "extensions").glob("arena_*")}
    assert {file.parts[0] for file in files} == {"arena", "arena_agents", "arena_bridges", "arena_games"} | extensions
    assert Path("arena_games/boards/othello.js") in files


def test_the_list_has_every_page_once_with_its_title(arena: Arena) -> None:
    """In the order of the manual's contents; the first page is the list itself."""
    listed = [page.topic for _, group in groups(manual()) for page in group]
    assert sorted(listed) == sorted(WRITTEN - {"index"})
    done = arena("docs")
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  ")]
    assert [topic for topic, _ in lines] == listed
    assert ["reference/spec", "The spec of a tournament"] in lines
    assert max(map(len, contents(manual(), 80))) <= 80


@pytest.mark.parametrize("topic", ["spec", "how-to/board", "board", "how-to/board.md", "../how-to/board.md", "Board"])
def test_a_page_is_found_by_its_path_or_the_end_of_it(topic: str) -> None:
    """As links of other pages write it, too."""
    assert find(topic, manual()).path.name == ("spec.md" if topic == "spec" else "board.md")


def test_what_is_not_shown_on_a_terminal_is_the_markdown_itself(arena: Arena) -> None:
    """Byte for byte, for pipes and files."""
    assert arena("docs", "explanation/nodes").stdout == (DOCS / "explanation" / "nodes.md").read_text("utf-8")


def test_path_tells_where_pages_lie(arena: Arena) -> None:
    """The file of one, the folder of all with the examples in it."""
    file = Path(arena("docs", "spec", "--path").stdout.strip())
    assert (file.name, file.is_file()) == ("spec.md", True)
    folder = Path(arena("docs", "--path").stdout.strip())
    assert folder / "reference" == file.parent
    assert (folder / "examples" / "python_agent.py").is_file()


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("boards", "unknown topic 'boards'; did you mean board or cards?; pages with that word: "),
        ("how-to/overnite", "unknown topic 'how-to/overnite'; did you mean how-to/overnight"),
        ("sprt", "unknown topic 'sprt'; pages with that word: "),
        ("xyzzy", "unknown topic 'xyzzy'; `arena docs` lists all pages"),
    ],
)
def test_an_unknown_topic_names_what_is_near(topic: str, said: str) -> None:
    """The message is one line."""
    with pytest.raises(ArenaError) as unknown:
        cli(["docs", topic], standalone_mode=False)
    assert str(unknown.value).startswith(said)
    assert "\n" not in str(unknown.value)


@pytest.mark.parametrize("topic", sorted(WRITTEN))
def test_every_page_can_be_rendered_without_directives(topic: str) -> None:
    """What only Sphinx understands is left out, names of files are told, and no line is wider than the terminal."""
    page = manual()[topic]
    text = for_terminal(page.text)
    assert "```{" not in text
    assert "<!--" not in text
    shown = rendered(page.text, 80, colors=False)
    assert page.title.split()[0].strip("`,") in shown
    assert all(len(line) <= 80 for line in shown.replace("\x1b[0m", "").splitlines() if "\x1b" not in line)


@pytest.mark.process
def test_the_api_is_shown_without_pytest_and_with_decorators_and_attributes() -> None:
    """Pytest is missing after a plain installation; what needs it says so in one line, and the rest of the page is there."""
    words = "sys.modules['pytest'] = None; sys.argv = ['arena', 'docs', 'reference/api']"
    code = f"import sys; {words}; import arena.cli; arena.cli.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    for text in ("`heuristic(name: str, *, game: str", "`encoding(name: str, *, game: str", "`Game.zero_sum: bool = True`"):
        assert text in done.stdout, text
    assert "`Game.default_heuristic: " in done.stdout
    assert "`arena_check.pytest_plugin` cannot be shown here: " in done.stdout
