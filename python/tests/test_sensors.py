"""Sensors against MuJoCo: layout and values on every model with sensors that the installed packages ship, and on models that have all."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import sapwood as sw

from conftest import Recorder

mujoco = pytest.importorskip("mujoco")

ALL = """<mujoco><compiler angle="radian"/><option magnetic=".3 .2 -.4"/><worldbody>
<site name="world" pos="0 0 1" quat="1 .2 0 .1"/><geom name="floor" type="plane" size="5 5 1" pos="0 0 -3"/>
<body name="base" pos="0 0 1"><freejoint/><geom name="box" type="box" size=".2 .1 .1" mass="3"/>
 <geom type="sphere" size=".07" pos=".2 .1 0" mass=".7"/><site name="imu" pos=".1 0 .05" euler=".3 .2 .1" type="box" size=".3 .2 .1"/>
 <site name="down" pos="0 0 -.15" euler="3.0 .1 0"/>
 <body name="arm" pos=".3 0 0"><joint name="hinge" axis="0 1 .2" range="-.6 .4" limited="true" armature=".02" damping=".1"/>
  <geom name="arm" type="capsule" fromto="0 0 0 .4 .1 0" size=".04" mass="1"/><site name="wrist" pos=".05 0 0" euler="0 .5 0"/>
  <body name="hand" pos=".4 .1 0"><joint name="ball" type="ball" range="0 .9" limited="true" damping=".02"/>
   <geom name="hand" type="ellipsoid" size=".05 .08 .03" pos="0 .05 .02" mass=".5"/><site name="palm" pos=".02 .05 0" type="sphere" size=".2"/>
   <body name="tool" pos="0 .1 0" quat="1 .3 .2 0"><geom name="tool" type="box" size=".03 .04 .1" mass=".3"/><site name="tip"/></body></body></body>
 <body name="tail" pos="-.3 0 0"><inertial pos="-.1 0 .02" mass=".8" diaginertia=".01 .02 .015" quat="1 .1 .3 -.2"/>
  <joint name="slide" type="slide" axis="1 .1 0" range="-.2 .3" limited="true" stiffness="3"/></body></body></worldbody>
<tendon><fixed name="tendon" range="-.3 .2" limited="true" stiffness="2" springlength="0"><joint joint="hinge" coef="1.5"/><joint joint="slide" coef="-2"/></fixed></tendon>
<actuator><motor name="motor" joint="hinge" gear="3"/><position name="servo" joint="slide" kp="20" forcerange="-2 2"/>
 <motor name="ball" joint="ball" gear=".1 .2 .3"/><position name="pull" tendon="tendon" kp="4" gear="2"/></actuator>
