"""What vector environments share whose worlds have generators of their own: seeds, and masks of resets."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from sapwood.gym._state import Stated

Flags = NDArray[np.bool_]
Observation = TypeVar("Observation")
Action = TypeVar("Action")
Reward = TypeVar("Reward")


class SeededVectorEnv(Stated, VectorEnv[Observation, Action, Reward]):
    """A vector environment with a generator for each world."""

    def __init__(self) -> None:
        super().__init__()
        self._rngs: list[np.random.Generator] = []
        self._seeds: list[int] = []

    @property  # type: ignore[misc]
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]
        """The generators of the worlds."""
        self._make_generators()
        return tuple(self._rngs)

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seeds of the worlds' generators."""
        self._make_generators()
        return tuple(self._seeds)

    def _make_generators(self) -> None:
        if not self._rngs:
            generators = [seeding.np_random(None) for _ in range(self.num_envs)]
            self._rngs = [generator for generator, _ in generators]
            self._seeds = [seed for _, seed in generators]

    def _seed(self, seed: int | list[int | None] | None, mask: Flags) -> list[int]:
        """Seed the worlds of a mask; which of them have new seeds."""
        self._make_generators()
        if seed is None:
            return []
        seeds: list[int | None] = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else list(seed)
        if len(seeds) != self.num_envs:
            message = f"seed has {len(seeds)} entries: expected one number, or {self.num_envs}"
            raise ValueError(message)
        seeded = [int(world) for world in np.flatnonzero(mask) if seeds[world] is not None]
        for world in seeded:
            self._rngs[world], self._seeds[world] = seeding.np_random(seeds[world])
        return seeded

    def _mask(self, options: dict[str, Any] | None) -> Flags:
        given: Any = (options or {}).get("reset_mask")
        if given is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        mask: Flags = np.asarray(given)
        if not isinstance(given, np.ndarray) or mask.dtype != np.bool_:
            message = f"options['reset_mask'] is {given!r}: expected an array of booleans, ({self.num_envs},)"
            raise TypeError(message)
        if mask.shape != (self.num_envs,) or not mask.any():
            message = (
                f"options['reset_mask'] has shape {mask.shape} and {mask.sum()} True: "
                f"expected ({self.num_envs},), with one True or more"
            )
            raise ValueError(message)
        return mask
