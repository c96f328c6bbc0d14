"""What functions of sapwood return besides arrays: named tuples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from sapwood._sapwood import BodyView, GeomView, Model


def _brief(of: Any, names: Iterable[str]) -> str:  # noqa: ANN401 - any of the tuples below
    """A record whose arrays are too long to be printed: their shapes instead."""
    shown: list[str] = []
    for name in names:
        value: Any = getattr(of, name)
        if hasattr(value, "shape"):
            shown.append(f"{name}{value.shape}")
        else:
            shown.append(f"{name}={list(value) if name == 'parameters' else value!r}")
    return f"{type(of).__name__}({', '.join(shown)})"


class Joint(NamedTuple):
    """A joint of a model; ``q[joint.q]`` and ``v[joint.v]`` are its coordinates."""

    name: str
    """Name; empty when the file gives none."""
    kind: str
    """revolute, prismatic, screw, universal, planar, ball, free or weld."""
    body: int
    """Index of the body that it moves."""
    q: slice
    """Its position coordinates."""
    v: slice
    """Its degrees of freedom."""
    range: tuple[float, float] | None
    """Limits of the coordinate (rad or m), or of the angle of a ball."""
    effort_limit: float | tuple[float, float] | None
    """Greatest force of its drives (URDF ``effort``), N or N·m, or the least and the greatest where they differ."""


class ModelWarning(NamedTuple):
    """Something that a file asks for and this version ignores or approximates."""

    file: str
    """The file; empty for text that came from memory."""
    line: int
    """The line, from 1."""
    element: str
    """The element or attribute."""
    message: str
    """What happens instead."""

    def __str__(self) -> str:
        return f"{self.file or '<text>'}:{self.line}: {self.element}: {self.message}"


class Keyframe(NamedTuple):
    """A named state of a model."""

    name: str
    """Name; empty for the default configuration."""
    time: float
    """Time, s."""
    q: NDArray[np.float64]
    """Positions, (nq,)."""
    v: NDArray[np.float64]
    """Velocities, (nv,)."""
    ctrl: NDArray[np.float64]
    """Controls, (nu,)."""
    act: NDArray[np.float64]
    """Activations, (na,)."""
    mocap: NDArray[np.float64]
    """Where bodies are that are moved from outside, (nmocap, 7): position, m, then the quaternion w x y z."""


class Poses(NamedTuple):
    """Placements of the bodies in the world, the world itself first; with a leading n of n configurations."""

    positions: NDArray[np.float64]
    """Origins, (nbody, 3), m."""
    quaternions: NDArray[np.float64]
    """Orientations, (nbody, 4), w x y z."""


class InverseKinematics(NamedTuple):
    """What ``inverse_kinematics`` found; arrays with a leading n of n starts or targets."""

    q: NDArray[np.float64]
    """The configuration, (nq,), within the joints' limits."""
    error: Any
    """The largest distance (m) or angle (rad) of a target, a number or (n,)."""
    iterations: Any
    """Steps that were computed, those of all starts together, a number or (n,)."""
    converged: Any
    """Whether the error is within the tolerance, a bool or (n,)."""


