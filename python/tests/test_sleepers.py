"""Bodies that start asleep (`sleep="init"`): they wake when, and only when, MuJoCo's do."""

from __future__ import annotations

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
    assert "sleep" not in sw.load(STACK.replace(FLAG, "")).to_mjcf()
    with pytest.warns(UserWarning, match="asleep"):
        batch = sw.Batch(model, 2)
    batch.step(10)
    assert batch.q[1, 2] == 0.4
