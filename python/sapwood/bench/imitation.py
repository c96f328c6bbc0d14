"""The imitation suite: samples a second of characters under random targets of effort-limited PD, beside MuJoCo.

A sample is a control step of 1/30 s. Targets are the mean posture of the motion and normal noise of 0.2 rad, the same
for all engines; gains and effort limits are DeepMimic's. Sapwood makes the whole step of
``sapwood.gym.ImitationVectorEnv``: observation, reward, end and reset. MuJoCo (``mujoco.rollout``, Newton, pyramidal
cones) makes the time steps alone, with position servos on each axis of a ball; a world whose root is below half its
height at rest, or that diverged, begins again. Engines take turns in one process; reported are medians of turns, by the
time of the processor where there is one thread.

``lost`` is the share of samples in which a world diverged: a state that is not finite, one that its engine has reset,
or a joint faster than 200 rad/s. MuJoCo is measured at 120 to 4800 time steps a second; it holds where none is lost.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

import sapwood as sw
from sapwood.bench.batch_rows import Row, rows_of, write
from sapwood.bench.cases import installed

if TYPE_CHECKING:
    from sapwood.gym import ImitationVectorEnv
    from sapwood.gym._imitation import Scheme

Vector = NDArray[np.float64]

CASES: dict[str, tuple[str, str]] = {"humanoid walk": ("humanoid", "walk"), "dog trot": ("dog", "trot")}
PEERS = ("mujoco",)
OPTIONS: dict[str, dict[str, Any]] = {
    "--worlds": {"type": int, "default": 256, "help": "worlds of every engine (default: %(default)s)"},
    "--samples": {"type": int, "default": 30, "help": "control steps of a turn (default: %(default)s)"},
    "--threads": {"type": int, "default": 1, "help": "threads of every engine (default: %(default)s)"},
    "--out": {"type": Path, "metavar": "DIR", "help": "write the rows into this folder, as CSV and JSON"},
}

CONTROL_HZ = 30
RATES = (120, 600, 1200, 2400, 4800)
"""Time steps a second of MuJoCo: up to where it holds."""
NOISE = 0.2
"""Standard deviation of targets about the motion's mean posture, rad."""
LOST_SPEED = 200.0
"""Joints faster than this have diverged, rad/s: effort limits allow a tenth of it."""


class Engine(Protocol):
    """Worlds that take actions."""

    name: str
    lost: int
    """Samples in which a world diverged."""

    def sample(self, actions: Vector) -> None:
        """Makes a control step under actions (worlds, number)."""


class Sapwood:
    """The environment."""

    def __init__(
        self,
        character: str,
        clip: str,
        worlds: int,
        hz: int,
        threads: int,
        *,
        precision: Literal["f64", "f32"] = "f64",
        spd: str = "maba",
        scheme: Scheme = "bilinear",
    ) -> None:
        from gymnasium.vector import AutoresetMode

        from sapwood.gym import ImitationVectorEnv

        other = "" if scheme == "bilinear" else f" {scheme}"
        self.name = f"sapwood {spd}{other} {precision} {hz} Hz"
        self.env = ImitationVectorEnv(
            character,
            clip,
            worlds,
            physics_hz=hz,
            precision=precision,
            spd=spd,
            scheme=scheme,
            threads=threads,
            autoreset_mode=AutoresetMode.SAME_STEP,
        )
        self.env.reset(seed=0)
        self.lost = 0

    def sample(self, actions: Vector) -> None:
        """Makes a control step."""
        *_, terminated, _, _ = self.env.step(actions)
        if terminated.any():
            self.lost += int(self.env.batch.failed.sum())


