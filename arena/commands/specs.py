"""The commands `validate` and `schema`, which list the faults of a spec and the keys that a spec may have."""

import json
from importlib import import_module
from typing import Any

import click

from arena.commands.options import plugin_option
from arena.console.notices import say
from arena.console.output import results_alone
from arena.errors import GameError, SpecError, escape_line
from arena.plugins.sources import load_plugins
from arena.results import figures
from arena.schedule.runner import speed_notes
from arena.spec import json_schema, limit_warnings, load_spec
from arena.spec.document import Document
from arena.spec.model import SpecKeys
from arena.spec.positions import check_states, repeat_notes
from arena.tracking import listening, postpone


@click.command()
@click.argument("specs", nargs=-1, required=True, metavar="SPEC...")
@plugin_option
def validate(specs: tuple[str, ...], plugins: tuple[str, ...]) -> int:
    """Check specs without playing: every fault with file, line and column."""
    code = 0
    with results_alone() as out:
        for spec in specs:
            try:
                document = Document.read(spec)
                if (summary := _check_other(document, plugins)) is not None:
                    print(f"{escape_line(spec)}: no faults, {summary}", file=out)
                    continue
                with listening(postpone):  # tables, which take long to build, are only needed to play
                    ready = load_spec(document, plugins=plugins)
                    check_states(ready.boards)
            except (SpecError, GameError) as error:
                say(str(error) if isinstance(error, SpecError) else f"{escape_line(spec)}: {error}")
                code = 2
            else:
                warnings = list(limit_warnings(ready))
                for warning in warnings:
                    say(f"warning: {warning}")
                counted = f"{len(warnings)} warning{'s' * (len(warnings) > 1)}, " if warnings else ""
                most = "" if ready.exact else "at most "
                print(f"{escape_line(spec)}: no faults, {counted}{most}{figures.amount(ready.size, 'match')}", file=out)
                for note in (*ready.notes, *repeat_notes(ready.boards), *speed_notes(ready)):
                    say(f"note: {note}")
    return code


def _check_other(document: Document, plugins: tuple[str, ...]) -> str | None:
    """Check the spec of another command with its function, and return the summary; None if the spec is a tournament."""
    command = find_owner(document)
    if command is None:
        return None
    module, _, name = command.spec_check.partition(":")
    return str(getattr(import_module(module), name)(document.name, plugins))


def find_owner(document: Document) -> Any:
    """Return the command of an extension to which a spec belongs, according to its keys; None if the spec is a
    tournament.
    """
    keys = document.values.keys() - SpecKeys.model_fields.keys()
    group: Any = click.get_current_context().find_root().command
    commands = group.commands.listed() if keys else ()
    return next((command for command in commands if not keys.isdisjoint(command.spec_keys)), None)


@click.command()
def schema() -> int:
    """Print the JSON Schema of a spec."""
    with results_alone() as out:
        print(json.dumps(json_schema(load_plugins()), indent=2), file=out)
    return 0
