"""Springs and dampers whose forces are polynomials, beside MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

LAWS = {
    "linear": 'stiffness="30" damping=".2"',
    "springs": 'stiffness="20 -8 30" damping=".2"',
    "dampers": 'stiffness="3" damping=".1 .2 .3"',
    "no linear part": 'stiffness="0 5 40" damping="0 .4 .5"',
    "softening": 'stiffness="10 0 -3" damping=".1 0 .2"',
}

SCENE = """<mujoco><option timestep="1e-8"/><worldbody><site name="w" pos="-.3 .2 .9"/>
  <body pos="0 0 1"><joint name="a" axis="0 1 0" springref="20" {joint}/><geom size=".05" mass="1" pos="0 0 -.4"/>
    <body pos="0 0 -.4"><joint name="b" axis="1 0 0" {joint}/><geom size=".05" mass=".5" pos=".2 0 -.2"/>
      <site name="x" pos=".2 0 -.2"/></body></body>
  <body pos="1 0 0"><joint name="c" type="slide" axis="0 0 1" springref=".2" {joint}/>
    <geom size=".05" mass=".7"/></body>
</worldbody><tendon>{tendons}</tendon></mujoco>"""

TENDONS = """<fixed springlength="-.1 .2" {tendon}><joint joint="a" coef="2"/><joint joint="c" coef="-1"/></fixed>
<spatial springlength=".5" {tendon}><site site="w"/><site site="x"/></spatial>"""


def scene(law: str, *, tendons: bool) -> str:
    if tendons:
        return SCENE.format(joint="", tendons=TENDONS.format(tendon=LAWS[law]))
    return SCENE.format(joint=LAWS[law], tendons="")


@pytest.mark.parametrize("tendons", [False, True], ids=["joints", "tendons"])
@pytest.mark.parametrize("law", LAWS)
def test_forces_are_those_of_mujoco(law: str, tendons: bool) -> None:
    text = scene(law, tendons=tendons)
    theirs, ours = mujoco.MjModel.from_xml_string(text), sw.load(text, ground=None)
    assert not ours.warnings
    copies = [
        ours,
        sw.load(ours.to_mjcf(), ground=None),
        sw.Model.from_mujoco(theirs),
        sw.Model.from_bytes(ours.to_bytes()),
    ]
    data, rng = mujoco.MjData(theirs), np.random.default_rng(0)
    for scheme in ("bilinear", "midpoint", "symplectic-euler"):
        for k in range(20):
            sim = sw.Simulation(copies[k % 4], scheme=scheme, timestep=1e-8, tolerance=1e-15)
            sim.q[:] = data.qpos[:] = rng.normal(size=3)
            sim.v[:] = data.qvel[:] = rng.normal(size=3)
            mujoco.mj_forward(theirs, data)
            sim.step()
            forces, a = data.qfrc_spring + data.qfrc_damper, (sim.v - data.qvel) / 1e-8
            np.testing.assert_allclose(sim.passive_forces, forces, rtol=0, atol=1e-4 * np.abs(forces).max())
            np.testing.assert_allclose(a, data.qacc, rtol=0, atol=1e-4 * np.abs(data.qacc).max())


@pytest.mark.parametrize("tendons", [False, True], ids=["joints", "tendons"])
def test_energy_is_kept(tendons: bool) -> None:
    law = 'stiffness="40 -10 200"'
    parts = {"joint": "", "tendons": TENDONS.format(tendon=law)} if tendons else {"joint": law, "tendons": ""}
    for scheme in ("midpoint", "bilinear"):
        sim = sw.Simulation(sw.load(SCENE.format(**parts), ground=None), scheme=scheme, timestep=5e-4)
        sim.q[:], sim.v[:] = [0.4, -0.6, 0.3], [1.0, 2.0, -1.0]
        changes, first = [], sim.energy().total
        for _ in range(1000):
            sim.step(20)
            changes.append(sim.energy().total - first)
        # Of 10 to 30 J. The default scheme's energy swings with the springs', as it does with linear ones.
        assert abs(np.mean(changes[-100:])) < 0.2
        assert scheme != "midpoint" or np.abs(changes).max() < 0.1


def test_a_cubic_spring_swings_at_its_rate() -> None:
    """Duffing's oscillator without a linear part: period 7.416298709205487 / (A √(k / m))."""
    text = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint type="slide" stiffness="0 0 50"/>
      <geom size=".1" mass="2"/></body></worldbody></mujoco>"""
    for scheme in ("bilinear", "midpoint"):
        sim = sw.Simulation(sw.load(text, ground=None), scheme=scheme, timestep=1e-3)
        sim.q[:] = 0.8
        period = 7.416298709205487 / (0.8 * np.sqrt(50 / 2))
        crossings: list[float] = []
        while len(crossings) < 11:
            before = sim.q[0], sim.time
            sim.step()
            if before[0] < 0 <= sim.q[0]:
                crossings.append(before[1] + 1e-3 * before[0] / (before[0] - sim.q[0]))
        assert (crossings[-1] - crossings[0]) / 10 == pytest.approx(period, rel=1e-4)


def test_stiff_ones_are_stable_at_large_steps() -> None:
    for tendons in (False, True):
        law = 'stiffness="10 0 1e6" damping="0 0 10"'
        parts = {"joint": "", "tendons": TENDONS.format(tendon=law)} if tendons else {"joint": law, "tendons": ""}
        sim = sw.Simulation(sw.load(SCENE.format(**parts), ground=None), timestep=0.01)
        sim.q[:], sim.v[:] = [0.4, -0.6, 0.3], [1.0, 2.0, -1.0]
        first = sim.energy().total
        for _ in range(300):
            sim.step()
            assert sim.energy().total <= first * 1.01


def test_batches_and_balls() -> None:
    ours = sw.load(scene("springs", tendons=False))
    with pytest.warns(sw.PerformanceWarning, match="springs or dampers are polynomials"):
        batch = sw.Batch(ours, 2)
    sim = sw.Simulation(ours, contact="coulomb")
    sim.v[:] = batch.v[:] = 1.0
    batch.step(5)
    sim.step(5)
    np.testing.assert_allclose(batch.v[1], sim.v, rtol=1e-9)
    ball = "<mujoco><worldbody><body><joint type='ball' stiffness='1 2'/><geom size='1'/></body></worldbody></mujoco>"
    assert "only the linear part" in str(sw.load(ball).warnings[0])
