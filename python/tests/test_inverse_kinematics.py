"""Inverse kinematics: poses that were reached are reached again, judged by Pinocchio; shapes, words, errors."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest

import sapwood as sw
from sapwood.bench import inverse_kinematics
from sapwood.bench.cases import MissingPackageError

ARM = """
<mujoco><compiler angle="radian" autolimits="true"/><worldbody>
  <body name="base"><joint name="yaw" axis="0 0 1" range="-3 3"/><geom size=".1"/>
    <body name="hand" pos=".5 0 0"><joint name="elbow" axis="0 0 1" range="-2 2"/><geom size=".1"/>
      <site name="tip" pos=".5 0 0"/>
</body></body><body name="table"><geom size=".1"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def arm() -> sw.Model:
    return sw.load(ARM)


def test_the_panda_reaches_again_what_pinocchio_says(tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    try:
        share = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    file = share / "example-robot-data/robots/panda_description/urdf/panda.urdf"
    theirs = pin.buildModelFromUrdf(str(file))
    data, hand = theirs.createData(), theirs.getFrameId("panda_hand")
    model = sw.load(file)
    low, high = np.array([joint.range for joint in model.joints]).T
    goals = []
    for q in np.random.default_rng(2).uniform(low, high, (100, len(low))):
        pin.framesForwardKinematics(theirs, data, q)
        goals.append(data.oMf[hand].copy())
    quaternions = [np.roll(pin.Quaternion(goal.rotation).coeffs(), 1) for goal in goals]
    target = sw.PoseTarget("panda_hand", position=[goal.translation for goal in goals], quaternion=quaternions)
    found = sw.inverse_kinematics(model, target, restarts=50)
    assert found.converged.all()
    assert (found.q >= low).all()
    assert (found.q <= high).all()
    for q, goal in zip(found.q, goals, strict=True):
        pin.framesForwardKinematics(theirs, data, q)
        error = pin.log(data.oMf[hand].actInv(goal)).vector
        # log mixes the position with the angle: a radian's error moves it by at most the distance.
        assert np.abs(error).max() < 2e-6


def test_one_and_many(arm: sw.Model) -> None:
    target = sw.PoseTarget(site="tip", position=[0.5, 0.5, 0])
    one = sw.inverse_kinematics(arm, target, [0.1, 0.1])
    assert one.converged is True
    assert one.q == pytest.approx([0, np.pi / 2], abs=1e-5) or one.q == pytest.approx([np.pi / 2, -np.pi / 2], abs=1e-5)
    many = sw.inverse_kinematics(arm, [target], [[0.1, 0.1], [0.1, -0.1]])
    assert many.q.shape == (2, 2)
    assert (many.q[0] == one.q).all()
    assert many.q[1, 1] == pytest.approx(-np.pi / 2, abs=1e-5)
    assert many.converged.tolist() == [True, True]
    places = np.array([[0.6, 0.3, 0], [0.3, 0.6, 0], [0.0, 0.7, 0]])
    placed = sw.inverse_kinematics(arm, sw.PoseTarget(site="tip", position=places))
    body = arm.body_index("hand")
    poses = arm.forward_kinematics(placed.q)
    turned = 2 * np.arctan2(poses.quaternions[:, body, 3], poses.quaternions[:, body, 0])
    tips = poses.positions[:, body] + 0.5 * np.array([np.cos(turned), np.sin(turned), 0 * turned]).T
    assert np.abs(tips - places).max() < 1e-6


def test_joints_that_may_move_and_frames(arm: sw.Model) -> None:
    sim = sw.Simulation(arm)
    target = sw.PoseTarget(sim.body("hand"), position=[0.9, 0.3, 0], frame_position=[0.5, 0, 0])
    found = sw.inverse_kinematics(arm, target, [0.2, 0.3], joints=["elbow"])
    assert found.q[0] == 0.2
    assert not found.converged
    assert found.error > 1e-3
    unreachable = sw.inverse_kinematics(arm, sw.PoseTarget(site="tip", position=[3, 0, 0]))
    assert unreachable.error == pytest.approx(2, abs=1e-3)
    angle = sw.PoseTarget(
        "hand",
        quaternion=[1, 0, 0, 0],
        frame_quaternion=[np.cos(0.25), 0, 0, np.sin(0.25)],
        orientation_weight=[0, 0, 1],
    )
    turned = sw.inverse_kinematics(arm, angle, reference=[0.4, 0])
    assert turned.q.sum() == pytest.approx(-0.5, abs=1e-6)
    # The nearest of them: the difference is shared.
    assert turned.q == pytest.approx([-0.05, -0.45], abs=1e-5)


def test_words_of_errors(arm: sw.Model) -> None:
    def says(pattern: str, *arguments: object, kind: type[Exception] = ValueError, **options: object) -> None:
        with pytest.raises(kind, match=pattern):
            sw.inverse_kinematics(*arguments, **options)  # type: ignore[arg-type]

    target = sw.PoseTarget("hand", position=[0, 0, 0])
    says("no targets: expected at least one", arm, [])
    says("neither position nor orientation", arm, sw.PoseTarget("hand"))
    says('no joint that may move carries body "table"', arm, sw.PoseTarget("table", position=[0, 0, 0]))
    says("no joint that may move", arm, sw.PoseTarget("base", position=[0, 0, 0]), joints=["elbow"])
    says("did you mean 'hand'", arm, sw.PoseTarget("hnd", position=[0, 0, 0]), kind=sw.UnknownNameError)
    says("expected one of body= and site=", arm, sw.PoseTarget(position=[0, 0, 0]))
    says(r"position has shape \(2,\)", arm, sw.PoseTarget("hand", position=[0, 0]))
    says("quaternion that is not 0", arm, sw.PoseTarget("hand", quaternion=[0, 0, 0, 0]))
    says("weights of a target", arm, sw.PoseTarget("hand", position=[0, 0, 0], position_weight=-1))
    says("2 and 3 rows", arm, sw.PoseTarget("hand", position=np.zeros((3, 3))), np.zeros((2, 2)))
    says(r"q0 has shape \(3,\)", arm, target, [0, 0, 0])
    says("tolerance is 0", arm, target, tolerance=0.0)
    says("expected a sapwood.PoseTarget", arm, ["hand"], kind=TypeError)
    says("sapwood.load makes one", "arm.xml", target, kind=TypeError)


@pytest.mark.parametrize("peer", inverse_kinematics.PEERS)
def test_the_benchmark_beside_others(peer: str) -> None:
    pytest.importorskip(peer)
    try:
        rows = inverse_kinematics.run([peer], ["panda"], 1, targets=20)
    except MissingPackageError as error:
        pytest.skip(str(error))
    reached = {str(row["engine"]): float(row["value"]) for row in rows if row["quantity"] == "reached"}
    assert reached["sapwood, 20 restarts"] == 1
    assert 0.2 < reached[peer] <= 1
