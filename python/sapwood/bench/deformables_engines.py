"""Engines with one soft cube above a plane, all with the same tetrahedra.

A scene is a :class:`Cube`; an engine steps it and says where its nodes are.
"""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

import sapwood as sw

Vector = NDArray[np.float64]

EDGE = 0.1
"""Of the cube, m."""
DENSITY, YOUNG, POISSON, STIFFNESS_DAMPING, FRICTION = 1000.0, 1e5, 0.4, 0.01, 0.5
"""kg/m³, Pa, 1, s, 1."""
RADIUS = 1e-4
"""Of the nodes of MJCF, by which the surface is above them, m."""


class Cube(NamedTuple):
    """A cube of linear tetrahedra above the ground."""

    cells: int
    """Along an edge; each is five tetrahedra."""
    height: float
    """Of its lowest face at first, m."""
    timestep: float
    velocity: float
    """Along x at first, m/s."""

    def mesh(self) -> tuple[Vector, NDArray[np.int64]]:
        """Nodes, (nodes, 3), m, and tetrahedra of positive volume, (5 cells³, 4)."""
        n = self.cells
        points = EDGE * np.array(list(product(range(n + 1), repeat=3)), dtype=np.float64) / n
        points -= [0.5 * EDGE, 0.5 * EDGE, -self.height]
        index = np.arange((n + 1) ** 3).reshape(n + 1, n + 1, n + 1)
        tetrahedra = []
        for i, j, k in product(range(n), repeat=3):
            corner = {(a, b, c): index[i + a, j + b, k + c] for a, b, c in product((0, 1), repeat=3)}
            # Every other cell is the mirror image, so that faces meet.
            flip = (i + j + k) % 2

            def at(a: int, b: int, c: int, corner: Any = corner, flip: int = flip) -> int:  # noqa: ANN401
                return int(corner[(a ^ flip, b, c)])

            cell = [
                [at(0, 0, 0), at(1, 0, 0), at(0, 1, 0), at(0, 0, 1)],
                [at(1, 1, 0), at(0, 1, 0), at(1, 0, 0), at(1, 1, 1)],
                [at(1, 0, 1), at(1, 0, 0), at(0, 0, 1), at(1, 1, 1)],
                [at(0, 1, 1), at(0, 1, 0), at(1, 1, 1), at(0, 0, 1)],
                [at(1, 0, 0), at(0, 1, 0), at(0, 0, 1), at(1, 1, 1)],
            ]
            tetrahedra += [[a, c, b, d] if flip else [a, b, c, d] for a, b, c, d in cell]
        return points, np.array(tetrahedra)


class SoftEngine(Protocol):
    """An engine with a cube."""

    name: str
    radius: float
    """How far nodes that touch the ground are above it, m."""

    def step(self, n: int) -> None:
        """Advances by n steps."""

    @property
    def nodes(self) -> Vector:
        """Where the nodes are, (nodes, 3), m; a copy."""


def mjcf(cube: Cube, solver: str = "CG") -> str:
    """The scene as MJCF text."""
    points, tetrahedra = cube.mesh()
    mass = DENSITY * EDGE**3
    return f"""<mujoco>
    <option timestep="{cube.timestep}" solver="{solver}" integrator="discrete"/>
    <size memory="2G"/>
    <worldbody>
      <geom type="plane" size="1 1 .1" friction="{FRICTION}"/>
      <flexcomp name="cube" type="direct" dim="3" mass="{mass}" radius="{RADIUS}"
        point="{" ".join(f"{x:.17g}" for x in points.ravel())}"
        element="{" ".join(map(str, tetrahedra.ravel()))}">
        <elasticity young="{YOUNG}" poisson="{POISSON}" damping="{STIFFNESS_DAMPING}"/>
        <contact selfcollide="none" friction="{FRICTION}"/>
      </flexcomp>
    </worldbody></mujoco>"""


class Sapwood:
    """This engine, with its defaults.

    Args:
        cube: The scene.
    """

    def __init__(self, cube: Cube) -> None:
        self.name, self.radius = "sapwood", RADIUS
        self._simulation = sw.Simulation(sw.load(mjcf(cube)), timestep=cube.timestep)
        self._simulation.soft_velocities[:, 0] = cube.velocity

    def step(self, n: int) -> None:
        """Advances by n steps."""
        self._simulation.step(n)

    @property
    def nodes(self) -> Vector:
        """Where the nodes are."""
        return self._simulation.soft_positions.copy()


