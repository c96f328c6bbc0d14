"""The motions of the schemes suite, and who knows how they go on."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

import sapwood as sw
from sapwood import characters, scenes
from sapwood.bench.engines import Vector
from sapwood.bench.schemes_balls import GRAVITY, Billiards, BouncingBall, LopsidedBall
from sapwood.bench.schemes_systems import Articulated, DoublePendulum, FreeBody, System, Top

IMPEDANCE = 0.0001
"""``solimp`` of the scenes of balls: the least, with which MuJoCo's contact is a plain spring and damper."""


class Energy(NamedTuple):
    """Runs that watch the energy."""

    duration: float
    """s."""
    timesteps: tuple[float, ...]
    """s, coarsest first."""
    shown: float
    """That of the picture over time, s."""
    rest: tuple[float, ...] | None = None
    """Positions of least energy; energies count from there, from 0 where there are none."""


class Case(NamedTuple):
    """A motion."""

    text: Callable[[], str]
    system: Callable[[], System]
    keyframe: str | None = None
    """Where it starts; None: the default configuration at rest."""
    horizon: float = 1.0
    """When errors are looked at, s; 0: never."""
    coarsest: int = 50
    """Steps of the coarsest run to there; the next ones have twice as many each."""
    runs: int = 10
    energy: Energy | None = None
    peers: tuple[str, ...] = ("mujoco", "drake")
    touching: bool = False
    """Whether something touches."""
    longest: float = math.inf
    """A step of the reference that cannot miss a contact, s."""
    in_mujoco: Callable[[], System] | None = None
    """What goes on in MuJoCo where its contacts follow another law."""
    dissipates: bool = False
    """Whether energy is lost by right."""
    spring: tuple[float, float] | None = None
    """Stiffness (N/m) and damping (N s/m) of our contacts: MuJoCo's of the text without the weight that these carry."""
    settle: float = 0.0
    """After this time, s, the time that a step takes is measured; 0: it is not."""


def scene(name: str) -> Callable[[], str]:
    """The text of a scene."""
    return partial(scenes.mjcf, name)


def articulated(text: Callable[[], str]) -> Callable[[], System]:
    """Pinocchio's view of a text."""
    return lambda: Articulated(text())


def humanoid(ground: bool = False) -> str:
    """The humanoid, every joint drawn back by a spring and damper: PD control that every engine has.

    300 N·m/rad at hips, knees and chest, 60 elsewhere, and a tenth of that in N·m·s/rad. The keyframe ``swung`` has
    every joint away from rest and turning.
    """
    root = ElementTree.fromstring(characters.mjcf("humanoid", ground=ground))
    for joint in root.iter("joint"):
        name = joint.get("name", "")
        trunk = any(word in name for word in ("chest", "hip", "knee"))
        joint.set("stiffness", "300" if trunk else "60")
        joint.set("damping", "30" if trunk else "6")
    text = ElementTree.tostring(root, encoding="unicode")
    model = sw.load(text)
    away = 0.3 * np.sin(1.0 + 2.0 * np.arange(model.nv))
    turning = 2.0 * np.cos(3.0 * np.arange(model.nv))
    frames = ElementTree.SubElement(root, "keyframe")
    qpos, qvel = numbers(model.integrate(model.keyframe().q, away)), numbers(turning)
    ElementTree.SubElement(frames, "key", name="swung", qpos=qpos, qvel=qvel)
    return ElementTree.tostring(root, encoding="unicode")


def undamped(name: str) -> str:
    """The text of a scene of balls whose contacts are springs, its dampers taken out."""
    root = ElementTree.fromstring(scenes.mjcf(name))
    for geom in root.iter("geom"):
        reference = geom.get("solref")
        if reference is not None:
            geom.set("solref", f"{reference.split()[0]} 0")
    return ElementTree.tostring(root, encoding="unicode")


def numbers(values: Vector) -> str:
    """With all digits."""
    return " ".join(repr(float(x)) for x in values)


