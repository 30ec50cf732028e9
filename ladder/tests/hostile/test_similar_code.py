"""A submission whose tokens take minutes to find: the comparison leaves it out, and the other authors are compared."""

from pathlib import Path

import numpy as np
import pytest

from arena_ladder import similarity
from arena_ladder.similarity import compare_code, simplify_all

pytestmark = [pytest.mark.process, pytest.mark.promise(hole="similar", isolation="any")]
AGENTS = Path(__file__).parents[3] / "agents" / "arena_agents"


def test_a_submission_that_takes_the_lexer_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of the lexer grows with the square of the number of digits: 200,000 of them take minutes."""
    monkeypatch.setattr(similarity, "LEXER_SECONDS", 2.0)
    honest = (AGENTS / "mcts.py").read_text()
    bomb = f"{honest}\nX = '%{'0' * 200_000}'\n"
    simple = simplify_all([honest, bomb, honest, "x = 1"])
    assert [text is None for text in simple] == [False, True, False, True]
    shares = compare_code(simple)
    assert shares[0, 2] == 1.0
    assert np.isnan(shares[1]).all()
