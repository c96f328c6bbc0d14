"""Tasks of manipulation packages with scripted policies; skipped where the packages are not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("mujoco")
guest = pytest.importorskip("sapwood.mujoco")

Action = NDArray[np.float64]
Policy = Callable[[dict[str, Any]], Action]

OPEN, SHUT = 1.0, -1.0


@pytest.fixture(autouse=True)
def _on_sapwood() -> Iterator[None]:
    with guest.physics():
        yield


def reach() -> Policy:
    return lambda seen: np.r_[10 * (seen["desired_goal"] - seen["achieved_goal"]), OPEN]


def pick_and_place() -> Policy:
    """Above the object, down to it, shut for some steps, then to the goal."""
    done = {"above": False, "down": False, "shut": 0}

    def act(seen: dict[str, Any]) -> Action:
        place, offset = seen["observation"][3:6], seen["observation"][6:9]
        above = offset + np.array([0, 0, 0.08])
        done["above"] = done["above"] or bool(np.linalg.norm(above) < 0.01)
        done["down"] = done["down"] or (bool(done["above"]) and bool(np.linalg.norm(offset) < 0.008))
        if not done["down"]:
            move = 8 * (offset if done["above"] else above)
            return np.array([*move, OPEN])
        done["shut"] += 1
        move = np.zeros(3) if done["shut"] < 8 else 8 * (seen["desired_goal"] - place)
        return np.array([*move, SHUT])

    return act


@pytest.mark.parametrize(("name", "policy"), [("FetchReach-v4", reach), ("FetchPickAndPlace-v4", pick_and_place)])
def test_fetch(name: str, policy: Callable[[], Policy]) -> None:
    robotics = pytest.importorskip("gymnasium_robotics", reason="gymnasium-robotics is not installed")
    gymnasium = pytest.importorskip("gymnasium")
    gymnasium.register_envs(robotics)
    environment = gymnasium.make(name)
    for seed in range(10):
        (seen, _), act, info = environment.reset(seed=seed), policy(), {}
        for _ in range(50):
            seen, *_, info = environment.step(np.clip(act(seen), -1, 1).astype(np.float32))
        assert info["is_success"], seed


@pytest.mark.parametrize("name", ["Door", "Hammer", "Pen", "Relocate"])
def test_adroit(name: str) -> None:
    robotics = pytest.importorskip("gymnasium_robotics", reason="gymnasium-robotics is not installed")
    gymnasium = pytest.importorskip("gymnasium")
    gymnasium.register_envs(robotics)
    environment = gymnasium.make(f"AdroitHand{name}-v1")
    environment.reset(seed=1)
    environment.action_space.seed(1)
    for _ in range(50):
        seen, reward, *_ = environment.step(environment.action_space.sample())
        assert np.isfinite([*seen, reward]).all()


@pytest.mark.parametrize(
    "name", ["reach", "push", "pick-place", "drawer-open", "door-open", "button-press", "peg-unplug-side"]
)
def test_metaworld(name: str) -> None:
    metaworld = pytest.importorskip("metaworld", reason="metaworld is not installed")
    policies = pytest.importorskip("metaworld.policies").ENV_POLICY_MAP
    succeeded = []
    for seed in range(3):
        tasks = metaworld.MT1(f"{name}-v3", seed=seed)
        environment, policy = tasks.train_classes[f"{name}-v3"](), policies[f"{name}-v3"]()
        environment.set_task(tasks.train_tasks[0])
        seen, _ = environment.reset(seed=seed)
        info = {"success": 0.0}
        for _ in range(500):
            seen, *_, info = environment.step(np.clip(policy.get_action(seen), -1, 1))
            if info["success"]:
                break
        succeeded.append(info["success"])
    assert all(succeeded), succeeded