class Stats(NamedTuple):
    """What the last step did."""

    iterations: int
    """Newton iterations, summed over islands: factorisations, so that a prediction counts and a step with the factor of
    the one before does not. Of robots in an island that are solved apart, those of whichever took most."""
    line_search_evaluations: int
    """Evaluations of the constraints in line searches, and after Newton steps for Coulomb's law,
    summed over islands."""
    residual: float
    """Largest relative residual of the momentum balance of an island."""
    cost: float
    """Cost of the convex problem, J."""
    contacts: int
    """Contact points within reach of the step."""
    active_contacts: int
    """Contact points with an impulse."""
    limits: int
    """Joint limits within reach of the step."""
    islands: int
    """Separate contact problems."""
    penetration: float
    """Deepest penetration at the beginning of the step, m; 0 when nothing touches."""
    constraints: int
    """Constraints in all: contacts, limits, equalities, friction of joints, tendons, drives at their limits."""
    friction_residual: float
    """How far the friction impulses of the worst island are from Coulomb's law, relative to all its impulses."""
    asleep: int = 0
    """Trees that sleep."""
    unsettled: int = 0
    """Islands whose friction is not converged: the search for Coulomb's law spent its `factorization_budget`, or
    was left out, as in crowds of bodies that start in each other."""
    unfinished_recoveries: int = 0
    """Islands in which the search for the velocities that right positions, which leave no energy behind, ended at its
    budget: what starts violated moves apart, but not each contact at its speed."""
    free_iterations: int = 0
    """Newton steps of free motion under an implicit scheme and of soft bodies of nonlinear materials, the most of a
    tree."""
    substeps: int = 1
    """Parts that the step was made in: more than one for accuracy, or where free motion had no solution."""
    rejected: int = 0
    """Steps that were given up because the accuracy asked for shorter ones."""
    force_evaluations: int = 0
    """Evaluations of the forces on the most evaluated tree, of steps that were given up too."""
    soft_residual: float = 0.0
    """What the step leaves of the balance of impulses on a node of a touched soft body of a nonlinear material, as a
    part of the largest; above 1e-6 the search for it was given up."""


class Energy(NamedTuple):
    """Mechanical energy, J."""

    kinetic: float
    """Of motion, armature included."""
    potential: float
    """Of gravity and joint springs."""

    @property
    def total(self) -> float:
        """Kinetic and potential energy together, J."""
        return self.kinetic + self.potential


class _ContactForce(NamedTuple):
    geoms: tuple[str, str]
    """Names of the geoms; empty where the file gives none."""
    bodies: tuple[str, str]
    """Names of their bodies."""
    geom_indices: tuple[int, int]
    """Indices of the geoms."""
    body_indices: tuple[int, int]
    """Indices of their bodies."""
    position: NDArray[np.float64]
    """Point midway between the surfaces at the beginning of the step, world, (3,), m."""
    force: NDArray[np.float64]
    """Force on the second body, friction included, world axes, (3,), N: the impulse over the step's length."""
    normal: NDArray[np.float64]
    """Unit normal from the first geom towards the second, world, (3,)."""
    gap: float
    """Distance at the beginning of the step, m; negative in penetration."""


class ContactForce(_ContactForce):
    """What two geoms do to each other in one point."""

    _model: Model | None = None

    @classmethod
    def _of(cls, model: Model, *fields: Any) -> ContactForce:  # noqa: ANN401
        """A contact of the model, whose names :meth:`on` takes."""
        self = cls(*fields)
        self._model = model
        return self

    def on(self, body: str | int | BodyView | GeomView) -> NDArray[np.float64]:
        """The force on one of the two bodies or geoms, (3,), N; zero for others of the model.

        Args:
            body: Name, index or view of a body, or name or view of a geom. A name that both have is the body's.

        Raises:
            UnknownNameError: When no body and no geom has this name; it lists names that are near.
            IndexError: When there is no body of this index.
        """
        if self._model is None:
            raise ValueError("the contact is of no model: expected one of sim.contact_forces()")
        is_geom, index = self._model._body_or_geom(body)
        pair = self.geom_indices if is_geom else self.body_indices
        return (float(pair[1] == index) - float(pair[0] == index)) * self.force


class RayHit(NamedTuple):
    """Where a ray meets a geom."""

    distance: float
    """From the ray's origin, m; infinite where it meets nothing."""
    geom: int
    """Index of the geom; -1 where it meets nothing."""
    normal: NDArray[np.float64]
    """Unit normal of the surface there, on the side that the ray comes from, (3,); zero where it meets nothing."""


class RayHits(NamedTuple):
    """Where n rays meet geoms."""

    distance: NDArray[np.float64]
    """From the rays' origin, (n,), m; infinite where one meets nothing."""
    geom: NDArray[np.int64]
    """Indices of the geoms, (n,); -1 where one meets nothing."""
    normal: NDArray[np.float64]
    """Unit normals of the surfaces there, on the side that the ray comes from, (n, 3)."""

    def __repr__(self) -> str:
        return _brief(self, self._fields)


