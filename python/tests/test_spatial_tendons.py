"""Spatial tendons beside MuJoCo: lengths, Jacobians, what acts along them, and their way through files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

WRAPS = {
    f"{geom} {side}".strip(): f'<geom geom="{geom}"' + (f' sidesite="{geom} {side}"' if side else "") + "/>"
    for geom in ("ball", "post")
    for side in ("", "near", "far", "inside")
}
"""Ways past a sphere and a cylinder: the shorter one, on the side of a site, through the inside."""

PATHS = {
    "straight": '<site site="w"/><site site="x"/>',
    "bent": '<site site="w"/><site site="y"/><site site="x"/>',
    "pulleys": '<site site="w"/><site site="x"/><pulley divisor="2"/><site site="x"/><site site="y"/>'
    '<pulley divisor="3"/><site site="z"/><site site="w"/>',
    **{name: f'<site site="w"/>{wrap}<site site="x"/>' for name, wrap in WRAPS.items()},
}

SCENE = """
<mujoco><option timestep="1e-8"/><worldbody><site name="w" pos="-.5 .1 .2"/>
  <body name="b"><freejoint/><inertial pos=".01 .02 .03" mass="1" diaginertia=".01 .02 .03"/>
    <geom name="ball" type="sphere" size=".15" pos="0 0 .1"/><site name="y" pos="-.2 .1 .3"/>
    <site name="ball near" pos="0 .3 .1"/><site name="ball far" pos=".1 -.3 .3"/>
    <site name="ball inside" pos=".01 .02 .11"/>
    <body pos=".2 .1 0"><joint type="ball"/><geom size=".03" mass=".5"/>
      <geom name="post" type="cylinder" size=".12 .2" pos=".05 0 0" euler="30 40 20"/>
      <site name="post near" pos=".3 .3 .1"/><site name="post far" pos="-.1 -.3 .3"/>
      <site name="post inside" pos=".05 .02 .01"/>
      <body pos=".2 .1 0"><joint axis="1 1 0"/><joint type="slide" axis="0 1 1"/><geom size=".03" mass=".5"/>
        <site name="x" pos=".3 0 .1"/></body></body></body>
  <body pos="1 0 0"><joint axis="0 1 0"/><geom size=".03" mass=".4" pos="0 0 .2"/><site name="z" pos="0 .1 .4"/></body>
