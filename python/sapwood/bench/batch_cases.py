"""The models of the batch suite, and how their worlds are driven."""

from __future__ import annotations

from collections.abc import Callable
from importlib import util
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from sapwood.bench.batch_engines import Worlds
from sapwood.bench.batch_objects import Ground, add_box, add_ground, add_uneven_ground, hand_with_cube
from sapwood.bench.cases import MissingPackageError, dm_control, example_robots, gymnasium
from sapwood.bench.engines import Mujoco
from sapwood.bench.manipulators import gripper

Vector = NDArray[np.float64]

CHUNK = 25
"""Steps between two changes of the controls, and of a turn."""
STARTS = 50
"""Different beginnings of worlds."""
APART = 5
"""Steps between two of them."""
SEED = 7
TORQUE = 30.0
"""Torque of a robot's motors under a control of 1, N·m."""

BELOW_AN_ARM = -0.1
"""Height of the ground under a fixed root, m: the shapes of an arm's first links reach below their origin."""


def robot(file: str, height: float | None, ground: Ground = add_ground) -> Callable[[Path], Path]:
    """A URDF file of example-robot-data over a ground, as MJCF: its collision shapes touch what is no robot alone.

    Args:
        file: Path below the package's robots.
        height: Where a free root begins, m; None: the root is fixed.
        ground: Adds what it stands on.
    """

    def write(folder: Path) -> Path:
        source = example_robots() / file
        if not source.exists():
            raise MissingPackageError(f"this example-robot-data has no {file}")
        path = folder / f"{source.stem}.xml"
        path.write_text(on_the_ground(source, height, ground))
        return path

    return write


def on_the_ground(source: Path, height: float | None, ground: Ground) -> str:
    """The MJCF of a URDF file, by MuJoCo: on a ground, with a motor at every joint, and a free root at this height."""
    import mujoco

    tree = ElementTree.parse(source)
    for link in tree.iter("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(tree.getroot(), encoding="unicode"))
    # Links of sensors have hardly an inertia.
    spec.compiler.balanceinertia, spec.compiler.boundinertia = True, 1e-6
    spec.compiler.fusestatic, spec.option.timestep = True, 0.004
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = 1, 0
    for joint in spec.joints:
        motor = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.gear[0], motor.ctrlrange, motor.ctrllimited = TORQUE, [-1.0, 1.0], True
    if height is not None:
        root = spec.worldbody.first_body()
        root.pos = [0.0, 0.0, height]
        root.add_freejoint()
    ground(spec, 0.0 if height is not None else BELOW_AN_ARM)
    spec.compile()
    return str(spec.to_xml())


CASES: dict[str, Callable[[Path], Path]] = {
    "ant": gymnasium("ant"),
    "half_cheetah": gymnasium("half_cheetah"),
    "humanoid": gymnasium("humanoid"),
    "dm_humanoid": dm_control("humanoid"),
    "humanoid_CMU": dm_control("humanoid_CMU"),
    "quadruped": dm_control("quadruped"),
    "anymal": robot("anymal_b_simple_description/robots/anymal.urdf", 0.6),
    "panda": robot("panda_description/urdf/panda_collision.urdf", None),
    "anymal_field": robot("anymal_b_simple_description/robots/anymal.urdf", 0.62, add_uneven_ground),
    "panda_box": robot("panda_description/urdf/panda_collision.urdf", None, add_box),
    "hand_cube": hand_with_cube,
    "gripper": gripper,
}
"""Name to a function that takes a scratch folder and returns the MJCF file."""


def control_ranges(path: Path, nu: int) -> Vector:
    """Ranges of the controls, (nu, 2), as MuJoCo reads them; ±1 without it and where the file gives none."""
    if util.find_spec("mujoco") is None:
        return np.tile([-1.0, 1.0], (nu, 1))
    return Mujoco(path, "pyramidal").controls


class Driver:
    """Random controls over their full range, the same for every engine."""

    def __init__(self, ranges: Vector) -> None:
        self._low, self._high = ranges[:, 0], ranges[:, 1]

    def controls(self, chunk: int, n: int) -> Vector:
        """Those of a chunk, (n, nu); more worlds do not change those of the first ones."""
        rng = np.random.default_rng([SEED, chunk])
        return rng.uniform(self._low, self._high, size=(n, len(self._low)))

    def start(self, worlds: Worlds) -> None:
        """Random motion from the default pose, which worlds begin a different number of steps apart."""
        own = (17 * np.arange(worlds.n)) % STARTS
        for part in range(STARTS):
            worlds.begin(own == part)
            worlds.hold(self.controls(part * APART // CHUNK, worlds.n), APART)
            worlds.advance()
            worlds.mend()

    def drive(self, worlds: Worlds, turn: int) -> None:
        """Sets the controls of a turn."""
        worlds.hold(self.controls(STARTS * APART // CHUNK + turn, worlds.n), CHUNK)