class Mujoco:
    """The same character on MuJoCo."""

    def __init__(self, env: ImitationVectorEnv, character: str, hz: int, threads: int, integrator: str) -> None:
        import mujoco
        from mujoco import rollout

        # It would write MUJOCO_LOG.TXT into the present folder.
        mujoco.set_mju_user_warning(lambda message: None)
        self.name, self.lost = f"mujoco.rollout {integrator} {hz} Hz", 0
        spec = mujoco.MjSpec.from_string(sw.characters.mjcf(character))
        spec.option.timestep = 1.0 / hz
        spec.option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
        spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        kp, kd, limit = env.episodes.gains
        dof = 6
        for joint in [j for j in spec.joints if j.type != mujoco.mjtJoint.mjJNT_FREE]:
            for axis in np.eye(3)[: 3 if joint.type == mujoco.mjtJoint.mjJNT_BALL else 1]:
                servo = spec.add_actuator(target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
                servo.set_to_position(kp=kp[dof], kv=kd[dof])
                servo.gear = [*axis, 0.0, 0.0, 0.0]
                servo.forcelimited, servo.forcerange = 1, [-limit[dof], limit[dof]]
                dof += 1
        self.model = spec.compile()
        self.steps = hz // CONTROL_HZ
        self._data = [mujoco.MjData(self.model) for _ in range(threads)]
        self._rollout = rollout.Rollout(nthread=threads)
        worlds, state = env.num_envs, mujoco.mjtState.mjSTATE_FULLPHYSICS
        rng = np.random.default_rng(0)
        self._starts = np.empty((worlds, mujoco.mj_stateSize(self.model, state)))
        for start in self._starts:
            # Anywhere in the motion, as the environment begins.
            moment, data = rng.uniform(0.0, env.episodes.duration), self._data[0]
            data.qpos[:], data.qvel[:] = env.episodes.reference(moment), env.episodes.reference_velocity(moment)
            mujoco.mj_getState(self.model, data, start, state)
        self._state = self._starts.copy()
        self._height = 0.5 * float(self.model.qpos0[2])
        self._out = np.empty((worlds, self.steps, self._state.shape[1]))
        self._sensors = np.empty((worlds, self.steps, self.model.nsensordata))
        self._models = [self.model] * worlds

    def sample(self, actions: Vector) -> None:
        """Makes the time steps of a control step."""
        held = np.repeat(actions[:, None, :], self.steps, axis=1)
        self._rollout.rollout(
            self._models, self._data, self._state, held, nstep=self.steps, state=self._out, sensordata=self._sensors
        )
        end, nq = self._out[:, -1], self.model.nq
        speeds = np.abs(end[:, 1 + nq + 6 : 1 + nq + self.model.nv]).max(axis=1)
        lost = ~np.isfinite(end).all(axis=1) | (speeds > LOST_SPEED) | ~np.isfinite(speeds)
        # What diverges resets itself: its time begins again at 0, and is short of a whole sample.
        lost |= end[:, 0] - self._state[:, 0] < (1.0 - 1e-6) / CONTROL_HZ
        self.lost += int(lost.sum())
        self._state[:] = np.where((lost | (end[:, 3] < self._height))[:, None], self._starts, end)


def engines(case: str, peers: list[str], worlds: int, threads: int) -> list[Engine]:
    """Those that are measured; the first is what others are compared with."""
    character, clip = CASES[case]
    own = [Sapwood(character, clip, worlds, hz, threads, precision=p) for hz in (120, 600) for p in ("f64", "f32")]
    found: list[Engine] = [*own, Sapwood(character, clip, worlds, 120, threads, scheme="symplectic-euler")]
    found += [Sapwood(character, clip, worlds, 600, threads, spd=spd) for spd in ("dense", "sparse")]
    if "mujoco" in peers and installed("mujoco", "mujoco"):
        for integrator in ("Euler", "implicitfast"):
            found += [Mujoco(own[0].env, character, hz, threads, integrator) for hz in RATES]
    return found


def run(
    peers: list[str],
    cases: list[str],
    repetitions: int,
    worlds: int = 256,
    samples: int = 30,
    threads: int = 1,
    out: Path | None = None,
) -> list[Row]:
    """Runs the cases, prints tables, returns the rows."""
    rows: list[Row] = []
    for case in cases:
        print(f"{case}, {worlds} worlds, {threads} threads\n{'':36} samples/s  lost")
        rows += measure(case, engines(case, peers, worlds, threads), repetitions, samples, worlds, threads)
        if out is not None:
            write(out, "imitation", rows)
    return rows


def measure(
    case: str, subjects: list[Engine], repetitions: int, samples: int, worlds: int, threads: int = 1
) -> list[Row]:
    """Turns of all engines, one after the other."""
    env = next(subject.env for subject in subjects if isinstance(subject, Sapwood))
    shape = (samples, worlds, len(env.mean_action))
    rng = np.random.default_rng(1)
    rates: list[list[float]] = [[] for _ in subjects]
    # What else the machine does lengthens the time of a turn, but hardly that of its one thread.
    clock = time.process_time if threads == 1 else time.perf_counter
    for _ in range(repetitions):
        actions = env.mean_action + rng.normal(scale=NOISE, size=shape)
        for subject, own in zip(subjects, rates, strict=True):
            begun = clock()
            for given in actions:
                subject.sample(given)
            own.append(samples * worlds / (clock() - begun))
    rows: list[Row] = []
    held: dict[str, float] = {}
    for subject, own in zip(subjects, rates, strict=True):
        rate, lost = float(np.median(own)), subject.lost / (repetitions * samples * worlds)
        left = None
        if isinstance(subject, Sapwood):
            stats = subject.env.batch.stats
            left = stats.left / stats.steps
        shown = "" if left is None else f"  {left:.1%} of steps left by lanes"
        print(f"{subject.name:36} {rate:9.0f}  {lost:.2%}{shown}")
        if isinstance(subject, Mujoco) and not subject.lost:
            held[subject.name] = rate
        values = {("samples", "1/s"): rate, ("lost", "1"): lost, ("left", "1"): left}
        rows += rows_of("imitation", case, subject.name, values)
    if held:
        # The first subject is the one that others are compared with.
        best = max(held, key=lambda name: held[name])
        print(f"{subjects[0].name}: {float(np.median(rates[0])) / held[best]:.1f} times the fastest that holds, {best}")
    return rows
