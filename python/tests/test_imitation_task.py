"""DeepMimic's observation and rewards, against ones computed from the paper and its code on MuJoCo's kinematics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
mujoco = pytest.importorskip("mujoco")

import sapwood as sw  # noqa: E402
from sapwood.gym import ImitationVectorEnv  # noqa: E402

DISABLED = gymnasium.vector.AutoresetMode.DISABLED

# The paper, section 5.1: pose, velocity, end effectors, centre of mass; and SceneImitate.cpp of its code.
WEIGHTS = {"paper": [0.65, 0.1, 0.15, 0.0, 0.1], "code": [0.5, 0.05, 0.15, 0.2, 0.1]}
# `DiffWeight` of humanoid3d.txt, whose wrists are fixed and have weight 0.
HUMANOID = {"chest": 0.5, "neck": 0.3, "hip": 0.5, "knee": 0.3, "ankle": 0.2, "shoulder": 0.3, "elbow": 0.2}


class Body:
    """A state on MuJoCo's kinematics."""

    def __init__(self, model: Any, q: Any, v: Any) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self.data.qpos[:], self.data.qvel[:] = q, v
        mujoco.mj_forward(model, self.data)
        mujoco.mj_subtreeVel(model, self.data)

    def moved(self, body: str, scale: float) -> tuple[Any, Any, Any, Any]:
        """Position of `scale` times the centre of mass, quaternion, velocity of that point, angular velocity."""
        k, d = self.model.body(body).id, self.data
        offset = d.xmat[k].reshape(3, 3) @ (scale * self.model.body_ipos[k])
        twist = np.zeros(6)
        mujoco.mj_objectVelocity(self.model, d, mujoco.mjtObj.mjOBJ_XBODY, k, twist, 0)
        return d.xpos[k] + offset, d.xquat[k].copy(), twist[3:] + np.cross(twist[:3], offset), twist[:3]

    @property
    def com(self) -> tuple[Any, Any]:
        return self.data.subtree_com[0].copy(), self.data.subtree_linvel[0].copy()

    @property
    def heading(self) -> float:
        ahead = self.data.xmat[1].reshape(3, 3)[:, 0]
        return float(np.arctan2(ahead[1], ahead[0]))


def make(**options: Any) -> ImitationVectorEnv:
    return ImitationVectorEnv(**options)


def about_z(angle: float) -> Any:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def turn(a: Any, b: Any) -> float:
    """The angle between two quaternions, by their matrices."""
    matrices = [np.zeros(9), np.zeros(9)]
    for matrix, q in zip(matrices, (a, b), strict=True):
        mujoco.mju_quat2Mat(matrix, q / np.linalg.norm(q))
    both = matrices[0].reshape(3, 3).T @ matrices[1].reshape(3, 3)
    sine = np.array([both[2, 1] - both[1, 2], both[0, 2] - both[2, 0], both[1, 0] - both[0, 1]])
    return float(np.arctan2(np.linalg.norm(sine), np.trace(both) - 1.0))


def expected_terms(kind: str, ends: list[str], now: Body, to: Body) -> Any:
    model, root = now.model, [now.data.xquat[1], to.data.xquat[1]]
    weights, turns, rates = [1.0], [turn(*root) ** 2], []
    angular = [body.moved("root", 0.0)[3] for body in (now, to)]
    rates.append(np.sum((angular[0] - angular[1]) ** 2))
    for j in range(1, model.njnt):
        q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        a, b = now.data, to.data
        if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
            turns.append(turn(a.qpos[q : q + 4], b.qpos[q : q + 4]) ** 2)
            rates.append(np.sum((a.qvel[v : v + 3] - b.qvel[v : v + 3]) ** 2))
        else:
            turns.append((a.qpos[q] - b.qpos[q]) ** 2)
            rates.append((a.qvel[v] - b.qvel[v]) ** 2)
        weights.append(HUMANOID[model.joint(j).name.removeprefix("right_").removeprefix("left_")])
    tips = [[body.moved(name, 2.0)[0] for name in ends] for body in (now, to)]
    com, speed = (np.sum((x - y) ** 2) for x, y in zip(now.com, to.com, strict=True))
    if kind == "paper":
        end = sum(np.sum((a - b) ** 2) for a, b in zip(*tips, strict=True))
        return np.exp([-2 * sum(turns), -0.1 * sum(rates), -40 * end, 0.0, -10 * com])
    share = np.array(weights) / sum(weights)
    places = [body.data.xpos[1] for body in (now, to)]
    seen = [
        [about_z(-body.heading) @ (tip - place * [1, 1, 0]) for tip in own]
        for body, place, own in zip((now, to), places, tips, strict=True)
    ]
    # The mean over four end effectors, times 40.
    end = np.mean([np.sum((a - b) ** 2) for a, b in zip(*seen, strict=True)])
    linear = [body.moved("root", 0.0)[2] for body in (now, to)]
    root_error = (
        np.sum((places[0] - places[1]) ** 2)
        + 0.1 * turns[0]
        + 0.01 * np.sum((linear[0] - linear[1]) ** 2)
        + 0.001 * rates[0]
    )
    return np.exp([-2 * share @ turns, -0.1 * share @ rates, -40 * end, -5 * root_error, -speed])


