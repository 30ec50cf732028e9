"""Test the agent `policy`: its play, and the errors for weights that do not fit."""

import importlib
import json
import math
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena import Refused, SpecError, play, run
from arena.spec import load_spec
from arena.testing import check_agent
from arena_bridges.rl.policy import Policy
from arena_games.kuhn_poker import KuhnPoker
from arena_games.tic_tac_toe import TicTacToe
from tests.conftest import Missing

PARTS = (("w", "weight"), ("b", "bias"))
"""The prefix of an array and the matching suffix of a tensor."""


def save_perceptron(folder: Path, *sizes: int, name: str = "weights.npz", seed: int = 0) -> str:
    """Save a random perceptron with layers of these sizes, and return the path."""
    rng = np.random.default_rng(seed)
    arrays: dict[str, Any] = {}
    for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
        arrays |= {f"w{layer}": rng.normal(size=(inputs, outputs)), f"b{layer}": rng.normal(size=outputs)}
    file = folder / name
    np.savez(file, **arrays)
    return str(file)


def compute_logits(file: str, numbers: list[float], between: Callable[[float], float]) -> list[float]:
    """Return the logits of a perceptron, computed one number at a time."""
    with np.load(file) as arrays:
        layers = [(arrays[f"w{layer}"].tolist(), arrays[f"b{layer}"].tolist()) for layer in range(len(arrays.files) // 2)]
    for number, (weight, bias) in enumerate(layers):
        numbers = [sum(x * row[k] for x, row in zip(numbers, weight, strict=True)) + b for k, b in enumerate(bias)]
        if number < len(layers) - 1:
            numbers = list(map(between, numbers))
    return numbers


@pytest.mark.parametrize(("activation", "between"), [("relu", lambda x: max(x, 0.0)), ("tanh", math.tanh)])
def test_probabilities_are_the_softmax_of_the_legal_logits(activation: Any, between: Any, tmp_path: Path) -> None:
    file = save_perceptron(tmp_path, 18, 5, 9)
    game = TicTacToe()
    state = game.parse_state("x../.o./...")
    numbers = [1.0, *[0.0] * 8, *[0.0] * 4, 1.0, *[0.0] * 4]
    logits = compute_logits(file, numbers, between)
    weights = [math.exp(logits[cell - 1] / 0.5) for cell in (2, 3, 4, 6, 7, 8, 9)]
    policy = Policy(weights=file, temperature=0.5, activation=activation)
    assert policy.policy(game, state) == pytest.approx([weight / sum(weights) for weight in weights], rel=1e-4)
    greedy = Policy(weights=file, activation=activation).policy(game, state)
    assert greedy == [float(weight == max(weights)) for weight in weights]


def test_the_policy_passes_the_agent_check(tmp_path: Path) -> None:
    """The check plays a game with hidden cards and one without. Logits of illegal actions are ignored."""
    check_agent(Policy(weights=save_perceptron(tmp_path, 18, 9), temperature=1.0), TicTacToe(), matches=2)
    check_agent(Policy(weights=save_perceptron(tmp_path, 13, 4, 2, name="k.npz")), KuhnPoker(), matches=2)


def test_an_equilibrium_of_kuhn_poker_can_be_saved_as_weights(tmp_path: Path) -> None:
    """At Kuhn's equilibrium with alpha = 0 (1950), seat 0 never bets first, and the exploitability is 0."""
    from arena_solution.best_response import nash_gap
    from arena_solution.sequence_form import sequence_form

    file = tmp_path / "kuhn.npz"
    np.savez(file, **kuhn_weights())
    game, policy = KuhnPoker(), Policy(weights=str(file), temperature=1.0)
    form = sequence_form(game, game.initial(random.Random(0)))
    gap = nash_gap(form, lambda seat, observation: policy.policy(game, observation))
    assert gap.exploitability == pytest.approx(0, abs=1e-6)
    assert gap.value == pytest.approx((-1 / 18, 1 / 18), abs=1e-6)


def kuhn_weights() -> dict[str, Any]:
    """Return weights with a hidden unit for each information set, and logits of pass and bet as outputs."""
    never, always, third = -30.0, 30.0, math.log(1 / 2)
    bets = {  # logits of a bet by card and history; the logit of a pass is 0
        **{(card, ""): never for card in "JQK"},
        ("J", "pb"): never,
        ("Q", "pb"): third,
        ("K", "pb"): always,
        ("J", "p"): third,
        ("Q", "p"): never,
        ("K", "p"): always,
        ("J", "b"): never,
        ("Q", "b"): third,
        ("K", "b"): always,
    }
    hidden, bias, out = np.zeros((13, len(bets))), np.zeros(len(bets)), np.zeros((len(bets), 2))
    for unit, ((card, done), logit) in enumerate(bets.items()):
        hidden["JQK".index(card), unit] = 1
        hidden[6:12, unit] = -1  # no other history
        for turn, letter in enumerate(done):
            hidden[6 + 2 * turn + "pb".index(letter), unit] = 1
        bias[unit] = -len(done)  # only this card and history sum to 1
        out[unit, 1] = logit
    return {"w0": hidden, "b0": bias, "w1": out, "b1": np.zeros(2)}


def test_policies_with_weights_play_a_tournament(tmp_path: Path) -> None:
    """`arena.play` accepts the entry of a spec, too."""
    file = save_perceptron(tmp_path, 18, 9)
    agents: list[Any] = [{"agent": "policy", "encoding": "planes", "weights": file, "temperature": 0.5}, "random"]
    results = run({"name": "learned", "game": "tic-tac-toe", "agents": agents, "rounds": 2, "seed": 1}, store=None)
    assert {record.termination for record in results.records} == {"normal"}
    assert play("tic-tac-toe", [agents[0], "random"]).termination == "normal"


FAULTS = [
    ("missing.npz", None, "weights: missing.npz cannot be read: No such file or directory"),
    ("weights.txt", b"1", "expected a file that ends in .npz, .pt, .pth, .onnx, got weights.txt"),
    ("broken.npz", b"PK\3\4", "broken.npz: expected an npz file of plain arrays without pickled objects"),
    ("pickle.npz", pickle.dumps([1]), "pickle.npz: expected an npz file of plain arrays without pickled objects"),
    ("object.npz", {"w0": np.array([{}]), "b0": np.zeros(1)}, "without pickled objects, got ValueError: Object arrays"),
    ("names.npz", {"weights": np.zeros((18, 9))}, "names.npz: expected the arrays w0 (inputs, width)"),
    ("layers.npz", {"w0": np.zeros((18, 9)), "b0": np.zeros(8)}, "layer 0: expected numeric arrays"),
    ("chain.npz", {"w0": np.zeros((18, 4)), "b0": np.zeros(4), "w1": np.zeros((5, 9)), "b1": np.zeros(9)}, "layer 1"),
    ("texts.npz", {"w0": np.array([["a"]]), "b0": np.array(["b"])}, "layer 0: expected numeric arrays"),
    ("nan.npz", {"w0": np.full((18, 9), np.nan), "b0": np.zeros(9)}, "layer 0: expected finite numbers"),
    (
        "shape.npz",
        {"w0": np.zeros((27, 9)), "b0": np.zeros(9)},
        "shape.npz takes 27 numbers and returns 9 logits, but tic-tac-toe in the encoding planes has 18 numbers and 9 actions",
    ),
]


@pytest.mark.parametrize(("name", "content", "message"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_invalid_weights_are_refused_with_the_line(
    name: str, content: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes before the first match and names the line of the entry. Pickled code never runs."""
    monkeypatch.chdir(tmp_path)
    if isinstance(content, dict):
        np.savez(name, allow_pickle=True, **content)
    elif content is not None:
        Path(name).write_bytes(content)
    Path("spec.yaml").write_text(
        f"name: t\ngame: tic-tac-toe\nrounds: 1\nagents:\n- random\n- {{agent: policy, weights: {name}}}\n"
    )
    with pytest.raises(SpecError) as caught:
        load_spec("spec.yaml")
    (fault,) = caught.value.faults
    assert message in fault.message
    assert fault.line == 6


def test_an_unknown_encoding_is_refused(tmp_path: Path) -> None:
    agent = {"agent": "policy", "weights": save_perceptron(tmp_path, 18, 9), "encoding": "plane"}
    with pytest.raises(SpecError, match="unknown encoding of tic-tac-toe 'plane'; did you mean 'planes'"):
        load_spec({"name": "t", "game": "tic-tac-toe", "agents": [agent, "random"]})
    with pytest.raises(Refused, match="did you mean 'planes'"):
        play("tic-tac-toe", [agent, "random"])


def test_a_policy_is_left_out_of_games_that_its_weights_do_not_fit(tmp_path: Path) -> None:
    agent = {"agent": "policy", "weights": save_perceptron(tmp_path, 18, 9)}
    spec = load_spec({"name": "t", "games": ["tic-tac-toe", "connect-four"], "agents": [agent, "random", "greedy"]})
    assert [[seat.agent for seat in board.seats] for board in spec.boards] == [
        ["policy", "random", "greedy"],
        ["random", "greedy"],
    ]
    assert any("is left out of connect-four: weights:" in note for note in spec.notes)


def test_torch_weights_play_like_numpy_weights(tmp_path: Path, missing: Missing) -> None:
    """A file may have parameters or plain tensors. Other content, or content that would run code, is refused in one line."""
    if find_spec("torch") is None:
        missing("torch", "torch is not installed: pip install '.[torch]'")
    torch = importlib.import_module("torch")
    with np.load(save_perceptron(tmp_path, 18, 5, 9)) as arrays:
        tensors = {f"{2 * layer}.{long}": torch.tensor(arrays[f"{short}{layer}"].T) for layer in (0, 1) for short, long in PARTS}
    plain = Policy(weights=str(tmp_path / "weights.npz"), temperature=1.0)
    game = TicTacToe()
    for kind in (torch.nn.Parameter, torch.Tensor):
        torch.save({name: kind(tensor) for name, tensor in tensors.items()}, tmp_path / "net.pt")
        found = Policy(weights=str(tmp_path / "net.pt"), temperature=1.0)
        state = game.parse_state("x../.o./...")
        assert found.policy(game, state) == pytest.approx(plain.policy(game, state), rel=1e-6)
    torch.save(torch.nn.Linear(18, 9), tmp_path / "net.pt")
    with pytest.raises(ValueError, match=r"only tensors, got UnpicklingError: Weights only load failed$"):
        Policy(weights=str(tmp_path / "net.pt"))
    torch.save({"0.weight": tensors["0.weight"]}, tmp_path / "net.pt")
    with pytest.raises(ValueError, match=r"expected a weight and a bias of each linear layer, got 0\.weight$"):
        Policy(weights=str(tmp_path / "net.pt"))


@pytest.mark.process
@pytest.mark.parametrize(("name", "library"), [("net.pt", "torch>=2.6"), ("net.onnx", "onnxruntime>=1.17")])
def test_a_file_without_its_library_says_how_to_install_it(name: str, library: str, tmp_path: Path) -> None:
    """The libraries cannot be imported in the process."""
    (tmp_path / name).write_bytes(b"")
    code = (
        "import sys\n"
        "sys.modules['torch'] = sys.modules['onnxruntime'] = None\n"
        "from arena_bridges.rl.policy import Policy\n"
        f"try: Policy(weights={name!r})\nexcept Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith(f"pip install '{library}'")


@pytest.mark.process
def test_large_libraries_are_imported_only_on_use() -> None:
    """Importing the entry point imports neither numpy nor the libraries of the extra."""
    heavy = ("numpy", "gymnasium", "pettingzoo", "torch")
    code = f"import sys, json, arena_bridges.rl; print(json.dumps([name for name in {heavy} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
