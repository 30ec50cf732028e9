"""Writes the facts of `about.toml` into the files that need them: `make about`.

Each file of PARTS has a part between two comments, `about: ...` and `end of about`. Each file of LINES has one line for a fact.
A fact that is empty is left out.
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

TOP = Path(__file__).parents[1]
GITHUB = "https://github.com/"
NO_OWNER = "The fairarena authors"
"""The authors, as long as no owner is known."""
KEYS = ("owner", "repository", "documentation", "contact")
Facts = Mapping[str, str]
PART = re.compile(r"(^(?:# |<!-- )about: [^\n]*\n)(.*?)(^(?:# |<!-- )end of about)", re.DOTALL | re.MULTILINE)


def read_facts(file: Path = TOP / "about.toml") -> dict[str, str]:
    """Return the facts of a file. Addresses have no slash at the end.

    Raises ValueError for a missing or unknown key, or for a wrong value.
    """
    try:
        facts = tomllib.loads(file.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file.name}: {error}") from error
    wrong = [f"{key} is missing" for key in KEYS if key not in facts] + [f"unknown key {key}" for key in facts if key not in KEYS]
    if wrong:
        raise ValueError(f"{file.name}: {', '.join(wrong)}; expected one line for each of {', '.join(KEYS)}")
    for key, value in facts.items():
        if not isinstance(value, str) or not value.isprintable():
            raise ValueError(f"{file.name}: {key}: expected a string on one line, got {value!r}")
        if value and key in ("repository", "documentation"):
            if not re.fullmatch(r'https://[^\s"<>\\]+', value):
                raise ValueError(f"{file.name}: {key}: expected an address with https://, got {value!r}")
            facts[key] = value.rstrip("/")
        if value and key == "contact" and not re.fullmatch(r"[^\s@<>]+@[^\s@<>]+", value):
            raise ValueError(f"{file.name}: {key}: expected an e-mail address, got {value!r}")
    place = facts["repository"].removeprefix(GITHUB)
    if place != facts["repository"] and not re.fullmatch(r"[\w.-]+/[\w.-]+", place):
        raise ValueError(f"{file.name}: repository: expected {GITHUB}OWNER/NAME, got {facts['repository']!r}")
    return facts


def _quote(text: str) -> str:
    """Return a text in quotes, as TOML, YAML and Python read it."""
    return json.dumps(text, ensure_ascii=False)


def _metadata(facts: Facts) -> Iterator[str]:
    addresses = {"Repository": facts["repository"], "Documentation": facts["documentation"]}
    if facts["repository"].startswith(GITHUB):  # other services have these pages at other places
        addresses |= {"Issues": f"{facts['repository']}/issues", "Changelog": f"{facts['repository']}/blob/main/CHANGELOG.md"}
    if facts["owner"]:
        yield f"authors = [{{ name = {_quote(facts['owner'])} }}]"
    for name, address in addresses.items():
        if address:
            yield f"urls.{name} = {_quote(address)}"


def _citation(facts: Facts) -> Iterator[str]:
    yield "authors:"
    yield f"  - name: {_quote(facts['owner'] or NO_OWNER)}"
    if facts["repository"]:
        yield f"repository-code: {_quote(facts['repository'])}"
    if facts["documentation"]:
        yield f"url: {_quote(facts['documentation'])}"


def _report_address(facts: Facts) -> Iterator[str]:
    if facts["contact"]:
        yield ""
        yield f"You can also write to <{facts['contact']}>."
    yield ""


def _contact_links(facts: Facts) -> Iterator[str]:
    links = []
    if facts["repository"].startswith(GITHUB):
        address = f"{facts['repository']}/security/advisories/new"
        links.append(("Report a hole in the security", address, "Only the maintainers can read the report."))
    if facts["documentation"]:
        links.append(("Read the manual", facts["documentation"], "Guides, reference and explanations."))
    if links:
        yield "contact_links:"
    for name, address, text in links:
        yield f'  - name: "{name}"'
        yield f"    url: {_quote(address)}"
        yield f'    about: "{text}"'


def _name_action(facts: Facts) -> str:
    """Return the name of the action, with the tag of the latest version that is no candidate."""
    found = re.search(r'^__version__ = "([\d.]+)', (TOP / "arena" / "version.py").read_text("utf-8"), re.MULTILINE)
    assert found is not None
    place = facts["repository"].removeprefix(GITHUB) if facts["repository"].startswith(GITHUB) else "OWNER/REPOSITORY"
    return f"uses: {place}@v{found[1]}\n"


PARTS: Mapping[str, Callable[[Facts], Iterator[str]]] = {
    "pyproject.toml": _metadata,
    "CITATION.cff": _citation,
    "SECURITY.md": _report_address,
    ".github/ISSUE_TEMPLATE/config.yml": _contact_links,
}
LINES: Mapping[str, tuple[str, Callable[[Facts], str]]] = {
    **dict.fromkeys(
        ("LICENSE", "ladder/LICENSE"),
        (r"(?<=^Copyright \(c\) 2026 ).*\n", lambda facts: f"{facts['owner'] or NO_OWNER}\n"),
    ),
    "extensions/arena_bundle/citation.py": (
        r"^SOFTWARE_AUTHORS = .*\n",
        lambda facts: f"SOFTWARE_AUTHORS = {_quote(facts['owner'] or NO_OWNER)}\n",
    ),
    "docs/how-to/pull-requests.md": (r"uses: (?!actions/)\S+@v[\d.]+\n", _name_action),
}
FILES = (*PARTS, *LINES)


def write_facts(name: str, facts: Facts) -> str:
    """Return the text of a file with these facts in it. Raises ValueError if the file has no place for them, or several."""
    text = (TOP / name).read_text("utf-8")
    if name in LINES:
        pattern, write = LINES[name]
        written, count = re.subn(pattern, lambda _: write(facts), text, flags=re.MULTILINE)
        if count != 1:
            raise ValueError(f"{name}: expected one line with {pattern!r}, got {count}")
        return written
    lines = "".join(f"{line}\n" for line in PARTS[name](facts))
    written, count = PART.subn(lambda found: found[1] + lines + found[3], text)
    if count != 1:
        raise ValueError(f"{name}: expected one part between `about: ...` and `end of about`, got {count}")
    return written


if __name__ == "__main__":
    try:
        known = read_facts()
        texts = {file: write_facts(file, known) for file in FILES}
    except (OSError, ValueError) as fault:
        sys.exit(str(fault))
    for file, content in texts.items():
        (TOP / file).write_text(content, "utf-8")
