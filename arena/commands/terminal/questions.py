"""Questions of the menu and their answers. `q` and the end of the input leave, whatever was asked."""

from collections.abc import Sequence

from arena.console.screen import Screen
from arena.errors import suggestion


class Leaving(Exception):
    """The person has had enough."""


def answer(screen: Screen, prompt: str, words: Sequence[str] = ()) -> str:
    """The line that is typed; Leaving for `q`, EOFError where there is none any more."""
    typed = screen.ask(prompt, words)
    if typed.lower() in ("q", "quit", "exit"):
        raise Leaving
    return typed


def choice(screen: Screen, what: str, names: Sequence[str], current: str, *, options: bool = False) -> str:
    """One of the names, typed or by its number, `current` for an empty line; with `options` as `NAME:KEY=VALUE` too."""
    screen.columns([f"{number}) {name}" for number, name in enumerate(names, 1)])
    while True:
        typed = answer(screen, f"{what} [{current}]> ", names)
        if not typed:
            return current
        if typed.isascii() and typed.isdecimal() and len(typed) < 10 and 1 <= int(typed) <= len(names):
            return names[int(typed) - 1]
        name = typed.partition(":")[0] if options else typed
        if name in names:
            return typed
        screen.say(f"expected a name or a number from 1 to {len(names)}, got {typed!r}; {suggestion(name, names)}", "bad")
