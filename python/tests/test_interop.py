"""Steps in PyTorch and JAX: gradients through contact beside differences, and arrays that are the batch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sapwood as sw

# A box that slides and tumbles on the ground, pushed by a thruster, and a pendulum that hits it.
TEXT = """
<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 1"/>
  <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/>
    <site name="top" pos="0 0 .1"/></body>
  <body pos="2 0 1"><joint type="ball"/><geom type="capsule" fromto="0 0 0 0 0 -.5" size=".03" mass=".3"/></body>
  <body pos="-2 0 1"><joint name="rail" type="slide" axis="1 0 0" damping="1"/><geom size=".1" mass="1"/></body>
</worldbody><actuator><motor joint="rail"/><general site="top" gear="1 0 0 0 0 0"/></actuator></mujoco>"""


def batch(worlds: int = 2) -> sw.Batch:
    with pytest.warns(sw.PerformanceWarning, match="acts on a site"):
        return sw.Batch(sw.load(TEXT), worlds, tolerance=1e-12)


def start(of: sw.Batch) -> tuple[Any, Any, Any]:
    """One world whose box rests on the ground, one whose box slides; quaternions that are no unit ones."""
    rng = np.random.default_rng(4)
    of.step(200)
    q, v = of.q.copy(), of.v.copy()
    v[1, 0], v[1, 6:] = 1.0, rng.normal(size=4)
    q[:, 7:11] = rng.normal(size=(2, 4)) * 0.7
    q[:, 3:7] *= 1.2
    return q, v, rng.normal(size=(2, 2))


def test_torch_gradients_through_contact() -> None:
    torch = pytest.importorskip("torch")
    from sapwood.interop import torch as interop

    of = batch()
    numbers = start(of)
    tensors = [torch.tensor(x, requires_grad=True) for x in numbers]
    assert torch.autograd.gradcheck(lambda *x: interop.step(of, *x), tensors, eps=1e-5, atol=2e-4, rtol=1e-4)
    # Two steps, in 32 bits: the types are those of what comes in.
    q, v, ctrl = (torch.tensor(x, dtype=torch.float32, requires_grad=True) for x in numbers)
    end = interop.step(of, *interop.step(of, q, v, ctrl), ctrl)
    (end[0][:, 0].sum() + end[1][:, 0].sum()).backward()
    assert end[0].dtype == torch.float32
    assert ctrl.grad.dtype == torch.float32
    assert float(ctrl.grad[1, 1].abs()) > 1e-3


def test_torch_tensors_are_the_batch() -> None:
    torch = pytest.importorskip("torch")
    from sapwood.interop import torch as interop

    of = batch()
    tensors = interop.view(of)
    for name in ("q", "v", "ctrl"):
        assert getattr(tensors, name).data_ptr() == getattr(of, name).ctypes.data
    tensors.ctrl[:] = torch.tensor([0.5, 0.25])
    of.step()
    assert (tensors.q.numpy() == of.q).all()
    assert of.ctrl[1].tolist() == [0.5, 0.25]


def test_jax_gradients_through_contact() -> None:
    jax = pytest.importorskip("jax")
    from sapwood.interop import jax as interop

    of = batch()
    numbers = start(of)
    rng = np.random.default_rng(1)
    weights = [rng.normal(size=x.shape) for x in numbers[:2]]

    def cost(q: Any, v: Any, ctrl: Any) -> Any:
        end = interop.step(of, q, v, ctrl)
        return sum((weight * x).sum() for weight, x in zip(weights, end, strict=True))

    with jax.enable_x64(True):
        arrays = [jax.numpy.asarray(x) for x in numbers]
        found = jax.jit(jax.grad(cost, argnums=(0, 1, 2)))(*arrays)
        for k, gradient in enumerate(found):
            for index in np.ndindex(gradient.shape):
                ends = []
                for width in (1e-5, -1e-5):
                    moved = [x.copy() for x in numbers]
                    moved[k][index] += width
                    ends.append(float(cost(*moved)))
                assert float(gradient[index]) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=2e-4)


def test_jax_arrays_are_the_batch() -> None:
    jax = pytest.importorskip("jax")
    from sapwood.interop import jax as interop

    of = batch()
    with jax.enable_x64(True):
        arrays = interop.view(of)
        for name in ("q", "v", "ctrl"):
            assert getattr(arrays, name).unsafe_buffer_pointer() == getattr(of, name).ctypes.data


def test_activations_are_refused() -> None:
    from sapwood.interop._steps import Steps

    text = TEXT.replace('<general site="top" gear="1 0 0 0 0 0"/>', "").replace(
        '<motor joint="rail"/>', '<general joint="rail" dyntype="integrator"/>'
    )
    with pytest.raises(ValueError, match="activations, for which a step has no derivative"):
        Steps(sw.Batch(sw.load(text), 1))


def test_a_simulation_is_differentiated_as_a_world_of_a_batch() -> None:
    from sapwood.interop._steps import Steps

    of = batch()
    sim = sw.Simulation(of.model, tolerance=1e-12)
    numbers = start(of)
    ends = Steps(of).step(*numbers)
    grads = [np.cos(ends[0]), 2 * ends[1]]
    of_worlds = Steps(of).backward(*numbers, ends[0], grads[0], grads[1])
    for k in range(2):
        q, v, ctrl = (x[k] for x in numbers)
        alone = Steps(sim).step(q, v, ctrl)
        for end, of_world in zip(alone, ends, strict=True):
            np.testing.assert_allclose(end, of_world[k], rtol=1e-8, atol=1e-9)
        found = Steps(sim).backward(q, v, ctrl, alone[0], grads[0][k], grads[1][k])
        for gradient, of_world in zip(found, of_worlds, strict=True):
            np.testing.assert_allclose(gradient, of_world[k], rtol=1e-6, atol=1e-7)


def test_a_simulation_in_torch() -> None:
    torch = pytest.importorskip("torch")
    from sapwood.interop import torch as interop

    of = batch()
    sim = sw.Simulation(of.model, tolerance=1e-12)
    tensors = [torch.tensor(x[0], requires_grad=True) for x in start(of)]
    assert torch.autograd.gradcheck(lambda *x: interop.step(sim, *x), tensors, eps=1e-5, atol=2e-4, rtol=1e-4)
    assert interop.view(sim).q.data_ptr() == sim.q.ctypes.data
