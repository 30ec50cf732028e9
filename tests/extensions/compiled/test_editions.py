"""Some games are compiled directly and some from a translation. Others are not compiled, and a reason is given."""

import random
import re
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import Game, heuristic
from arena.compiled import NotCompilable, Rules
from arena.configured import make_default
from arena.heuristics import bind
from arena.plugins.registry import Registry
from arena_agents.alpha_beta import AlphaBeta
from arena_agents.best_first import AStar
from arena_agents.full_width import Minimax
from arena_compiled import cache, memory, seam
from arena_compiled.background import Compilation
from arena_compiled.edition import owner_of, why_plain
from arena_games.breakthrough import Breakthrough
from arena_games.dots_and_boxes import DotsAndBoxes
from arena_games.gomoku import Gomoku
from arena_games.goofspiel import Goofspiel
from arena_games.grid_path import GridPath
from arena_games.grid_path_heuristics import Differential
from arena_games.hanoi import Hanoi, HanoiPatterns
from arena_games.hex import Hex
from arena_games.kalah import Kalah
from arena_games.n_queens import NQueens
from arena_games.nim import Nim as BuiltinNim
from arena_games.pancake import Gap, Pancake, Top
from arena_games.pig import Pig
from arena_games.rock_paper_scissors import RockPaperScissors
from arena_games.sokoban import Sokoban
from arena_games.sokoban_heuristics import Matching
from arena_games.tic_tac_toe import TicTacToe
from arena_games.top_spin import TopSpin

Twice = Callable[..., Any]


class Nim(Game):
    """The game of Nim from the README."""

    name = "nim"

    def __init__(self, *, heap: int = 21, most: int = 3) -> None:
        self.heap, self.most = heap, most

    def initial(self, rng: Any) -> Any:
        return (self.heap, 0)  # matches left, seat to move

    def to_move(self, state: Any) -> int:
        seat: int = state[1]
        return seat

    def actions(self, state: Any) -> Any:
        return range(1, min(self.most, state[0]) + 1)

    def result(self, state: Any, action: int) -> Any:
        return (state[0] - action, 1 - state[1])

    def returns(self, state: Any) -> Any:
        return (1, -1) if state[1] == 1 else (-1, 1)


@heuristic("remainder", game="nim")
def remainder(game: Nim, state: Any, player: int = 0) -> float:
    lost = state[0] % (game.most + 1) == 0  # the player to move loses against perfect play
    return 0.9 if lost == (state[1] != player) else -0.9


def test_the_nim_of_the_readme_compiles(twice: Twice) -> None:
    """The player who faces a multiple of four loses (C. Bouton, 1901)."""
    for heap in (11, 12):
        outcome = twice(Minimax(), Nim(heap=heap), (heap, 0))
        assert (outcome.report.value > 0) == (heap % 4 != 0)
    assert twice(AlphaBeta(depth=3), Nim(), (21, 0), remainder).found == 1


class Heap(Nim):
    """Nim as in the tutorial, with a list of actions."""

    def actions(self, state: Any) -> Any:
        return [number for number in (1, 2, 3) if number <= state[0]]


def test_the_game_of_the_tutorial_compiles(twice: Twice) -> None:
    outcome = twice(Minimax(), Heap(heap=9), (9, 0))
    assert outcome.report.value > 0


class Counting(Nim):
    """Nim with loops over the numbers of a state and of a table, with and without their indices."""

    def __init__(self, *, heap: int = 21, most: int = 3) -> None:
        super().__init__(heap=heap, most=most)
        self.signs = (-1, 1)

    def is_terminal(self, state: Any) -> bool:
        left = 0
        for number in state:
            left += number
        return bool(left == state[1])

    def returns(self, state: Any) -> Any:
        mover = 0
        for place, number in enumerate(state):
            mover += place * number
        value = 0
        for seat, sign in enumerate(self.signs):
            if seat == mover:
                value = sign
        return (value, -value)


def test_loops_over_a_state_and_a_table_compile(twice: Twice) -> None:
    for heap in (11, 12):
        assert (twice(Minimax(), Counting(heap=heap), (heap, 0)).report.value > 0) == (heap % 4 != 0)


