"""The commands of the core."""

from typing import NamedTuple

GROUP = "arena.commands"
"""The group of entry points."""


class Command(NamedTuple):
    """A command of `arena` that is imported when it is called.

    >>> Command("serve", "Show tournaments in the browser.", "arena_web.serve:serve").name
    'serve'
    """

    name: str
    help: str
    """The first sentence of its help. `arena --help` shows it."""
    target: str
    """The Click command, as `package.module:function`."""
    hidden: bool = False
    """True if `arena --help` should not list it."""
    at_terminal: bool = False
    """Whether this command runs if the user of a terminal enters only `arena`."""
    spec_keys: tuple[str, ...] = ()
    """Keys by which `arena validate` recognises YAML files that are not tournaments but belong to this command."""
    spec_check: str = ""
    """A function, as `package.module:function`, that gets the path of such a file and the plugins, and returns a summary."""
    tables: str = ""
    """SQL for the tables that this command adds to stores, as `package.module:NAME`. A store with any other table is refused."""


COMMANDS = [
    Command(name, text, f"arena.commands.{module}:{name}")
    for name, module, text in (
        ("leaderboard", "leaderboard", "Print the leaderboards of a store."),
        ("run", "run", "Play a tournament and print its leaderboards."),
        ("schema", "specs", "Print the JSON Schema of a spec."),
        ("validate", "specs", "Check specs without playing them."),
    )
]

OTHER_COMMANDS = {"ladder": "ladder", "submit": "ladder"}
"""The commands of other distributions of the project, with the folders of these distributions in the repository."""
