"""The commands validate and schema: every fault of a spec, and the keys of a spec."""

import json

import click

from arena.commands.options import plugin_option
from arena.console.notices import say
from arena.console.output import results_alone
from arena.errors import SpecError
from arena.plugins.sources import load_plugins
from arena.spec import json_schema, limit_warnings, load_spec
from arena.spec.positions import repeat_notes
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
                with listening(postpone):  # only players need tables
                    ready = load_spec(spec, plugins=plugins)
            except SpecError as error:
                say(str(error))
                code = 2
            else:
                for warning in limit_warnings(ready):
                    say(f"warning: {warning}")
                print(f"{spec}: no faults, {ready.size:,} matches", file=out)
                for note in (*ready.notes, *repeat_notes(ready.boards)):
                    say(f"note: {note}")
    return code


@click.command()
def schema() -> int:
    """Print the JSON Schema of a spec."""
    with results_alone() as out:
        print(json.dumps(json_schema(load_plugins()), indent=2), file=out)
    return 0
