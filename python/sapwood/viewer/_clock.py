"""How simulated time follows the clock on the wall."""

from __future__ import annotations

import time
from collections.abc import Callable

# What is behind by more is not caught up with, s of wall-clock time.
MAX_BEHIND = 0.1


class Clock:
    """Says how far a simulation is behind the time that it should have, and how fast it really goes.

    Attributes:
        speed: Simulated over wall-clock time that is asked for.
        is_playing: Whether time passes.
        rate: Simulated over wall-clock time as it was in the last half second.
    """

    speed: float
    is_playing: bool
    rate: float

    def __init__(self, now: float, speed: float = 1.0, wall: Callable[[], float] = time.perf_counter) -> None:
        self._wall = wall
        self.speed, self.is_playing, self.rate = speed, True, 0.0
        self._aim = now
        self._last: float | None = None
        self._since = (wall(), now)

    def due(self, now: float) -> float:
        """Simulated time that is due at the simulated time ``now``, s: 0 or less for none."""
        wall = self._wall()
        # Time begins to pass with the first question.
        elapsed = 0.0 if self._last is None else wall - self._last
        self._last = wall
        if not self.is_playing:
            self._aim = now
            self._since, self.rate = (wall, now), 0.0
            return 0.0
        self._aim += min(elapsed, MAX_BEHIND) * self.speed
        # A simulation that was reset or cannot keep up starts anew from where it is.
        if not now - 2 * MAX_BEHIND * self.speed <= self._aim <= now + MAX_BEHIND * self.speed:
            self._aim = min(max(self._aim, now), now + MAX_BEHIND * self.speed)
        start, then = self._since
        if wall - start > 0.5:
            self.rate = max((now - then) / (wall - start), 0.0)
            self._since = (wall, now)
        return self._aim - now
