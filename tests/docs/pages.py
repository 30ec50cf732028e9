"""Runs the pages of the manual: files and commands in their order, in an empty folder, and compares what is shown.

`<!-- file: NAME -->` before a fenced block makes it a file. In a block of the kind `console` lines after `$ ` are commands, the
lines below what they print; `...` stands for anything. `python tests/docs/pages.py PAGE...` runs pages and writes what their
commands print below them, where a page shows nothing yet.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[2]
FILE = re.compile(r"<!-- file: (?P<name>\S+) -->\n```\w*\n(?P<text>.*?)^```", re.DOTALL | re.MULTILINE)
CONSOLE = re.compile(r"^```console\n(?P<console>.*?)^```", re.DOTALL | re.MULTILINE)
ELSEWHERE = ("git ", "docker ")
"""Commands that a page may show and nobody runs."""


@dataclass(frozen=True)
class File:
    """A file that the reader writes down."""

    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command, and what the page says that it prints."""

    line: str
    shown: str


Step: TypeAlias = File | Command


def steps(page: str) -> Iterator[Step]:
    """What a page has its reader do, in order."""
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


def environment(folder: Path) -> dict[str, str]:
    """An environment of the reader's own, made in a folder: what is installed in it does not touch this one."""
    home = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    site = next(home.glob("lib/python*/site-packages"))
    beyond = [path for path in sys.path if path and Path(path).is_dir() and path != str(Path(__file__).parent)]
    (site / "beyond.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in beyond))
    for tool in ("arena", "pip", "pytest"):
        script = home / "bin" / tool
        script.write_text(f'#!/bin/sh\nexec {home}/bin/python -m {tool} "$@"\n')
        script.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONPATH": "",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as: build with what is here
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_QUIET": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def run(line: str, folder: Path, surroundings: dict[str, str]) -> tuple[str, Path]:
    """What a command prints, on stdout and then on stderr, and the folder in which the reader is then."""
    done = subprocess.run(
        f'{line}\ncode=$?; pwd > "$HOME/.where"; exit $code',
        shell=True,
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout + done.stderr, Path((Path(surroundings["HOME"]) / ".where").read_text().strip())


def differs(command: Command, printed: str) -> str | None:
    """What is wrong with a page that shows this; None where it is right."""
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    if checker.check_output(command.shown, printed, flags):
        return None
    example = doctest.Example(command.line, command.shown)
    return f"$ {command.line}\n{checker.output_difference(example, printed, flags)}"


def walk(page: Path, folder: Path) -> Iterator[tuple[Command, str]]:
    """Do what a page says, in a folder; yield every command with what it printed."""
    surroundings = environment(folder)
    here = folder / "work"
    here.mkdir()
    for step in steps(page.read_text("utf-8")):
        if isinstance(step, File):
            file = here / step.name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(step.text, "utf-8")
        elif not step.line.startswith(ELSEWHERE):
            printed, here = run(step.line, here, surroundings)
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
