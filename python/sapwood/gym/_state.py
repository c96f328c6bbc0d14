"""States of vector environments as bytes, by which they go on elsewhere or later."""

from __future__ import annotations

import io
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import sapwood as sw


class Remembering(Protocol):
    """Episodes whose memory can be taken and given back."""

    def memory(self) -> bytes:
        """All that they know beside the states of the worlds."""
        ...

    def restore(self, memory: bytes) -> None:
        """Go on with a memory."""
        ...


def pack(batch: sw.Batch, episodes: Remembering, arrays: dict[str, NDArray[np.generic]]) -> bytes:
    """The states of all worlds, of their episodes, and arrays of the caller."""
    worlds = [batch.state(world) for world in range(batch.n)]
    file = io.BytesIO()
    np.savez(
        file,
        allow_pickle=False,
        _worlds=np.frombuffer(b"".join(worlds), dtype=np.uint8),
        _sizes=np.array([len(world) for world in worlds]),
        _episodes=np.frombuffer(episodes.memory(), dtype=np.uint8),
        **arrays,
    )
    return file.getvalue()


def unpack(state: bytes, batch: sw.Batch, episodes: Remembering) -> dict[str, NDArray[np.generic]]:
    """Take worlds and episodes to a state; the caller's arrays.

    Raises:
        ValueError: When it is no state of such an environment.
    """
    try:
        with np.load(io.BytesIO(state), allow_pickle=False) as file:
            arrays: dict[str, NDArray[np.generic]] = dict(file)
        worlds, sizes = arrays.pop("_worlds").tobytes(), arrays.pop("_sizes").tolist()
        memory = arrays.pop("_episodes").tobytes()
    except (ValueError, KeyError, OSError, EOFError) as error:
        message = "state is none of a vector environment: expected bytes that its method state() gave"
        raise ValueError(message) from error
    if len(sizes) != batch.n:
        message = f"state has {len(sizes)} worlds: expected {batch.n}, as this environment has"
        raise ValueError(message)
    episodes.restore(memory)
    end = 0
    for world, size in enumerate(sizes):
        batch.set_state(world, worlds[end : end + size])
        end += size
    return arrays
