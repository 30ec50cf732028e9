"""Networks from files: numpy arrays, PyTorch weights, or an ONNX model. Reading a file never runs code from it."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from arena.api.errors import describe
from arena.api.games import read_arrays, read_whole
from arena_bridges.extras import library

MAX_FILE_BYTES = 1 << 30
"""The largest file, in bytes, and the largest arrays in a file."""
LAYERS = "w0 (inputs, width), b0 (width,), w1 (width, ...), b1 and so on, the last with a column for each action"


class Network(NamedTuple):
    """A function from the numbers of an observation to a logit for each action."""

    inputs: int
    outputs: int
    logits: Callable[[Any], Any]
    """Takes a flat array of float32 and returns an array of the logits."""


def network_of(file: str, activation: str) -> Network:
    """Return the network in a file: `.npz`, `.pt` or `.pth`, or `.onnx`. Raises ValueError if the file is invalid.

    `activation` is the function between layers, relu or tanh; ONNX models do not use it. Raises MissingExtra if a library is
    missing.
    """
    path = Path(file).expanduser()
    try:
        stamp = path.stat()
    except OSError as error:
        raise ValueError(f"weights: {file} cannot be read: {error.strerror or error}") from error
    if path.suffix not in _READERS:
        raise ValueError(f"weights: expected a file that ends in {', '.join(_READERS)}, got {file}")
    return _loaded(path, activation, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=16)
def _loaded(path: Path, activation: str, _changed: int, _size: int) -> Network:
    return _READERS[path.suffix](path, activation)


def _from_npz(path: Path, activation: str) -> Network:
    try:
        found = read_arrays(path, MAX_FILE_BYTES)
    except ValueError as error:
        raise ValueError(f"weights: {error}") from error
    layers = len(found) // 2
    if not layers or set(found) != {f"{letter}{layer}" for letter in "wb" for layer in range(layers)}:
        raise ValueError(f"weights: {path}: expected the arrays {LAYERS}, got {', '.join(sorted(found)) or 'none'}")
    return _perceptron(path, [(found[f"w{layer}"], found[f"b{layer}"]) for layer in range(layers)], activation)


def _read(path: Path) -> bytes:
    try:
        return read_whole(path, MAX_FILE_BYTES)
    except ValueError as error:
        raise ValueError(f"weights: {error}") from error


def _from_torch(path: Path, activation: str) -> Network:
    torch, content = library("torch", "torch"), _read(path)
    try:
        state = torch.load(BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # several kinds: not an archive, pickled objects, a truncated file
        told = describe(error).partition(". ")[0].partition("\n")[0]  # the rest explains how to trust the file anyway
        raise ValueError(f"weights: {path}: expected a state_dict that contains only tensors, got {told}") from error
    if not isinstance(state, Mapping) or not all(isinstance(tensor, torch.Tensor) for tensor in state.values()):
        raise ValueError(f"weights: {path}: expected a state_dict that contains only tensors, got {type(state).__name__}")
    names = [name.removesuffix("weight") for name in state if name.endswith("weight")]
    if {f"{name}{part}" for name in names for part in ("weight", "bias")} != set(state):
        raise ValueError(f"weights: {path}: expected a weight and a bias of each linear layer, got {', '.join(state)}")
    arrays = {name: tensor.detach().float().numpy() for name, tensor in state.items()}
    layers = [(arrays[f"{name}weight"].T, arrays[f"{name}bias"]) for name in names]
    return _perceptron(path, layers, activation)


def _perceptron(path: Path, layers: list[tuple[Any, Any]], activation: str) -> Network:
    """Return a multi-layer perceptron. Raises ValueError if the shapes of its arrays do not fit together."""
    import numpy as np

    width = layers[0][0].shape[:1]
    for number, (weight, bias) in enumerate(layers):
        numeric = {weight.dtype.kind, bias.dtype.kind} <= set("fiu")
        if not numeric or weight.ndim != 2 or weight.shape[:1] != width or bias.shape != weight.shape[1:]:
            told = f"{weight.dtype}{weight.shape} and {bias.dtype}{bias.shape}"
            raise ValueError(f"weights: {path}: layer {number}: expected numeric arrays of the shapes {LAYERS}, got {told}")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ValueError(f"weights: {path}: layer {number}: expected finite numbers")
        width = weight.shape[1:]
    arrays = [(weight.astype(np.float32), bias.astype(np.float32)) for weight, bias in layers]
    between = np.tanh if activation == "tanh" else lambda values: np.maximum(values, 0)

    def logits(numbers: Any) -> Any:
        *hidden, (weight, bias) = arrays
        for inner, shift in hidden:
            numbers = between(numbers @ inner + shift)
        return numbers @ weight + bias

    return Network(arrays[0][0].shape[0], arrays[-1][0].shape[1], logits)


def _from_onnx(path: Path, activation: str) -> Network:
    runtime, content = library("onnxruntime", "onnx"), _read(path)
    try:
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        (given,), (found, *_) = session.get_inputs(), session.get_outputs()
        (_, inputs), (_, outputs) = given.shape, found.shape
    except Exception as error:  # errors of the runtime, and shapes of another type
        raise ValueError(
            f"weights: {path}: expected an ONNX model with one input (batch, numbers) and one output (batch, actions), "
            f"got {describe(error)}"
        ) from error
    return Network(inputs, outputs, lambda numbers: session.run([found.name], {given.name: numbers[None]})[0][0])


_READERS = {".npz": _from_npz, ".pt": _from_torch, ".pth": _from_torch, ".onnx": _from_onnx}
