"""The agent that plays a learned policy."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from arena import Action, Agent, ArenaError, Game, Hints, Search, State
from arena.api.games import SpecFile, name_of, settings
from arena_bridges.rl.coder import Coder
from arena_bridges.rl.networks import network_of


class Policy(Agent):
    """Plays the policy of a network, which returns a logit for each action. Only the logits of legal actions are used.

    `encoding` names the encoding that turns an observation into the input of the network; the default is the first encoding of
    the game. `weights` is a file: `.npz` with the arrays w0, b0, w1, b1, ... of a perceptron, the `state_dict` of a perceptron in
    PyTorch (`.pt`), or an ONNX model. `activation` is the function between the layers of a perceptron; an ONNX model does not use
    it. With `temperature: 0`, the action with the largest logit is played, the first of equal ones. Otherwise, actions are drawn
    by the softmax of the logits divided by `temperature`. A store records the hash of the file, as it does for code.
    """

    name = "policy"
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})
    hints = Hints(uses_heuristic=False)

    def __init__(
        self,
        *,
        weights: SpecFile,
        encoding: str | None = None,
        temperature: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0,
        activation: Literal["relu", "tanh"] = "relu",
    ) -> None:
        self.weights = weights
        self.encoding = encoding
        self.temperature = temperature
        self._network = network_of(weights, activation)

    def refuses(self, game: Game) -> str | None:
        """Return why the network does not fit a game; None if it does."""
        try:
            self._coder(game)
        except (ArenaError, ValueError) as error:
            return str(error)
        return None

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the action with the largest logit, or an action drawn at random."""
        actions, shares = game.actions(state), self.policy(game, state)
        return actions[shares.index(1.0)] if 1.0 in shares else search.rng.choices(actions, shares)[0]

    def policy(self, game: Game, observation: State) -> Sequence[float]:
        """Return the probabilities of the legal actions, in their order."""
        import numpy as np

        coder, legal = self._coder(game), game.actions(observation)
        numbers = coder.encode_observation(observation, game.to_move(observation)).ravel().astype(np.float32)
        logits = np.asarray(self._network.logits(numbers), float)[coder.number_actions(legal)]
        if not self.temperature:
            best = int(logits.argmax())
            return [float(place == best) for place in range(len(legal))]
        shares = np.exp((logits - logits.max()) / self.temperature)
        return [float(share) for share in shares / shares.sum()]

    def _coder(self, game: Game) -> Coder:
        """Return the coder of a game, the same for all decisions. Raises ValueError if the sizes of the network do not fit."""
        key = (type(game), repr(settings(game)), self.encoding)  # `game` is a view for a single decision, so it cannot be the key
        if key not in _CODERS:
            _CODERS[key] = Coder(type(game)(**settings(game)), self.encoding)
        coder = _CODERS[key]
        network = self._network
        if (network.inputs, network.outputs) != (coder.numbers, coder.actions):
            raise ValueError(
                f"weights: {self.weights} takes {network.inputs} numbers and returns {network.outputs} logits, but "
                f"{name_of(game)} in the encoding {coder.encoding.name} has {coder.numbers} numbers and {coder.actions} actions"
            )
        return coder


_CODERS: dict[tuple[object, ...], Coder] = {}
"""The coders of this process, by the class and parameters of the game and the encoding."""
