"""The exceptions of sapwood. Arguments of a wrong shape or value raise ``ValueError``."""

from __future__ import annotations

import difflib
import errno
import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class ModelError(Exception):
    """A model file that cannot be loaded: where, what came and what was expected.

    Attributes:
        file: The file, or None for text that came from memory.
        line: The line, from 1, or None when the error is not at a line.
        element: The XML element, or None when the error is not at an element.
    """

    file: str | None
    line: int | None
    element: str | None

    def __init__(
        self, message: str, file: str | None = None, line: int | None = None, element: str | None = None
    ) -> None:
        super().__init__(message, file, line, element)
        self.file = file
        self.line = line
        self.element = element

    def __str__(self) -> str:
        return str(self.args[0])


class MissingModelError(ModelError, FileNotFoundError):
    """A model file that is not there: a :class:`ModelError` and a ``FileNotFoundError``."""

    def __init__(
        self, message: str, file: str | None = None, line: int | None = None, element: str | None = None
    ) -> None:
        super().__init__(message, file, line, element)
        # OSError takes arguments for a number, its meaning and a file.
        self.args = (message, file, line, element)
        self.errno, self.strerror, self.filename = errno.ENOENT, message, file

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args


class SimulationError(RuntimeError):
    """A step that failed, and what to try. The simulation is in the state before that step.

    Attributes:
        time: The time at the beginning of the step, s; None outside a simulation (``sapwood.sap.solve``).
        step: The number of the step; None outside a simulation.
        worlds: The worlds of a batch that failed, ascending; time and step are of the first. None outside a batch.
    """

    time: float | None
    step: int | None
    worlds: list[int] | None

    def __init__(
        self, message: str, time: float | None = None, step: int | None = None, worlds: list[int] | None = None
    ) -> None:
        super().__init__(message, time, step, worlds)
        self.time = time
        self.step = step
        self.worlds = worlds

    def __str__(self) -> str:
        return str(self.args[0])


class PerformanceWarning(UserWarning):
    """Something that works, but slower than it might: worlds of a batch that cannot be stepped side by side."""


class UnknownNameError(KeyError, ValueError):
    """A name that nothing in the model has. The message lists names that are near."""

    def __str__(self) -> str:
        return str(self.args[0])


MAX_LETTERS, MAX_LISTED = 60, 160
"""Of a name in a message, and of all that it lists: it should have fewer than 300 altogether."""


def quoted(name: str) -> str:
    """A name in a message, of a long one its beginning."""
    return repr(name if len(name) <= MAX_LETTERS else name[: MAX_LETTERS - 1] + "…")


def did_you_mean(name: str, names: Iterable[str]) -> str | None:
    """A question that ends a message, or None where no name is near. Upper and lower case count as the same."""
    folded = {known.lower(): known for known in names}
    near = difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.6)
    near += [known for known in folded if name and name.lower() in known and known not in near][: 3 - len(near)]
    return "did you mean " + " or ".join(quoted(folded[known]) for known in near) + "?" if near else None


def listed(names: Sequence[str]) -> str:
    """Names in a message, so many that it stays readable."""
    ends = itertools.accumulate(len(quoted(name)) + 2 for name in names[:20])
    shown = max(1, sum(end <= MAX_LISTED for end in ends))
    return ", ".join(map(quoted, names[:shown])) + (", …" if len(names) > shown else "")


def unknown_name(word: str, plural: str, name: str, names: list[str], count: int) -> UnknownNameError:
    """The error of a name that is not among those of the things of one kind."""
    if not names:
        have = f"the model has no {plural}" if count == 0 else f"none of the model's {count} {plural} has a name"
        return UnknownNameError(f"{word}={quoted(name)}: {have}" + ("" if count == 0 else "; use an index"))
    hint = did_you_mean(name, names) or f"the model has {listed(names)}"
    return UnknownNameError(f"there is no {word} {quoted(name)}: {hint}")


def name_of_another(word: str, name: str, other: str) -> UnknownNameError:
    """The error of a name that a thing of another kind has."""
    article = "an" if other[0] in "ae" else "a"
    arguments = f", {other}={quoted(name)}" if {word, other} <= {"body", "geom", "site"} else ""
    return UnknownNameError(
        f"there is no {word} {quoted(name)}, but {article} {other}: sim.{other}({quoted(name)}){arguments}"
    )
