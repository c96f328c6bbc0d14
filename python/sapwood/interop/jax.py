"""Steps of a batch in JAX: differentiable, also under ``jit``, and its arrays without a copy."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from sapwood.interop._steps import Steps

if TYPE_CHECKING:
    from sapwood._sapwood import Batch, Simulation


class Arrays(NamedTuple):
    """The live arrays of a batch as JAX arrays of the same memory."""

    q: jax.Array
    """Positions, (n, nq)."""
    v: jax.Array
    """Velocities, (n, nv)."""
    ctrl: jax.Array
    """Controls, (n, nu)."""
    act: jax.Array
    """Activations, (n, na)."""


def view(batch: Batch | Simulation) -> Arrays:
    """The arrays of a batch as JAX arrays that share its memory, of 64 bits (``jax_enable_x64``), on the processor.

    JAX takes arrays for constants: read these before the batch goes on, and make a copy of what is to stay.
    """
    return Arrays(*(jax.dlpack.from_dlpack(array, copy=False) for array in (batch.q, batch.v, batch.ctrl, batch.act)))


def step(batch: Batch | Simulation, q: jax.Array, v: jax.Array, ctrl: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A step of all worlds as a differentiable function, contact included: positions and velocities after it.

    The batch computes it on the processor, as a callback, and is then at its end; what its arrays held before does not
    matter, and what its solver remembers is forgotten. Its options, parameters and PD control count as constants;
    nothing else is applied. Without ``jax_enable_x64`` numbers are rounded to 32 bits between steps.

    Args:
        batch: The batch of n worlds, or a simulation: its arrays have no n.
        q: Positions, (n, nq); quaternions of any length but 0.
        v: Velocities, (n, nv).
        ctrl: Controls, (n, nu).

    Raises:
        ValueError: When an array has another shape, or actuators have activations.
        jax.errors.JaxRuntimeError: When a world cannot be stepped; it holds the ``SimulationError``.
    """
    return _step(Steps(batch), q, v, ctrl)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _step(steps: Steps, *start: jax.Array) -> tuple[jax.Array, ...]:
    return _call(steps.step, start[:2], *start)


def _forward(steps: Steps, *start: jax.Array) -> tuple[tuple[jax.Array, ...], tuple[jax.Array, ...]]:
    end = _step(steps, *start)
    return end, (*start, end[0])


def _backward(steps: Steps, saved: tuple[jax.Array, ...], grads: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
    return _call(steps.backward, saved[:3], *saved, *grads)


_step.defvjp(_forward, _backward)


def _call(function: Any, like: tuple[jax.Array, ...], *arguments: jax.Array) -> tuple[jax.Array, ...]:  # noqa: ANN401
    """A function of numpy arrays of 64 bits; what it returns has shapes and types of other arrays."""

    def call(*arguments: Any) -> tuple[Any, ...]:  # noqa: ANN401
        found = function(*(np.asarray(x, np.float64) for x in arguments))
        return tuple(x.astype(of.dtype) for x, of in zip(found, like, strict=True))

    shapes = tuple(jax.ShapeDtypeStruct(of.shape, of.dtype) for of in like)
    return jax.pure_callback(call, shapes, *arguments)
