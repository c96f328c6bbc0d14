"""Sensors against MuJoCo: on every model with sensors that the installed packages ship, and on models that have all."""

from __future__ import annotations

import importlib.util
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Recorder
from sensor_models import ALL, MOTION_SENSORS, STAND, STATE_SENSORS

import sapwood as sw

mujoco = pytest.importorskip("mujoco")


def frame_sensors() -> str:
    """Every frame sensor of every type of object, without reference and with every type of reference."""
    objects = {"body": "hand", "xbody": "arm", "geom": "tool", "site": "palm"}
    references = [("body", "tail"), ("xbody", "base"), ("geom", "arm"), ("site", "wrist"), ("site", "world")]
    lines = []
    for kind in ("pos", "quat", "xaxis", "yaxis", "zaxis", "linvel", "angvel"):
        for objtype, name in objects.items():
            of = f'<frame{kind} objtype="{objtype}" objname="{name}"'
            lines.append(of + "/>")
            lines += [f'{of} reftype="{reftype}" refname="{ref}"/>' for reftype, ref in references]
    return "".join(lines)


def shipped() -> list[Path]:
    """The MJCF files of the installed packages that mention sensors."""
    roots = [
        Path(spec.origin).parent
        for name in ("dm_control", "gymnasium", "gymnasium_robotics", "mujoco")
        if (spec := importlib.util.find_spec(name)) and spec.origin
    ]
    return sorted(path for root in roots for path in root.rglob("*.xml") if b"<sensor" in path.read_bytes())


def pair(text: str) -> tuple[Any, sw.Model]:
    """The model of a text in both programs, with the same layout of sensors."""
    both = mujoco.MjModel.from_xml_string(text), sw.load(text)
    assert same_layout(*both)
    return both


def pair_of_file(path: Path) -> tuple[Any, sw.Model] | None:
    """The model of a file in both programs; None if MuJoCo does not read it."""
    try:
        return mujoco.MjModel.from_xml_path(str(path)), sw.load(path)
    except ValueError:
        return None


def same_layout(theirs: Any, ours: sw.Model) -> bool:
    names = [theirs.sensor(i).name for i in range(theirs.nsensor)]
    return (
        ours.sensor_names == names
        and ours.sensor_addresses == list(theirs.sensor_adr)
        and ours.sensor_dims == list(theirs.sensor_dim)
        and ours.nsensordata == theirs.nsensordata
    )


def errors(theirs: Any, ours: sw.Model, expected: np.ndarray, found: np.ndarray) -> dict[str, float]:
    """The worst error of each type of sensor of the state, relative to its largest number where that is above 1."""
    worst: dict[str, float] = defaultdict(float)
    for i, kind in enumerate(ours.sensor_types):
        at = slice(theirs.sensor_adr[i], theirs.sensor_adr[i] + theirs.sensor_dim[i])
        x, y = expected[at], found[at]
        if kind in ("framequat", "ballquat") and x @ y < 0.0:
            y = -y
        worst[kind] = max(worst[kind], float(np.abs(x - y).max(initial=0.0) / max(1.0, np.abs(x).max(initial=0.0))))
    return worst


def compare_states(theirs: Any, ours: sw.Model, seed: int) -> dict[str, float]:
    """Sensors of positions and velocities at random states."""
    rng = np.random.default_rng(seed)
    data, sim = mujoco.MjData(theirs), sw.Simulation(ours)
    worst: dict[str, float] = defaultdict(float)
    is_state = np.repeat(theirs.sensor_needstage != mujoco.mjtStage.mjSTAGE_ACC, theirs.sensor_dim)
    for _ in range(3):
        data.qpos[:] = sim.q = ours.integrate(ours.keyframe().q, 0.5 * rng.standard_normal(ours.nv))
        data.qvel[:] = sim.v = rng.standard_normal(ours.nv)
        mujoco.mj_forward(theirs, data)
        for kind, error in errors(
            theirs, ours, np.where(is_state, data.sensordata, 0.0), np.where(is_state, sim.sensordata, 0.0)
        ).items():
            worst[kind] = max(worst[kind], error)
    return worst


def test_every_shipped_model(record: Recorder) -> None:
    counts: dict[str, int] = defaultdict(int)
    worst: dict[str, float] = defaultdict(float)
    models = 0
    for k, path in enumerate(shipped()):
        both = pair_of_file(path)
        if both is None or not both[0].nsensor:
            continue
        theirs, ours = both
        assert same_layout(theirs, ours), path
        models += 1
        for kind, error in compare_states(theirs, ours, k).items():
            # Frames of meshes are those of the files, see docs/sensors.md.
            worst[kind] = max(worst[kind], error)
        for kind in ours.sensor_types:
            counts[kind] += 1
    if models == 0:
        pytest.skip("no installed package ships a model with sensors")
    record(
        "mujoco",
        "sensors of shipped models",
        f"{models} models, {sum(counts.values())} sensors, worst {max(worst.values()):.1e}",
    )
    assert {kind: error for kind, error in worst.items() if error > 1e-8} == {}