class Distance(NamedTuple):
    """How two geoms are apart."""

    distance: float
    """Distance of the surfaces, m; negative where the geoms overlap: the least way apart."""
    points: NDArray[np.float64]
    """Points of the surfaces of the first and the second geom that are so far apart, world, (2, 3), m."""
    normal: NDArray[np.float64]
    """Unit normal from the first geom towards the second, world, (3,)."""


class _Jacobians(NamedTuple):
    A: NDArray[np.float64]
    """∂(q, v)⁺/∂(q, v), (2 nv, 2 nv); positions as velocities that lead to them in unit time."""
    B: NDArray[np.float64]
    """∂(q, v)⁺/∂ctrl, (2 nv, nu)."""


class StepJacobians(_Jacobians):
    """The derivative of one step: δx⁺ = A δx + B δctrl with x = (δq, δv). Those of a batch have the worlds in front.

    Attributes:
        parameters: ∂(q, v)⁺/∂parameter by name, (2 nv, …), for those that were asked for.
    """

    parameters: dict[str, NDArray[np.float64]]

    def __repr__(self) -> str:
        return _brief(self, [*self._fields, *(["parameters"] if self.parameters else [])])

    def __new__(
        cls,
        A: NDArray[np.float64],
        B: NDArray[np.float64],
        parameters: dict[str, NDArray[np.float64]] | None = None,
    ) -> StepJacobians:
        """A pair of matrices, and what is known of parameters."""
        self = super().__new__(cls, A, B)
        self.parameters = parameters or {}
        return self


class SensorJacobians(NamedTuple):
    """The derivative of what sensors show: δy = C δx + D δctrl with x = (δq, δv)."""

    C: NDArray[np.float64]
    """∂y/∂(q, v), (nsensordata, 2 nv); positions as velocities that lead to them in unit time."""
    D: NDArray[np.float64]
    """∂y/∂ctrl, (nsensordata, nu)."""

    def __repr__(self) -> str:
        return _brief(self, self._fields)


class StepGradients(NamedTuple):
    """Gradients of a cost with respect to what a step starts from, one row for each world of a batch."""

    q: NDArray[np.float64]
    """With respect to positions, (n, nv): as velocities that lead to them in unit time."""
    v: NDArray[np.float64]
    """With respect to velocities, (n, nv)."""
    ctrl: NDArray[np.float64]
    """With respect to controls, (n, nu)."""

    def __repr__(self) -> str:
        return _brief(self, self._fields)


class BatchContacts(NamedTuple):
    """The contact points of the last step of every world, m in all, in the order of their worlds."""

    n: int
    """Number of worlds."""
    world: NDArray[np.int64]
    """Index of the world of each, (m,)."""
    geoms: NDArray[np.int64]
    """The two geoms, (m, 2): indices."""
    position: NDArray[np.float64]
    """Points midway between the surfaces at the beginning of the step, (m, 3), world, m."""
    normal: NDArray[np.float64]
    """Unit normals from the first geom towards the second, (m, 3), world."""
    gap: NDArray[np.float64]
    """Distances at the beginning of the step, (m,), negative in penetration, m."""
    force: NDArray[np.float64]
    """Forces on the second geom over the step, friction included, (m, 3), world, N."""

    def __repr__(self) -> str:
        return _brief(self, self._fields)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of points of each world, (n,)."""
        return np.bincount(self.world, minlength=self.n)

    def padded(self, max: int | None = None) -> PaddedContacts:  # noqa: A002
        """The points as arrays of equal size for each world; what is beyond those of a world is zero, geoms -1.

        Args:
            max: Points of a world, k; of more, those that push most are kept. None: as many as the world with most has.
        """
        if max is not None and max < 0:
            raise ValueError(f"max is {max}: expected 0 or more")
        counts = self.counts
        most = int(counts.max(initial=0)) if max is None else max
        chosen = np.arange(len(self.world))
        if counts.max(initial=0) > most:
            # By world, and those that push most first.
            order = np.lexsort((-np.linalg.norm(self.force, axis=1), self.world))
            chosen = np.sort(order[_ranks(counts) < most])
            counts = np.minimum(counts, most)
        world, rank = self.world[chosen], _ranks(counts)

        def spread(values: NDArray[Any], empty: int = 0) -> NDArray[Any]:
            out = np.full((self.n, most, *values.shape[1:]), empty, dtype=values.dtype)
            out[world, rank] = values[chosen]
            return out

        return PaddedContacts(
            mask=np.arange(most) < counts[:, None],
            geoms=spread(self.geoms, -1),
            position=spread(self.position),
            normal=spread(self.normal),
            gap=spread(self.gap),
            force=spread(self.force),
        )


def _ranks(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … for each of the runs of so many."""
    first: NDArray[np.int64] = np.repeat(np.cumsum(counts) - counts, counts)
    return np.arange(first.size, dtype=np.int64) - first


