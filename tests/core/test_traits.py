"""What the author of an agent reads if it cannot play a game."""

import pytest

from arena import Agent
from arena.traits import Abilities
from arena_agents.full_width import Minimax
from arena_games.kuhn_poker import KuhnPoker
from arena_games.pig import Pig
from tests.players import First

REFUSED = "first cannot play {game}; if it can deal with that, write copes = frozenset({{{words}}}) in class {name}"


class Diced(First):
    """Copes with chance only."""

    copes = frozenset({"chance"})


@pytest.mark.parametrize(
    ("agent", "game", "said"),
    [
        (First, Pig(), REFUSED.format(game="pig: pig has chance", words='"chance"', name="First")),
        (
            Diced,
            KuhnPoker(),
            REFUSED.format(
                game="kuhn-poker: kuhn-poker has hidden-information", words='"chance", "hidden-information"', name="Diced"
            ),
        ),
        (Diced, Pig(), None),
        (Minimax, Pig(), "minimax cannot play pig: pig has chance"),
    ],
)
def test_a_refusal_shows_the_line_to_add_to_an_agent_of_the_user(
    agent: type[Agent], game: Pig | KuhnPoker, said: str | None
) -> None:
    """No such line is shown for built-in agents, which the user cannot change."""
    assert Abilities(agent).find_refusal(game) == said