def near(env: ImitationVectorEnv, time: float, rng: Any) -> tuple[Any, Any]:
    """A state about as far from the motion as a policy that is learning."""
    model, v = env.model, env.episodes.reference_velocity(time)
    q = model.integrate(env.episodes.reference(time), rng.normal(scale=0.1, size=model.nv))
    return q, v + rng.normal(scale=0.5, size=model.nv)


@pytest.mark.parametrize("kind", ["paper", "code"])
def test_rewards_are_those_of_the_paper_and_its_code(kind: str) -> None:
    env = ImitationVectorEnv("humanoid", "walk", reward=kind)
    model = mujoco.MjModel.from_xml_string(sw.characters.mjcf("humanoid"))
    rng, smallest = np.random.default_rng(1), 1.0
    for time in [0.0, 0.3, 0.71, 2.9]:
        reference = env.episodes.reference(time), env.episodes.reference_velocity(time)
        reward, terms, _ = env.episodes.evaluate(*reference, time)
        assert reward == pytest.approx(1.0, abs=1e-12)
        q, v = near(env, time, rng)
        reward, terms, _ = env.episodes.evaluate(q, v, time)
        expected = expected_terms(kind, env.episodes.end_effectors, Body(model, q, v), Body(model, *reference))
        np.testing.assert_allclose(terms, expected, rtol=1e-9, atol=1e-12)
        assert reward == pytest.approx(np.dot(expected, WEIGHTS[kind]), rel=1e-9)
        smallest = min(smallest, reward)
    # States that are worth something and not all, or the comparison would say little.
    assert 0.01 < smallest < 0.8


def test_observations_are_seen_along_the_heading() -> None:
    env = ImitationVectorEnv("humanoid", "walk")
    model = mujoco.MjModel.from_xml_string(sw.characters.mjcf("humanoid"))
    parts, rng = env.observation_parts, np.random.default_rng(2)
    # DeepMimic's 197 numbers: phase, height, and 13 of each of 15 bodies.
    assert env.single_observation_space.shape == (197,)
    for time in [0.1, 5.0]:
        q, v = near(env, time, rng)
        q = env.model.integrate(q, np.r_[3.0, -2.0, 0.0, 0.0, 0.0, 2.5, np.zeros(env.model.nv - 6)])
        _, _, seen = env.episodes.evaluate(q, v, time)
        body = Body(model, q, v)
        back = about_z(-body.heading)
        assert seen[0] == pytest.approx(time / env.episodes.duration % 1.0)
        assert seen[1] == pytest.approx(body.data.xpos[1][2])
        names = {name.split("/")[0] for name in parts if "/" in name}
        assert len(names) == 15
        for name in names:
            # Hands are the tips of the forearms.
            of, scale = (name.replace("hand", "elbow"), 2.0) if "hand" in name else (name, 1.0)
            place, quaternion, velocity, angular = body.moved(of, scale)
            close: dict[str, Any] = {"rtol": 0, "atol": 1e-9}
            np.testing.assert_allclose(seen[parts[f"{name}/position"]], back @ (place - body.data.xpos[1]), **close)
            np.testing.assert_allclose(seen[parts[f"{name}/velocity"]], back @ velocity, **close)
            np.testing.assert_allclose(seen[parts[f"{name}/angular_velocity"]], back @ angular, **close)
            turned = np.zeros(4)
            half = -0.5 * body.heading
            mujoco.mju_mulQuat(turned, np.array([np.cos(half), 0.0, 0.0, np.sin(half)]), quaternion)
            assert seen[parts[f"{name}/rotation"]][0] >= 0.0
            assert turn(seen[parts[f"{name}/rotation"]], turned) < 1e-7


