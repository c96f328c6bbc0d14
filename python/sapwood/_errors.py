"""The exceptions of sapwood. Arguments of a wrong shape or value raise ``ValueError``."""


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