class PaddedContacts(NamedTuple):
    """The contact points of every world in k places each; see ``BatchContacts.padded``."""

    mask: NDArray[np.bool_]
    """Which places hold a point, (n, k); the first ones of each row."""
    geoms: NDArray[np.int64]
    """The two geoms, (n, k, 2); -1 where there is no point."""
    position: NDArray[np.float64]
    """Points midway between the surfaces at the beginning of the step, (n, k, 3), world, m."""
    normal: NDArray[np.float64]
    """Unit normals from the first geom towards the second, (n, k, 3), world."""
    gap: NDArray[np.float64]
    """Distances at the beginning of the step, (n, k), m."""
    force: NDArray[np.float64]
    """Forces on the second geom over the step, (n, k, 3), world, N."""

    def __repr__(self) -> str:
        return _brief(self, self._fields)


class BatchStats(NamedTuple):
    """What a batch did since it was made."""

    steps: int
    """Steps of worlds that were made."""
    left: int
    """Steps that were left to the solver of one world: all where worlds are stepped one by one."""
    unsettled: int
    """Steps that were left, and whose friction did not converge within ``factorization_budget``."""
    iterations: int
    """Iterations of the contact solver in lanes, summed over worlds."""
    group_iterations: int
    """Iterations that groups of worlds made: in each step as many as the slowest of its worlds."""
    left_iterations: int
    """Newton iterations of the steps that were left to the solver of one world."""
    active: int
    """Contacts and limits that pushed, in lanes."""

    @property
    def left_fraction(self) -> float:
        """Share of the steps that were left to the solver of one world."""
        return self.left / self.steps if self.steps else 0.0