def test_every_sensor_of_the_state(record: Recorder) -> None:
    worst = compare_states(*pair(ALL.format(sensors=STATE_SENSORS + frame_sensors())), seed=5)
    record("mujoco", "every sensor of positions and velocities", f"worst {max(worst.values()):.1e}")
    # Where an ellipsoid is nearest is iterated, in MuJoCo to 1e-6 (option ccd_tolerance).
    loose = {"normal": 1e-5, "fromto": 1e-5}
    assert {kind: error for kind, error in worst.items() if error > loose.get(kind, 1e-8)} == {}


def test_sensors_of_motion_where_nothing_touches(record: Recorder) -> None:
    """MuJoCo shows a moment, here it is the mean over a step: the difference is of first order in the step.

    Steps of h, h/2 and h/4 are extrapolated to no step at all. What is left is of third order in h, or round-off of
    velocities over h; with 10 µs both are below 1e-6 of these sensors (accelerations of up to 2000 m/s²).
    """
    text = re.sub(r'range="[^"]*" limited="true"', "", ALL.format(sensors=MOTION_SENSORS))
    theirs, ours = pair(text.replace("<worldbody>", '<option><flag contact="disable"/></option><worldbody>'))
    rng = np.random.default_rng(3)
    worst: dict[str, float] = defaultdict(float)
    for _ in range(4):
        q = ours.integrate(ours.keyframe().q, 0.4 * rng.standard_normal(ours.nv))
        v, ctrl = 0.5 * rng.standard_normal(ours.nv), rng.standard_normal(ours.nu)
        data = mujoco.MjData(theirs)
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, ctrl
        mujoco.mj_forward(theirs, data)
        shown = []
        for h in (1e-5, 5e-6, 2.5e-6):
            sim = sw.Simulation(ours, timestep=h)
            sim.q, sim.v, sim.ctrl = q, v, ctrl
            sim.step()
            shown.append(sim.sensordata)
        whole, half = (np.abs(x - data.sensordata).max() for x in shown[:2])
        assert half == pytest.approx(0.5 * whole, rel=0.05)
        limit = (8.0 * shown[2] - 6.0 * shown[1] + shown[0]) / 3.0
        for kind, error in errors(theirs, ours, data.sensordata, limit).items():
            worst[kind] = max(worst[kind], error)
    record("mujoco", "sensors of motion in flight", f"worst {max(worst.values()):.1e}")
    assert {kind: error for kind, error in worst.items() if error > 1e-6} == {}


def test_a_robot_that_stands() -> None:
    model = sw.load(STAND.replace("", ""))
    sim = sw.Simulation(model)
    sim.step(1500)
    g, weight = 9.81, 9.0 * 9.81

    def value(name: str) -> np.ndarray:
        return sim.sensor(name).value

    theirs = mujoco.MjModel.from_xml_string(STAND)
    data = mujoco.MjData(theirs)
    mujoco.mj_step(theirs, data, 3000)
    mujoco.mj_forward(theirs, data)
    assert same_layout(theirs, model)
    np.testing.assert_allclose(sim.sensordata, data.sensordata, atol=1e-3 * weight)

    assert value("touch") == pytest.approx(weight, rel=1e-3)
    assert 0.0 < value("toe")[0] < weight
    tilt = np.deg2rad(20.0)
    np.testing.assert_allclose(
        value("ankle"), 7.0 * g * np.array([-np.sin(tilt), 0.0, np.cos(tilt)]), atol=1e-3 * weight
    )
    np.testing.assert_allclose(value("neck"), [0.0, 0.0, 4.0 * g], atol=1e-3 * weight)
    np.testing.assert_allclose(value("imu"), g * np.array([-np.sin(tilt), 0.0, np.cos(tilt)]), atol=1e-3 * g)
    net = value("net")
    assert net[0] == 4.0
    # On the floor, from the foot: downwards.
    np.testing.assert_allclose(net[1:4], [0.0, 0.0, -weight], atol=1e-3 * weight)
    np.testing.assert_allclose(net[4:7], 0.0, atol=1e-3 * weight)
    under = value("under").reshape(6, 8)
    assert list(under[:, 0]) == [4.0] * 4 + [0.0] * 2
    assert under[:4, 1].sum() == pytest.approx(weight, rel=1e-3)
    assert (np.diff(np.linalg.norm(under[:4, 1:4], axis=1)) <= 0.0).all()
    np.testing.assert_allclose(under[:4, 5:8], np.tile([0.0, 0.0, 1.0], (4, 1)), atol=1e-9)
    np.testing.assert_allclose(value("over").reshape(2, 4)[:, 1:], np.tile([0.0, 0.0, -1.0], (2, 1)), atol=1e-9)
    assert not value("none").any()


