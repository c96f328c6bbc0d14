"""One face for every engine of the step suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

import sapwood as sw


class Sample(NamedTuple):
    """What an engine says about its last step."""

    contacts: int
    iterations: int
    penetration: float
    """Deepest penetration, m."""


class Engine(Protocol):
    """An engine with a model loaded; steps run inside its own compiled code."""

    name: str
    timestep: float
    controls: NDArray[np.float64]
    """(nu, 2): the range of every control; ±1 where the file gives none."""

    def reset(self) -> None:
        """Default pose, at rest."""

    def control(self, ctrl: NDArray[np.float64]) -> None:
        """Sets the controls."""

    def step(self, n: int) -> None:
        """Advances by n steps."""

    def sample(self) -> Sample:
        """What happened in the last step."""


class Sapwood:
    """This engine, with its defaults."""

    name = "sapwood"

    def __init__(self, path: Path, controls: NDArray[np.float64]) -> None:
        self.simulation = sw.Simulation(sw.load(path))
        self.timestep = self.simulation.timestep
        self.controls = controls

    def reset(self) -> None:
        """Default pose, at rest."""
        self.simulation.reset()

    def control(self, ctrl: NDArray[np.float64]) -> None:
        """Sets the controls."""
        self.simulation.ctrl[:] = ctrl

    def step(self, n: int) -> None:
        """Advances by n steps."""
        self.simulation.step(n)

    def sample(self) -> Sample:
        """What happened in the last step."""
        stats = self.simulation.stats
        return Sample(stats.active_contacts, stats.iterations, stats.penetration)


class Mujoco:
    """MuJoCo with its Newton solver and Euler integrator (implicit damping), whatever the file asks for."""

    def __init__(self, path: Path, cone: str) -> None:
        import mujoco

        self._mujoco: Any = mujoco
        # It would write MUJOCO_LOG.TXT into the present folder.
        mujoco.set_mju_user_warning(lambda message: None)
        self.name = f"mujoco-{cone}"
        self._model = mujoco.MjModel.from_xml_path(str(path))
        self._model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
        self._model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        cones = {"elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC, "pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL}
        self._model.opt.cone = cones[cone]
        self._data = mujoco.MjData(self._model)
        self.timestep = float(self._model.opt.timestep)
        limited = np.asarray(self._model.actuator_ctrllimited, dtype=bool)[:, None]
        self.controls: NDArray[np.float64] = np.where(limited, self._model.actuator_ctrlrange, [-1.0, 1.0])

    def reset(self) -> None:
        """Default pose, at rest."""
        self._mujoco.mj_resetData(self._model, self._data)

    def control(self, ctrl: NDArray[np.float64]) -> None:
        """Sets the controls."""
        self._data.ctrl[:] = ctrl

    def step(self, n: int) -> None:
        """Advances by n steps."""
        self._mujoco.mj_step(self._model, self._data, nstep=n)

    def sample(self) -> Sample:
        """What happened in the last step."""
        contacts = self._data.contact
        depth = float(-contacts.dist.min()) if self._data.ncon else 0.0
        return Sample(int(self._data.ncon), int(np.sum(self._data.solver_niter)), max(depth, 0.0))
