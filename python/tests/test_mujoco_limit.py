"""Accelerations, forces and sensors without constraints are MuJoCo's to 1e-6, in the limit of short steps.

Sapwood's are those of a step, which takes what is stiff at its end. Three steps of t, t/2 and t/4 give their limit
but for errors of t³ (Richardson); t is the longest of 10⁻³, 10⁻⁴, … s from which the next one does not differ by more
than 1e-8: MuJoCo's numbers have no part in that choice. The solver's tolerance is relative to momentum, of which such
short steps change little: it is the least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

mujoco = pytest.importorskip("mujoco")

import sapwood.mujoco  # noqa: E402

NAMES = ("qacc", "actuator_force", "qfrc_actuator", "act_dot", "sensordata", "ten_length", "qfrc_passive")
TINY = 1e-14
"""A step of MuJoCo, s: `actearly` has activations at its end."""

BODIES = """
  <body name="a" pos="0 0 2"><joint name="a" axis="0 1 0" armature="{armature}" damping="{damping}"/>
    <geom type="capsule" size=".04" fromto="0 0 0 .5 0 0"/><site name="a" pos=".5 0 .1"/>
    <body pos=".5 0 0"><joint name="b" axis="0 1 1" armature="{armature}" damping="{damping}"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .3 .2 0"/><site name="b" pos=".3 0 0"/></body></body>
  <body name="c" pos="0 1 1"><freejoint/><geom type="box" size=".1 .2 .3"/><site name="c" pos=".1 .1 .1"/></body>
  <body name="d" pos="0 2 1"><joint name="ball" type="ball"/><geom type="box" size=".1 .2 .3"/></body>"""

TENDONS = """<tendon>
  <spatial name="t" stiffness="{stiffness}" damping="{damping}" springlength="0 .2"><site site="a"/><site site="c"/>
  </spatial></tendon>"""

SENSORS = """<sensor><accelerometer site="b"/><force site="b"/><torque site="a"/><gyro site="c"/><jointvel joint="a"/>
  <tendonpos tendon="t"/><framelinacc objtype="body" objname="c"/></sensor>"""

ACTUATORS = {
    "servos without armature": """<position joint="a" kp="2000" kv="200"/><position joint="b" kp="2000" kv="200"/>
        <position site="c" refsite="a" gear="1 0 0 0 0 0" kp="500"/>""",
    "activations": """<general joint="a" dyntype="filter" dynprm=".01" actearly="true" gear="100"/>
        <intvelocity joint="b" kp="500" actrange="-1 1"/><general site="c" gear="0 0 1 0 0 1" dyntype="integrator"/>
        <muscle tendon="t" lengthrange=".1 2"/>""",
    "motors": """<dcmotor joint="a" motorconst="2" resistance=".5"/>
        <dcmotor joint="b" motorconst=".05" resistance="2" damping=".001" lugre="1e4 100 .005 .008 .1"/>""",
    "several controls": """<dcmotor joint="a" motorconst="1" resistance="1" input="pos vel" controller="10 0 5"/>
        <orientation joint="ball" kp="3" kv=".2" input="quat"/><motor joint="b"/>
        <orientation joint="ball" kp="3" kv=".2"/><dcmotor joint="b" input="pos vel" controller="0 0 5" motorconst="1"
          resistance="1" inductance="0 .001"/>""",
}
MEDIUM = 'density="1.2" viscosity=".01" wind="1 2 3"'
CASES: dict[str, tuple[dict[str, float], str]] = {
    **{name: ({"armature": 0, "damping": 0, "stiffness": 20}, actuators) for name, actuators in ACTUATORS.items()},
    "damping of 1e9": ({"armature": 0.1, "damping": 1e9, "stiffness": 0}, ""),
    "stiff string": ({"armature": 0, "damping": 0.1, "stiffness": 1e6}, ""),
}


def states(m: Any) -> Iterator[Any]:
    rng = np.random.default_rng(3)
    for k in range(3):
        data = mujoco.MjData(m)
        if k:
            mujoco.mj_integratePos(m, data.qpos, 0.3 * rng.normal(size=m.nv), 1.0)
            data.qvel[:], data.ctrl[:] = 0.5 * rng.normal(size=m.nv), rng.uniform(-0.5, 0.5, m.nu)
            data.act[:] = rng.uniform(0.0, 0.5, m.na)
        yield data


def of_step(m: Any, start: Any, dt: float) -> dict[str, Any]:
    data = mujoco.MjData(m)
    for name in ("qpos", "qvel", "ctrl", "act"):
        getattr(data, name)[:] = getattr(start, name)
    m.opt.timestep = dt
    sapwood.mujoco.forward(m, data)
    return {name: getattr(data, name).copy() for name in NAMES}


def extrapolated(m: Any, start: Any, t: float) -> dict[str, Any]:
    one, half, quarter = (of_step(m, start, t / parts) for parts in (1, 2, 4))
    return {name: (one[name] - 6 * half[name] + 8 * quarter[name]) / 3 for name in NAMES}


def relative(x: Any, y: Any) -> float:
    return float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-3)) if x.size else 0.0


def limits(m: Any, start: Any) -> dict[str, Any]:
    """The limit of each array: the first that does not change from one t to the next, else the one that does least."""
    best: dict[str, tuple[float, Any]] = {}
    before = extrapolated(m, start, 1e-3)
    for t in 10.0 ** -np.arange(4.0, 16.0):
        now = extrapolated(m, start, t)
        for name in NAMES:
            change = relative(now[name], before[name])
            if name not in best or (best[name][0] > 1e-8 and change < best[name][0]):
                best[name] = change, now[name]
        before = now
    return {name: found for name, (_, found) in best.items()}


@pytest.mark.parametrize("case", CASES)
def test_what_a_short_step_finds_is_mujocos(case: str) -> None:
    numbers, actuators = CASES[case]
    text = f"""<mujoco><option {MEDIUM}><flag constraint="disable"/></option><worldbody>{BODIES}</worldbody>{TENDONS}
      <actuator>{actuators}</actuator>{SENSORS}</mujoco>""".replace("{armature}", str(numbers["armature"]))
    text = text.replace("{damping}", str(numbers["damping"])).replace("{stiffness}", str(numbers["stiffness"]))
    m = mujoco.MjModel.from_xml_string(text)
    try:
        sapwood.mujoco.configure(tolerance=1e-14)
        for start in states(m):
            found = limits(m, start)
            m.opt.timestep = TINY
            mujoco.mj_forward(m, start)
            for name in NAMES:
                assert relative(found[name], getattr(start, name)) < 1e-6, name
    finally:
        sapwood.mujoco.configure()
