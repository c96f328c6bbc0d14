"""One face for every engine of the suites that simulate."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

import sapwood as sw

Vector = NDArray[np.float64]
State = Any
"""A state of an engine that it can go back to; opaque."""


class Sample(NamedTuple):
    """What an engine says about its last step; None where it does not say."""

    contacts: int
    iterations: int | None
    penetration: float
    """Deepest penetration by its own reckoning, m."""
    residual: float | None
    """Momentum that the solver leaves unbalanced, scaled and relative as in ``Simulation.stats``."""


class Engine(Protocol):
    """An engine with a model loaded; steps run inside its own compiled code."""

    name: str
    timestep: float
    controls: Vector
    """(nu, 2): the range of every control; ±1 where the file gives none."""

    def reset(self) -> None:
        """Default pose, at rest."""

    def control(self, ctrl: Vector) -> None:
        """Sets the controls."""

    def step(self, n: int) -> None:
        """Advances by n steps."""

    def sample(self) -> Sample:
        """What happened in the last step."""

    def state(self) -> State:
        """The present state."""

    def restore(self, state: State) -> None:
        """Goes back to a state."""

    @property
    def q(self) -> Vector:
        """Positions in MuJoCo's layout, (nq,); a copy."""

    @property
    def v(self) -> Vector:
        """Velocities in MuJoCo's layout, (nv,); a copy."""

    def place(self, q: Vector, v: Vector) -> None:
        """Puts the bodies there, with these velocities."""


class Sapwood:
    """This engine; what is not given is its default.

    Args:
        source: MJCF file or text.
        name: What the tables call it.
        timestep: Time step, s; None: the file's.
        law: Friction law; None: the default.
        threads: Threads that islands are shared among.
        options: Further ones of ``sapwood.Simulation``.
    """

    def __init__(
        self,
        source: Path | str | sw.Model,
        name: str = "sapwood",
        timestep: float | None = None,
        law: str | None = None,
        threads: int = 1,
        **options: Any,  # noqa: ANN401
    ) -> None:
        self.name = name
        contact: dict[str, Any] = {} if law is None else {"contact": law}
        model = source if isinstance(source, sw.Model) else sw.load(source)
        self.simulation = sw.Simulation(model, timestep=timestep, threads=threads, **contact, **options)
        self.timestep = self.simulation.timestep
        self.controls: Vector = np.tile([-1.0, 1.0], (self.simulation.model.nu, 1))

    def reset(self) -> None:
        """Default pose, at rest."""
        self.simulation.reset()

    def control(self, ctrl: Vector) -> None:
        """Sets the controls."""
        self.simulation.ctrl[:] = ctrl

    def step(self, n: int) -> None:
        """Advances by n steps."""
        self.simulation.step(n)

    def sample(self) -> Sample:
        """What happened in the last step."""
        stats = self.simulation.stats
        return Sample(stats.active_contacts, stats.iterations, stats.penetration, stats.residual)

    def effort(self) -> tuple[int, bool]:
        """Contact points of the last step, and whether the budget was spent on some island before it was solved."""
        stats = self.simulation.stats
        return stats.contacts, stats.unsettled > 0

    def state(self) -> State:
        """The present state."""
        return self.simulation.state()

    def restore(self, state: State) -> None:
        """Goes back to a state."""
        self.simulation.restore(state)

    @property
    def q(self) -> Vector:
        """Positions."""
        return self.simulation.q.copy()

    @property
    def v(self) -> Vector:
        """Velocities."""
        return self.simulation.v.copy()

    def place(self, q: Vector, v: Vector) -> None:
        """Puts the bodies there, with these velocities."""
        self.simulation.q, self.simulation.v = q, v