<sensor>{sensors}</sensor></mujoco>"""

STATE_SENSORS = """<clock/><jointpos joint="hinge" cutoff=".3"/><jointvel joint="slide"/><tendonpos tendon="tendon"/><tendonvel tendon="tendon"/>
<actuatorpos actuator="motor"/><actuatorpos actuator="ball"/><actuatorpos actuator="pull"/><actuatorvel actuator="ball"/><actuatorvel actuator="pull"/>
<ballquat joint="ball"/><ballangvel joint="ball"/><jointlimitpos joint="hinge"/><jointlimitvel joint="hinge"/><jointlimitpos joint="ball"/>
<jointlimitvel joint="ball"/><tendonlimitpos tendon="tendon"/><tendonlimitvel tendon="tendon"/><e_potential/><e_kinetic/>
<velocimeter site="palm"/><gyro site="imu"/><magnetometer site="wrist"/><magnetometer site="world"/><insidesite site="imu" objtype="geom" objname="arm"/>
<insidesite site="palm" objtype="xbody" objname="hand"/><subtreecom body="arm"/><subtreelinvel body="hand"/><subtreeangmom body="base"/><subtreecom body="world"/>
<rangefinder site="down" data="dist dir origin point depth"/><rangefinder site="down"/><rangefinder site="world" cutoff="1.5"/>
<distance geom1="hand" geom2="box" cutoff="3"/><normal geom1="hand" geom2="box" cutoff="3"/><fromto geom1="hand" geom2="box" cutoff="3"/>
<distance geom1="hand" geom2="box" cutoff=".01"/><distance body1="base" geom2="floor" cutoff="9"/>"""

MOTION_SENSORS = """<accelerometer site="imu"/><accelerometer site="tip"/><accelerometer site="world"/><force site="wrist"/><torque site="wrist"/>
<force site="palm"/><torque site="palm"/><force site="tip"/><torque site="tip"/><force site="imu"/><torque site="imu"/>
<framelinacc objtype="body" objname="hand"/><frameangacc objtype="geom" objname="hand"/><framelinacc objtype="xbody" objname="arm"/>
<framelinacc objtype="site" objname="tip"/><actuatorfrc actuator="motor"/><actuatorfrc actuator="servo"/><actuatorfrc actuator="ball"/>
<actuatorfrc actuator="pull"/><jointactuatorfrc joint="hinge"/><jointactuatorfrc joint="slide"/><tendonactuatorfrc tendon="tendon"/>"""


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
    roots = [Path(spec.origin).parent for name in ("dm_control", "gymnasium", "mujoco") if (spec := importlib.util.find_spec(name)) and spec.origin]
    return sorted(path for root in roots for path in root.rglob("*.xml") if b"<sensor" in path.read_bytes())


def pair(text: str | Path) -> tuple[mujoco.MjModel, sw.Model] | None:
    """The model in both programs; None if MuJoCo does not read it."""
    try:
        theirs = mujoco.MjModel.from_xml_string(text) if isinstance(text, str) else mujoco.MjModel.from_xml_path(str(text))
    except ValueError:
        return None
    return theirs, sw.load(text)


def same_layout(theirs: mujoco.MjModel, ours: sw.Model) -> bool:
    names = [theirs.sensor(i).name for i in range(theirs.nsensor)]
    return (
        ours.sensor_names == names
        and ours.sensor_addresses == list(theirs.sensor_adr)
        and ours.sensor_dims == list(theirs.sensor_dim)
        and ours.nsensordata == theirs.nsensordata
    )


def errors(theirs: mujoco.MjModel, ours: sw.Model, expected: np.ndarray, found: np.ndarray) -> dict[str, float]:
    """The worst error of each type of sensor of the state, relative to its largest number where that is above 1."""
    worst: dict[str, float] = defaultdict(float)
    for i, kind in enumerate(ours.sensor_types):
        at = slice(theirs.sensor_adr[i], theirs.sensor_adr[i] + theirs.sensor_dim[i])
        x, y = expected[at], found[at]
        if kind in ("framequat", "ballquat") and x @ y < 0.0:
            y = -y
        worst[kind] = max(worst[kind], float(np.abs(x - y).max(initial=0.0) / max(1.0, np.abs(x).max(initial=0.0))))
    return worst


def compare_states(theirs: mujoco.MjModel, ours: sw.Model, seed: int) -> dict[str, float]:
    """Sensors of positions and velocities at random states."""
    rng = np.random.default_rng(seed)
    data, sim = mujoco.MjData(theirs), sw.Simulation(ours)
    worst: dict[str, float] = defaultdict(float)
    is_state = np.repeat(theirs.sensor_needstage != mujoco.mjtStage.mjSTAGE_ACC, theirs.sensor_dim)
    for _ in range(3):
        data.qpos[:] = sim.q = ours.integrate(ours.keyframe().q, 0.5 * rng.standard_normal(ours.nv))
        data.qvel[:] = sim.v = rng.standard_normal(ours.nv)
        mujoco.mj_forward(theirs, data)
        for kind, error in errors(theirs, ours, np.where(is_state, data.sensordata, 0.0), np.where(is_state, sim.sensordata, 0.0)).items():
            worst[kind] = max(worst[kind], error)
    return worst


def test_every_shipped_model(record: Recorder) -> None:
    counts: dict[str, int] = defaultdict(int)
    worst: dict[str, float] = defaultdict(float)
    models = 0
    for k, path in enumerate(shipped()):
        both = pair(path)
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
    record("mujoco", "sensors of shipped models", f"{models} models, {sum(counts.values())} sensors, worst {max(worst.values()):.1e}")
    assert {kind: error for kind, error in worst.items() if error > 1e-8} == {}


def test_every_sensor_of_the_state(record: Recorder) -> None:
    both = pair(ALL.format(sensors=STATE_SENSORS + frame_sensors()))
    assert both is not None and same_layout(*both)
    worst = compare_states(*both, seed=5)
    record("mujoco", "every sensor of positions and velocities", f"worst {max(worst.values()):.1e}")
    # Distances between ellipsoids are iterated, in MuJoCo to 1e-6.
    loose = {"distance": 1e-5, "normal": 1e-3, "fromto": 1e-3}
    assert {kind: error for kind, error in worst.items() if error > loose.get(kind, 1e-8)} == {}


def test_sensors_of_motion_where_nothing_touches(record: Recorder) -> None:
    """MuJoCo shows the moment, we the mean over a step: the error is of first order in the step, and what is left after extrapolation from
    steps of h and h/2 is of second order (h² times the second derivative, 1e-8 × 1e2 here) or round-off (1e-16 v / h)."""
    text = ALL.format(sensors=MOTION_SENSORS).replace('range="-.6 .4" limited="true"', "").replace('range="0 .9" limited="true"', "")
    text = text.replace('range="-.2 .3" limited="true"', "").replace('range="-.3 .2" limited="true"', "")
    both = pair(text)
    assert both is not None
    theirs, ours = both
    rng = np.random.default_rng(3)
    worst: dict[str, float] = defaultdict(float)
    for _ in range(4):
        q = ours.integrate(ours.keyframe().q, 0.4 * rng.standard_normal(ours.nv))
        q[:3] = 0.0, 0.0, 5.0
        v, ctrl = 0.5 * rng.standard_normal(ours.nv), rng.standard_normal(ours.nu)
        data = mujoco.MjData(theirs)
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, ctrl
        mujoco.mj_forward(theirs, data)
        shown = []
        for h in (2e-4, 1e-4):
            sim = sw.Simulation(ours, timestep=h)
            sim.q, sim.v, sim.ctrl = q, v, ctrl
            sim.step()
            shown.append(sim.sensordata)
        # First order: halving the step halves the error.
        whole, half = (np.abs(x - data.sensordata).max() for x in shown)
        assert half < 0.6 * whole
        for kind, error in errors(theirs, ours, data.sensordata, 2.0 * shown[1] - shown[0]).items():
            worst[kind] = max(worst[kind], error)
    record("mujoco", "sensors of motion in flight", f"worst {max(worst.values()):.1e}")
    assert max(worst.values()) < 1e-5, worst


STAND = """<mujoco><option timestep=".002"/><worldbody><geom name="floor" type="plane" size="5 5 1"/>
<body name="foot" pos="0 0 .06"><freejoint/><geom name="sole" type="box" size=".2 .15 .05" mass="2"/>
 <site name="sole" type="box" size=".25 .2 .08"/><site name="toe" type="box" size=".1 .2 .08" pos=".2 0 0"/>
 <body name="leg" pos=".03 0 .05"><joint name="ankle" axis="0 1 0" range="-.5 .5" limited="true"/>
  <geom name="leg" type="capsule" fromto="0 0 .1 0 0 .5" size=".04" mass="3"/><site name="ankle" euler="0 20 0"/>
  <body name="head" pos="0 0 .6"><geom name="head" type="sphere" size=".1" mass="4"/><site name="neck" pos="0 0 -.1"/></body></body></body></worldbody>
