"""Environments on the GPU's kernels beside those on the processor, step by step."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

MODULES = [
    "numpy",
    pytest.param("torch", marks=pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")),
]
"""Whose the arrays of an environment may be: parameters of the fixture `module`."""


class Pair:
    """An environment on the host back end beside that on the processor, step by step.

    From a step that the device counts on, a world is left out until its next episode: the processor leaves such steps
    to another solver.
    """

    def __init__(self, ours: Any, theirs: Any, mode: AutoresetMode) -> None:
        self.ours, self.theirs, self.mode = ours, theirs, mode
        n = theirs.num_envs
        self.counts, self.same, self.parted = self.count(), np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        self.compared = self.steps = self.ends = 0

    def count(self) -> Any:
        return self.ours.batch.status.numpy()[:, 2:5].sum(axis=1)

    def reset(self, **options: Any) -> None:
        (observation, info), (expected, expected_info) = self.ours.reset(**options), self.theirs.reset(**options)
        assert info.keys() == expected_info.keys()
        self.look(observation, expected, self.same)

    def look(self, observation: Any, expected: Any, worlds: Any) -> None:
        scale = np.abs(expected).max(axis=-1, keepdims=True) + 1.0
        found = np.asarray(observation) / scale
        np.testing.assert_allclose(found[worlds], (expected / scale)[worlds], rtol=0, atol=1e-9)

    def step(self, action: Any) -> None:
        observation, reward, terminated, truncated, info = self.ours.step(action)
        expected, expected_reward, expected_end, expected_cut, expected_info = self.theirs.step(action)
        counts = self.count()
        self.same &= counts == self.counts
        self.counts = counts
        same, ended = self.same, expected_end | expected_cut
        for found, there in ((terminated, expected_end), (truncated, expected_cut)):
            np.testing.assert_array_equal(np.asarray(found)[same], there[same])
        np.testing.assert_allclose(np.asarray(reward)[same], expected_reward[same], rtol=1e-9, atol=1e-9)
        self.compare_infos(info, expected_info)
        self.parted |= np.asarray(terminated | truncated) != ended
        self.compared, self.steps, self.ends = (
            self.compared + same.sum(),
            self.steps + same.size,
            self.ends + ended.sum(),
        )
        # In the other modes an episode begins in the next step, or when told.
        begun = ended & ~self.parted if self.mode == AutoresetMode.SAME_STEP else same
        self.look(observation, expected, same | begun)
        self.same = (same | ended) & ~self.parted
        if self.mode == AutoresetMode.DISABLED and ended.any():
            self.reset(options={"reset_mask": ended})

    def compare_infos(self, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        for name, expected in theirs.items():
            if name.startswith("_") or name in ("final_obs", "final_info"):
                continue
            there = theirs[f"_{name}"] & self.same
            assert np.asarray(ours[f"_{name}"])[there].all()
            np.testing.assert_allclose(np.asarray(ours[name])[there], expected[there], rtol=1e-9, atol=1e-8)
        for world in np.flatnonzero(theirs.get("_final_obs", []) & self.same if "_final_obs" in theirs else []):
            self.look(ours["final_obs"][world], theirs["final_obs"][world], slice(None))
