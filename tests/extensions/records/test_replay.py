"""The output of `arena replay`."""

import json
from pathlib import Path

import arena
from arena_records.replay import _describe_ending
from tests.conftest import Arena


def test_a_return_is_never_shown_as_minus_zero() -> None:
    """A game that negates the value of a draw returns -0.0, which is shown as 0.0."""
    (record, *_) = arena.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["greedy", "random"]}).records
    assert _describe_ending(record._replace(returns=(-0.0, 0.0))) == "normal; returns: 0.0 0.0"


def test_a_match_with_a_secret_seed_is_replayed_after_the_seed_is_revealed(tmp_path: Path, invoke: Arena) -> None:
    """A round that was added later has another secret, and its matches are replayed, too."""
    spec = tmp_path / "cup.yaml"
    text = "{game: pig, seed: secret, rounds: %d, agents: [random, {agent: random, label: other}]}"
    spec.write_text(text % 1)
    assert invoke("run", "cup.yaml").returncode == 0
    spec.write_text(text % 2)
    assert invoke("run", "cup.yaml").returncode == 0
    matches = [json.loads(line) for line in invoke("export", "results/cup.db").stdout.splitlines()]
    last = {match["seed"]: match["id"] for match in matches}
    assert len(last) == 2
    for match in last.values():
        again = invoke("replay", "results/cup.db", match)
        assert again.returncode == 0, again.stdout
        assert again.stdout.splitlines()[-1] == "the record follows the rules, and the agents made the same decisions again"