class Parameters(NamedTuple):
    """Parameters of one world of a batch; copies. ``Batch.set_parameters`` changes them."""

    gravity: NDArray[np.float64]
    """Acceleration of gravity, (3,), m/s²."""
    masses: NDArray[np.float64]
    """Masses of the bodies, (nbody,), kg; rotational inertia changes in proportion."""
    coms: NDArray[np.float64]
    """Centres of mass in the bodies' frames, (nbody, 3), m; rotational inertia about them stays."""
    inertias: NDArray[np.float64]
    """Rotational inertias about the centres of mass in the bodies' axes, (nbody, 6): xx, yy, zz, xy, xz, yz, kg·m².

    At the model's masses: ``masses`` and ``inertia_scales`` multiply them.
    """
    inertia_scales: NDArray[np.float64]
    """Factors on the rotational inertias, (nbody,)."""
    body_positions: NDArray[np.float64]
    """Origins of the bodies in their parents' frames, (nbody, 3), m; what is free is where ``q`` has it."""
    body_quaternions: NDArray[np.float64]
    """Orientations of the bodies in their parents' frames, (nbody, 4), w x y z."""
    joint_axes: NDArray[np.float64]
    """Axes of the joints in their bodies' frames, (njoint, 3); 0 of those that have not one axis, and stay so."""
    joint_anchors: NDArray[np.float64]
    """Points of the joints in their bodies' frames, (njoint, 3), m; that of a free joint stays."""
    frictions: NDArray[np.float64]
    """Coefficients of sliding friction of the geoms, (ngeom,); of two geoms the larger counts."""
    torsional_frictions: NDArray[np.float64]
    """Greatest torques about the normal over normal force, (ngeom,), m; where a geom resists spinning."""
    rolling_frictions: NDArray[np.float64]
    """Greatest torques about a tangent over normal force, (ngeom,), m; where a geom resists rolling."""
    solref: NDArray[np.float64]
    """``solref`` of the geoms, (ngeom, 2), as MJCF has it; 0 of near-rigid geoms, which stay so."""
    solimp: NDArray[np.float64]
    """``solimp`` of the geoms, (ngeom, 5), as MJCF has it; 0 of near-rigid geoms, which stay so."""
    pair_frictions: NDArray[np.float64]
    """Frictions of the pairs in ``<contact>``, (npair, 4): sliding along both tangents, torsional, rolling."""
    pair_solref: NDArray[np.float64]
    """``solref`` of the pairs in ``<contact>``, (npair, 2); 0 of near-rigid ones, which stay so."""
    pair_solimp: NDArray[np.float64]
    """``solimp`` of the pairs in ``<contact>``, (npair, 5), likewise."""
    limit_solref: NDArray[np.float64]
    """``solref`` of the joints' limits, (njoint, 2); 0 of near-rigid ones, which stay so."""
    limit_solimp: NDArray[np.float64]
    """``solimp`` of the joints' limits, (njoint, 5), likewise."""
    geom_sizes: NDArray[np.float64]
    """Sizes of the geoms, (ngeom, 3), as MJCF has them; masses stay.

    Those of planes, meshes and height fields are 0 and count for nothing.
    """
    geom_positions: NDArray[np.float64]
    """Positions of the geoms in their bodies' frames, (ngeom, 3), m; masses stay."""
    geom_quaternions: NDArray[np.float64]
    """Orientations of the geoms in their bodies' frames, (ngeom, 4), w x y z."""
    armature: NDArray[np.float64]
    """Inertia of the drives, (nv,)."""
    damping: NDArray[np.float64]
    """Damping of the joints, (nv,), N·s/m or N·m·s/rad."""
    stiffness: NDArray[np.float64]
    """Stiffness of the joints, (nv,), N/m or N·m/rad."""
    frictionloss: NDArray[np.float64]
    """Coulomb friction of the joints, (nv,), N or N·m."""
    joint_ranges: NDArray[np.float64]
    """Limits of the joints, (njoint, 2), rad or m; of a ball (0, greatest angle); infinite where there are none."""
    joint_locks: NDArray[np.float64]
    """Where balls and free joints are held, (njoint, 8): 1, then q of the joint, then 0; all 0 of others."""
    gains: NDArray[np.float64]
    """Force of the actuators per unit of control, (nu,): kp of position servos and kv of velocity servos.

    The bias of a servo follows.
    """
    kv: NDArray[np.float64]
    """Damping of the actuators that are position servos, (nu,); those of others count for nothing."""
    actuators_enabled: NDArray[np.float64]
    """Whether the actuators give a force, (nu,), 1 or 0; an activation goes on either way."""
    contypes: NDArray[np.float64]
    """Bits of the geoms, (ngeom,): two may touch when one's contype and the other's conaffinity share one."""
    conaffinities: NDArray[np.float64]
    """See ``contypes``, (ngeom,)."""
    condims: NDArray[np.float64]
    """What geoms resist, (ngeom,): MJCF's ``condim``, 1, 3, 4 or 6; of two geoms the larger counts."""
    disabled: NDArray[np.float64]
    """What is switched off as a whole, (7,), 1 or 0.

    Contact, gravity, limit, actuation, frictionloss, spring, damper.
    """
    equality_anchors: NDArray[np.float64]
    """What equality constraints hold together, (neq, 6): a point of the first body in its frame, then of the second."""
    equality_quaternions: NDArray[np.float64]
    """Orientations of the second body in the frame of the first that welds hold, (neq, 4), w x y z."""

    def __repr__(self) -> str:
        return _brief(self, self._fields)

    @property
    def kp(self) -> NDArray[np.float64]:
        """``gains`` by the name that they have for position servos."""
        return self.gains


