"""The schemes suite: its references against closed forms and other engines, and what it reads off curves."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from agreement import random_quaternion

import sapwood as sw
from sapwood.bench import schemes
from sapwood.bench.schemes_balls import GRAVITY, Billiards, BouncingBall, LopsidedBall
from sapwood.bench.schemes_cases import CASES, humanoid
from sapwood.bench.schemes_fit import Point, cost_at, front, order, slopes
from sapwood.bench.schemes_runs import start
from sapwood.bench.schemes_systems import (
    Articulated,
    DoublePendulum,
    FreeBody,
    System,
    Top,
    halving_rk4,
    rotation_vector,
    solve,
    turned,
)
from sapwood.bench.svg import Curve, plot

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("pinocchio")
pytest.importorskip("scipy")


def curve(slope: float, count: int = 8) -> list[Point]:
    """Errors that fall with this power, times that grow as steps get shorter."""
    return [Point(0.1 * 2.0**-k, 1e-3 * 2.0**k, (0.1 * 2.0**-k) ** slope) for k in range(count)]


def test_an_order_is_that_of_the_finest_runs_above_the_floor() -> None:
    points = curve(2.0)
    assert order(points, 0.0) == pytest.approx(2.0)
    # Coarse runs that are not yet in the regime, and fine ones that are round-off, do not count.
    bent = [points[0]._replace(error=math.inf), points[1]._replace(error=5.0), *points[2:6]]
    noise = [point._replace(error=1e-13) for point in points[6:]]
    assert order([*bent, *noise], 1e-11) == pytest.approx(2.0)
    assert order(points[:3], 0.0) is None
    # What lies beyond a divergence says nothing.
    assert order([*points[:4], points[4]._replace(error=math.inf), *points[5:]], 0.0) is None


def test_slopes_between_runs_show_whether_they_settle() -> None:
    assert slopes(curve(1.0), 0.0) == pytest.approx([1.0, 1.0, 1.0])
    # Errors that stop growing with the step: of coarse runs the slope is less.
    bent = [point._replace(error=1 - math.exp(-30 * point.timestep)) for point in curve(1.0)]
    found = slopes(bent, 0.0)
    assert found == sorted(found)
    assert found[0] < found[-1] < 1
    assert slopes(curve(1.0)[:1], 0.0) == []


def undamped_bounce(time: float) -> float:
    """The height of the elastic ball once it has bounced, m: it leaves as fast as it came."""
    stiffness, touch = 9e4, math.sqrt(0.4 / GRAVITY)
    rate, sag = math.sqrt(stiffness), GRAVITY / stiffness
    # Depth: sag (1 − cos) + v/ω sin; back at zero by symmetry about its turning point.
    contact = 2 / rate * (math.pi - math.atan(GRAVITY * touch / (rate * sag)))
    flight = time - touch - contact
    return 0.05 + GRAVITY * touch * flight - 0.5 * GRAVITY * flight * flight


def test_the_elastic_ball_follows_the_closed_form() -> None:
    case = CASES["elastic-bouncing-ball"]
    begin = start(case)
    ((end, _),) = solve(case.system(), begin.q, begin.v, [0.3], longest=case.longest)
    assert end[2] == pytest.approx(undamped_bounce(0.3), abs=1e-11)
    # Nothing of the damper is left in the text either.
    sim = sw.Simulation(begin.model, timestep=1e-5, scheme="midpoint", tolerance=1e-12)
    sim.q = begin.q
    for _ in range(30_000):
        sim.step()
    assert sim.q[2] == pytest.approx(undamped_bounce(0.3), abs=1e-8)


def test_costs_at_an_error_lie_on_the_front() -> None:
    points = curve(2.0)
    # error = (1e-4 / cost)², so cost = 1e-4 / √error.
    for error in (3e-3, 1e-3, 1e-4):
        assert cost_at(points, error) == pytest.approx(1e-4 / math.sqrt(error))
    assert cost_at(points, 0.5) == pytest.approx(points[0].cost)
    assert cost_at(points, 1e-9) is None
    # A run that is dear and wrong changes nothing.
    assert cost_at([Point(1.0, 1.0, 0.1), *points, Point(1.0, 1e-9, math.inf)], 1e-3) == cost_at(points, 1e-3)
    assert front([*points[::-1], Point(0.0, 1.0, 1.0)]) == points


def test_a_symmetric_free_body_precesses() -> None:
    across, along, spin = 2.0, 1.0, np.array([0.3, 0.0, 4.0])
    body = FreeBody(1.0, (across, across, along))
    q, v = np.array([0, 0, 0, 1.0, 0, 0, 0]), np.concatenate([np.zeros(3), spin])
    ((end, rate),) = solve(body, q, v, [1.7])
    turn = (along - across) / across * spin[2] * 1.7
    np.testing.assert_allclose(rate[3:], [0.3 * math.cos(turn), 0.3 * math.sin(turn), 4.0], atol=1e-11)
    np.testing.assert_allclose(body.angular_momentum(end, rate), body.angular_momentum(q, v), atol=1e-11)
    assert body.energy(end, rate) == pytest.approx(body.energy(q, v), rel=1e-12)


def test_a_top_precesses_steadily_and_leans_no_further() -> None:
    top, lean = Top(0.1, 0.05, 2.9e-4, 8e-5), 0.3
    # The precession Ω and the spin s about the axis of steady motion: (C s − A Ω cos) Ω = m g h.
    precession = 3.0
    spin = (0.1 * 9.81 * 0.05 / precession + 2.9e-4 * precession * math.cos(lean)) / 8e-5
    q = np.array([math.cos(lean / 2), math.sin(lean / 2), 0.0, 0.0])
    # The vertical leans by −lean about x as the body sees it; what is not spin is across the axis.
    v = np.array([0.0, precession * math.sin(lean), spin])
    ((end, rate),) = solve(top, q, v, [0.4])
    axis = turned(end, np.array([0.0, 0.0, 1.0]))
    turn = 0.4 * precession
    expected = [math.sin(lean) * math.sin(turn), -math.sin(lean) * math.cos(turn), math.cos(lean)]
    np.testing.assert_allclose(axis, expected, atol=1e-10)
    assert rate[2] == pytest.approx(spin)
    assert top.energy(end, rate) == pytest.approx(top.energy(q, v), rel=1e-12)


@pytest.mark.parametrize(
    ("scene", "system"),
    [
        ("tumbling-body", FreeBody(1.0, (0.05 / 3, 0.0425 / 3, 0.0125 / 3))),
        ("double-pendulum", DoublePendulum()),
        ("spinning-top", Top(0.1, 0.05, 4e-5 + 0.1 * 0.05**2, 8e-5)),
    ],
)
def test_written_equations_are_pinocchios(scene: str, system: System) -> None:
    text = sw.scenes.mjcf(scene)
    model, other = sw.load(text), Articulated(text)
    rng = np.random.default_rng(4)
    offset = None
    for _ in range(5):
        q = model.integrate(model.keyframe().q, rng.normal(size=model.nv))
        v = rng.normal(size=model.nv)
        np.testing.assert_allclose(system.acceleration(q, v), other.acceleration(q, v), rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(system.velocity(q, v), other.velocity(q, v), atol=1e-15)
        difference = system.energy(q, v) - other.energy(q, v)
        offset = difference if offset is None else offset
        assert difference == pytest.approx(offset, abs=1e-12)


@pytest.mark.parametrize("case", [name for name, case in CASES.items() if not case.touching])
def test_accelerations_are_mujocos_and_energies_ours(case: str) -> None:
    begin, system = start(CASES[case]), CASES[case].system()
    theirs = mujoco.MjModel.from_xml_string(begin.text)
    data, sim = mujoco.MjData(theirs), sw.Simulation(begin.model)
    rng = np.random.default_rng(5)
    energies = []
    for scale in (0.0, 0.5, 0.5):
        q = begin.model.integrate(begin.q, scale * rng.normal(size=begin.model.nv))
        v = begin.v + scale * rng.normal(size=begin.model.nv)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(theirs, data)
        worst = float(np.abs(data.qacc).max())
        np.testing.assert_allclose(system.acceleration(q, v), data.qacc, atol=1e-11 * worst)
        sim.q, sim.v = q, v
        energies.append((system.energy(q, v), sim.energy().total))
    (here, there), *rest = energies
    for a, b in rest:
        assert a - here == pytest.approx(b - there, rel=1e-11)


def test_positions_follow_velocities_by_the_retraction() -> None:
    text = humanoid()
    model, system = sw.load(text), Articulated(text)
    rng = np.random.default_rng(6)
    q = model.integrate(model.keyframe().q, rng.normal(size=model.nv))
    v, h = rng.normal(size=model.nv), 1e-6
    slope = (model.integrate(q, h * v) - model.integrate(q, -h * v)) / (2 * h)
    np.testing.assert_allclose(system.velocity(q, v), slope, atol=1e-9)


def test_a_lopsided_ball_keeps_its_energy_and_rolls() -> None:
    ball = LopsidedBall(0.1, 0.02, 0.004)
    q, v = np.array([0, 0, 0.1, 1.0, 0, 0, 0]), np.array([1.0, 0, 0, 0, 10.0, 0])
    ((end, rate),) = solve(ball, q, v, [1.3])
    assert ball.energy(end, rate) == pytest.approx(ball.energy(q, v), rel=1e-12)
    assert rate[0] == pytest.approx(0.1 * rate[4], rel=1e-12)
    angle = end[0] / 0.1
    np.testing.assert_allclose(np.abs(end[3:]), np.abs([math.cos(angle / 2), 0, math.sin(angle / 2), 0]), atol=1e-11)
    even = LopsidedBall(0.1, 0.0, 0.004)
    ((end, _),) = solve(even, q, v, [1.3])
    assert end[0] == pytest.approx(1.3)


def restitution(ratio: float) -> float:
    """Speed after over before of a spring and damper that only pushes, by its damping ratio.

    The depth is v/ω_d exp(−ζ ω t) sin ω_d t; the push ends at an angle φ = ω_d t of which the tangent follows from
    ω² δ + 2 ζ ω δ' = 0, and there the speed is v exp(−ζ ω t).
    """
    damped = math.sqrt(1 - ratio * ratio)
    angle = math.pi - math.atan2(2 * ratio * damped, 1 - 2 * ratio * ratio)
    return math.exp(-ratio / damped * angle)


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5])
def test_balls_part_with_what_the_damper_leaves(ratio: float) -> None:
    balls = Billiards(0.2, 0.03, 1e6, 2e3 * ratio)
    q = np.array([-0.07, 0, 0, 1.0, 0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0])
    v = np.zeros(12)
    v[0] = 1.0
    ((_, rate),) = solve(balls, q, v, [0.03], longest=1e-4)
    assert rate[6] - rate[0] == pytest.approx(restitution(ratio), abs=1e-9)
    np.testing.assert_allclose(balls.momentum(rate), balls.momentum(v), atol=1e-14)


def test_a_bouncing_ball_without_damping_comes_back_to_where_it_fell_from() -> None:
    ball = BouncingBall(0.05, 9e4, 0.0)
    q, v = np.array([0, 0, 0.25, 1.0, 0, 0, 0]), np.zeros(6)
    states = solve(ball, q, v, [0.02 * k for k in range(1, 30)], longest=1e-3)
    energy = ball.energy(q, v)
    assert all(ball.energy(a, b) == pytest.approx(energy, rel=1e-11) for a, b in states)
    assert min(rate[2] for _, rate in states) < -1.5
    assert max(rate[2] for _, rate in states) > 1.5


def test_rotation_vectors_take_the_short_way() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        quaternion = random_quaternion(rng)
        vector = rotation_vector(quaternion)
        angle = float(np.linalg.norm(vector))
        assert angle <= math.pi
        back = np.concatenate([[math.cos(angle / 2)], math.sin(angle / 2) * vector / angle])
        assert abs(back @ quaternion) == pytest.approx(1)
    np.testing.assert_array_equal(rotation_vector(np.array([1.0, 0, 0, 0])), np.zeros(3))


def test_halved_steps_keep_the_accuracy() -> None:
    q, v = np.array([1.0, 0.5]), np.zeros(2)
    ((expected, _),) = solve(DoublePendulum(), q, v, [1.0])
    evaluations = []
    for accuracy in (1e-4, 1e-7):
        system = DoublePendulum()
        end, _ = halving_rk4(system, q, v, 1.0, accuracy)
        assert np.abs(end - expected).max() < 10 * accuracy
        evaluations.append(system.evaluations)
    # A fourth-order method with local extrapolation: 1000^(1/5) times as many.
    assert all(n % 11 == 0 for n in evaluations)
    assert 2 < evaluations[1] / evaluations[0] < 8


def test_pictures_are_svg() -> None:
    curves = [
        Curve("a & b", "red", [(1e-3, 1e-6), (1e-2, 1e-4), (0.1, math.inf), (0.2, 0.0)], [0.1], "4 2"),
        Curve("c", "blue", []),
    ]
    picture = ElementTree.fromstring(plot("title", "note", ("x", "y"), curves))
    name = "{http://www.w3.org/2000/svg}"
    assert len(picture.findall(f"{name}circle")) == 2
    assert "a & b" in [text.text for text in picture.iter(f"{name}text")]
    dashed = [path.get("stroke-dasharray") for path in picture.iter(f"{name}path")]
    assert dashed.count("4 2") == 2
    empty = plot("title", "note", ("x", "y"), [], logarithmic=(False, False))
    assert ElementTree.fromstring(empty).tag == f"{name}svg"


def test_the_suite_measures_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = schemes.run(["mujoco"], ["elastic-billiard-balls", "rolling-ball"], 1, svg=tmp_path)
    assert {row["suite"] for row in rows} == {"schemes"}
    found = {(row["case"], row["engine"], row["metric"]): float(row["value"]) for row in rows}
    ours = "sapwood symplectic-euler"
    # Springs that a step resolves are taken in its middle, whatever the scheme.
    assert found["elastic-billiard-balls", ours, "order"] > 0.95
    assert found["elastic-billiard-balls", "sapwood midpoint", "order"] == pytest.approx(2, abs=0.05)
    assert found["elastic-billiard-balls", "sapwood midpoint", "slope, 1 from the finest"] == pytest.approx(2, abs=0.05)
    assert found["rolling-ball", ours, "energy error, 0.001"] < 1e-12
    assert found["rolling-ball", "mujoco euler", "energy error, 0.001"] > 1e-6
    assert "mujoco over sapwood, time at energy error 1e-02" in {metric for _, _, metric in found}
    assert {path.name for path in tmp_path.iterdir()} >= {"order-elastic-billiard-balls.svg", "energy-rolling-ball.svg"}
    assert "mujoco rk4" in capsys.readouterr().out