class Mujoco:
    """MuJoCo with the Euler integrator (implicit damping) and the solver given; what is None, as the file asks.

    A state that is not finite stays: it would start afresh, as if nothing had happened.

    Args:
        source: MJCF file or text.
        cone: ``elliptic`` or ``pyramidal``.
        solver: ``newton`` or ``cg``.
        timestep: Time step, s; None: the file's.
        integrator: ``euler``, ``implicitfast``, ``implicit``, ``rk4`` or ``discrete``.
        tolerance: Of the solver, with iterations enough to reach it; None: its defaults.
    """

    def __init__(
        self,
        source: Path | str,
        cone: str | None,
        solver: str | None = "newton",
        timestep: float | None = None,
        integrator: str | None = "euler",
        tolerance: float | None = None,
    ) -> None:
        import mujoco

        self._mujoco: Any = mujoco
        # It would write MUJOCO_LOG.TXT into the present folder.
        mujoco.set_mju_user_warning(lambda message: None)
        given = [(solver, "newton"), (cone, ""), (integrator, "euler")]
        words = [word for word, usual in given if word is not None and word != usual]
        self.name = "-".join(["mujoco", *words]) + (f" {tolerance:.0e}" if tolerance is not None else "")
        load = mujoco.MjModel.from_xml_path if isinstance(source, Path) else mujoco.MjModel.from_xml_string
        self.model = load(str(source))
        option = self.model.opt
        if cone is not None:
            option.cone = getattr(mujoco.mjtCone, f"mjCONE_{cone.upper()}")
        if solver is not None:
            option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver.upper()}")
        if integrator is not None:
            option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        if timestep is not None:
            option.timestep = timestep
        if tolerance is not None:
            option.tolerance, option.iterations = tolerance, 10_000
        self._data = mujoco.MjData(self.model)
        self.timestep = float(option.timestep)
        limited = np.asarray(self.model.actuator_ctrllimited, dtype=bool)[:, None]
        self.controls: Vector = np.where(limited, self.model.actuator_ctrlrange, [-1.0, 1.0])

    def reset(self) -> None:
        """Default pose, at rest."""
        self._mujoco.mj_resetData(self.model, self._data)

    def control(self, ctrl: Vector) -> None:
        """Sets the controls."""
        self._data.ctrl[:] = ctrl

    def step(self, n: int) -> None:
        """Advances by n steps."""
        self._mujoco.mj_step(self.model, self._data, nstep=n)

    def sample(self) -> Sample:
        """What happened in the last step."""
        contacts = self._data.contact
        depth = float(-contacts.dist.min()) if self._data.ncon else 0.0
        pushing = sum(self._data.efc_force[c.efc_address] > 0 for c in contacts if c.efc_address >= 0)
        return Sample(int(pushing), int(np.sum(self._data.solver_niter)), max(depth, 0.0), self._residual())

    def effort(self) -> tuple[int, bool]:
        """Contact points of the last step, and whether the solver made all iterations that it may on some island."""
        data = self._data
        return int(data.ncon), bool((np.asarray(data.solver_niter) >= self.model.opt.iterations).any())

    def _residual(self) -> float | None:
        """M (a − a_smooth) − Jᵀ f over the larger of momentum and constraint impulse, scaled by diag(M)^-1/2.

        None where the integrator solves with another matrix than M.
        """
        model, data, dt = self.model, self._data, self.timestep
        if model.opt.integrator != self._mujoco.mjtIntegrator.mjINT_EULER:
            return None
        matrix = np.empty((model.nv, model.nv))
        self._mujoco.mj_fullM(model, data, matrix)
        scale = 1 / np.sqrt(np.diag(matrix))
        left = matrix @ data.qacc - data.qfrc_smooth - data.qfrc_constraint
        momentum = float(np.linalg.norm(scale * (matrix @ data.qvel)))
        impulse = dt * float(np.linalg.norm(scale * data.qfrc_constraint))
        return dt * float(np.linalg.norm(scale * left)) / max(momentum, impulse, 1e-300)

    def state(self) -> State:
        """The present state."""
        spec = self._mujoco.mjtState.mjSTATE_INTEGRATION
        values = np.empty(self._mujoco.mj_stateSize(self.model, spec))
        self._mujoco.mj_getState(self.model, self._data, values, spec)
        return values

    def restore(self, state: State) -> None:
        """Goes back to a state."""
        self._mujoco.mj_setState(self.model, self._data, state, self._mujoco.mjtState.mjSTATE_INTEGRATION)

    @property
    def q(self) -> Vector:
        """Positions."""
        return np.array(self._data.qpos)

    @property
    def v(self) -> Vector:
        """Velocities."""
        return np.array(self._data.qvel)

    def place(self, q: Vector, v: Vector) -> None:
        """Puts the bodies there, with these velocities."""
        self._data.qpos[:], self._data.qvel[:] = q, v

    def moved(self, q: Vector, step: Vector) -> Vector:
        """Positions that a step in velocities leads to, of 1 s."""
        moved = q.copy()
        self._mujoco.mj_integratePos(self.model, moved, step, 1.0)
        return moved