def test_before_the_first_step() -> None:
    sim = sw.Simulation(sw.load(STAND.replace("", "")))
    model = sim.model
    i = model.sensor_addresses[model.sensor_names.index("imu")]
    assert np.linalg.norm(sim.sensordata[i : i + 3]) == pytest.approx(9.81)
    assert sim.sensordata[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        sim.sensordata[0] = 1.0


def test_views_and_names() -> None:
    sim = sw.Simulation(sw.load(STAND))
    model, sensor = sim.model, sim.sensor("ankle")
    assert (sensor.name, sensor.type, sensor.stage, sensor.dim) == ("ankle", "force", "acceleration", 3)
    assert sensor.address == model.sensor_addresses[sensor.index]
    assert sensor == sim.sensor(sensor.index)
    sim.step(20)
    for view, start, dim in zip(sim.sensors, model.sensor_addresses, model.sensor_dims, strict=True):
        np.testing.assert_array_equal(view.value, sim.sensordata[start : start + dim])
        np.testing.assert_array_equal(view.data, view.value)
    assert repr(sensor).startswith('<sapwood sensor "ankle": force [')
    assert "neck" in sim.sensors
    assert len(sim.sensors) == model.nsensor
    with pytest.raises(sw.UnknownNameError, match=r"there is no sensor 'ankel': did you mean 'ankle'"):
        sim.sensor("ankel")
    with pytest.raises(IndexError, match="the model has 10 sensors"):
        sim.sensor(11)


def test_forces_of_limits_and_ties() -> None:
    """A pendulum that hangs in its limit, and one that a connect holds: each carries its weight."""
    text = """<mujoco><compiler angle="radian"/><worldbody>
    <body><joint name="stop" axis="0 1 0" range="-1 .2" limited="true"/><geom size=".1" pos=".5 0 0" mass="2"/></body>
    <body pos="0 1 0"><freejoint/><geom size=".1" mass="3"/><body pos="0 0 .2"><site name="hung"/>
      <geom size=".05" mass="1"/></body></body></worldbody>
    <equality><connect body1="__" anchor="0 0 0"/></equality>
    <sensor><jointlimitfrc joint="stop"/><jointlimitpos joint="stop"/><force site="hung"/></sensor></mujoco>"""
    text = text.replace("<freejoint/>", "<freejoint/>").replace('<body pos="0 1 0">', '<body name="__" pos="0 1 0">')
    sim = sw.Simulation(sw.load(text), timestep=0.002)
    sim.step(1500)
    angle = sim.q[0]
    expected = 2.0 * 9.81 * 0.5 * np.cos(angle)
    assert sim.sensordata[0] == pytest.approx(expected, rel=1e-3)
    assert -1e-3 < sim.sensordata[1] <= 0.0
    np.testing.assert_allclose(np.linalg.norm(sim.sensordata[2:]), 9.81, rtol=1e-3)


STRING = "stiffness='200' damping='20' springlength='0.7'"
ROPE = "limited='true' range='0 0.9' solreflimit='0.01 1'"


@pytest.mark.parametrize(
    ("string", "ctrl"),
    [(STRING, 0.0), (ROPE, 0.0), (STRING + " frictionloss='0.5'", 0.0), ("stiffness='400' springlength='0.9'", 6.0)],
)
def test_strings_pull_from_outside(string: str, ctrl: float) -> None:
    """What hangs on a string has no force at its joint, on a body that carries it there is the string's."""
    text = f"""<mujoco><option timestep="2e-5"/><worldbody>
      <geom name="roll" type="cylinder" size=".05 .1" pos="0 0 1" euler="90 0 0" contype="0" conaffinity="0"/>
      <site name="side" pos="0 0 1.2"/>
      <body name="post" pos=".4 0 0"><joint type="hinge" axis="0 1 0" stiffness="300" damping="4"/>
        <geom type="box" size=".05 .05 .2" pos="0 0 .2" mass="1" contype="0" conaffinity="0"/><site name="foot"/>
        <body pos="0 0 .4"><geom size=".03" mass=".1" contype="0" conaffinity="0"/><site name="top"/></body></body>
      <body name="load" pos="-.05 0 .3"><joint type="slide" axis="0 0 1" damping="3"/><joint axis="1 0 0" damping=".5"/>
        <geom size=".06" mass="2" contype="0" conaffinity="0"/><site name="hook" pos=".02 0 .05"/></body></worldbody>
      <tendon><spatial name="rope" {string}><site site="hook"/><geom geom="roll" sidesite="side"/>
        <site site="top"/></spatial></tendon><actuator><motor tendon="rope" gear="-1"/></actuator>
      <sensor><force site="hook"/><torque site="hook"/><force site="foot"/><torque site="foot"/><force site="top"/>
      </sensor></mujoco>"""
    peer = mujoco.MjModel.from_xml_string(text)
    peer.opt.tolerance = 1e-12
    data, sim = mujoco.MjData(peer), sw.Simulation(sw.load(text), tolerance=1e-12)
    data.ctrl, sim.ctrl[:] = ctrl, ctrl
    for steps in (3000, 6000, 6000):
        sim.step(steps)
        # MuJoCo's sensors are those of the state at the beginning of a step.
        data.qpos, data.qvel = sim.q, sim.v
        mujoco.mj_forward(peer, data)
        most = np.abs(data.sensordata).max()
        assert most > 5
        np.testing.assert_allclose(sim.sensordata, data.sensordata, rtol=0, atol=0.01 * most)