class Mujoco:
    """MuJoCo's flex.

    Args:
        cube: The scene.
        solver: ``CG`` or ``Newton``.
    """

    def __init__(self, cube: Cube, solver: str) -> None:
        import mujoco

        self.name, self.radius = f"mujoco-{solver.lower()}", RADIUS
        self._mujoco: Any = mujoco
        self._model: Any = mujoco.MjModel.from_xml_string(mjcf(cube, solver))
        self._data: Any = mujoco.MjData(self._model)
        self._data.qvel[0::3] = cube.velocity
        mujoco.mj_forward(self._model, self._data)

    def step(self, n: int) -> None:
        """Advances by n steps."""
        self._mujoco.mj_step(self._model, self._data, n)

    @property
    def nodes(self) -> Vector:
        """Where the nodes are."""
        # A step leaves them where they were at its beginning.
        self._mujoco.mj_fwdPosition(self._model, self._data)
        return np.array(self._data.flexvert_xpos, dtype=np.float64)


class Drake:
    """Drake's DeformableModel, linear corotated, with the SAP solver: what it does by default.

    Args:
        cube: The scene.
    """

    def __init__(self, cube: Cube) -> None:
        # Some of the other modules load only after this one.
        import pydrake.multibody.plant  # noqa: F401
        from pydrake.geometry import (
            AddContactMaterial,
            AddRigidHydroelasticProperties,
            Box,
            GeometryInstance,
            Mesh,
            ProximityProperties,
        )
        from pydrake.math import RigidTransform
        from pydrake.multibody.fem import DeformableBodyConfig, MaterialModel
        from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
        from pydrake.systems.analysis import Simulator
        from pydrake.systems.framework import DiagramBuilder

        self.name, self.radius = "drake", 0.0
        self._timestep = cube.timestep
        builder: Any = DiagramBuilder()
        config = MultibodyPlantConfig(time_step=cube.timestep, discrete_contact_approximation="lagged")
        self._plant: Any
        self._plant, _ = AddMultibodyPlant(config, builder)
        ground: Any = ProximityProperties()
        AddContactMaterial(friction=CoulombFriction(FRICTION, FRICTION), properties=ground)
        AddRigidHydroelasticProperties(1.0, ground)
        # It has no contact of soft bodies with half-spaces.
        box = Box(4.0, 4.0, 0.2)
        pose = RigidTransform(np.array([0.0, 0.0, -0.1]))
        self._plant.RegisterCollisionGeometry(self._plant.world_body(), pose, box, "ground", ground)
        own: Any = ProximityProperties()
        AddContactMaterial(friction=CoulombFriction(FRICTION, FRICTION), properties=own)
        material: Any = DeformableBodyConfig()
        material.set_youngs_modulus(YOUNG)
        material.set_poissons_ratio(POISSON)
        material.set_mass_density(DENSITY)
        material.set_stiffness_damping_coefficient(STIFFNESS_DAMPING)
        material.set_mass_damping_coefficient(0.0)
        material.set_material_model(MaterialModel.kLinearCorotated)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "cube.vtk"
            write_vtk(file, *cube.mesh())
            instance = GeometryInstance(RigidTransform(), Mesh(str(file)), "cube")
            instance.set_proximity_properties(own)
            model = self._plant.mutable_deformable_model()
            self._body = model.RegisterDeformableBody(instance, material, 1.0)
            self._plant.Finalize()
            self._simulator: Any = Simulator(builder.Build())
        self._model: Any = self._plant.deformable_model()
        self._context: Any = self._plant.GetMyMutableContextFromRoot(self._simulator.get_mutable_context())
        velocities = np.zeros_like(self._model.GetVelocities(self._context, self._body))
        velocities[0] = cube.velocity
        self._model.SetVelocities(self._context, self._body, velocities)
        self._done = 0

    def step(self, n: int) -> None:
        """Advances by n steps."""
        # Step k happens when time passes k dt, the first at 0: between steps, no round-off adds or drops one.
        self._done += n
        if n > 0:
            self._simulator.AdvanceTo((self._done - 0.5) * self._timestep)

    @property
    def nodes(self) -> Vector:
        """Where the nodes are."""
        return np.array(self._model.GetPositions(self._context, self._body), dtype=np.float64).T


def write_vtk(file: Path, points: Vector, tetrahedra: NDArray[np.int64]) -> None:
    """A legacy VTK file of tetrahedra."""
    lines = ["# vtk DataFile Version 3.0", "cube", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines.append(f"POINTS {len(points)} double")
    lines += [" ".join(f"{x:.17g}" for x in point) for point in points]
    lines.append(f"\nCELLS {len(tetrahedra)} {5 * len(tetrahedra)}")
    lines += ["4 " + " ".join(map(str, nodes)) for nodes in tetrahedra]
    lines.append(f"\nCELL_TYPES {len(tetrahedra)}")
    lines += ["10"] * len(tetrahedra)
    file.write_text("\n".join(lines) + "\n", encoding="ascii")