CASES: dict[str, Case] = {
    "tumbling-body": Case(
        scene("tumbling-body"),
        lambda: FreeBody(1.0, (0.05 / 3, 0.0425 / 3, 0.0125 / 3)),
        "tumbling",
        horizon=2.0,
        coarsest=25,
        energy=Energy(100.0, (0.04, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005), 0.01),
    ),
    "double-pendulum": Case(
        scene("double-pendulum"),
        DoublePendulum,
        "raised",
        coarsest=25,
        energy=Energy(1000.0, (0.04, 0.02, 0.01, 0.005, 0.002, 0.001), 0.01, (0.0, 0.0)),
    ),
    "spring-chain": Case(
        scene("spring-chain-10"),
        articulated(scene("spring-chain-10")),
        "bent",
        # It rings at up to 10⁴ rad/s: first order is seen at steps of a thousandth of that and below.
        horizon=0.02,
        coarsest=20,
        runs=17,
        energy=Energy(5.0, (0.01, 0.005, 0.002, 0.001, 5e-4, 3e-4, 2e-4, 1.5e-4, 1e-4, 7e-5, 5e-5, 2e-5), 0.001),
    ),
    "flung-arm": Case(
        scene("flung-arm"),
        articulated(scene("flung-arm")),
        "flung",
        horizon=0.25,
        coarsest=25,
        energy=Energy(
            100.0,
            (0.02, 0.01, 0.007, 0.005, 0.003, 0.002, 0.001, 5e-4, 2e-4),
            0.01,
            (0.0, math.pi, 0.0, 0.0, 0.0, 0.0, 0.0),
        ),
    ),
    "sprung-arm": Case(scene("sprung-arm"), articulated(scene("sprung-arm")), "bent"),
    "spinning-top": Case(
        scene("spinning-top"),
        lambda: Top(0.1, 0.05, 4e-5 + 0.1 * 0.05**2, 8e-5),
        "spinning",
        coarsest=100,
        runs=16,
        energy=Energy(10.0, (0.01, 0.005, 0.002, 0.001, 5e-4, 2e-4, 1e-4), 0.005, (0.0, 1.0, 0.0, 0.0)),
    ),
    "rolling-ball": Case(
        scene("rolling-ball"),
        # Without gravity: kinetic energy alone, which a ball that sinks into the ground keeps.
        lambda: LopsidedBall(0.1, 0.0, 0.004, gravity=0.0),
        "rolling",
        horizon=0.0,
        energy=Energy(10.0, (0.01, 0.005, 0.002, 0.001), 0.001, (0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0)),
        touching=True,
    ),
    "lopsided-ball": Case(
        scene("lopsided-ball"),
        lambda: LopsidedBall(0.1, 0.02, 0.004),
        "rolling",
        runs=8,
        energy=Energy(10.0, (0.02, 0.01, 0.005, 0.002, 0.001, 5e-4), 0.01, (0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0)),
        touching=True,
    ),
    "billiard-balls": Case(
        scene("billiard-balls"),
        lambda: Billiards(0.2, 0.03, 1e6, 200),
        "struck",
        spring=(1e5, 20),
        horizon=0.1,
        coarsest=20,
        peers=("mujoco",),
        touching=True,
        longest=2e-4,
        dissipates=True,
    ),
    "bouncing-ball": Case(
        scene("bouncing-ball"),
        lambda: BouncingBall(0.05, 9e4, 60),
        spring=(9e4, 60),
        horizon=0.4,
        coarsest=40,
        peers=("mujoco",),
        touching=True,
        longest=1e-3,
        in_mujoco=lambda: BouncingBall(0.05, 9e4, 60, (1 - IMPEDANCE) * GRAVITY),
        dissipates=True,
    ),
    # The same without dampers: forces begin without a jump, and energy stays.
    "elastic-billiard-balls": Case(
        partial(undamped, "billiard-balls"),
        lambda: Billiards(0.2, 0.03, 1e6, 0.0),
        "struck",
        spring=(1e5, 0),
        horizon=0.1,
        coarsest=20,
        peers=("mujoco",),
        touching=True,
        longest=2e-4,
    ),
    "elastic-bouncing-ball": Case(
        partial(undamped, "bouncing-ball"),
        lambda: BouncingBall(0.05, 9e4, 0.0),
        spring=(9e4, 0),
        horizon=0.4,
        coarsest=40,
        energy=Energy(10.0, (0.002, 0.001, 5e-4, 2e-4, 1e-4), 0.001, (0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0)),
        peers=("mujoco",),
        touching=True,
        longest=1e-3,
        in_mujoco=lambda: BouncingBall(0.05, 9e4, 0.0, (1 - IMPEDANCE) * GRAVITY),
    ),
    "humanoid": Case(
        humanoid, articulated(humanoid), "swung", horizon=0.5, coarsest=25, runs=11, peers=("mujoco",), dissipates=True
    ),
    "humanoid-on-ground": Case(
        partial(humanoid, ground=True),
        articulated(humanoid),
        horizon=0.0,
        peers=("mujoco",),
        touching=True,
        settle=2.0,
    ),
}