def test_episodes_begin_on_the_motion_end_in_falls_and_are_cut() -> None:
    env = ImitationVectorEnv("humanoid", "walk", 16, action="residual", autoreset_mode=DISABLED, max_episode_steps=40)
    env.reset(seed=4)
    begun = env.episodes.motion_time[:, 0]
    assert np.ptp(begun) > 0.5 * env.episodes.duration
    for world, time in enumerate(begun):
        away = env.model.difference(env.batch.q[world], env.episodes.reference(time))
        away[2] = 0.0  # Lifted to where it does not stick in the ground.
        assert np.abs(away).max() < 1e-12
        np.testing.assert_allclose(env.batch.v[world], env.episodes.reference_velocity(time))
    still, falls = np.zeros((16, env.model.nv - 6)), np.zeros(16)
    total = np.zeros(16)
    for step in range(1, 41):
        _, reward, terminated, truncated, info = env.step(still)
        alive = falls == 0
        total += np.where(alive, reward, 0.0)
        np.testing.assert_allclose(info["normalized_return"][alive], total[alive] / 40, rtol=1e-12)
        assert (reward[terminated] == 0.0).all()
        falls = np.where(terminated & alive, float(step), falls)
        for fallen in np.flatnonzero(terminated):
            contacts = env.batch.contacts
            grounded = {env.model.geom_bodies[g] for g in contacts.geoms[contacts.world == fallen].ravel()}
            assert grounded & {env.model.body_names.index(name) for name in env.episodes.fall_bodies}
        assert truncated.all() if step == 40 else not truncated.any()
        if terminated.any():
            env.reset(options={"reset_mask": terminated})
            break
    # Nobody walks by replaying a walk.
    assert (falls > 0).any()
    start = ImitationVectorEnv("humanoid", "walk", 4, reference_state_init=False)
    start.reset(seed=1)
    assert (start.episodes.motion_time == 0.0).all()


def test_a_lead_gives_targets_the_velocity_of_the_motion() -> None:
    """Under PD of stiffness kp and damping kd towards rest, kp (q̄ + kd/kp v̄ − q) − kd v = kp (q̄ − q) + kd (v̄ − v)."""
    options: dict[str, Any] = {"clip": "run", "num_envs": 3, "kd": {"neck": 25.0}, "autoreset_mode": DISABLED}
    lead, target, residual = (make(action=action, **options) for action in ("lead", "target", "residual"))
    for env in (lead, target, residual):
        env.reset(seed=2)
    given = np.random.default_rng(0).normal(scale=0.2, size=(3, lead.model.nv - 6))
    kp, kd, _ = lead.episodes.gains
    aims = []
    for world in range(3):
        time = float(lead.episodes.motion_time[world, 0]) + lead.dt
        q, v = lead.episodes.reference(time), lead.episodes.reference_velocity(time)
        ahead = np.divide(kd, kp, out=np.zeros_like(kp), where=kp > 0.0) * v
        for step in (ahead, np.r_[np.zeros(6), given[world]]):
            q = lead.model.integrate(q, step)
        aims.append(lead.model.difference(lead.model.keyframe().q, q)[6:])
    lead.step(given)
    target.step(np.array(aims))
    residual.step(given)
    np.testing.assert_allclose(lead.batch.v, target.batch.v, rtol=0, atol=1e-9)
    assert np.abs(lead.batch.v - residual.batch.v).max() > 1.0


