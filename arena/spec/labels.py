"""Default labels of entries: the name of the agent, and the settings that differ between entries with the same name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from arena.errors import escape_line

ABSENT = object()
MAX_LABEL_CHARACTERS = 500
"""The maximum length of a label that arena makes, and of a title or heading: longer ones would hide the other rows of a table."""


class CodeLabel(NamedTuple):
    """How a label names code that an entry uses, such as `plugin=mine.py`."""

    text: str
    always: bool = False
    """Whether labels always name the code, even if no other entry of the agent uses different code."""


@dataclass(frozen=True, slots=True)
class Features:
    """The features that can distinguish an entry from others of the same agent: a word for its heuristic, and its settings."""

    agent: str
    label: str | None
    heuristic: str
    settings: Mapping[str, Any]
    code: CodeLabel | None = None
    """The code that the entry brings along, if any."""


def make_labels(entries: Sequence[Features]) -> list[str]:
    """Return the label of every entry. Labels that the spec sets are not changed."""
    return [entry.label if entry.label is not None else _make_label(entry, entries) for entry in entries]


def _make_label(entry: Features, entries: Sequence[Features]) -> str:
    rivals = [other for other in entries if other.agent == entry.agent and other.label is None]
    code, parts = entry.code, []
    if code is not None and (code.always or any(other.code != code for other in rivals)):
        parts.append(code.text)
    rivals = [other for other in rivals if other.code == code]  # entries with different code have different options
    if any(other.heuristic != entry.heuristic for other in rivals):
        parts.append(entry.heuristic)
    for name, value in entry.settings.items():
        if any(other.settings.get(name, ABSENT) != value for other in rivals):
            parts.append(f"{name}={format_setting(value)}")
    return escape_line(f"{entry.agent}({', '.join(parts)})") if parts else entry.agent


def format_setting(value: Any) -> str:
    """Return a setting as a label shows it: as in YAML, without quotes."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
