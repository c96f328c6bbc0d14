"""Numbers of a model, which does not change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ModelNumbers(np.ndarray):
    """An array of a model that nobody writes into, and says where to; what is computed from it is a plain array."""

    parameter = ""

    def __array_finalize__(self, of: NDArray[Any] | None) -> None:
        """Keep the name of the parameter."""
        self.parameter = getattr(of, "parameter", "")

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:  # noqa: ANN401
        """Give a plain array, or a number; numpy 1 does not say which."""
        return array[()] if return_scalar or array.ndim == 0 else np.asarray(array)

    def __setitem__(self, key: Any, value: Any) -> None:  # noqa: ANN401
        """Say where the number is written to."""
        if not self.flags.writeable:
            name = self.parameter
            message = f"a model is read-only: expected sim.parameters.{name}[...] = ... or batch.parameters.{name}"
            raise ValueError(message)
        super().__setitem__(key, value)
