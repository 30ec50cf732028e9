"""Large and odd numbers and names that a program reports."""

import re
import stat
from pathlib import Path

import pytest

from tests.conftest import Arena
from tests.extensions.web.conftest import served

PROGRAM = r"""#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello":
        answer = {"type": "hello", "protocol": 2, "name": "\x1b[2J\ud800", "can": ["choose"]}
    elif asked["type"] == "start":
        answer = {"type": "ready"}
    elif asked["type"] == "choose":
        print("\x1b[2J\u202e", file=sys.stderr, flush=True)
        if "position" in asked:
            cells = list(asked["position"].replace("/", ""))
        for action in asked["played"]:
            cells[int(action) - 1] = "?"
        free = cells.index(".")
        cells[free] = "?"
        many = 10**15
        spent = {"\x1b[2Jtokens": many, "\ud800": 1e15, "=cmd|x": 5e-324, "tokens_in": 1e15, "cost": 1e15, "a\nb": 3, "|<b>": 1}
        answer = {"type": "action", "action": str(free + 1), "nodes": many, "evaluations": many, "depth": many, "spent": spent}
        answer |= {"value": [1.7e308, -1.7e308, 5e-324][free % 3], "transcript": ["\ud800\x1b[2J\u202e"]}
    else:
        break
    print(json.dumps(answer), flush=True)
"""
COMMANDS = {
    "board": ("leaderboard", "cup.db"),
    "json": ("leaderboard", "cup.db", "--format", "json"),
    "csv": ("leaderboard", "cup.db", "--format", "csv"),
    "html": ("leaderboard", "cup.db", "--format", "html"),
    "export": ("export", "cup.db"),
    "exported csv": ("export", "cup.db", "--format", "csv"),
    "exported tidy": ("export", "cup.db", "--format", "tidy"),
    "matches": ("matches", "cup.db"),
    "check": ("check", "cup.db"),
    "compare": ("compare", "cup.db", "--by", "nodes"),
    "report": ("report", "cup.db", "-o", "cup.html"),
}


def check_text(name: str, text: str) -> None:
    """No order to a terminal, nor a number that is none."""
    assert "\x1b" not in text, name
    assert not re.search(r"(?<![\w-])-?(NaN|Infinity|nan|inf)(?![\w-])", text.partition("<script")[0]), name
    text.encode()


@pytest.mark.promise(hole="text", isolation=("process", "sandbox"))
def test_numbers_of_a_program_are_shown_as_numbers_everywhere(arena: Arena, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    agents = "[{agent: {command: [./program]}, label: p}, random, greedy]"
    (tmp_path / "cup.yaml").write_text(f"game: tic-tac-toe\nagents: {agents}\nrounds: 2\nisolation: process\n")
    said = {"run": arena("run", "cup.yaml", "--store", "cup.db")}
    said |= {name: arena(*words) for name, words in COMMANDS.items()}
    for name, done in said.items():
        assert done.returncode == 0, f"{name}: {done.stderr}"
        texts = [done.stdout, done.stderr, *([(tmp_path / "cup.html").read_text()] if name == "report" else [])]
        for text in texts:
            check_text(name, text)
    assert "1,000,000,000,000,000" in said["board"].stdout
    with served(tmp_path, "cup.db") as server:
        first = server.ask("/api/t/cup/matches").json["matches"][0]["id"]
        paths = [
            f"/api/t/cup{page}"
            for page in ("", "/matches", f"/match/{first}", f"/match/{first}/around", "/entry?name=p", "/entry/facts?name=p")
        ]
        files = ("matches.csv", "matches.jsonl", "leaderboards.json", "spec.yaml")
        for path in [*paths, *[f"/t/cup/download/{file}" for file in files], "/t/cup/compare"]:
            answer = server.ask(path)
            assert answer.status == 200, (path, answer)
            check_text(path, answer.text)