</worldbody>
<tendon>{tendons}</tendon>
<actuator>{actuators}</actuator>
<sensor>{sensors}</sensor></mujoco>"""

NAMES = list(PATHS)


def scene() -> str:
    """All paths, each with a spring, a damper, limits, two actuators and sensors."""
    attributes = 'stiffness="20" damping=".3" springlength=".3 .6" range=".1 .7"'
    return SCENE.format(
        tendons="".join(f'<spatial name="{name}" {attributes}>{path}</spatial>' for name, path in PATHS.items()),
        actuators="".join(
            f'<motor tendon="{name}" gear="-2"/><position tendon="{name}" kp="7" kv=".2" forcerange="-3 3"/>'
            for name in PATHS
        ),
        sensors="".join(
            f'<{kind} tendon="{name}"/>'
            for name in PATHS
            for kind in ("tendonpos", "tendonvel", "tendonlimitpos", "tendonlimitvel")
        ),
    )


def jacobian(model: Any, data: Any) -> Any:
    dense = np.zeros((model.ntendon, model.nv))
    mujoco.mju_sparse2dense(dense, data.ten_J, model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind)
    return dense


def test_strings_are_as_long_and_pull_as_in_mujoco() -> None:
    """In random states; which of them lie on a geom is counted, so that each way past it is seen."""
    text = scene()
    theirs, ours = mujoco.MjModel.from_xml_string(text), sw.load(text, ground=None)
    # A pair of geoms that start in each other is no matter of strings.
    assert not [warning for warning in ours.warnings if "tendon" in str(warning) or "spatial" in str(warning)]
    data, sim = mujoco.MjData(theirs), sw.Simulation(ours)
    rng = np.random.default_rng(0)
    wrapped = dict.fromkeys(NAMES, 0)
    for _ in range(200):
        sim.q[:] = data.qpos[:] = ours.integrate(ours.keyframe().q, rng.normal(size=ours.nv))
        sim.v[:] = data.qvel[:] = rng.normal(size=ours.nv)
        mujoco.mj_forward(theirs, data)
        rows = jacobian(theirs, data)
        np.testing.assert_allclose(sim.tendon_lengths, data.ten_length, rtol=0, atol=1e-12)
        np.testing.assert_allclose(sim.sensordata[: 4 * len(NAMES)], data.sensordata, rtol=1e-6, atol=2e-6)
        for name, length, row, rate in zip(NAMES, data.ten_length, rows, data.ten_velocity, strict=True):
            tendon = sim.tendon(name)
            wrapped[name] += len(tendon.strands) > 1
            # From the inside, MuJoCo finds the point to 1e-6 rad.
            tolerance = 2e-6 if "inside" in name else 1e-10
            np.testing.assert_allclose(tendon.jacobian, row, rtol=0, atol=tolerance, err_msg=name)
            assert (tendon.length, tendon.velocity) == pytest.approx((length, rate), abs=20 * tolerance)
    assert all(wrapped[name] >= 4 for name in WRAPS), wrapped
    assert sum(wrapped[name] for name in WRAPS) > 200


def test_jacobians_from_the_inside_are_derivatives() -> None:
    ours = sw.load(scene())
    sim, rng = sw.Simulation(ours), np.random.default_rng(1)
    for _ in range(10):
        q = ours.integrate(ours.keyframe().q, rng.normal(size=ours.nv))
        for name in ("ball inside", "post inside"):
            sim.q[:] = q
            row = sim.tendon(name).jacobian
            lengths = []
            for unit in np.eye(ours.nv):
                ends = [ours.tendon_lengths(ours.integrate(q, h * unit))[NAMES.index(name)] for h in (1e-6, -1e-6)]
                lengths.append((ends[0] - ends[1]) / 2e-6)
            np.testing.assert_allclose(row, lengths, rtol=0, atol=1e-8)


def test_forces_along_strings_are_those_of_mujoco() -> None:
    """Of a step so short that it does not matter where in it they are taken; limits, which stop what moves, are far."""
    text = scene().replace('range=".1 .7"', 'range="0 99"')
    theirs, ours = mujoco.MjModel.from_xml_string(text), sw.load(text)
    data, sim = mujoco.MjData(theirs), sw.Simulation(ours, scheme="symplectic-euler")
    rng = np.random.default_rng(2)
    for _ in range(20):
        sim.reset()
        sim.q[:] = data.qpos[:] = ours.integrate(ours.keyframe().q, rng.normal(size=ours.nv))
        sim.v[:] = data.qvel[:] = rng.normal(size=ours.nv)
        sim.ctrl[:] = data.ctrl[:] = rng.normal(size=ours.nu)
        mujoco.mj_forward(theirs, data)
        sim.step()
        # MuJoCo's rows from the inside are right to 1e-6.
        np.testing.assert_allclose(sim.actuator_forces, data.actuator_force, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(sim.passive_forces, data.qfrc_spring + data.qfrc_damper, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(sim.actuation_forces, data.qfrc_actuator, rtol=1e-5, atol=1e-5)


def test_strings_survive_mjcf_and_bytes_and_attachment() -> None:
    ours = sw.load(scene())
    q = ours.integrate(ours.keyframe().q, np.random.default_rng(3).normal(size=ours.nv))
    lengths = ours.tendon_lengths(q)
    again = sw.load(ours.to_mjcf())
    np.testing.assert_array_equal(again.tendon_lengths(q), lengths)
    assert again.to_mjcf() == ours.to_mjcf()
    np.testing.assert_array_equal(sw.Model.from_bytes(ours.to_bytes()).tendon_lengths(q), lengths)
    builder = sw.ModelBuilder()
    builder.attach(ours, position=(3, 0, 0), prefix="far_")
    moved = builder.build()
    assert moved.tendon_names == [f"far_{name}" for name in NAMES]
    sites = sw.Simulation(moved).tendon("far_straight").strands
    np.testing.assert_allclose(sites[0, 0], [2.5, 0.1, 0.2], atol=1e-15)
    np.testing.assert_allclose(
        moved.tendon_lengths(moved.keyframe().q), ours.tendon_lengths(ours.keyframe().q), atol=1e-14
    )


def test_geoms_that_move_as_parameters_take_strings_with_them() -> None:
    ours = sw.load(scene())
    sim = sw.Simulation(ours)
    ball = ours.geom_names.index("ball")
    before = sim.tendon_lengths
    sim.parameters.geom_sizes[ball] *= 1.5
    changed = np.flatnonzero(sim.tendon_lengths != before)
    assert changed.size > 0
    assert {NAMES[i] for i in changed} <= {name for name in NAMES if name.startswith("ball")}


def test_batches_step_strings_one_world_at_a_time() -> None:
    ours = sw.load(scene())
    with pytest.warns(sw.PerformanceWarning, match="it has spatial tendons"):
        batch = sw.Batch(ours, 3)
    sim = sw.Simulation(ours, contact="coulomb")
    batch.step(2)
    sim.step(2)
    np.testing.assert_allclose(batch.v[2], sim.v, rtol=1e-9, atol=1e-12)
