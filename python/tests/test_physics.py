"""Motion against closed forms."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from scenes import tower

import sapwood as sw

scipy_integrate = pytest.importorskip("scipy.integrate")
scipy_special = pytest.importorskip("scipy.special")

G = 9.81


def simulate(text: str, **options: float) -> sw.Simulation:
    return sw.Simulation(sw.load(text), **options)  # type: ignore[arg-type]


# --- free motion ---------------------------------------------------------------------------------------------------


def test_free_fall() -> None:
    dt, n = 1e-3, 1000
    sim = simulate('<mujoco><worldbody><body pos="1 2 30"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>')
    sim = sw.Simulation(sim.model, timestep=dt)
    sim.v = [3.0, 0, 0, 0, 0, 5.0]
    sim.step(n)
    assert sim.time == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(sim.v, [3, 0, -G, 0, 0, 5], rtol=0, atol=1e-11)
    # Symplectic Euler's own closed form, dt²·n(n+1)/2 in place of t²/2.
    np.testing.assert_allclose(sim.q[:3], [4, 2, 30 - G * dt**2 * n * (n + 1) / 2], rtol=0, atol=1e-11)
    # Five radians about z.
    turn = sim.q[3] + 1j * sim.q[6]
    assert np.angle(turn**2) == pytest.approx(5.0 - 2 * np.pi, abs=1e-11)
    assert np.linalg.norm(sim.q[3:]) == pytest.approx(1, abs=1e-15)


PENDULUM = """
<mujoco><option timestep="0.0005"/><worldbody>
  <body pos="0 0 2"><joint axis="0 1 0"/>
    <inertial pos="0 0 -0.7" mass="2" diaginertia="0.05 0.04 0.03"/></body>
</worldbody></mujoco>"""


def test_pendulum_period() -> None:
    """A compound pendulum from 120°: T = 4 √(I/mgl) K(sin²(θ₀/2))."""
    mass, length, inertia = 2.0, 0.7, 0.04
    theta = np.deg2rad(120)
    omega = np.sqrt(mass * G * length / (inertia + mass * length**2))
    period = 4 / omega * scipy_special.ellipk(np.sin(theta / 2) ** 2)
    sim = simulate(PENDULUM)
    sim.q = [theta]
    crossings: list[float] = []
    while len(crossings) < 5:
        before, time = float(sim.q[0]), sim.time
        sim.step()
        after = float(sim.q[0])
        if before * after < 0:
            crossings.append(time + sim.timestep * before / (before - after))
    assert (crossings[4] - crossings[0]) / 2 == pytest.approx(period, rel=1e-5)


def test_energy_is_kinetic_and_potential() -> None:
    sim = simulate(PENDULUM)
    sim.q, sim.v = [0.4], [1.5]
    energy = sim.energy()
    assert energy.kinetic == pytest.approx(0.5 * (0.04 + 2 * 0.7**2) * 1.5**2, rel=1e-14)
    assert energy.total == energy.kinetic + energy.potential
    sim.q = [1.3]
    climb = 2 * G * 0.7 * (np.cos(0.4) - np.cos(1.3))
    assert sim.energy().potential - energy.potential == pytest.approx(climb, rel=1e-12)


def test_pendulum_keeps_its_energy() -> None:
    """Symplectic Euler: the error of the energy is of first order in dt and does not grow."""
    sim = simulate(PENDULUM)
    sim.q = [2.0]
    start = sim.energy().total
    errors = []
    for _ in range(40):
        sim.step(500)
        errors.append(abs(sim.energy().total - start))
    swing = 2 * G * 0.7 * 2
    assert max(errors) < 2e-3 * swing
    assert max(errors[20:]) < 1.2 * max(errors[:20])


COLLISION = """
<mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody>
  <body pos="0 0 0"><freejoint/><geom size="0.1" mass="1"/></body>
  <body pos="0.35 0.08 0.03"><freejoint/><geom size="0.15" mass="3"/></body>
