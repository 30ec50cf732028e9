"""A game with a grid is drawn in the terminal, and its cells stand for actions."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena import Game, load_plugins, play
from arena.cli import cli
from arena.testing import Violation, check_game
from arena_web.requests import Requests
from arena_web.views import describe_game

EMPTY = ". . .\n. . .\n. . ."
UPRIGHT = {"0": [(0, 0)], "1": [(0, 1)], "2": [(0, 2)], "3": [(1, 0)], "4": [(1, 1)], "5": [(1, 2)]}
"""These are the cells of upright dominoes on 3 by 3, by the number of the upper cell. Six dominoes fit, in two rows and three
columns.
"""


@pytest.fixture
def domineering(drawn: Path) -> Game:
    """Return the game of the manual's page on boards, on 3 by 3."""
    return load_plugins([drawn / "domineering.py"]).games["domineering"](size=3)


@pytest.mark.process
def test_a_grid_is_drawn_in_the_terminal(drawn: Path, domineering: Any) -> None:
    """The game has no `render` of its own. `play` and `show` draw its grid."""
    assert domineering.render(domineering.initial(None)) == EMPTY
    assert domineering.render(("|..|..--.", 0)) == "| . .\n| . .\n- - ."
    plugin = str(drawn / "domineering.py")
    shown = CliRunner().invoke(cli, ["show", "domineering", "--plugin", plugin])
    assert "    . . . . .\n" * 5 in shown.output
    watched = CliRunner().invoke(
        cli, ["play", "domineering", "random", "random", "--set", "size=3", "--plugin", plugin, "--position", "('.........', 0)"]
    )
    assert EMPTY in "\n".join([line.strip() for line in watched.output.splitlines()])
    assert play(domineering, ["random", "random"]).termination == "normal"


def test_a_click_on_a_cell_plays_an_action(drawn: Path, domineering: Any) -> None:
    """Each action has a cell. The page gets the cells again after each move."""
    requests = Requests(load_plugins([drawn / "domineering.py"]), ())
    asked = {"do": "position", "game": {"name": "domineering", "parameters": {"size": 3}}, "seed": 0}
    told = requests.answer(asked)
    assert told["game"]["aims"] is True
    assert told["frame"]["cells"] == UPRIGHT
    after = requests.answer({**asked, "actions": ["0"]})["frames"][-1]
    assert after["cells"] == {action: [divmod(int(action), 3)] for action in after["actions"]}
    assert after["actions"] == ["1", "4", "6", "7"]


@pytest.mark.parametrize(
    "cells",
    [[(3, 0)], [(0, -1)], [0], [(0, 0, 0)], ["00"], [(0.0, 0)], None],
    ids=["row", "column", "number", "three", "text", "float", "none"],
)
def test_a_grid_with_invalid_cells_is_played_only_by_buttons(domineering: Any, cells: Any) -> None:
    """`arena check` reports them. A page shows the grid without clicks."""

    class Astray(type(domineering)):  # type: ignore[misc]
        def cells(self, state: Any, action: int) -> Any:
            return cells

    from arena_web.views import aim

    game = Astray(size=3)
    state = game.initial(None)
    assert aim(game, state, game.actions(state)) == []
    with pytest.raises(Violation, match="cells"):
        check_game(game, matches=1)
    check_game(domineering, matches=1)
    assert describe_game(game)["aims"] is True
