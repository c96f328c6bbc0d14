"""States of vector environments as bytes, by which they go on elsewhere or later."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from gymnasium.utils import EzPickle
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


@contextmanager
def unpacked(state: bytes, batch: sw.Batch, episodes: Remembering) -> Iterator[dict[str, NDArray[np.generic]]]:
    """Take worlds and episodes to a state, and give the caller its arrays; where that fails in between, all goes back.

    Raises:
        ValueError: When it is no state of such an environment.
    """
    expected = "expected bytes that state() of such an environment gave, all of them"
    try:
        with np.load(io.BytesIO(state), allow_pickle=False) as file:
            arrays: dict[str, NDArray[np.generic]] = dict(file)
        worlds, sizes = arrays.pop("_worlds").tobytes(), arrays.pop("_sizes").tolist()
        memory = arrays.pop("_episodes").tobytes()
    # Damaged archives have errors of many kinds: of zipfile, zlib, struct, tokenize.
    except Exception as error:
        message = f"state is none of a vector environment: {expected}"
        raise ValueError(message) from error
    if len(sizes) != batch.n:
        message = f"state has {len(sizes)} worlds: expected {batch.n}, as this environment has"
        raise ValueError(message)
    before, memory_before = [batch.state(world) for world in range(batch.n)], episodes.memory()
    try:
        episodes.restore(memory)
        end = 0
        for world, size in enumerate(sizes):
            batch.set_state(world, worlds[end : end + size])
            end += size
        yield arrays
    except BaseException as error:
        episodes.restore(memory_before)
        for world, own in enumerate(before):
            batch.set_state(world, own)
        if isinstance(error, (ValueError, KeyError, TypeError, IndexError)):
            message = f"state does not fit this environment ({error}): {expected}"
            raise ValueError(message) from error
        raise


class Stated:
    """An environment of many worlds, which is kept and copied by its state alone."""

    def __getstate__(self) -> object:
        """Refuse pickles and copies, and name what does it.

        Raises:
            TypeError: Always.
        """
        kind = type(self).__name__
        message = (
            f"{kind} is not pickled or copied: state() gives bytes, and restore(state) of another {kind} takes them"
        )
        raise TypeError(message)


class Kept(EzPickle):
    """An environment of one world, whose pickles and copies are made of its arguments and go on from where it is."""

    _np_random: np.random.Generator | None
    _np_random_seed: int | None

    def __getstate__(self) -> dict[str, Any]:
        """The arguments, the state, the generator."""
        generator = (self._np_random, self._np_random_seed)
        return {**super().__getstate__(), "state": self._state(), "generator": generator}

    def __setstate__(self, d: dict[str, Any]) -> None:
        """An environment made anew, taken to the state."""
        super().__setstate__(d)
        self._np_random, self._np_random_seed = d["generator"]
        self._restore(d["state"])

    def _state(self) -> bytes:
        raise NotImplementedError

    def _restore(self, state: bytes) -> None:
        raise NotImplementedError
