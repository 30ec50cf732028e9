"""Runs the pages of the manual: writes their files and runs their commands in order, in an empty folder, and compares the output.

`<!-- file: NAME -->` before a fenced block makes it a file. In a block of the kind `console`, lines that begin with `$ ` are
commands, and the lines below a command are its output; `...` stands for any text. `python tests/docs/pages.py PAGE...` runs
pages. If a page shows no output for a command yet, this writes the output below the command.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TypeAlias

from tests.fork_server import shared_server

ROOT = Path(__file__).parents[2]
FILE = re.compile(r"<!-- file: (?P<name>\S+) -->\n```\w*\n(?P<text>.*?)^```", re.DOTALL | re.MULTILINE)
CONSOLE = re.compile(r"^```console\n(?P<console>.*?)^```", re.DOTALL | re.MULTILINE)
PROGRESS = re.compile(r"^(?:checking|trying) .*\n", re.MULTILINE)
"""Lines on stderr that a command prints only if it takes long, so only on a slow machine."""
ELSEWHERE = ("git ", "docker ")
"""Commands that a page may show, but that are not run."""
REAL = ("pip ", "timeout ")
"""If a page has one of these commands, each `arena` on it is a real process: it needs a package that the page installs, or is
killed.
"""
FORKING = """#!/bin/sh
'''exec' '{python}' -IS "$0" "$@"
' '''
import array, json, os, socket, sys
with socket.socket(fileno={number}) as server:
    call = {{"module": "arena", "words": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}
    request = json.dumps(call).encode()
    server.sendmsg([len(request).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", range(3)))])
    server.sendall(request)
    if not any(server.recv(4)):
        os.execv({python!r}, [{python!r}, "-m", "arena", *sys.argv[1:]])
    sys.exit(int.from_bytes(server.recv(4), "big", signed=True))
"""
"""The command `arena` for other pages. It runs in a fork of a process that has imported arena (`tests/fork_server.py`).

The shell starts Python, because the first line of a script cannot name a path with a space."""


@dataclass(frozen=True)
class File:
    """A file that the reader of a page writes."""

    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command, and its output as the page shows it."""

    line: str
    shown: str


Step: TypeAlias = File | Command


def steps(page: str) -> Iterator[Step]:
    """Yield the files and commands of a page in order."""
    found = [*FILE.finditer(page), *CONSOLE.finditer(page)]
    for match in sorted(found, key=lambda match: match.start()):
        if "name" in match.groupdict():
            yield File(match["name"], match["text"])
            continue
        for part in re.split(r"^\$ ", match["console"], flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            while line.endswith("\\"):
                more, _, shown = shown.partition("\n")
                line = f"{line[:-1]}{more.removeprefix('> ')}"
            yield Command(line, shown)


def environment(folder: Path, name: str = "environment", tools: tuple[str, ...] = ("arena", "pip", "pytest")) -> dict[str, str]:
    """Make a virtual environment in a folder. Packages that are installed in it do not change the environment of the tests.

    Its libraries are those of the tests, and pip uses no network. Return the environment variables for its commands.
    """
    home = folder / name
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    site = next(home.glob("lib/python*/site-packages"))
    beyond = [path for path in sys.path if path and Path(path).is_dir() and path != str(Path(__file__).parent)]
    (site / "beyond.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in beyond))
    for tool in tools:
        script = home / "bin" / tool
        script.write_text(f'#!/bin/sh\nexec {quote(f"{home}/bin/python")} -m {tool} "$@"\n')
        script.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONPATH": "",
        "PIP_NO_BUILD_ISOLATION": "0",  # for pip, this means no build isolation
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_QUIET": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def run(line: str, folder: Path, surroundings: dict[str, str], server: tuple[int, ...] = ()) -> tuple[str, Path]:
    """Run a command. Return its output (stdout, then stderr) and the current folder after the command."""
    done = subprocess.run(
        f'{line}\ncode=$?; pwd > "$HOME/.where"; exit $code',
        shell=True,
        cwd=folder,
        env=surroundings,
        pass_fds=server,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout + PROGRESS.sub("", done.stderr), Path((Path(surroundings["HOME"]) / ".where").read_text().strip())


def differs(command: Command, printed: str) -> str | None:
    """Return how the real output differs from the output on the page; None if they agree."""
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    if checker.check_output(command.shown, printed, flags):
        return None
    example = doctest.Example(command.line, command.shown)
    return f"$ {command.line}\n{checker.output_difference(example, printed, flags)}"


def walk(page: Path, folder: Path) -> Iterator[tuple[Command, str]]:
    """Write the files and run the commands of a page in a folder. Yield every command with its output."""
    surroundings = environment(folder)
    here = folder / "work"
    here.mkdir()
    text = page.read_text("utf-8")
    server: tuple[int, ...] = ()
    if not any(f"$ {word}" in text for word in REAL):
        server = (shared_server().fileno(),)
        command = FORKING.format(python=folder / "environment" / "bin" / "python", number=server[0])
        (folder / "environment" / "bin" / "arena").write_text(command)
    for step in steps(text):
        if isinstance(step, File):
            file = here / step.name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(step.text, "utf-8")
        elif not step.line.startswith(ELSEWHERE):
            printed, here = run(step.line, here, surroundings, server)
            yield step, printed


def _write(page: Path) -> None:
    from tempfile import TemporaryDirectory

    text, start = page.read_text("utf-8"), 0
    with TemporaryDirectory() as folder:
        for command, printed in walk(page, Path(folder)):
            start = text.index(f"$ {command.line}\n", start) + len(command.line) + 3
            wrong = differs(command, printed)
            if wrong and not command.shown:
                text = text[:start] + printed + text[start:]
            elif wrong:
                print(wrong)
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        _write(Path(name))
