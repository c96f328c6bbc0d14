"""Lets Sphinx see the compiled module as its stub says: with types, in the order of the file."""

from __future__ import annotations
import __future__

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType
from typing import Any, Generic, TypeVar

import numpy.typing

STUB = Path(__file__).parents[1] / "sapwood" / "_sapwood.pyi"
COMPILED = "sapwood._sapwood"

_T = TypeVar("_T")


class NDArray(Generic[_T]):
    """Numpy's alias would be written out: ndarray[tuple[Any, ...], dtype[float64]]."""


class ArrayLike:
    """Likewise."""


class StubLoader(SourceFileLoader):
    """Runs a stub: annotations may name what comes later in the file."""

    def get_code(self, fullname: str) -> CodeType:
        """The code, which is kept nowhere."""
        flags = __future__.annotations.compiler_flag
        code: CodeType = compile(Path(self.path).read_text(), self.path, "exec", flags=flags, dont_inherit=True)
        return code


def replace_compiled_module() -> None:
    """Put the stub in the place of the compiled module, in all modules of the package."""
    for alias in (NDArray, ArrayLike):
        alias.__module__ = "numpy.typing"
        setattr(numpy.typing, alias.__name__, alias)
    import sapwood  # noqa: F401 - what is imported after it sees the stub anyway

    compiled = sys.modules[COMPILED]
    loader = StubLoader(COMPILED, str(STUB))
    spec = spec_from_loader(COMPILED, loader)
    assert spec is not None
    stub = module_from_spec(spec)
    loader.exec_module(stub)
    of_stub: dict[int, Any] = {
        id(value): getattr(stub, name) for name, value in vars(compiled).items() if hasattr(stub, name)
    }
    sys.modules[COMPILED] = stub
    for name, module in list(sys.modules.items()):
        if name == "sapwood" or (name.startswith("sapwood.") and name != COMPILED):
            for key, value in list(vars(module).items()):
                replacement = of_stub.get(id(value))
                if replacement is not None and callable(value):
                    setattr(module, key, replacement)