class Wide(Nim):
    """Heaps of one match in a row, more than Python puts into a tuple at once. The first and the last number are not heaps."""

    def __init__(self, *, heap: int = 35) -> None:
        super().__init__(heap=heap)

    def initial(self, rng: Any) -> Any:
        return (7, *[1] * self.heap, 0)

    def actions(self, state: Any) -> Any:
        return [place for place in (1, 2, self.heap) if state[place] == 1]

    def to_move(self, state: Any) -> int:
        seat: int = state[-1]
        return seat

    def result(self, state: Any, action: int) -> Any:
        cells = list(state)
        cells[action] = 0
        cells[-1] = 1 - cells[-1]
        return (*cells[: self.heap + 1], cells[-1])

    def returns(self, state: Any) -> Any:
        return (1, -1) if sum(state[1 : self.heap + 1]) == self.heap - 3 and state[-1] == 1 else (-1, 1)


def test_a_state_of_many_numbers_compiles(twice: Twice) -> None:
    """The seats take three matches in turn, so the first seat takes the last one."""
    assert twice(Minimax(), Wide(), (7, *[1] * 35, 0)).report.value > 0


class Doubling(Nim):
    """A game with numbers that exceed 64 bits after 31 turns."""

    def initial(self, rng: Any) -> Any:
        return (1, 0)

    def actions(self, state: Any) -> Any:
        return range(1, 3) if state[0].bit_length() < 70 else ()

    def result(self, state: Any, action: int) -> Any:
        return (state[0] * 4 + action, 1 - state[1])


class FromTheEnd(Nim):
    """A game that indexes a table from its end."""

    def __init__(self, *, heap: int = 21, most: int = 3) -> None:
        super().__init__(heap=heap, most=most)
        self.table = [1, 0]

    def result(self, state: Any, action: int) -> Any:
        return (state[0] - action, self.table[state[1] - 2])


class Worded(Nim):
    """A game with actions that are not numbers."""

    def actions(self, state: Any) -> Any:
        return [str(number) for number in super().actions(state)]

    def result(self, state: Any, action: Any) -> Any:
        return (state[0] - int(action), 1 - state[1])


class Listed(Nim):
    """A game with a statement that cannot be compiled."""

    def result(self, state: Any, action: int) -> Any:
        try:
            return (state[0] - action, 1 - state[1])
        finally:
            pass


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Doubling, "does not fit into 64 bits"),
        (FromTheEnd, "the index -1 is outside a table of 2 entries"),
        (Worded, "the actions of Worded are not whole numbers"),
        (Listed, r"test_editions.py:\d+: Try cannot be compiled: test the condition with if"),
    ],
)
def test_code_that_cannot_be_compiled_is_reported_and_runs_in_plain_python(compiling: None, kind: type[Nim], reason: str) -> None:
    with pytest.raises(NotCompilable, match=reason):
        seam.load_loop(kind(), None, "full-width", compiling=True)
    record = arena.play(kind(heap=7), [Minimax(depth=2), Minimax(depth=2)])
    assert record.termination == "normal"
    assert set(record.timing or ()) == {"plain", "plain_seconds"}


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        (Pig(), "it has chance events"),
        (Goofspiel(), "it has chance events"),
        (RockPaperScissors(), "it has hidden information"),
    ],
)
def test_games_with_chance_or_hidden_information_run_in_plain_python(game: Game, reason: str) -> None:
    assert re.search(reason, why_plain(game) or "")


class Paid(Nim):
    """A game for a stake of three matches."""

    min_return, max_return = -3.0, 3.0

    def returns(self, state: Any) -> Any:
        return (3, -3) if state[1] == 1 else (-3, 3)


def test_games_with_returns_on_another_scale_run_in_plain_python_with_scaled_returns(compiling: None) -> None:
    assert why_plain(Paid()) == "its returns are not from -1 to 1"
    record = arena.play(Paid(heap=6), [Minimax(), Minimax()])
    assert set(record.timing or ()) == {"plain", "plain_seconds"}
    assert round(record.decisions[0].value or 0) == 1
    assert record.returns == (3, -3)


@heuristic("looking", game="nim")
def looking(game: Nim, state: Any, player: int = 0) -> float:
    after = game.result(state, 1)
    return 0.1 if after[0] % 2 == player else -0.1


def test_a_heuristic_that_generates_states_compiles(twice: Twice) -> None:
    """The values are the same as in plain Python, in which the heuristic calls `game.result`."""
    assert twice(Minimax(depth=2), Nim(heap=9), (9, 0), looking).evaluations > 0