</worldbody></mujoco>"""


def test_collision_conserves_momentum() -> None:
    """An oblique, rough, spinning collision: linear and angular momentum to round-off, if asked for."""
    sim = simulate(COLLISION, tolerance=1e-12)
    sim.v = [2.0, 0, 0.1, 3, 5, -8, -1.0, 0.2, 0, 1, 0, 4]
    masses, radii = np.array([1.0, 3.0]), np.array([0.1, 0.15])

    def momentum() -> np.ndarray:
        q, v = sim.q.reshape(2, 7), sim.v.reshape(2, 6)
        linear = masses[:, None] * v[:, :3]
        spin = [
            0.4 * m * r**2 * rotate(quaternion, omega)
            for m, r, quaternion, omega in zip(masses, radii, q[:, 3:], v[:, 3:], strict=True)
        ]
        return np.concatenate([linear.sum(0), np.cross(q[:, :3], linear).sum(0) + np.sum(spin, 0)])

    before, kinetic, touched = momentum(), sim.energy().kinetic, False
    for _ in range(300):
        sim.step()
        touched |= sim.stats.active_contacts > 0
    assert touched
    np.testing.assert_allclose(momentum(), before, rtol=0, atol=1e-12)
    assert sim.energy().kinetic < kinetic


def rotate(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    w, axis = quaternion[0], quaternion[1:]
    return np.asarray(vector + 2 * np.cross(axis, np.cross(axis, vector) + w * vector))


def test_articulated_body_conserves_momentum() -> None:
    """No gravity, no contact: the root's generalized momentum is the total one.

    The default step keeps it; where Coriolis forces are those at its beginning its drift halves with the step.
    """
    text = """
    <mujoco><option gravity="0 0 0"/><worldbody><body><freejoint/><geom type="box" size="0.1 0.2 0.3"/>
      <body pos="0 0.2 0.3"><joint type="ball"/><geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.05"/>
        <body pos="0.4 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0.1" size="0.04"/></body>
      </body></body></worldbody></mujoco>"""
    model = sw.load(text)

    def drift(scheme: Literal["bilinear", "symplectic-euler"], dt: float) -> float:
        sim = sw.Simulation(model, timestep=dt, scheme=scheme)
        sim.v = [0.3, 0.1, 0, 1, 2, 0.5, 3, -1, 2, 4]
        before = (model.mass_matrix(sim.q) @ sim.v)[:3]
        sim.step(round(0.5 / dt))
        return float(np.abs((model.mass_matrix(sim.q) @ sim.v)[:3] - before).max() / np.abs(before).max())

    # Round-off of 250 and 500 steps.
    assert max(drift("bilinear", 2e-3), drift("bilinear", 1e-3)) < 1e-12
    drifts = [drift("symplectic-euler", dt) for dt in (2e-3, 1e-3)]
    assert drifts[1] < 0.02
    assert drifts[0] / drifts[1] == pytest.approx(2, abs=0.3)


def test_applied_wrench_acts_at_the_centre_of_mass() -> None:
    text = """
    <mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody><body euler="30 40 50"><freejoint/>
      <inertial pos="0.3 0.1 -0.2" mass="2" diaginertia="0.2 0.2 0.2"/></body></worldbody></mujoco>"""
    sim = simulate(text)
    sim.applied_wrench[1] = [0, 0, 0, 4, 0, -2]
    sim.step()
    # No moment about the centre of mass: pure translation.
    np.testing.assert_allclose(sim.v, 1e-3 * np.array([2, 0, -1, 0, 0, 0]), rtol=0, atol=1e-15)
    sim.reset()
    sim.applied_wrench[1] = [0.6, 0, 0, 0, 0, 0]
    sim.step()
    np.testing.assert_allclose(rotate(sim.q[3:], sim.v[3:]), [0.003, 0, 0], rtol=0, atol=1e-8)


# --- actuators, springs, limits ------------------------------------------------------------------------------------


def test_position_servo_comes_to_rest_where_its_spring_balances_gravity() -> None:
    text = """
    <mujoco><worldbody><body><joint name="j" axis="0 1 0" damping="2"/>
      <inertial pos="0.5 0 0" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody>
      <actuator><position joint="j" kp="40"/></actuator></mujoco>"""
    sim = simulate(text)
    sim.ctrl[0] = 0.3
    sim.step(10000)
    # Gravity turns +x towards −z, which is a positive turn about y.
    q = float(sim.q[0])
    assert 40 * (0.3 - q) + G * 0.5 * np.cos(q) == pytest.approx(0, abs=1e-9)
    assert abs(sim.v[0]) < 1e-12


def test_motor_force_is_clamped_and_geared() -> None:
    text = """
    <mujoco><option gravity="0 0 0"/><worldbody><body><joint name="j" type="slide" axis="1 0 0"/>
      <geom size="0.1" mass="2"/></body></worldbody>
      <actuator><motor joint="j" gear="3" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>"""
    sim = simulate(text)
    sim.ctrl[:] = 7
    sim.step(100)
    assert sim.v[0] == pytest.approx(3 * 1 / 2 * sim.time, rel=1e-12)


def test_joint_limit_holds_a_weight() -> None:
    text = """
    <mujoco><worldbody><body><joint axis="0 1 0" limited="true" range="-30 45"/>
      <inertial pos="0.5 0 0" mass="1" diaginertia="0.01 0.01 0.01"/></body></worldbody></mujoco>"""
    sim = simulate(text)
    sim.step(3000)
    assert sim.stats.limits == 1
    assert abs(sim.v[0]) < 1e-10
    assert sim.q[0] == pytest.approx(np.deg2rad(45), abs=1e-5)


# --- contact -------------------------------------------------------------------------------------------------------


def test_compliant_sphere_bounces_like_kelvin_voigt() -> None:
    """A sphere on f = k (δ + τ δ̇)₊: k from its rest depth, then the bounce against an adaptive integrator.

    The error at least halves with dt: touch and parting are of first order, the spring between them of second.
    """
    stiffness, tau, height = 4e4, 3e-4, 0.5
    builder = sw.ModelBuilder.from_model(
        sw.load("""
    <mujoco><worldbody>
      <geom type="plane" size="1 1 1"/>
      <body pos="0 0 0.1"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="2"/></body>
    </worldbody></mujoco>""")
    )
    builder.add_pair(*builder.geoms, compliance=(stiffness, tau))
    model = builder.build()
    rest = sw.Simulation(model, timestep=1e-3, tolerance=1e-9)
    rest.step(20000)
    k = 2 * G / -rest.q[0]
    assert k == pytest.approx(stiffness, rel=1e-6), "its depth at rest"
    assert rest.contacts["impulse"][:, 2].sum() == pytest.approx(2 * G * 1e-3, rel=1e-6)

    exact = kelvin_voigt_apex(height, k / 2, tau)
    assert 0.3 * height < exact < 0.9 * height, "a bounce that shows something"
    steps = (1e-4, 5e-5, 2.5e-5)
    errors = [bounce_apex(model, dt, height) - exact for dt in steps]
    assert abs(errors[-1]) < 0.01 * height
    assert errors[0] / errors[1] > 1.8
    assert abs(2 * errors[2] - errors[1]) < 5e-4 * height


def bounce_apex(model: sw.Model, dt: float, height: float) -> float:
    sim = sw.Simulation(model, timestep=dt)
    sim.q[0] = height
    heights = []
    while sim.time < 0.75:
        sim.step(5)
        heights.append(float(sim.q[0]))
    lowest = int(np.argmin(heights))
    return max(heights[lowest:])


def kelvin_voigt_apex(height: float, k: float, tau: float) -> float:
    """Height of the bounce of a point dropped onto f = k (δ + τ δ̇)₊ per unit of mass."""

    def fall(_: float, x: np.ndarray) -> list[float]:
        force = max(0.0, k * (-x[0] - tau * x[1])) if x[0] < 0 else 0.0
        return [x[1], force - G]

    speed = np.sqrt(2 * G * height)
    run = scipy_integrate.solve_ivp(fall, (0, 0.2), [0.0, -speed], rtol=1e-11, atol=1e-13, max_step=1e-4)
    leaves = next(i for i, (z, v) in enumerate(run.y.T) if v > 0 and z >= 0)
    z, v = run.y[:, leaves]
    return float(z + v * v / (2 * G))


def incline(degrees: float, mu: float, geom: str, height: float) -> str:
    """A body on a plane that falls towards +x."""
    angle = np.deg2rad(degrees)
    x, z = height * np.sin(angle), height * np.cos(angle)
    return f"""
    <mujoco><option timestep="0.005"/><worldbody>
      <geom type="plane" size="9 9 1" euler="0 {degrees} 0" friction="{mu}"/>
      <body pos="{x} 0 {z}" euler="0 {degrees} 0"><freejoint/><geom {geom} friction="{mu}"/></body>
    </worldbody></mujoco>"""


def downhill(sim: sw.Simulation, degrees: float) -> float:
    angle = np.deg2rad(degrees)
    return float(sim.v[:3] @ [np.cos(angle), 0, -np.sin(angle)])


BLOCK = 'type="box" size="0.1 0.1 0.1"'


def test_block_sticks_on_an_incline() -> None:
    """Below the friction angle it creeps, by regularisation, no faster than σ g dt (spec: about 5e-7 m/s here)."""
    sim = simulate(incline(20, 0.7, BLOCK, 0.1))
    sim.step(400)
    assert 0 < downhill(sim, 20) < 1e-5 * G * sim.timestep
    impulse = sim.contacts["impulse"].sum(axis=0)
    weight = sim.model.mass * G * sim.timestep
    assert impulse[2] == pytest.approx(weight * np.cos(np.deg2rad(20)), rel=1e-5)
    assert np.hypot(*impulse[:2]) == pytest.approx(weight * np.sin(np.deg2rad(20)), rel=1e-5)


@pytest.mark.parametrize(("degrees", "mu"), [(20, 0.2), (30, 0.5), (40, 0.0)])
def test_block_slides_on_an_incline(degrees: float, mu: float) -> None:
    """Above it a = g (sin θ − μ cos θ).

    The cone of SAP opens a gap of dt μ v while sliding; it grows steadily, so the acceleration is exact once it stands.
    """
    sim = simulate(incline(degrees, mu, BLOCK, 0.1))
    sim.step(40)
    v, t = downhill(sim, degrees), sim.time
    sim.step(100)
    angle = np.deg2rad(degrees)
    expected = G * (np.sin(angle) - mu * np.cos(angle))
    assert (downhill(sim, degrees) - v) / (sim.time - t) == pytest.approx(expected, rel=1e-4)


def test_sphere_rolls_down_an_incline() -> None:
    """a = 5/7 g sin θ for a solid sphere that does not slip."""
    sim = simulate(incline(15, 1.0, 'type="sphere" size="0.2"', 0.2))
    sim.step(40)
    v, t = downhill(sim, 15), sim.time
    sim.step(200)
    expected = 5 / 7 * G * np.sin(np.deg2rad(15))
    assert (downhill(sim, 15) - v) / (sim.time - t) == pytest.approx(expected, rel=1e-4)
    assert np.linalg.norm(sim.v[3:]) * 0.2 == pytest.approx(downhill(sim, 15), rel=1e-4)


def test_sphere_goes_from_sliding_to_rolling() -> None:
    """Thrown without spin at v₀ a solid sphere ends up rolling at 5/7 v₀, whatever the friction."""
    text = """
    <mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="9 9 1" friction="0.3"/>
      <body pos="0 0 0.1"><freejoint/><geom size="0.1" friction="0.3"/></body></worldbody></mujoco>"""
    sim = simulate(text)
    sim.step(200)
    sim.v[0] = 2.0
    sim.step(2000)
    assert sim.v[0] == pytest.approx(5 / 7 * 2.0, rel=1e-3)
    assert sim.v[4] * 0.1 == pytest.approx(sim.v[0], rel=1e-4)


def test_resting_box_does_not_sink() -> None:
    sim = simulate(tower(1))
    sim.step(100)
    rest = float(sim.q[2])
    sim.step(1000)
    assert abs(sim.q[2] - rest) < 1e-12
    assert 0 <= 0.1 - rest < 1e-5
    assert sim.contacts["impulse"][:, 2].sum() == pytest.approx(G * sim.timestep, rel=1e-6)


def test_tower_of_ten_boxes_stands() -> None:
    """10 s at dt 10 ms: drift under 1 µm/s, and each box carries the weight above it to 1e-3."""
    count = 10
    sim = simulate(tower(count))
    assert sim.timestep == 0.01
    sim.step(200)
    before = sim.q.reshape(count, 7).copy()
    sim.step(800)
    after = sim.q.reshape(count, 7)
    assert sim.time == pytest.approx(10)
    assert np.abs(after[:, :3] - before[:, :3]).max() < 1e-6 * 8
    assert np.abs(after[:, 4:]).max() < 1e-5, "upright"
    contacts = sim.contacts
    for upper in range(1, count + 1):
        between = contacts[(contacts["bodies"] == upper).any(axis=1) & (contacts["bodies"] == upper - 1).any(axis=1)]
        carried = between["impulse"][:, 2].sum() / sim.timestep
        assert carried == pytest.approx((count - upper + 1) * G, rel=1e-3), f"below box {upper}"


def test_contacts_describe_the_resting_box() -> None:
    sim = simulate(tower(1))
    sim.step(100)
    contacts = sim.contacts
    assert len(contacts) == 4
    assert set(map(tuple, np.sort(contacts["bodies"], axis=1))) == {(0, 1)}
    # From the first body towards the second, whichever comes first.
    upwards = np.where(contacts["bodies"][:, 1] == 1, 1.0, -1.0)
    np.testing.assert_allclose(contacts["normal"] * upwards[:, None], [[0, 0, 1]] * 4, atol=1e-9)
    np.testing.assert_allclose(np.abs(contacts["position"][:, :2]), 0.1, atol=1e-6)
    assert np.all(np.abs(contacts["gap"]) < 1e-5)
    frame = np.concatenate([contacts["tangents"], contacts["normal"][:, None]], axis=1)
    np.testing.assert_allclose(frame @ frame.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (4, 3, 3)), atol=1e-12)
