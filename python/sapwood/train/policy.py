"""Policies as files: a network in numpy, which needs no torch, and what it was trained on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Single = NDArray[np.float32]

VERSION = 1
"""Of the file's layout."""

OBSERVATION_LIMIT = 10.0
"""At which normalised observations are cut."""


def normalise(rows: Array, mean: Array, variance: Array) -> Single:
    """Rows of mean 0 and variance 1, cut at 10."""
    scaled = (rows - mean) / np.sqrt(variance + 1e-8)
    return np.clip(scaled, -OBSERVATION_LIMIT, OBSERVATION_LIMIT).astype(np.float32)


def _tanh(x: Single) -> Single:
    return np.tanh(x)


def _relu(x: Single) -> Single:
    return np.maximum(x, np.float32(0.0))


def _elu(x: Single) -> Single:
    return np.where(x > 0.0, x, np.expm1(np.minimum(x, np.float32(0.0)))).astype(np.float32)


ACTIVATIONS = {"tanh": _tanh, "relu": _relu, "elu": _elu}
"""Functions between layers, by name."""


@dataclass(frozen=True)
class Policy:
    """A normal distribution over actions, by a network.

    ``policy(observations)`` is its mean, cut at the limits of actions; :meth:`sample` draws from it.

    Attributes:
        layers: Weights (outputs, inputs) and biases (outputs,) of each layer, float32.
        activation: The function between layers, by its name.
        log_std: Logarithms of the standard deviations of actions before ``scale``, (actions,).
        mean: What is taken from observations, (observations,).
        variance: By whose square root they are then divided, (observations,).
        offset: The action at output 0, (actions,).
        scale: The change of an action by an output, (actions,).
        low: Least actions, (actions,).
        high: Greatest actions, (actions,).
        task: What it was trained on: "kind" and options of the environment.
    """

    layers: tuple[tuple[Single, Single], ...]
    activation: str
    log_std: Single
    mean: Array
    variance: Array
    offset: Array
    scale: Array
    low: Array
    high: Array
    task: dict[str, Any]

    def __call__(self, observations: ArrayLike) -> Array:
        """The mean of the distribution.

        Args:
            observations: (n, number), or (number,) of one world.

        Returns:
            Actions, (n, actions) or (actions,).

        Raises:
            ValueError: When observations have another number of columns.
        """
        return self._act(self._outputs(observations))

    def sample(self, observations: ArrayLike, rng: np.random.Generator) -> Array:
        """Actions drawn from the distribution: arguments and result as of a call."""
        outputs = self._outputs(observations)
        noise = rng.standard_normal(outputs.shape, dtype=np.float32)
        return self._act(outputs + (np.exp(self.log_std) * noise).astype(np.float32))

    def _outputs(self, observations: ArrayLike) -> Single:
        given = np.asarray(observations, dtype=np.float64)
        if given.shape[-1:] != self.mean.shape:
            message = f"observations have shape {given.shape}: expected {len(self.mean)} columns, as in training"
            raise ValueError(message)
        x = normalise(given, self.mean, self.variance)
        between = ACTIVATIONS[self.activation]
        for k, (weights, bias) in enumerate(self.layers):
            x = x @ weights.T + bias
            if k + 1 < len(self.layers):
                x = between(x)
        return x

    def _act(self, outputs: Single) -> Array:
        return np.clip(self.offset + self.scale * outputs, self.low, self.high)

    def make_env(self, num_envs: int = 1, **changes: Any) -> Any:  # noqa: ANN401 - a Gymnasium VectorEnv
        """An environment like that of the training.

        Args:
            num_envs: Number of worlds.
            changes: Options that are to be others, such as ``reference_state_init=False``.

        Returns:
            A Gymnasium ``VectorEnv``.
        """
        from sapwood.train.tasks import task_of

        return task_of(self.task).make(num_envs, **changes)

    def save(self, path: str | PathLike[str]) -> None:
        """Write an ``.npz`` file, which :func:`load_policy` reads.

        Raises:
            OSError: When it cannot be written.
        """
        arrays = {f"weights_{k}": weights for k, (weights, _) in enumerate(self.layers)}
        arrays |= {f"bias_{k}": bias for k, (_, bias) in enumerate(self.layers)}
        about = {"version": VERSION, "layers": len(self.layers), "activation": self.activation, "task": self.task}
        names = ("log_std", "mean", "variance", "offset", "scale", "low", "high")
        arrays |= {name: getattr(self, name) for name in names}
        # The name is kept as it is given: numpy would add an ending.
        with Path(path).open("wb") as file:
            np.savez(file, allow_pickle=False, about=np.array(json.dumps(about)), **arrays)


def load_policy(path: str | PathLike[str]) -> Policy:
    """Read a policy that a training has written.

    Args:
        path: ``policy.npz`` of a training.

    Raises:
        FileNotFoundError: When there is no such file.
        ValueError: When it is no policy.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        about = json.loads(str(arrays["about"]))
        if about["version"] != VERSION:
            message = f"{path} has version {about['version']}: expected {VERSION}, of this version of sapwood"
            raise ValueError(message)
        layers = tuple((arrays[f"weights_{k}"], arrays[f"bias_{k}"]) for k in range(about["layers"]))
        names = ("log_std", "mean", "variance", "offset", "scale", "low", "high")
        if about["activation"] not in ACTIVATIONS:
            message = f"{path} has activation {about['activation']!r}: expected one of {', '.join(ACTIVATIONS)}"
            raise ValueError(message)
        fields: dict[str, Any] = {name: arrays[name] for name in names}
        return Policy(layers=layers, activation=about["activation"], task=about["task"], **fields)
    except FileNotFoundError:
        raise
    except (KeyError, EOFError, OSError, ValueError) as error:
        message = f"{path} is no policy ({error}): expected a policy.npz of python -m sapwood.train"
        raise ValueError(message) from error