<actuator><position joint="ankle" kp="2000" kv="50"/></actuator>
<sensor><touch name="touch" site="sole"/><touch name="toe" site="toe"/><force name="ankle" site="ankle"/><torque name="ankle_torque" site="ankle"/>
<force name="neck" site="neck"/><accelerometer name="imu" site="ankle"/>
<contact name="net" subtree1="foot" data="found force torque pos normal" reduce="netforce"/>
<contact name="under" geom1="floor" geom2="sole" data="found force dist normal" num="6" reduce="maxforce"/>
<contact name="over" body1="foot" data="found normal" num="2"/><contact name="none" body1="head" data="found normal"/></sensor></mujoco>"""


def test_a_robot_that_stands() -> None:
    model = sw.load(STAND.replace('', ""))
    sim = sw.Simulation(model)
    sim.step(1500)
    g, weight = 9.81, 9.0 * 9.81
    def value(name: str) -> np.ndarray:
        i = model.sensor_names.index(name)
        return sim.sensordata[model.sensor_addresses[i]:][: model.sensor_dims[i]]

    assert value("touch") == pytest.approx(weight, rel=1e-3)
    assert 0.0 < value("toe")[0] < weight
    tilt = np.deg2rad(20.0)
    np.testing.assert_allclose(value("ankle"), 7.0 * g * np.array([-np.sin(tilt), 0.0, np.cos(tilt)]), atol=1e-3 * weight)
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
    sim = sw.Simulation(sw.load(STAND.replace('', "")))
    model = sim.model
    i = model.sensor_addresses[model.sensor_names.index("imu")]
    assert np.linalg.norm(sim.sensordata[i : i + 3]) == pytest.approx(9.81)
    assert sim.sensordata[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        sim.sensordata[0] = 1.0
