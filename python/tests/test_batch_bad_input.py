"""What a batch does not take: errors that say so, and worlds as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from batches import WALKER, bits

import sapwood as sw


@pytest.fixture(scope="module")
def model() -> sw.Model:
    return sw.load(WALKER)


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (0, {}, "n is 0"),
        (-3, {}, "n is -3"),
        (2, {"threads": 0}, "threads"),
        (2, {"threads": 5000}, "threads"),
        (2, {"lanes": 3}, "lanes"),
        (2, {"lanes": -1}, "lanes"),
        (2, {"precision": "f16"}, "precision"),
        (2, {"timestep": -1.0}, "timestep"),
        (2, {"scheme": "sideways"}, "scheme"),
        (2, {"tolerance": float("nan")}, "tolerance"),
    ],
)
def test_bad_options(model: sw.Model, n: int, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sw.Batch(model, n, **options)


@pytest.mark.parametrize("n", [10**12, 10**15, 2**62])
def test_more_worlds_than_memory_holds(model: sw.Model, n: int) -> None:
    with pytest.raises(MemoryError, match="worlds take about"):
        sw.Batch(model, n)


@pytest.mark.parametrize("n", [1.5, None, "2"])
def test_n_is_a_number(model: sw.Model, n: Any) -> None:
    with pytest.raises(TypeError):
        sw.Batch(model, n)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("q", np.zeros((4, 11))),
        ("q", np.zeros((2, 11))),
        ("q", np.ones((3, 10))),
        ("q", np.ones((3, 11)) * np.nan),
        ("v", np.zeros(30)),
        ("v", None),
        ("v", "fast"),
        ("v", np.zeros((3, 10), complex)),
        ("ctrl", np.zeros((4, 3))),
        ("ctrl", 0.0),
        ("ctrl", [[0] * 4, [0] * 4, [0] * 3]),
        ("ctrl", np.full((3, 4), np.inf)),
        ("time", np.zeros((3, 1))),
    ],
)
def test_bad_assignments(model: sw.Model, name: str, value: Any) -> None:
    batch = sw.Batch(model, 3)
    batch.step(2)
    before = bits(batch), batch.ctrl.tobytes(), batch.time.tobytes()
    with pytest.raises(ValueError, match=name):
        setattr(batch, name, value)
    assert (bits(batch), batch.ctrl.tobytes(), batch.time.tobytes()) == before


def test_a_quaternion_without_direction(model: sw.Model) -> None:
    batch = sw.Batch(model, 3)
    q = batch.q.copy()
    q[1, 3:7] = 0
    with pytest.raises(ValueError, match=r"q\[1\]\[3:7\]"):
        batch.q = q
    batch.q[1, 3:7] = 0
    with pytest.raises(ValueError, match=r"q\[1\]\[3:7\]"):
        batch.step()
    assert not batch.time.any()


def test_bad_calls(model: sw.Model) -> None:
    batch = sw.Batch(model, 3)
    zeros = np.zeros
    for k in (-1, -(2**40)):
        with pytest.raises(ValueError, match="k is -"):
            batch.step(k)
    with pytest.raises(TypeError):
        batch.step(1.5)  # type: ignore[arg-type]
    masks: list[Any] = [zeros(2, bool), zeros((3, 1), bool), True]
    for mask in masks:
        with pytest.raises(ValueError, match="mask has shape"):
            batch.reset(mask)
    with pytest.raises(ValueError, match="mask has world 1 twice: expected each index once, or booleans"):
        batch.reset([0, 1, 1])
    with pytest.raises(ValueError, match="mask has 3: expected indices below 3"):
        batch.reset([3])
    masks = [zeros(3), ["a", "b", "c"]]
    for mask in masks:
        with pytest.raises(ValueError, match="mask has dtype"):
            batch.reset(mask)
    with pytest.raises(ValueError, match="nobody"):
        batch.reset(keyframe="nobody")
    with pytest.raises(ValueError, match="both given"):
        batch.reset(keyframe="high", states=(model.keyframe().q, zeros(10)))
    with pytest.raises(ValueError, match=r"states\[0\] has shape \(3, 11\): expected \(1, 11\)"):
        batch.reset([True, False, False], states=(batch.q, batch.v))
    with pytest.raises(ValueError, match="states"):
        batch.reset(states=(zeros((3, 11)), zeros((3, 10))))
    q, v = batch.q.copy(), batch.v.copy()
    with pytest.raises(ValueError, match=r"ctrl has shape \(3, 4\): expected \(3, any, 4\)"):
        batch.rollout(q, v, zeros((3, 4)))
    with pytest.raises(ValueError, match="skip is 0"):
        batch.rollout(q, v, zeros((3, 5, 4)), skip=0)
    with pytest.raises(ValueError, match="q has shape"):
        batch.rollout(q[:2], v, zeros((3, 5, 4)))
    with pytest.raises(ValueError, match="ctrl"):
        batch.rollout(q, v, np.full((3, 5, 4), np.nan))
    for world in (3, -4, 2**40):
        with pytest.raises(IndexError, match="the batch has 3 worlds"):
            batch.state(world)
    for state in (b"", b"x" * 200, sw.Simulation(sw.load("<mujoco/>")).state()):
        with pytest.raises(ValueError, match="state"):
            batch.set_state(0, state)
    with pytest.raises(ValueError, match="state: it is of another model"):
        batch.set_state(0, sw.Simulation(sw.load("<mujoco/>")))
    carried = sw.Simulation(model)
    carried.surface_velocity[0] = 1
    batch.set_state(0, carried)
    assert batch.surface_velocity[0, 0, 0] == 1
    assert not batch.surface_velocity[1:].any()
    batch.reset(np.array([True, False, False]))
    assert not batch.surface_velocity.any()
    with pytest.raises(ValueError, match="surface_velocity"):
        batch.surface_velocity = zeros((3, 2, 3))
    controlled = sw.Simulation(model)
    controlled.pd(1, 1, model.keyframe().q)
    with pytest.raises(ValueError, match=r"PD control: expected that of the batch, batch\.pd\(kp, kd, target\)"):
        batch.set_state(0, controlled)
    for kp, kd in ((-1, 1), (zeros(3), 1), (1, np.nan)):
        with pytest.raises(ValueError, match="kp|kd"):
            batch.pd(kp, kd, q)
    with pytest.raises(ValueError, match="target"):
        batch.pd(1, 1, q[:2])
    with pytest.raises(ValueError, match="grad_v has shape"):
        batch.vjp(zeros((3, 10)), zeros((3, 11)))
    assert not batch.time.any()


def test_indices_beyond_all_numbers(model: sw.Model) -> None:
    with pytest.raises(ValueError, match="worlds is too large: expected indices below 3"):
        sw.Batch(model, 3).reset_parameters(worlds=2**63)
