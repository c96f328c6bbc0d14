"""MuJoCo's flag `sleep`: what rests falls asleep, and what sleeps wakes, as MuJoCo's does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sapwood as sw

if TYPE_CHECKING:
    from collections.abc import Callable

mujoco = pytest.importorskip("mujoco")

FLAG = '<option timestep="0.002"><flag sleep="enable"/></option>'

# Two boxes that hang in the air until a third one falls on them, 0.3 m below it after 0.25 s.
STACK = f"""<mujoco>{FLAG}<worldbody><geom type="plane" size="9 9 1"/>
  <body pos="0 0 .4" sleep="init"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  <body pos="0 0 .7" sleep="init"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  <body pos="0 0 1.2"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>"""

# A string that gets taut, and one that ties two sleepers.
STRINGS = f"""<mujoco>{FLAG}<worldbody>
  <body pos=".3 0 1" sleep="init"><freejoint/><geom size=".1" mass="1"/><site name="a"/></body>
  <body pos="-.3 0 1"><freejoint/><geom size=".1" mass="1"/><site name="b"/></body>
  <body pos=".9 0 1" sleep="init"><freejoint/><geom size=".1" mass="1"/><site name="c"/></body></worldbody>
  <tendon><spatial limited="true" range="0 .8"><site site="a"/><site site="b"/></spatial>
    <spatial limited="true" range="0 .8"><site site="a"/><site site="c"/></spatial></tendon></mujoco>"""


def woken_at(text: str, sleeps: Callable[[], Any], step: Callable[[], object]) -> list[float]:
    """When each tree is first awake, s; infinite where it never is."""
    times = np.full(len(sleeps()), np.inf)
    for k in range(400):
        step()
        times[~np.asarray(sleeps()) & np.isinf(times)] = 0.002 * k
    return list(times)


@pytest.mark.parametrize("text", [STACK, STRINGS])
def test_sleepers_wake_when_mujocos_do(text: str) -> None:
    import sapwood.mujoco as sapwood_mujoco

    m = mujoco.MjModel.from_xml_string(text)
    theirs, ours, sim = mujoco.MjData(m), mujoco.MjData(m), sw.Simulation(sw.load(text))
    start = np.array(theirs.qpos)

    def moves_not(q: Any) -> Any:
        return (np.asarray(q).reshape(-1, 7) == start.reshape(-1, 7)).all(axis=1)

    expected = woken_at(text, lambda: theirs.tree_awake == 0, lambda: mujoco.mj_step(m, theirs))
    assert np.isfinite(expected).all()
    inside = woken_at(text, lambda: moves_not(ours.qpos), lambda: sapwood_mujoco.step(m, ours))
    of_file = woken_at(text, lambda: moves_not(sim.q), sim.step)
    # Contacts are seen a step before bodies touch, what is in reach of a limit two; a body that is woken by another
    # in MuJoCo's stack is so by one that has moved already.
    np.testing.assert_allclose(inside, expected, rtol=0, atol=0.02)
    np.testing.assert_allclose(of_file, expected, rtol=0, atol=0.02)


def test_equalities_and_forces_wake_sleepers() -> None:
    text = f"""<mujoco>{FLAG}<worldbody>
      <body name="a" pos="0 0 2" sleep="init"><freejoint/><geom size=".1" mass="1"/></body>
      <body name="b" pos="1 0 2"><freejoint/><geom size=".1" mass="1"/></body></worldbody>
      <equality><connect name="tie" body1="a" body2="b" anchor=".5 0 0" active="false"/></equality></mujoco>"""
    sim = sw.Simulation(sw.load(text))
    sim.step(10)
    assert sim.stats.asleep == 1
    assert sim.q[2] == 2.0
    sim.applied_wrench[1, 5] = 1.0
    sim.step()
    assert sim.stats.asleep == 0
    sim.reset()
    sim.step(10)
    assert sim.stats.asleep == 1
    sim.equality("tie").active = True
    sim.step(10)
    assert sim.stats.asleep == 0
    assert sim.q[2] < 2.0


def test_sleepers_are_saved_written_and_carried() -> None:
    model = sw.load(STACK)
    for twin in (model, sw.load(model.to_mjcf()), sw.Model.from_bytes(model.to_bytes())):
        sim = sw.Simulation(twin)
        sim.step(10)
        assert sim.stats.asleep == 2
        again = sw.Simulation(twin)
        again.restore(sim.state())
        again.step()
        assert again.stats.asleep == 2
    assert 'sleep="enable"' not in sw.load(STACK.replace(FLAG, "")).to_mjcf()
    with pytest.warns(UserWarning, match="bodies start asleep"):
        batch = sw.Batch(model, 2)
    batch.step(10)
    assert batch.q[1, 2] == 0.4


BRICK = '<body pos="{} 0 .2"><freejoint/><geom type="box" size=".03 .1 .2" mass="1"/></body>'

# A row of bricks, the first of which is tipped over, beside one that nothing touches and one that the file keeps awake.
DOMINOS = f"""<mujoco>{FLAG.replace("timestep", 'sleep_tolerance="3e-4" timestep')}<worldbody>
  <geom type="plane" size="9 9 1" friction=".5"/>
  {"".join(BRICK.format(0.15 * k) for k in range(6))}
  <body pos="0 2 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  <body pos="1 2 .1" sleep="never"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  <body pos="2 2 1"><joint name="hinge" axis="0 1 0" damping="1"/><geom size=".1" mass="1"/></body>
  </worldbody><actuator><motor joint="hinge"/></actuator></mujoco>"""


def test_dominos_sleep_as_mujocos() -> None:
    import sapwood.mujoco as sapwood_mujoco

    m = mujoco.MjModel.from_xml_string(DOMINOS)
    theirs, inside, sim = mujoco.MjData(m), mujoco.MjData(m), sw.Simulation(sw.load(DOMINOS))

    def step(n: int) -> None:
        for _ in range(n):
            mujoco.mj_step(m, theirs)
            sapwood_mujoco.step(m, inside)
        sim.step(n)

    def asleep() -> list[int]:
        return [m.ntree - theirs.ntree_awake, m.ntree - inside.ntree_awake, sim.stats.asleep]

    step(300)
    # All but one that may not, and one that a motor drives.
    assert asleep() == [7, 7, 7]
    assert inside.tree_asleep[6] == 6
    quiet, contacts = np.array(sim.q), sim.stats.contacts
    assert 0 < contacts <= 4
    step(50)
    np.testing.assert_array_equal(sim.q[:49], quiet[:49])
    for v in (theirs.qvel, inside.qvel, sim.v):
        v[4] = 6.0
    # One after another, as long as they move: of MuJoCo's row seven are awake when the last one falls.
    for n in (1, 249, 150, 150):
        step(n)
        assert np.ptp(asleep()) <= 1
    assert asleep() == [1, 1, 1]
    step(250)
    for q in (theirs.qpos, inside.qpos, sim.q):
        assert q[5 * 7 + 2] < 0.05
    # The one beside them has been woken by nothing.
    np.testing.assert_array_equal(sim.q[42:49], quiet[42:49])
    # MuJoCo's row creeps on, and its friction yields inside, too.
    step(100)
    assert sim.stats.asleep == 7
    assert not sim.v[:42].any()
    at_rest = np.array(sim.q)
    step(100)
    np.testing.assert_array_equal(sim.q[:49], at_rest[:49])
    # What is asleep for MuJoCo wakes there, whoever makes the step.
    assert inside.tree_awake[6] == 0
    inside.qvel[6 * 6 + 2] = 1.0
    mujoco.mj_step(m, inside)
    assert inside.tree_awake[6] == 1


def test_options_take_the_place_of_the_flag() -> None:
    model = sw.load(DOMINOS)
    for sleep_after, expected in ((None, 7), (math.inf, 0), (1.0, 0)):
        sim = sw.Simulation(model, sleep_after=sleep_after)
        sim.step(100)
        assert sim.stats.asleep == expected, sleep_after
    sim = sw.Simulation(model, sleep_after=0.05)
    sim.step(24)
    assert sim.stats.asleep == 0
    sim.step(5)
    assert sim.stats.asleep == 7
    # With an option and without the flag, the file's word counts as well.
    sim = sw.Simulation(sw.load(DOMINOS.replace('sleep="enable"', "")), sleep_after=0.05)
    sim.step(50)
    assert sim.stats.asleep == 7
    with pytest.raises(sw.ModelError, match="sleep"):
        sw.load(DOMINOS.replace("never", "sometimes"))
    assert sw.load(model.to_mjcf()).to_mjcf() == model.to_mjcf()
    assert 'sleep="never"' in model.to_mjcf()
    assert 'sleep_tolerance="0.0003"' in model.to_mjcf()


@pytest.mark.parametrize(
    ("tolerance", "options", "sleeps"), [(0.1, {}, 1), (1e-3, {}, 0), (1e-3, {"sleep_speed": 0.1}, 1)]
)
def test_what_is_slow_enough_sleeps(tolerance: float, options: dict[str, Any], sleeps: int) -> None:
    text = f'''<mujoco><option gravity="0 0 0" sleep_tolerance="{tolerance}"><flag sleep="enable"/></option>
      <worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>'''
    sim = sw.Simulation(sw.load(text), **options)
    sim.v[0] = 0.01
    sim.step(9)
    assert sim.stats.asleep == 0
    assert sim.v[0] == 0.01
    # It has fallen asleep at the end of the tenth.
    sim.step(2)
    assert sim.stats.asleep == sleeps
    assert (sim.v[0] == 0.0) == bool(sleeps)


def test_driven_trees_sleep_where_the_file_allows_it() -> None:
    text = DOMINOS.replace('<body pos="2 2 1">', '<body pos="2 2 1" sleep="allowed">')
    m, sim = mujoco.MjModel.from_xml_string(text), sw.Simulation(sw.load(text))
    d = mujoco.MjData(m)
    for _ in range(100):
        mujoco.mj_step(m, d)
    sim.step(100)
    assert [m.ntree - d.ntree_awake, sim.stats.asleep] == [8, 8]
    # As in MuJoCo, a motor wakes nobody.
    sim.ctrl[0] = d.ctrl[0] = 1.0
    mujoco.mj_step(m, d)
    sim.step(1)
    assert [m.ntree - d.ntree_awake, sim.stats.asleep] == [8, 8]


def test_what_sleeps_altogether_makes_steps_that_change_nothing() -> None:
    text = DOMINOS.replace('sleep="never"', "").replace('<motor joint="hinge"/>', "")
    sim = sw.Simulation(sw.load(text))
    sim.step(50)
    assert sim.stats.asleep == 9
    twin = sw.Simulation(sw.load(text))
    twin.restore(sim.state())
    sim.step(20)
    twin.step(20)
    assert sim.state() == twin.state()
    assert sim.time == pytest.approx(70 * 0.002)
    assert sim.acceleration.any() == 0
    sim.applied_force[2] = 20.0
    sim.step(20)
    assert sim.stats.asleep == 8
    assert sim.q[2] > 0.2
