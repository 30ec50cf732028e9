"""Games in extensive and normal form that a spec names as files."""

import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import SpecError
from arena.spec import load_spec
from arena_bridges.openspiel.agents import OpenSpielCFR
from arena_bridges.openspiel.game import OpenSpiel
from arena_bridges.openspiel.library import check_tree


@pytest.fixture
def tree(invoke: Callable[..., Any], tmp_path: Path) -> Path:
    """Return a file with Kuhn poker in extensive form, as arena writes it."""
    path = tmp_path / "kuhn (1).efg"
    path.write_text(invoke("export", "kuhn-poker", "--format", "efg").stdout)
    return path


def test_a_file_of_a_spec_is_played(tree: Path) -> None:
    """The file is in the folder of the spec. The value of Kuhn poker is -1/18 (H. W. Kuhn, 1950)."""
    spec = tree.with_name("cup.yaml")
    spec.write_text(f"game: {{name: openspiel, game: efg_game, file: '{tree.name}'}}\nagents: [random, openspiel-cfr]\n")
    game = load_spec(spec).boards[0].game
    assert isinstance(game, OpenSpiel)
    agent = OpenSpielCFR(iterations=300)

    def value(state: Any) -> float:
        if game.is_terminal(state):
            return game.returns(state)[0]
        chances = game.chance_outcomes(state) if game.to_move(state) == -1 else None
        if chances is None:
            seen = game.observation(state, game.to_move(state))
            chances = list(zip(game.actions(seen), agent.policy(game, seen), strict=True))
        return sum(share * value(game.result(state, action)) for action, share in chances)

    start = game.initial(random.Random(0))
    assert value(start) == pytest.approx(-1 / 18, abs=0.005)
    assert pickle.loads(pickle.dumps(start)) == start


def test_a_matrix_is_read_from_a_file(spiel: Any, tmp_path: Path) -> None:
    (tmp_path / "pd.nfg").write_text(spiel.game_to_nfg_string(spiel.load_game("matrix_pd")))
    game = OpenSpiel(game="nfg_game", file=str(tmp_path / "pd.nfg"))
    state = game.initial(random.Random(0))
    for action in (0, 1):
        state = game.result(state, action)
    assert list(game.returns(state)) == [0, 10]


def test_a_damaged_tree_is_refused(tree: Path) -> None:
    """Some damaged trees crash open_spiel itself."""
    lines = tree.read_text().splitlines()
    check_tree("\n".join(lines))
    for count in range(len(lines)):
        with pytest.raises(ValueError, match="expected a tree"):
            check_tree("\n".join(lines[:count]))
    with pytest.raises(ValueError, match="got a node after the end of the tree"):
        check_tree("\n".join([*lines, lines[-1]]))
    with pytest.raises(ValueError, match="players 1 to 2, got another player at node "):
        check_tree("\n".join([line.replace('p "" 2', 'p "" 51') for line in lines]))
    with pytest.raises(ValueError, match="got no actions at node 1"):
        check_tree("\n".join([lines[0], 'c "" 1 "" 0', *lines[1:]]))


@pytest.mark.parametrize(
    ("game", "content", "message"),
    [
        ("kuhn_poker", "", "file: expected game: efg_game or nfg_game for a game from a file, got 'kuhn_poker'"),
        ("efg_game", "", "bad.efg: expected a tree with all its nodes"),
        ("nfg_game", "NFG 1 R", "open_spiel cannot load .*bad.efg: "),
        ("efg_game", "\udcff", "bad.efg cannot be read: 'utf-8' codec"),
        ("efg_game", None, "bad.efg cannot be read: it is a folder; expected a regular file"),
    ],
)
def test_an_invalid_file_of_a_game_is_refused(tmp_path: Path, game: str, content: str | None, message: str) -> None:
    place = tmp_path / "bad.efg"
    place.mkdir() if content is None else place.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(SpecError, match=message):
        load_spec({"game": {"name": "openspiel", "game": game, "file": str(place)}, "agents": ["random", "random"]})


def test_the_text_of_a_game_from_a_file_is_refused_as_the_parameter_game(tree: Path) -> None:
    text = OpenSpiel(game="efg_game", file=str(tree)).text
    with pytest.raises(ValueError, match=r"write \{name: openspiel, game: efg_game, file: PATH\}"):
        OpenSpiel(game=str(text)[:])
