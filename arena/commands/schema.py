"""The command schema: the keys and values of a spec."""

import json

import click

from arena.console.output import results_alone
from arena.spec import json_schema


@click.command()
def schema() -> int:
    """Print the JSON Schema of a spec."""
    with results_alone() as out:
        print(json.dumps(json_schema(), indent=2), file=out)
    return 0