class SoftProperties(TypedDict, total=False):
    """What a soft body is made of: keyword arguments of :class:`sapwood.SoftBody` and its constructors."""

    order: Literal["P1", "P2"] | None
    """P1: four nodes an element, constant strain, stiff in bending; P2: ten, linear strain. As the mesh when None."""
    material: Literal["linear", "linear-corotated", "corotated", "stable-neo-hookean"]
    """Stress by strain: linear-corotated (the default) in axes that turn with each element; linear: for small turns."""
    young: float
    """Young's modulus, Pa; 1e5 if it is not said."""
    poisson: float
    """Poisson's ratio, above -1 and at most 0.4999; 0.4 if it is not said."""
    density: float
    """kg/m³; 1000 if it is not said."""
    mass: float | None
    """All its mass, kg, in the place of the density."""
    damping: float
    """Damping relative to stiffness, s; 0.01 if it is not said."""
    mass_damping: float
    """Damping relative to mass, 1/s; 0 if it is not said."""
    mass_matrix: Literal["lumped", "consistent"]
    """Mass at the nodes (lumped, the default), or as shape functions spread it."""


class ParameterArrays(TypedDict, total=False):
    """What ``Batch.set_parameters`` takes: a row for each of k worlds, or one row for all. See ``Parameters``."""

    gravity: ArrayLike
    masses: ArrayLike
    coms: ArrayLike
    inertias: ArrayLike
    inertia_scales: ArrayLike
    body_positions: ArrayLike
    body_quaternions: ArrayLike
    joint_axes: ArrayLike
    joint_anchors: ArrayLike
    frictions: ArrayLike
    torsional_frictions: ArrayLike
    rolling_frictions: ArrayLike
    solref: ArrayLike
    solimp: ArrayLike
    pair_frictions: ArrayLike
    pair_solref: ArrayLike
    pair_solimp: ArrayLike
    limit_solref: ArrayLike
    limit_solimp: ArrayLike
    geom_sizes: ArrayLike
    geom_positions: ArrayLike
    geom_quaternions: ArrayLike
    armature: ArrayLike
    damping: ArrayLike
    stiffness: ArrayLike
    frictionloss: ArrayLike
    joint_ranges: ArrayLike
    joint_locks: ArrayLike
    gains: ArrayLike
    kv: ArrayLike
    kp: ArrayLike
    actuators_enabled: ArrayLike
    contypes: ArrayLike
    conaffinities: ArrayLike
    condims: ArrayLike
    disabled: ArrayLike
    equality_anchors: ArrayLike
    equality_quaternions: ArrayLike


class SpdSolution(NamedTuple):
    """What a stable PD controller does."""

    acceleration: NDArray[np.float64]
    """Acceleration under the controller without effort limits, (nv,)."""
    torque: NDArray[np.float64]
    """The controller's force, (nv,), within the effort limits."""
    iterations: int
    """Iterations of conjugate gradients; 1 for the direct methods."""
    residual: float
    """Relative residual of conjugate gradients; 0 for the direct methods."""


class Solution(NamedTuple):
    """The solution of a contact problem."""

    v: NDArray[np.float64]
    """Velocities, (nv,)."""
    impulses: NDArray[np.float64]
    """Impulses of the contacts, (nc, 3): t1, t2, n."""
    iterations: int
    """Newton iterations."""
    line_search_evaluations: int
    """Evaluations of the line search."""
    residual: float
    """Relative residual of the momentum balance."""
    cost: float
    """The minimum."""
    converged: bool
    """False where Coulomb's law was not met within its budget. A convex problem that does not converge raises
    :class:`sapwood.SimulationError`."""
