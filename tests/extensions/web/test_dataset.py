"""`arena dataset` writes files for Hugging Face, which agree with the records of the run and contain no secrets."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import arena
from arena.api.run import transcript_file
from arena.cli import cli
from arena_web.dataset import _write
from tests.bridges.llm.stub import Reply, first, serving

SECRET = "plain-words-of-a-secret"


def answer_with_secret(request: dict[str, Any]) -> Reply:
    """Answer first in prose with a secret, and then with a move."""
    return first(request) if len(request["messages"]) > 2 else Reply(f"My key is {SECRET}, or sk-abcdefghijklmnop")


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.process
def test_a_data_set_contains_all_matches_decisions_and_transcripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows of a file have the same keys, as needed for a table. The card names the files and the leaderboard."""
    monkeypatch.setenv("MODEL_API_KEY", SECRET)
    with serving(answer_with_secret) as stub:
        model = {"agent": "llm", "url": stub.url, "model": "m", "label": "model | one"}
        results = arena.run({"game": "tic-tac-toe", "rounds": 2, "agents": [model, "random"]}, store=tmp_path / "cup.db")
    cli(["dataset", str(tmp_path / "cup.db"), "-o", str(tmp_path / "set")], standalone_mode=False)
    files = {file.stem: rows(file) for file in (tmp_path / "set").glob("*.jsonl")}
    assert files.keys() == {"matches", "decisions", "transcripts", "entries"}
    assert all(len({tuple(row) for row in found}) == 1 for found in files.values())
    expected = {record.id: (record.actions, number // 2) for number, record in enumerate(results.records)}
    assert {row["id"]: (tuple(row["actions"]), row["round"]) for row in files["matches"]} == expected
    spent = {(record.id, number): one for record in results.records for number, one in enumerate(record.decisions)}
    assert len(files["decisions"]) == len(spent)
    for row in files["decisions"]:
        one = spent[row["match"], row["number"]]
        assert row["tokens_out"] == (None if one.spent is None else one.spent["tokens_out"])
    said = [one for line in rows(transcript_file(tmp_path / "cup.db")) for one in line["exchanges"]]
    assert files["transcripts"][0]["messages"] == said[0]["messages"]
    assert len(files["transcripts"]) == len(said)
    assert {row["agent"] for row in files["transcripts"]} == {"model | one"}
    places = [(row["match"], row["decision"]) for row in files["transcripts"]]
    assert {*places} == {(row["match"], row["number"]) for row in files["decisions"] if row["agent"] == "model | one"}
    assert [row["request"] for row in files["transcripts"]] == [1, 2] * (len(said) // 2)
    options = {row["label"]: json.loads(row["options"]) for row in files["entries"]}
    assert options["model | one"]["retries"] == 2
    assert json.loads((tmp_path / "set" / "spec.json").read_text("utf-8"))["agents"][1] == "random"
    assert sum("[secret]" in row["answer"] for row in files["transcripts"]) == len(said) // 2
    everything = "".join(file.read_text("utf-8") for file in (tmp_path / "set").iterdir())
    assert SECRET not in everything
    assert "sk-abc" not in everything
    _, head, card = (tmp_path / "set" / "README.md").read_text("utf-8").split("---\n", 2)
    configs = {one["config_name"]: one["data_files"] for one in yaml.safe_load(head)["configs"]}
    assert configs == {name: f"{name}.jsonl" for name in files}
    assert "| model \\| one |" in card
    assert "| legal_first | legal_first_low | legal_first_high | tokens_per_game |" in card


def test_halves_of_surrogate_pairs_are_escaped(tmp_path: Path) -> None:
    """A message of an agent may contain them as JSON escapes, but they are not valid in UTF-8."""
    place = tmp_path / "matches.jsonl"
    assert _write(place, [{"message": "\ud800", "label": "ä"}]) == 1
    assert json.loads(place.read_bytes().decode("utf-8")) == {"message": "\ud800", "label": "ä"}


def test_a_data_set_without_models_has_no_transcripts_and_overwrites_no_file(tmp_path: Path) -> None:
    arena.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["greedy", "random"]}, store=tmp_path / "cup.db")
    cli(["dataset", str(tmp_path / "cup.db"), "-o", str(tmp_path / "set")], standalone_mode=False)
    assert sorted(file.name for file in (tmp_path / "set").iterdir()) == [
        "README.md",
        "decisions.jsonl",
        "entries.jsonl",
        "matches.jsonl",
        "spec.json",
    ]
    with pytest.raises(arena.ArenaError, match="expected the name of a folder"):
        cli(["dataset", str(tmp_path / "cup.db"), "-o", str(tmp_path / "cup.db")], standalone_mode=False)


def test_links_in_the_folder_are_not_followed(tmp_path: Path) -> None:
    """A foreign folder may have links at the names of the files of a data set. The card replaces no other file, see
    `tests/core/console/test_output_files.py`.
    """
    arena.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["greedy", "random"]}, store=tmp_path / "cup.db")
    folder, victim = tmp_path / "set", tmp_path / "thesis.txt"
    folder.mkdir()
    victim.write_text('{"my": "thesis"}')
    names = ["README.md", "decisions.jsonl", "entries.jsonl", "matches.jsonl", "spec.json"]
    for name in ["decisions.jsonl", "entries.jsonl", "decisions.part", "entries.part", "matches.part", "transcripts.part"]:
        (folder / name).symlink_to(victim)
    cli(["dataset", str(tmp_path / "cup.db"), "-o", str(folder)], standalone_mode=False)
    assert victim.read_text() == '{"my": "thesis"}'
    assert sorted(file.name for file in folder.iterdir() if not file.is_symlink()) == names