def lowest(model: Any, q: Any) -> float:
    """Height of the lowest point that can touch."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    heights = []
    for geom in np.flatnonzero((model.geom_bodyid > 0) & (model.geom_contype | model.geom_conaffinity > 0)):
        down, size = np.abs(data.geom_xmat[geom][6:]), model.geom_size[geom]
        of = {
            mujoco.mjtGeom.mjGEOM_SPHERE: size[0],
            mujoco.mjtGeom.mjGEOM_CAPSULE: size[0] + size[1] * down[2],
            mujoco.mjtGeom.mjGEOM_BOX: size @ down,
            mujoco.mjtGeom.mjGEOM_ELLIPSOID: np.linalg.norm(size * down),
        }
        heights.append(data.geom_xpos[geom][2] - of[mujoco.mjtGeom(model.geom_type[geom])])
    return float(min(heights))


def test_postures_below_the_ground_of_the_first_are_lifted(tmp_path: Path) -> None:
    ball, leg_or_arm = [1, 0, 0, 0], [1, 0, 0, 0, 0]
    pose = [*ball, *ball, *ball, *leg_or_arm, *ball, *leg_or_arm, *leg_or_arm, *ball, *leg_or_arm]
    # It sinks by 0.2 m, is there for a while, and comes back.
    frames = [[0.1, 0, 0.9 - sunk, 0, *pose] for sunk in (0, 0, 0.1, 0.2, 0.2, 0.2, 0.1, 0, 0)]
    clip = tmp_path / "clip.txt"
    clip.write_text(f'{{"Loop": "none", "Frames": {frames}}}')
    model = mujoco.MjModel.from_xml_string(sw.characters.mjcf("humanoid"))
    heights, roots = {}, {}
    for ground in ("most", "start"):
        episodes = ImitationVectorEnv("humanoid", str(clip), ground=ground).episodes
        times = np.linspace(0.0, episodes.duration, 81)
        heights[ground] = [lowest(model, episodes.reference(float(time))) for time in times]
        roots[ground] = [episodes.reference_velocity(float(time))[2] for time in times]
    # Three eighths of the motion are at the lowest: there is its ground by the rule that a tenth may be below.
    assert max(heights["most"]) == pytest.approx(0.2, abs=1e-6)
    np.testing.assert_allclose(heights["start"], 0.0, atol=1e-6)
    # What is lifted to one height has no velocity.
    assert np.abs(roots["most"]).max() == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(roots["start"], 0.0, atol=1e-6)
    with pytest.raises(ValueError, match="ground.*strat.*start"):
        make(ground="strat")


def test_gains_and_bodies_by_name() -> None:
    env = ImitationVectorEnv(kp={"neck": 250.0}, effort_limit={"neck": 7.0}, end_effectors=["neck"], fall_bodies=[])
    assert (env.episodes.end_effectors, env.episodes.fall_bodies) == (["neck"], [])
    neck = [gain[9:12].tolist() for gain in env.episodes.gains]
    assert neck == [[250.0] * 3, [25.0] * 3, [7.0] * 3]
    bad: list[tuple[str, Any]] = [
        ("kp", {"nek": 1.0}),
        ("kd", {"neck": -1.0}),
        ("effort_limit", {"neck": float("nan")}),
    ]
    for name, value in bad:
        with pytest.raises(ValueError, match=f"{name}.*nec?k"):
            make(**{name: value})
    for name in ("end_effectors", "fall_bodies"):
        with pytest.raises(ValueError, match=f"{name}.*foot"):
            make(**{name: ["foot"]})


def test_clips_that_do_not_fit_say_why(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="trot"):
        ImitationVectorEnv("humanoid", "trot")
    ball, leg_or_arm = [1, 0, 0, 0], [1, 0, 0, 0, 0]
    row = [0.1, 0, 0.9, 0, *ball, *ball, *ball, *leg_or_arm, *ball, *leg_or_arm, *leg_or_arm, *ball, *leg_or_arm]
    short, no_rotation, no_time = row[:-1], [*row[:8], 0, *row[9:]], [0, *row[1:]]
    z_up = [0.1, 0, 0, 0.9, *row[4:]]
    for rows, match in [
        ([row, short, row], "frame 1.*43 numbers"),
        ([row, no_rotation, row], "frame 1.*chest"),
        ([no_time, row, row], "frame 0.*duration"),
        ([[33.3, *row[1:]], row, row], "frame 0.*33.3 s: expected the seconds"),
        ([z_up, z_up], 'frame 0: joint "root".*expected y up'),
        ([row], "takes 0 s: expected 0.033"),
    ]:
        file = tmp_path / "clip.txt"
        file.write_text(f'{{"Loop": "none", "Frames": {rows}}}')
        with pytest.raises(ValueError, match=f"clip.txt.*{match}"):
            ImitationVectorEnv("humanoid", str(file))


@pytest.mark.parametrize("clip", ["cartwheel", "getup_faceup", "spinkick"])
def test_clips_of_deepmimic(clip: str) -> None:
    folder = Path(__file__).parents[2] / "shared" / "data" / "deepmimic" / "motions"
    if not folder.is_dir():
        pytest.skip(f"DeepMimic's motions, which are not part of Sapwood, are not at {folder}")
    env = ImitationVectorEnv("humanoid", f"{folder}/humanoid3d_{clip}.txt", 8, action="residual")
    env.reset(seed=0)
    # What touches the ground in the clip may.
    assert ("right_elbow" in env.episodes.fall_bodies) == (clip == "spinkick")
    for _ in range(20):
        _, reward, *_ = env.step(np.zeros((8, env.model.nv - 6)))
        assert np.isfinite(reward).all()


def test_worlds_that_lanes_leave_take_no_more_and_more_memory() -> None:
    """Buffers that a lane under PD control and the step for all models take in turns once doubled in every step."""
    options: dict[str, Any] = {"character": "humanoid", "clip": "walk", "action": "lead", "observe_root": True}
    for seed in range(4):
        envs = gymnasium.make_vec("sapwood/Imitation-v0", num_envs=256, **options)
        envs.action_space.seed(seed)
        envs.reset(seed=0)
        _, rewards, *_ = envs.step(envs.action_space.sample())
        assert np.isfinite(rewards).all()
