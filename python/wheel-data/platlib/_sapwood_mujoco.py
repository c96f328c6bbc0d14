"""Makes Sapwood's step that of MuJoCo in every program: the file beside it runs this where ``SAPWOOD_MUJOCO`` is set.

Nothing is imported before the program imports ``mujoco``.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Finder:
    """Finds ``mujoco`` as it would be found without, and has Sapwood's step installed after it is imported."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != "mujoco" or _Finder not in sys.meta_path:
            return None
        sys.meta_path.remove(_Finder)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_install(module: ModuleType) -> None:
                run(module)
                from sapwood.mujoco._install import install

                install()

            setattr(spec.loader, "exec_module", run_and_install)  # noqa: B010  no type has methods that are set
        return spec


sys.meta_path.insert(0, _Finder)
