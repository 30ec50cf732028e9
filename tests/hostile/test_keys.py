"""The key of a provider of language models is sent only to this provider."""

from pathlib import Path
from typing import Any

import pytest

import arena
from arena.spec import load_spec
from arena_bridges.llm import endpoint
from tests.bridges.llm.stub import Reply, first, serving


def cup(url: str, **entry: str) -> dict[str, Any]:
    agents = [{"agent": "llm", "url": url, "model": "m", **entry}, "random"]
    return {"game": "tic-tac-toe", "seed": 1, "rounds": 1, "agents": agents}


@pytest.mark.promise(hole="key", isolation="any")
def test_a_key_is_sent_to_only_one_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hosts without names of keys are an error before any request."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-first")
    monkeypatch.setattr(endpoint, "WAIT_SECONDS", 1.0)
    path = tmp_path / "cup.yaml"
    entry = "  - {{agent: llm, label: {0}, url: 'https://{0}.invalid/v1', model: m{1}}}\n"
    path.write_text("game: tic-tac-toe\nagents:\n" + entry.format("one", "") + entry.format("two", ""))
    with pytest.raises(arena.ArenaError) as caught:
        load_spec(path)
    assert "cup.yaml:4:35: agents[1].url: https://two.invalid:443 would receive OPENAI_API_KEY, the key of " in str(caught.value)
    assert "expected key_env: NAME" in str(caught.value)
    path.write_text("game: tic-tac-toe\nagents:\n" + entry.format("one", ", key_env: AWS_SECRET_ACCESS_KEY"))
    with pytest.raises(arena.ArenaError, match="key_env"):
        load_spec(path)
    path.write_text("game: tic-tac-toe\nagents:\n" + entry.format("one", "") + entry.format("two", ", key_env: TWO_API_KEY"))
    assert len(load_spec(path).boards[0].seats) == 2
    with serving(first) as local, serving(first) as other:
        arena.run(cup(local.url))
        assert all("Authorization" not in headers for headers in local.headers)
        monkeypatch.setenv("OTHER_API_KEY", "sk-other")
        local.answers = lambda request: Reply(status=302, headers={"Location": other.url + "/chat/completions"})
        assert arena.run(cup(local.url, key_env="OTHER_API_KEY")).void
        assert other.requests == [], "a redirect is not followed, so it carries no key to another host"
    endpoint.endpoint.cache_clear()
