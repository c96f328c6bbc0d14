"""Steps of a batch in PyTorch: differentiable, and its arrays as tensors without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from sapwood.interop._steps import Steps

if TYPE_CHECKING:
    from sapwood._sapwood import Batch, Simulation


class Tensors(NamedTuple):
    """The live arrays of a batch as tensors of the same memory: a step shows in them, and what is written acts."""

    q: torch.Tensor
    """Positions, (n, nq)."""
    v: torch.Tensor
    """Velocities, (n, nv)."""
    ctrl: torch.Tensor
    """Controls, (n, nu)."""
    act: torch.Tensor
    """Activations, (n, na)."""


def view(batch: Batch | Simulation) -> Tensors:
    """The arrays of a batch as tensors that share its memory, of 64 bits on the processor."""
    return Tensors(*(torch.from_numpy(array) for array in (batch.q, batch.v, batch.ctrl, batch.act)))


def step(
    batch: Batch | Simulation, q: torch.Tensor, v: torch.Tensor, ctrl: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """A step of all worlds as a differentiable function, contact included: positions and velocities after it.

    The batch computes it and is then at its end; what its arrays held before does not matter, and what its solver
    remembers is forgotten. Its options, parameters and PD control count as constants; nothing else is applied. Tensors
    of other types and devices are converted there and back.

    Args:
        batch: The batch of n worlds, or a simulation: its arrays have no n.
        q: Positions, (n, nq); quaternions of any length but 0.
        v: Velocities, (n, nv).
        ctrl: Controls, (n, nu).

    Raises:
        SimulationError: When a world cannot be stepped.
        ValueError: When a tensor has another shape, or actuators have activations.
    """
    end: tuple[torch.Tensor, torch.Tensor] = _Step.apply(Steps(batch), q, v, ctrl)
    return end


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, steps: Steps, *start: torch.Tensor) -> tuple[torch.Tensor, ...]:  # noqa: ANN401
        end = tuple(
            torch.from_numpy(x).to(like) for x, like in zip(steps.step(*map(_numbers, start)), start, strict=False)
        )
        ctx.steps = steps
        ctx.save_for_backward(*start, end[0])
        return end

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # noqa: ANN401
        *start, end = ctx.saved_tensors
        found = ctx.steps.backward(*map(_numbers, (*start, end, *grads)))
        return None, *(torch.from_numpy(x).to(like) for x, like in zip(found, start, strict=True))


def _numbers(tensor: torch.Tensor) -> Any:  # noqa: ANN401
    return tensor.detach().to("cpu", torch.float64).numpy()
