"""Prompts from a file: a Jinja template that replaces the texts of arena."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.api.cli import install_command
from arena.api.errors import cut
from arena.api.games import read_whole

if TYPE_CHECKING:
    from jinja2 import Template

MAX_PROMPT_CHARACTERS = 100_000
SAMPLE: Mapping[str, Any] = {
    "game": "a game",
    "rules": "The rules.",
    "form": "The form of an answer.",
    "position": "x../.../...",
    "board": "a board",
    "seat": 1,
    "seats": 2,
    "legal": ["1", "2"],
    "history": ["seat 1 (you): 1"],
    "fault": "",
}
"""The variables of a template, with values for a test. `legal` is empty if legal moves are not shown, and `fault` is empty at the
first try.
"""
PARTS = ("system", "user")
"""The blocks of a template that become separate messages."""


class PromptFile:
    """A template that has been checked."""

    def __init__(self, template: "Template", variables: frozenset[str]) -> None:
        self._template = template
        self.uses_fault = "fault" in variables
        """True if the template is used again after a bad answer; otherwise the conversation continues with the texts of arena."""

    @classmethod
    def read(cls, path: str) -> "PromptFile":
        """Read and check a file. Raises ValueError with the reason if it is not a valid template."""
        try:
            text = read_whole(Path(path).expanduser(), 4 * MAX_PROMPT_CHARACTERS).decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"prompt: {path} cannot be read: {error}") from None
        except (RuntimeError, ValueError) as error:  # RuntimeError: an unknown home
            raise ValueError(f"prompt: {error}") from None
        if len(text) > MAX_PROMPT_CHARACTERS:
            raise ValueError(f"prompt: expected at most {MAX_PROMPT_CHARACTERS:,} characters, got {len(text):,}")
        return _compile(text)

    def messages(self, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the messages for a position: from the blocks `system` and `user`, or the whole text as one message from the
        user.
        """
        if not any(part in self._template.blocks for part in PARTS):
            return [{"role": "user", "content": self._template.render(values)}]
        context = self._template.new_context(dict(values))
        return [
            {"role": part, "content": "".join(self._template.blocks[part](context)).strip()}
            for part in PARTS
            if part in self._template.blocks
        ]


@cache
def _compile(text: str) -> PromptFile:
    try:
        import jinja2
        from jinja2.meta import find_undeclared_variables
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        raise ValueError(f"prompt needs the library jinja2: {install_command('llm')}") from None

    environment = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined, keep_trailing_newline=False)
    try:
        variables = find_undeclared_variables(environment.parse(text))
        if unknown := sorted(variables - SAMPLE.keys()):
            raise ValueError(f"prompt: unknown variable {cut(unknown[0])}; expected one of {', '.join(SAMPLE)}")
        made = PromptFile(environment.from_string(text), frozenset(variables))
        sample = made.messages(SAMPLE)
    except jinja2.TemplateSyntaxError as error:
        raise ValueError(f"prompt: line {error.lineno}: {error.message}") from None
    except jinja2.TemplateError as error:
        raise ValueError(f"prompt: {error.message or error}") from None
    if not any(message["content"].strip() for message in sample):
        raise ValueError("prompt: expected text, got an empty string")
    return made
