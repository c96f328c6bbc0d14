"""Controls of a model without actuators."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


class NoControls(np.ndarray):
    """An empty array that says why it is empty where something is written into it."""

    def __setitem__(self, key: Any, value: Any) -> None:  # noqa: ANN401
        """Warn where there is something to write."""
        if np.size(value):
            message = (
                'the model has no actuators, so nothing is driven: sapwood.load(file, actuators="motor") makes some '
                "for a URDF file, and `applied_force` needs none"
            )
            warnings.warn(message, stacklevel=2)
        super().__setitem__(key, value)