@pytest.mark.usefixtures("compiler")
def test_a_cache_without_the_code_is_read_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The cache is read once for each seat, because each seat has its own heuristic. A read at each decision would take longer
    than the decision.
    """
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path))
    monkeypatch.delenv("ARENA_COMPILE", raising=False)
    monkeypatch.delenv("ARENA_PLAIN", raising=False)
    asked = []
    read = cache.read

    def counted(key: str) -> Any:
        asked.append(key)
        return read(key)

    monkeypatch.setattr(cache, "read", counted)
    record = arena.play(Nim(heap=9), [AlphaBeta(), AlphaBeta()], heuristics=remainder)
    assert len(asked) == 2 < len(record.decisions)


class Lying(Rules):
    """Rules under which no seat ever loses."""

    words, width = 2, 9

    def encode(self, state: Any) -> Any:
        return state

    def to_move(self, state: Any) -> int:
        seat: int = state[1]
        return seat

    def actions(self, state: Any) -> Any:
        yield from range(1, min(3, state[0]) + 1)

    def result(self, state: Any, action: int) -> Any:
        return (state[0] - action, 1 - state[1])

    def is_terminal(self, state: Any) -> bool:
        over: bool = state[0] == 0
        return over

    def returns(self, state: Any) -> Any:
        return (0.0, 0.0)


class Wrong(Nim):
    """A game that returns rules of another game."""

    def compiled(self) -> Rules:
        return Lying()


def test_compiled_rules_that_differ_from_the_game_are_refused_before_use(compiling: None) -> None:
    with pytest.raises(NotCompilable, match=r"returns in \(0, \d\): the compiled rules give \[0.0, 0.0\], the game gives"):
        seam.load_loop(Wrong(), None, "full-width", compiling=True)


class Narrow(Nim):
    """A game with a state of more actions than random play finds from a heap of 300."""

    def actions(self, state: Any) -> Any:
        return range(1, 400 if state[0] == 5 else min(3, state[0]) + 1)


def test_a_decision_restarts_in_plain_python_if_a_state_has_too_many_actions(compiling: None) -> None:
    """The decision has the same record: 3 + 399 + 3 + 3 states in two plies."""
    record = arena.play(Narrow(heap=300), [Minimax(depth=2), Minimax(depth=2)], position="(6, 0)", limits={"moves": 1})
    assert record.decisions[0].nodes == 3 + 399 + 3 + 3
    reasons = [pair.reason for pair in seam._pairs.values() if pair.engine == "full-width"]
    assert "a number or an index was out of range" in reasons


def test_a_board_that_is_too_large_has_no_compiled_rules() -> None:
    assert TicTacToe(rows=8, columns=8, in_a_row=5).compiled() is None


def test_the_message_explains_how_to_install_numba(compiling: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in {*sys.modules, "numba", "llvmlite"}:
        if name.split(".")[0] in ("numba", "llvmlite"):
            monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(NotCompilable, match=r"numba is not installed \(pip install 'numba>=0.62'\)"):
        seam.load_loop(TicTacToe(), None, "full-width", compiling=True)


@pytest.mark.usefixtures("compiler")
def test_a_truncated_file_of_the_cache_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path))
    cache.write("ab" * 16, "symbol", b"code" * 100)
    assert cache.read("ab" * 16) == ("symbol", b"code" * 100)
    file = next(tmp_path.glob("compiled/*.module"))
    data = file.read_bytes()
    for cut in (0, 10, len(data) - 1):
        file.write_bytes(data[:cut])
        assert cache.read("ab" * 16) is None
    file.write_bytes(data[:-1] + b"x")
    assert cache.read("ab" * 16) is None
    head, _, code = data.partition(b"\n")
    words = head.split()
    words[2] = b"0" * len(words[2])  # the hash of another processor
    file.write_bytes(b" ".join(words) + b"\n" + code)
    assert cache.read("ab" * 16) is None


def test_a_cache_that_cannot_be_written_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "file" / "folder"))
    cache.write("ab" * 16, "symbol", b"code")
    assert cache.read("ab" * 16) is None


@pytest.mark.parametrize(
    ("game", "heuristic"),
    [
        (Pancake(n=6), Top),
        (Pancake(n=5, burnt=True), Gap),
        (Hanoi(discs=4), HanoiPatterns),
        (GridPath(map="maze"), Differential),
        (Sokoban(level=2), Matching),
    ],
    ids=["pancake", "burnt", "hanoi", "grid-path", "sokoban"],
)
def test_rules_and_heuristics_of_puzzles_compile_together(twice: Twice, game: Any, heuristic: Any) -> None:
    """The heuristics take a player, as they do for games."""
    twice(AStar(), game, game.initial(random.Random(3)), heuristic)


@pytest.mark.usefixtures("compiler")
def test_the_manual_lists_each_heuristic_that_compiles(registry: Registry) -> None:
    """The list covers games without chance with searches that can be compiled. Gomoku compiles on a smaller board."""
    page = (Path(__file__).parents[3] / "docs/explanation/compiled.md").read_text()
    table = page.split("| game | heuristics |")[1].split("\n\n")[0]
    listed = set()
    for line in table.splitlines()[2:]:
        games, heuristics = [re.findall(r"[\w-]+", re.sub(r"\(.*?\)", "", cell)) for cell in line.split("|")[1:3]]
        listed |= {(game, "") for game in games if game in registry.games}
        listed |= {
            (game, one) for game in games if game in registry.games for one in registry.heuristics_of(game) if one in heuristics
        }
    found = {("gomoku", "")}
    for name, kind in registry.games.items():
        game = make_default(kind)
        if game is None or why_plain(game) is not None:
            continue
        found.add((name, ""))
        if name not in ("sudoku", "n-queens"):  # these compile for searches without a heuristic
            made = {one: bind(registry.heuristic(name, one), game) for one in registry.heuristics_of(name)}
            found |= {(name, one) for one, evaluation in made.items() if why_plain(game, evaluation) is None}
    assert listed == found


@pytest.mark.parametrize(
    ("fits", "larger"),
    [
        (Hex(size=7), Hex(size=8)),
        (DotsAndBoxes(rows=5, columns=5), DotsAndBoxes(rows=5, columns=6)),
        (DotsAndBoxes(rows=3, columns=8), DotsAndBoxes(rows=4, columns=7)),
        (Gomoku(rows=7, columns=7), Gomoku(rows=8, columns=7)),
        (NQueens(n=255, placed=2), NQueens(n=256)),
        (Breakthrough(rows=15, columns=15), None),
        (Kalah(pits=12, stones=12), None),
        (BuiltinNim(heaps=(1000,) * 20), None),
        (Pancake(n=100, burnt=True), None),
        (TopSpin(n=30, k=28), None),
        (Hanoi(discs=30, pegs=8), None),
    ],
    ids=lambda game: type(game).__name__,
)
@pytest.mark.usefixtures("compiler")
def test_boards_compile_up_to_the_size_that_the_manual_gives(fits: Game, larger: Game | None) -> None:
    assert why_plain(fits) is None
    assert larger is None or why_plain(larger) is not None


def test_all_evaluations_bound_to_a_heuristic_have_the_same_owner() -> None:
    """Other heuristics have other owners, so that no search uses the code of another heuristic."""
    gap, top = Gap(Pancake()), Top(Pancake())
    assert owner_of(gap.__call__) is owner_of(gap.__call__) is gap
    assert owner_of(top.__call__) is top
    plain = bind(looking, Nim())
    assert owner_of(plain) is plain
    assert owner_of(None) is None


def test_a_search_without_compiled_code_gives_the_reason() -> None:
    """The reason is the failure of its compilation, or an unexpected error."""
    pair = seam.CompiledPair(Nim(), None, "full-width")
    assert pair.failure is None
    pair.fail(NotCompilable("it has chance events"))
    assert (pair.reason, pair.failure) == ("it has chance events", None)
    pair.fail(seam.CompilerFault("no types"))
    assert pair.failure == "no types"
    compilation: Any = Compilation("key", None)  # type: ignore[arg-type]
    compilation.failure = NotCompilable("it took too long")
    pair.compilation = compilation
    assert pair.failure == "it took too long"


def test_the_available_memory_is_the_limit_minus_the_used_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """RLIMIT_DATA limits VmData of proc_pid_status(5). Resident pages count in any case."""
    status = "Name:\tpython\nVmRSS:\t  30720 kB\nVmData:\t 102400 kB\nThreads:\t1\n"
    monkeypatch.setattr(Path, "read_text", lambda _, errors: status)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (160 << 20, 160 << 20))
    assert memory.headroom() == 60 << 20
    with pytest.raises(NotCompilable, match="its memory limit leaves 60 MiB, and a table takes 61 MiB"):
        memory.require(61 << 20, "a table")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert memory.headroom() == float("inf")
