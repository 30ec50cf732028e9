"""The facts that only the owners know, and the files of the project that other services read."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from check_jsonschema import main as check_jsonschema  # type: ignore[import-untyped]
from click.testing import CliRunner

from arena import __version__
from tests.docs import pages

FACTS = {
    "owner": 'Ada\'s "old" \\ club',
    "repository": "https://github.com/ada/arena",
    "documentation": "https://docs.example.org/arena",
    "contact": "holes@example.org",
}
EMPTY = dict.fromkeys(FACTS, "")
SCHEMAS = {
    "github-actions": ["action.yml"],
    "github-workflows": [".github/workflows/ci.yml", ".github/workflows/release.yml"],
    "github-issue-forms": [".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/feature.yml"],
    "dependabot": [".github/dependabot.yml"],
    "readthedocs": [".readthedocs.yaml"],
    "citation-file-format": ["CITATION.cff"],
}


def load(name: str) -> ModuleType:
    return load_script(f"docs/{name}.py")


def load_script(place: str) -> ModuleType:
    """Return a script of the repository as a module."""
    spec = spec_from_file_location(Path(place).stem, pages.ROOT / place)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def about() -> ModuleType:
    """The script behind `make about`."""
    return load("make_about")


def check_schema(schema: str, *files: str | Path) -> None:
    words = ["--builtin-schema", f"vendor.{schema}", *[str(pages.ROOT / file) for file in files]]
    done = CliRunner().invoke(check_jsonschema, words)
    assert done.exit_code == 0, done.output


@pytest.mark.unit
def test_each_file_contains_the_facts_of_about_toml(about: ModuleType) -> None:
    """`make about` changes nothing."""
    facts = about.read_facts()
    assert [name for name in about.FILES if about.write_facts(name, facts) != (pages.ROOT / name).read_text("utf-8")] == []


@pytest.mark.unit
def test_an_empty_fact_is_left_out_and_a_given_one_is_used(about: ModuleType, tmp_path: Path) -> None:
    """This applies to the metadata, the citation, the security page and the issue forms."""
    for facts in (EMPTY, FACTS):
        for name in about.FILES:
            (tmp_path / Path(name).name).write_text(about.write_facts(name, facts), "utf-8")
        project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
        citation = yaml.safe_load((tmp_path / "CITATION.cff").read_text())
        security = (tmp_path / "SECURITY.md").read_text()
        forms = yaml.safe_load((tmp_path / "config.yml").read_text())
        check_schema("citation-file-format", tmp_path / "CITATION.cff")
        check_schema("github-issue-config", tmp_path / "config.yml")
        if facts is EMPTY:
            assert not {"urls", "authors"} & project.keys()
            assert not {"repository-code", "url"} & citation.keys()
            assert "@" not in security
            assert forms == {"blank_issues_enabled": True}
    assert project["authors"] == [{"name": FACTS["owner"]}] == citation["authors"]
    assert project["urls"]["Repository"] == FACTS["repository"] == citation["repository-code"]
    assert project["urls"]["Documentation"] == FACTS["documentation"] == citation["url"]
    assert f"<{FACTS['contact']}>" in security
    assert [link["url"].startswith("https://") for link in forms["contact_links"]] == [True, True]
    assert f"Copyright (c) 2026 {FACTS['owner']}\n" in (tmp_path / "LICENSE").read_text()
    assert (
        ast.literal_eval((tmp_path / "citation.py").read_text().split("SOFTWARE_AUTHORS = ")[1].split("\n")[0]) == FACTS["owner"]
    )
    assert "      - uses: ada/arena@v0.1.0\n" in (tmp_path / "pull-requests.md").read_text()


@pytest.mark.unit
def test_services_other_than_github_get_no_links_to_github_pages(about: ModuleType) -> None:
    """Only the address itself is known."""
    facts = FACTS | {"repository": "https://git.example.org/ada/arena"}
    assert "git.example.org/ada/arena/" not in "".join(about.write_facts(name, facts) for name in about.FILES)
    assert "uses: OWNER/REPOSITORY@v" in about.write_facts("docs/how-to/pull-requests.md", facts)


@pytest.mark.unit
@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("owner", None, "owner is missing; expected one line for each of owner, repository, documentation, contact"),
        ("phone", "1", "unknown key phone"),
        ("owner", "two\nlines", "owner: expected a string on one line"),
        ("repository", "git.example.org", "repository: expected an address with https://, got 'git.example.org'"),
        ("repository", "https://github.com/ada", "repository: expected https://github.com/OWNER/NAME"),
        ("contact", "Ada", "contact: expected an e-mail address, got 'Ada'"),
    ],
)
def test_a_wrong_fact_is_explained(about: ModuleType, tmp_path: Path, key: str, value: str | None, message: str) -> None:
    """The message names the file, the line and the expected value."""
    lines = {**EMPTY, key: value}
    (tmp_path / "about.toml").write_text("".join(f"{key} = {json.dumps(one)}\n" for key, one in lines.items() if one is not None))
    with pytest.raises(ValueError, match=f"about.toml: {re.escape(message)}"):
        about.read_facts(tmp_path / "about.toml")


@pytest.mark.unit
def test_an_address_may_end_with_a_slash(about: ModuleType, tmp_path: Path) -> None:
    """Paths are appended to the address without it."""
    (tmp_path / "about.toml").write_text(
        "".join(f"{key} = {json.dumps(value)}\n" for key, value in FACTS.items()).replace('arena"', 'arena/"')
    )
    assert about.read_facts(tmp_path / "about.toml") == FACTS


@pytest.mark.unit
def test_the_description_on_pypi_has_no_relative_link() -> None:
    """It comes from the README, and the links there work only in the repository."""
    make_readme = load("make_readme")
    text = "![A *picture*](docs/a.png)\n[the\nmanual](docs/index.md#top), [out](https://example.org) and `a[0]`"
    readme = (pages.ROOT / "README.md").read_text("utf-8")
    for address in ("", FACTS["repository"]):
        described = make_readme.describe_project(readme, address, "0.1.0")
        assert re.findall(r"\]\((?!https://|#)[^)]*\)", described) == []
    assert make_readme.describe_project(text, "", "1.2.0") == "\nthe\nmanual, [out](https://example.org) and `a[0]`"
    assert make_readme.describe_project(text, "https://github.com/ada/arena", "1.2.0").startswith(
        "![A *picture*](https://github.com/ada/arena/raw/v1.2.0/docs/a.png)\n"
        "[the\nmanual](https://github.com/ada/arena/blob/v1.2.0/docs/index.md#top), "
    )


@pytest.mark.unit
def test_files_for_other_services_are_valid() -> None:
    """The schemas come from check-jsonschema. The examples of the guide for GitLab and GitHub are checked, too."""
    for schema, files in SCHEMAS.items():
        check_schema(schema, *files)


@pytest.mark.unit
def test_the_guide_for_pull_requests_has_valid_examples(tmp_path: Path) -> None:
    """The example for GitHub uses existing inputs of the action."""
    guide = (pages.ROOT / "docs" / "how-to" / "pull-requests.md").read_text("utf-8")
    found: dict[str, str] = dict(re.findall(r"^<!-- file: (\S+) -->\n```yaml\n(.*?)^```", guide, re.DOTALL | re.MULTILINE))
    for schema, name in (("github-workflows", ".github/workflows/duel.yml"), ("gitlab-ci", ".gitlab-ci.yml")):
        (tmp_path / Path(name).name).write_text(found[name], "utf-8")
        check_schema(schema, tmp_path / Path(name).name)
    action = yaml.safe_load((pages.ROOT / "action.yml").read_text("utf-8"))
    used: dict[str, Any] = yaml.safe_load(found[".github/workflows/duel.yml"])["jobs"]["duel"]["steps"][1]["with"]
    assert used.keys() <= action["inputs"].keys()
    assert [name for name in action["inputs"] if f"| `{name}` |" not in guide] == []


def test_workflows_pass_zizmor() -> None:
    """Every action is also pinned to a hash."""
    words = [str(Path(sys.executable).with_name("zizmor")), "--offline", "--quiet", ".github", "action.yml"]
    done = subprocess.run(words, cwd=pages.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    for file in (pages.ROOT / "action.yml", *(pages.ROOT / ".github" / "workflows").iterdir()):
        for use in re.findall(r"uses: (\S+.*)", file.read_text("utf-8")):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use), use


@pytest.mark.unit
def test_the_version_is_the_same_everywhere() -> None:
    """It occurs in the code and in the citation."""
    assert yaml.safe_load((pages.ROOT / "CITATION.cff").read_text("utf-8"))["version"] == __version__


@pytest.mark.unit
def test_the_section_of_the_first_release_is_short() -> None:
    """A reader wants to know what there is, and not each step to it."""
    sections = re.split(r"^(?=## \[)", (pages.ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    (lines,) = [section.splitlines() for section in sections if section.startswith("## [0.1.0]")]
    assert len(lines) <= 60


def check_version(folder: Path, version: str, tag: str = "", heading: str = "## [1.2.0]") -> str:
    """The message of `.ci/check-version` in a project of this version; empty if it accepts the version."""
    for name, text in {
        "arena/version.py": f'__version__ = "{version}"\n',
        "CITATION.cff": f"cff-version: 1.2.0\nversion: {version}\n",
        "CHANGELOG.md": f"# Changelog\n\n{heading}\n",
        "changelog.d/README.md": "",
        ".ci/check-version": (pages.ROOT / ".ci" / "check-version").read_text("utf-8"),
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    done = subprocess.run(["bash", ".ci/check-version", tag], cwd=folder, capture_output=True, text=True, check=False)
    assert bool(done.returncode) == bool(done.stderr)
    return done.stderr


def test_a_candidate_uses_the_section_of_its_final_version(tmp_path: Path) -> None:
    """A final version needs a date and no fragments as soon as it has a tag."""
    assert check_version(tmp_path, "1.2.0rc1", "v1.2.0rc1") == ""
    assert check_version(tmp_path, "1.2.0") == ""
    assert "expected '## [1.2.0] - ' and the date" in check_version(tmp_path, "1.2.0", "v1.2.0")
    dated = "## [1.2.0] - 2030-01-31"
    assert check_version(tmp_path, "1.2.0", "v1.2.0", dated) == ""
    (tmp_path / "changelog.d" / "+a.added.md").touch()
    assert "changelog.d/+a.added.md" in check_version(tmp_path, "1.2.0", "v1.2.0", dated)
    assert check_version(tmp_path, "1.2.0rc1", "v1.2.0rc1", dated) == ""


def test_a_version_is_compared_exactly(tmp_path: Path) -> None:
    """A version must not match a part of a longer line."""
    assert "expected the line '## [1.2.0]'" in check_version(tmp_path, "1.2.0", heading="## [1.2.01]")
    assert "expected the line '## [1.2.0]'" in check_version(tmp_path, "1.2.0", heading="### [1.2.0]")
    assert "expected the line '## [1.20]'" in check_version(tmp_path, "1.20")
    assert "expected the tag v1.2.0" in check_version(tmp_path, "1.2.0", "v1.2.0rc1")
    check_version(tmp_path, "1.2.0")
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 1.1.0\n")
    done = subprocess.run(["bash", ".ci/check-version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "CITATION.cff: expected the line 'version: 1.2.0'" in done.stderr


def test_on_windows_the_command_suggests_wsl() -> None:
    """The command line is loaded without the POSIX modules, which Windows lacks."""
    code = """if True:
        import sys
        import sysconfig
        sysconfig.get_config_vars()
        import importlib.metadata, platformdirs, numpy, yaml, pydantic, click, pluggy, psutil, rich, multiprocessing
        for name in ("fcntl", "resource", "termios", "pty", "pwd", "grp"):
            sys.modules[name] = None
        sys.platform = "win32"
        from arena.cli import main
        sys.exit(main(["list"]))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    page = (pages.ROOT / "docs" / "reference" / "platforms.md").read_text("utf-8")
    assert done.returncode == 2, done.stderr
    assert done.stderr in page
    assert "WSL 2" in done.stderr
