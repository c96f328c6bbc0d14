"""The package as a user meets it: loading, views of the state, threads, exceptions."""

from __future__ import annotations

import contextlib
import gc
import pickle
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scenes import CLUTTER, RAGDOLL, tower

import sapwood as sw

ARM = """
<mujoco model="arm"><option timestep="0.004" gravity="0 0 -5"/>
  <worldbody>
    <body name="base" pos="0 0 1"><joint name="yaw" axis="0 0 1" range="-90 90" limited="true"/>
      <geom name="column" size="0.1" mass="2"/>
      <body name="hand" pos="1 0 0"><joint name="wrist" type="ball"/><geom size="0.1" mass="0.5"/></body>
    </body>
  </worldbody>
  <actuator><motor name="turn" joint="yaw"/></actuator>
  <keyframe><key name="ready" time="2" qpos="0.3 1 0 0 0" qvel="0.1 0 0 0.2" ctrl="0.7"/></keyframe>
</mujoco>"""


@pytest.fixture(scope="module")
def model() -> sw.Model:
    return sw.load(ARM)


# --- loading -------------------------------------------------------------------------------------------------------


def test_load_takes_paths_and_text(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    for source in (path, str(path), ARM, "\n  " + ARM):
        assert sw.load(source).body_names == ["world", "base", "hand"]


def test_urdf_and_floating_base() -> None:
    inertial = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = f"""<robot name="two">
      <link name="base">{inertial}</link><link name="arm">{inertial}</link>
      <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
        <limit lower="-1" upper="2" effort="30" velocity="1"/></joint></robot>"""
    fixed, floating = sw.load(text), sw.load(text, floating_base=True)
    assert (fixed.nq, fixed.nv) == (1, 1)
    assert (floating.nq, floating.nv) == (8, 7)
    hinge = fixed.joints[fixed.joint_names.index("hinge")]
    assert hinge.kind == "revolute"
    assert hinge.range == (-1, 2)
    assert hinge.effort_limit == 30


def test_model_describes_itself(model: sw.Model) -> None:
    assert (model.name, model.nq, model.nv, model.nu, model.nbody, model.njoint) == ("arm", 5, 4, 1, 3, 2)
    assert model.joint_names == ["yaw", "wrist"]
    assert model.actuator_names == ["turn"]
    assert model.geom_names[0] == "column"
    assert model.body_parents == [0, 0, 1]
    assert model.body_masses.tolist() == [0, 2, 0.5]
    assert model.mass == 2.5
    assert model.gravity.tolist() == [0, 0, -5]
    assert model.timestep == 0.004
    yaw, wrist = model.joints
    assert (yaw.kind, yaw.body, yaw.q, yaw.v) == ("revolute", 1, slice(0, 1), slice(0, 1))
    assert yaw.range == pytest.approx((-np.pi / 2, np.pi / 2))
    assert (wrist.kind, wrist.q, wrist.v, wrist.range) == ("ball", slice(1, 5), slice(1, 4), None)
    assert "arm" in repr(model)
    assert "arm" in repr(sw.Simulation(model))


def test_keyframes(model: sw.Model) -> None:
    assert model.keyframe_names == ["ready"]
    rest = model.keyframe()
    assert rest.q.tolist() == [0, 1, 0, 0, 0]
    assert rest.v.tolist() == [0] * 4
    ready = model.keyframe("ready")
    np.testing.assert_array_equal(model.keyframe(-1).q, ready.q)
    assert (ready.name, ready.time) == ("ready", 2.0)
    assert ready.q.tolist() == [0.3, 1, 0, 0, 0]
    sim = sw.Simulation(model)
    sim.reset("ready")
    assert sim.time == 2.0
    np.testing.assert_array_equal(sim.q, ready.q)
    np.testing.assert_array_equal(sim.v, ready.v)
    assert sim.ctrl[0] == 0.7
    sim.reset()
    assert (sim.time, sim.ctrl[0]) == (0.0, 0.0)


def test_warnings_say_what_is_not_simulated() -> None:
    text = """<mujoco>
  <worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
  <sensor><user dim="2"/></sensor>
</mujoco>"""
    warnings = sw.load(text).warnings
    assert [warning.line for warning in warnings if "user" in str(warning)] == [3]
    assert all(isinstance(warning, sw.ModelWarning) and warning.message for warning in warnings)


# --- views ---------------------------------------------------------------------------------------------------------


def test_views_show_what_a_step_does(model: sw.Model) -> None:
    sim = sw.Simulation(model)
    q, v = sim.q, sim.v
    sim.ctrl[:] = 1.0
    sim.step(10)
    assert v[0] > 0
    np.testing.assert_array_equal(q, sim.q)
    np.testing.assert_array_equal(v, sim.v)


def test_writing_into_a_view_acts(model: sw.Model) -> None:
    written, assigned = sw.Simulation(model), sw.Simulation(model)
    written.q[0], written.v[0], written.ctrl[:], written.applied_force[3] = 0.2, -0.1, 0.5, 0.05
    written.applied_wrench[2, 4] += 0.3
    assigned.q, assigned.v = [0.2, 1, 0, 0, 0], [-0.1, 0, 0, 0]
    assigned.ctrl, assigned.applied_force = [0.5], [0, 0, 0, 0.05]
    assigned.applied_wrench = np.array([[0] * 6, [0] * 6, [0, 0, 0, 0, 0.3, 0]])
    assert written.state() == assigned.state()
    written.step(5)
    assigned.step(5)
    assert written.state() == assigned.state()


def test_assignment_copies_into_the_same_array(model: sw.Model) -> None:
    sim = sw.Simulation(model)
    before, mine = sim.v, np.arange(4.0)
    sim.v = mine
    mine[0] = 99
    assert before.tolist() == [0, 1, 2, 3]
    for other in (np.arange(4, dtype=np.float32), range(4), np.arange(8.0)[::2] / 2, np.arange(4)):
        sim.v = other
        assert before.tolist() == [0, 1, 2, 3]


def test_matrices_in_any_memory_order() -> None:
    """Column-major input is the same matrix, not its transpose."""
    sim = sw.Simulation(sw.load(ARM))
    wrench = np.arange(18.0).reshape(3, 6)
    sim.applied_wrench = np.asfortranarray(wrench)
    np.testing.assert_array_equal(sim.applied_wrench, wrench)


def test_views_outlive_their_simulation(model: sw.Model) -> None:
    sim = sw.Simulation(model)
    views = [sim.q, sim.v, sim.ctrl, sim.applied_force, sim.applied_wrench]
    sim.step(3)
    values = [view.copy() for view in views]
    del sim
    gc.collect()
    junk = [np.full(64, np.nan) for _ in range(1000)]
    for view, value in zip(views, values, strict=True):
        np.testing.assert_array_equal(view, value)
        view[...] = 1.0
    del junk


def test_nothing_done_to_a_view_reaches_the_simulation(model: sw.Model) -> None:
    sim = sw.Simulation(model)
    view = sim.q
    view.setflags(write=False)
    with pytest.raises(ValueError, match="resize"):
        view.resize((2,), refcheck=False)
    sim.q[0] = 0.1
    sim.step()
    assert sim.q.shape == (5,)


@pytest.mark.parametrize(
    "name", ["q", "v", "ctrl", "applied_force", "applied_wrench", "surface_velocity", "q of a view"]
)
def test_the_memory_behind_a_view_is_out_of_reach(model: sw.Model, name: str) -> None:
    sim = sw.Simulation(model)
    view = sim.q[1:] if name == "q of a view" else getattr(sim, name)
    owners = []
    base = view.base
    while base is not None:
        owners.append(base)
        base = getattr(base, "base", None)
    # A numpy array as the last owner could be resized, retyped or reshaped under the simulation.
    assert not isinstance(owners[-1], np.ndarray)
    attacks: list[Callable[[Any], Any]] = [
        lambda owner: owner.resize((2,), refcheck=False),
        lambda owner: setattr(owner, "dtype", np.int8),
        lambda owner: setattr(owner, "shape", (0,)),
        lambda owner: setattr(owner, "data", np.zeros(1).data),
        lambda owner: setattr(owner, "__class__", np.ndarray),
        lambda owner: type(owner)(),
    ]
    for attack in attacks:
        with pytest.raises((AttributeError, TypeError)):
            attack(owners[-1])
    # What is done to the view itself stays with it.
    if view.size and view.flags.c_contiguous:
        view.__setattr__("dtype", np.int8)
    sim.step()
    assert sim.q.dtype == np.float64
    assert sim.q.shape == (5,)
    assert sim.applied_wrench.shape == (model.nbody, 6)


def test_results_are_copies(model: sw.Model) -> None:
    for array in (model.gravity, model.body_masses):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    with contextlib.suppress(ValueError):
        model.keyframe().q[:] = 9
    assert model.gravity[2] == -5
    assert model.mass == 2.5
    assert model.keyframe().q[0] == 0


# --- stepping ------------------------------------------------------------------------------------------------------


def test_stats_and_contacts() -> None:
    sim = sw.Simulation(sw.load(tower(1)))
    assert len(sim.contacts) == 0
    sim.step(20)
    stats = sim.stats
    assert stats.contacts == stats.active_contacts == len(sim.contacts) == 4
    assert stats.islands == 1
    assert stats.residual < 1e-6
    assert 0 <= stats.penetration < 1e-4
    assert sim.contacts.dtype.names == (
        "bodies",
        "geoms",
        "position",
        "normal",
        "tangents",
        "gap",
        "impulse",
        "slip",
    )
    assert sim.contacts["tangents"].shape == (4, 2, 3)


def test_other_threads_run_during_a_step() -> None:
    sim = sw.Simulation(sw.load(CLUTTER))
    worker = threading.Thread(target=sim.step, args=(3000,))
    ticks, refused = 0, 0
    worker.start()
    while worker.is_alive():
        ticks += 1
        sim.ctrl, sim.q  # noqa: B018  (views are always there)
        try:
            sim.energy()
        except RuntimeError as error:
            assert "in progress" in str(error)  # noqa: PT017
            refused += 1
        time.sleep(0.001)
    worker.join()
    assert ticks > 5
    assert refused > 0
    assert sim.time == pytest.approx(3000 * sim.timestep)


def test_simulations_step_side_by_side() -> None:
    model = sw.load(RAGDOLL)
    alone = sw.Simulation(model)
    alone.step(200)
    sims = [sw.Simulation(model) for _ in range(4)]
    workers = [threading.Thread(target=sim.step, args=(200,)) for sim in sims]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [sim.state() for sim in sims] == [alone.state()] * 4


@pytest.mark.parametrize("accuracy", [None, 1e-3])
@pytest.mark.parametrize(
    "run",
    [lambda sim: sim.step(10**9), lambda sim: sim.advance_to(1e6), lambda sim: sim.trajectory([0, 1e-3, 1e6])],
    ids=["step", "advance_to", "trajectory"],
)
def test_ctrl_c_stops_a_long_run(run: Callable[[sw.Simulation], object], accuracy: float | None) -> None:
    model = sw.load(CLUTTER)
    sim = sw.Simulation(model, accuracy=accuracy)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    # A shell may have told programs in its background to ignore the signal.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            run(sim)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert 0 < sim.time < 1e6
    if accuracy is None:
        # Where whole steps lead.
        other = sw.Simulation(model)
        other.step(round(sim.time / sim.timestep))
        assert sim.state() == other.state()
    before = sim.time
    sim.step()
    assert sim.time == pytest.approx(before + sim.timestep)


def test_no_steps_change_nothing(model: sw.Model) -> None:
    sim = sw.Simulation(model)
    before = sim.state()
    sim.step(0)
    assert sim.state() == before


# --- exceptions ----------------------------------------------------------------------------------------------------


def test_exceptions_travel() -> None:
    """Through a pickle, as from a worker process."""
    with pytest.raises(sw.ModelError) as caught:
        sw.load("<mujoco>\n<worldbody><body><joint type='helix'/></body></worldbody></mujoco>")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.file, copy.line, copy.element) == (str(caught.value), None, 2, "joint")
    error = pickle.loads(pickle.dumps(sw.SimulationError("no", 1.5, 7)))
    assert (str(error), error.time, error.step) == ("no", 1.5, 7)


def test_version() -> None:
    from importlib.metadata import version

    assert sw.__version__ == version("sapwood")
