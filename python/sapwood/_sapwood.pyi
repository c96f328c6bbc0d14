"""Types of the compiled module."""

# Properties by name are of many types.
# ruff: noqa: ANN401

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Generic, Literal, NoReturn, TypeVar, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Unpack

from sapwood._inverse_kinematics import PoseTarget
from sapwood._markers import Markers
from sapwood._parameters import BatchParameters, SimulationParameters
from sapwood._render import Camera
from sapwood._results import (
    BatchContacts,
    BatchStats,
    ContactForce,
    Distance,
    Energy,
    InverseKinematics,
    Joint,
    Keyframe,
    ModelWarning,
    ParameterArrays,
    Parameters,
    Poses,
    RayHit,
    RayHits,
    SensorJacobians,
    SoftProperties,
    Solution,
    SpdSolution,
    Stats,
    StepGradients,
    StepJacobians,
)
from sapwood._sap import Constraints, ProblemSolution, SparseMatrix

__all__ = [
    "CHARACTERS",
    "SCENES",
    "ActuatorView",
    "Assembly",
    "Batch",
    "BodyView",
    "DeviceArray",
    "DeviceBatch",
    "Episodes",
    "EqualityView",
    "GeomView",
    "ImitationEpisodes",
    "JointView",
    "Model",
    "Renderer",
    "Replay",
    "SapProblem",
    "SensorView",
    "Simulation",
    "SiteView",
    "SoftBody",
    "SoftBodyView",
    "SpdSolver",
    "TendonView",
    "Tracking",
    "Views",
    "_MujocoNumbers",
    "_MujocoWorld",
    "_MujocoWorlds",
    "__version__",
    "_command",
    "_load_mujoco",
    "_scene_json",
    "character",
    "character_mjcf",
    "inverse_kinematics",
    "load",
    "sap_solve",
    "scene",
    "scene_mjcf",
    "spd_solve",
    "track",
]

__version__: str
CHARACTERS: tuple[str, ...]
"""Names of the characters (see ``sapwood.characters``)."""
SCENES: tuple[str, ...]
"""Names of the scenes, capitals for numbers (see ``sapwood.scenes``)."""

def character(name: str, *, ground: bool = True, self_collision: bool = False) -> Model:
    """A character as a model (see ``sapwood.characters``).

    Raises:
        ValueError: When no character has this name.
    """

def character_mjcf(name: str, *, ground: bool = True, self_collision: bool = False) -> str:
    """A character as MJCF text.

    Args:
        name: ``humanoid``, ``dog``, ``snake36``, ``snake72`` or ``snake195``.
        ground: Whether there is a level ground at z = 0.
        self_collision: Whether bodies that are no neighbours can touch each other.

    Raises:
        ValueError: When no character has this name.
    """

def scene(name: str) -> Model:
    """A scene as a model (see ``sapwood.scenes``).

    Raises:
        ValueError: When no scene has this name.
    """

def scene_mjcf(name: str) -> str:
    """A scene as MJCF text.

    Args:
        name: Such as ``clutter-box-125`` or ``incline-20-0.7``; ``NAMES`` has all forms.

    Raises:
        ValueError: When no scene has this name.
    """

def load(
    source: str | PathLike[str],
    *,
    ground: float | Literal[True] | None = None,
    package_path: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    floating_base: bool = False,
    actuators: Literal["motor", "position"] | None = None,
    xacro: Mapping[str, str] | None = None,
    assets: Mapping[str, str | bytes] | None = None,
    strict: bool = False,
) -> Model:
    """Load a model from an MJCF, URDF or SDFormat file, or from its XML text.

    Args:
        source: A path, or text that begins with ``<``. Files that a text refers to are those of ``assets``.
        ground: Height of a level ground that everything can touch, m, added as the last geom, ``ground``; True: at 0. A
            floating base that would start in it is lifted until the robot stands on it.
            None: what the file has.
        package_path: URDF and SDFormat: folders in which the packages of ``package://`` and ``model://`` addresses
            are looked for.
        floating_base: URDF: whether the root link moves freely (it is fixed to the world otherwise). Files of MJCF
            and SDFormat say so themselves.
        actuators: URDF and SDFormat, which have none: a motor for each joint of a URDF's ``<transmission>``s, without
            any for each joint with one degree of freedom that mimics no other, or a position servo, which is critically
            damped with a natural frequency of 30 rad/s (``Simulation.parameters.kp`` and ``kv`` change that). Efforts
            are those of the joints.
        xacro: For files whose names end with ``.xacro``, which the package ``xacrodoc`` expands (``pip install
            'sapwood[xacro]'``): values of their arguments by name.
        assets: For text: contents of meshes, pictures, included and attached models, by their names in it.
        strict: Whether what ``model.warnings`` would name is an error: misspelt names, and what is not simulated.

    Raises:
        ModelError: When the file, or one that it refers to, cannot be read or makes no sense. Where the file itself is
            not there, the error is a ``FileNotFoundError``, too.
        ValueError: When source is empty, or ground is not finite.
        TypeError: When an argument is of another type.
    """

def inverse_kinematics(
    model: Model,
    targets: PoseTarget | Sequence[PoseTarget],
    q0: ArrayLike | None = None,
    *,
    joints: Sequence[str | int | JointView] | None = None,
    reference: ArrayLike | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    restarts: int = 10,
) -> InverseKinematics:
    """The configuration at which frames of bodies are where they should be, within the joints' limits.

    Damped least squares (Levenberg–Marquardt) on the manifold: from a start to the nearest local minimum, and where
    that is no solution from other starts. For a target out of reach it is the nearest configuration that was found.
    The same arguments give the same bits. Equality constraints are not looked at.

    Args:
        model: The model.
        targets: One target or several. Where positions or quaternions have a leading n, so has the result.
        q0: Where to start, (nq,), or (n, nq) for n results; None: at ``reference``, else the default configuration.
        joints: The joints that may move, by name, index or view; None: all. Others, and those that move no target,
            stay as in ``q0``.
        reference: A configuration, (nq,), to be near to with what freedom the targets leave, without a loss in them.
        tolerance: The largest distance (m) and angle (rad) that count as none.
        max_iterations: Most steps from one start.
        restarts: How many further starts to draw within the joints' limits while there is no solution.

    Raises:
        ValueError: When a target asks for nothing, no joint moves its body, or an argument has a wrong shape or value.
        UnknownNameError: When nothing has a name.
        TypeError: When an argument is of another type.
    """

@final
class Model:
    """A multibody system as a file describes it: bodies, joints, actuators, geoms. Immutable.

    Body 0 is the world. Configurations ``q`` (nq,) and velocities ``v`` (nv,) are laid out joint by joint as MuJoCo's
    ``qpos`` and ``qvel``: a free joint has a position and a quaternion (w, x, y, z) in q, the velocity of the body's
    origin in the world and its angular velocity in the body's frame in v; a ball joint a quaternion and the angular
    velocity in the child's frame; the others one number per degree of freedom.
    """

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def nq(self) -> int:
        """Number of position coordinates."""

    @property
    def nv(self) -> int:
        """Number of degrees of freedom."""

    @property
    def nu(self) -> int:
        """Number of controls."""

    @property
    def nbody(self) -> int:
        """Number of bodies, the world included."""

    @property
    def njoint(self) -> int:
        """Number of joints."""

    @property
    def ngeom(self) -> int:
        """Number of geoms."""

    @property
    def timestep(self) -> float:
        """Suggested time step, s."""

    @property
    def gravity(self) -> NDArray[np.float64]:
        """Acceleration of gravity, (3,), m/s², a read-only copy; ``Simulation.parameters`` has one to change."""

    @property
    def mass(self) -> float:
        """Total mass, kg."""

    @property
    def body_masses(self) -> NDArray[np.float64]:
        """Masses of the bodies, (nbody,), kg, a read-only copy; ``Simulation.parameters`` has some to change."""

    @property
    def body_parents(self) -> list[int]:
        """Indices of the parents of the bodies; the world is its own."""

    @property
    def body_names(self) -> list[str]:
        """Names of the bodies; the first is the world."""

    @property
    def joint_names(self) -> list[str]:
        """Names of the joints, in the order of their coordinates; empty where the file gives none."""

    @property
    def actuator_groups(self) -> list[int]:
        """Groups that the actuators belong to, (nu,)."""

    @property
    def actuator_names(self) -> list[str]:
        """Names of the actuators, in the order of the controls; empty where the file gives none."""

    @property
    def tendon_names(self) -> list[str]:
        """Names of the tendons; empty where the file gives none."""

    @property
    def equality_names(self) -> list[str]:
        """Names of the equality constraints; empty where the file gives none."""

    @property
    def geom_names(self) -> list[str]:
        """Names of the geoms; empty where the file gives none."""

    @property
    def keyframe_names(self) -> list[str]:
        """Names of the keyframes; empty where the file gives none."""

    @property
    def joints(self) -> list[Joint]:
        """The joints: name, kind, body, slices of q and v, range, effort limit."""

    @property
    def warnings(self) -> list[ModelWarning]:
        """What the file asks for and this version ignores or approximates."""

    @property
    def armature(self) -> NDArray[np.float64]:
        """Inertia of the drives, on the diagonal of the mass matrix, (nv,), a read-only copy."""

    def mass_matrix(self, q: ArrayLike) -> NDArray[np.float64]:
        """The mass matrix M(q), armature of joints and tendons included, (nv, nv)."""

    def bias_forces(self, q: ArrayLike, v: ArrayLike) -> NDArray[np.float64]:
        """Coriolis, gyroscopic and gravity forces, (nv,): the bias in M a + bias = tau.

        Joint damping, springs and friction are not in it.
        """

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> NDArray[np.float64]:
        """The acceleration a of M a + bias = tau, (nv,), in time linear in the number of bodies.

        Contact, joint limits, damping and springs are not in it.
        """

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> NDArray[np.float64]:
        """The forces tau = M a + bias, (nv,), in time linear in the number of bodies.

        Contact, joint limits, damping, springs and friction are not in it: ``Simulation.inverse_dynamics`` has them.
        """

    def forward_kinematics(self, q: ArrayLike) -> Poses:
        """Positions (nbody, 3) and orientations (nbody, 4; w x y z) of the bodies in the world.

        Of configurations (n, nq) all of them, with a leading n.
        """

    def jacobian(
        self, q: ArrayLike, body: str | int | BodyView | None = None, *, site: str | int | SiteView | None = None
    ) -> NDArray[np.float64]:
        """The Jacobian of a body's or a site's origin, (6, nv): angular, then linear, world axes.

        Of configurations (n, nq) all of them, (n, 6, nv).

        Raises:
            ValueError: When not one of body and site is given, or q has a wrong shape.
        """

    def tendon_lengths(self, q: ArrayLike) -> NDArray[np.float64]:
        """Lengths of the tendons, in the order of their names."""

    def equality_residuals(self, q: ArrayLike) -> NDArray[np.float64]:
        """By how much q misses the equality constraints, active or not: 0 where they hold.

        Rows in the order of the constraints: 3 of a connect (first point less second, m, in world axes), 6 of a weld
        (the same of its origins, then the rotation vector from the second frame to the first, rad), 1 of the others.
        """

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> NDArray[np.float64]:
        """q ⊞ dv: the configuration reached from q with the velocity dv (nv,) in unit time, (nq,).

        Either may have a leading n, and the result then has it.
        """

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> NDArray[np.float64]:
        """q1 ⊟ q0: the velocity that leads from q0 to q1 in unit time by the shorter arcs, (nv,).

        Either may have a leading n, and the result then has it.
        """

    def keyframe(self, name: str | int | None = None) -> Keyframe:
        """A keyframe by its name or its index (-1: the last), or the default configuration at rest for None.

        Raises:
            UnknownNameError: When the model has no keyframe of this name (it is a ``ValueError``, too).
            IndexError: When it has none of this index.
        """

    @property
    def nsite(self) -> int:
        """Number of sites."""

    @property
    def site_names(self) -> list[str]:
        """Names of the sites; empty where the file gives none."""

    @property
    def site_bodies(self) -> list[int]:
        """Indices of the bodies that the sites are fixed in."""

    @property
    def geom_bodies(self) -> list[int]:
        """Indices of the bodies that the geoms are fixed in."""

    @property
    def ctrl_range(self) -> NDArray[np.float64]:
        """Ranges that controls are cut to, (nu, 2), infinite without; a read-only copy."""

    @property
    def force_range(self) -> NDArray[np.float64]:
        """Ranges that forces of actuators are cut to, (nu, 2), infinite without; a read-only copy."""

    def _body_or_geom(self, key: str | int | BodyView | GeomView) -> tuple[bool, int]: ...
    def body_index(self, body: str | int) -> int:
        """The index of a body by name; an index is checked, a negative one counted from the end.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    def joint_index(self, joint: str | int) -> int:
        """The index of a joint by name; an index is checked, a negative one counted from the end.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    def geom_index(self, geom: str | int) -> int:
        """The index of a geom by name; an index is checked, a negative one counted from the end.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    def site_index(self, site: str | int) -> int:
        """The index of a site by name; an index is checked, a negative one counted from the end.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    def actuator_index(self, actuator: str | int) -> int:
        """The index of an actuator by name; an index is checked, a negative one counted from the end.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    def tendon_index(self, tendon: str | int) -> int:
        """The index of a tendon by name; an index is checked, a negative one counted from the end.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    @property
    def nsensor(self) -> int:
        """Number of sensors."""

    @property
    def nsensordata(self) -> int:
        """How many numbers all sensors have together."""

    @property
    def sensor_names(self) -> list[str]:
        """Names of the sensors; empty where the file gives none."""

    @property
    def sensor_types(self) -> list[str]:
        """Types of the sensors: the names of their MJCF elements."""

    @property
    def sensor_addresses(self) -> list[int]:
        """Where the numbers of each sensor begin in ``sim.sensordata``."""

    @property
    def sensor_dims(self) -> list[int]:
        """How many numbers each sensor has."""

    def sensor_index(self, sensor: str | int) -> int:
        """The index of a sensor by name; an index is checked, a negative one counted from the end.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    def to_bytes(self) -> bytes:
        """The model as bytes, complete: what pickles hold, for other processes and for caches.

        Another version of Sapwood may refuse them.
        """

    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """The model of ``to_bytes``, with the same bits.

        Raises:
            ValueError: When the bytes are not those of a model, are damaged, or of another version.
        """

    @staticmethod
    def from_mujoco(mj_model: Any, *, near_rigid: bool = False) -> Model:
        """The model of the arrays of a compiled ``mujoco.MjModel``, in their order: ``q`` is its ``qpos``.

        It has all that MuJoCo's compiler has made, and what a program has changed since. What Sapwood does not
        simulate is a ``UserWarning`` or one of ``warnings`` that names the element. Needs the extra ``mujoco``.

        Args:
            mj_model: The ``MjModel``.
            near_rigid: Whether contacts, limits and equalities are as rigid as the time step allows, instead of what
                its ``solref`` and ``solimp`` say.

        Raises:
            ImportError: When MuJoCo's package is missing, or is of a version whose structures are not known.
            ModelError: When Sapwood cannot simulate the model; it names the element.
        """

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        """Pickles hold ``to_bytes``."""

    def __copy__(self) -> Model:
        """The model itself: nothing of it can be changed."""

    def __deepcopy__(self, memo: dict[int, object]) -> Model:
        """The model itself: nothing of it can be changed."""

    @property
    def camera_names(self) -> list[str]:
        """Names of the cameras; empty where the file gives none."""

    def to_mjcf(self, path: str | PathLike[str] | None = None, *, meshes: Literal["inline", "obj"] = "inline") -> str:
        """The model as MJCF text, which reads back as the same model and which MuJoCo compiles.

        What MJCF has no words for and something close stands in for is a ``UserWarning`` that names the element.

        Args:
            path: Where to write the text, too. Textures are PNG files beside it; without a path they are left out.
            meshes: ``"inline"``: vertices and faces in the text, with all digits. ``"obj"``: in files beside ``path``,
                in single precision.

        Raises:
            ModelError: When MJCF cannot say something: a screw joint, say; it names the element.
            OSError: When a file cannot be written.
        """

@final
class Assembly:
    """The compiled half of :class:`sapwood.ModelBuilder`, which see: elements by index."""

    def __new__(cls, name: str) -> Assembly: ...
    @staticmethod
    def of(model: Model) -> Assembly: ...
    def copy(self) -> Assembly: ...
    def get(self, field: str) -> Any: ...
    def set(self, field: str, value: object) -> None: ...
    def rename(self, kind: str, index: int, name: str) -> None: ...
    def remove(self, kind: str, index: int) -> dict[str, list[int | None]]: ...
    def names(self, kind: str) -> list[str]: ...
    def add_body(self, parent: int, fields: dict[str, Any]) -> int: ...
    def get_body(self, body: int, field: str) -> Any: ...
    def set_body(self, body: int, field: str, value: object) -> None: ...
    def has_inertia(self, body: int) -> bool: ...
    def add_joint(self, body: int, kind: str, axes: list[list[float]], pitch: float, fields: dict[str, Any]) -> int: ...
    def get_joint(self, joint: int, field: str) -> Any: ...
    def set_joint(self, joint: int, field: str, value: object) -> None: ...
    def add_site(self, body: int, name: str, position: ArrayLike, quaternion: ArrayLike) -> int: ...
    def site(self, site: int) -> tuple[int, list[float], list[float]]: ...
    def attach(self, model: Model, body: int, position: ArrayLike, quaternion: ArrayLike, prefix: str) -> int: ...
    def exclude(self, first: int, second: int) -> None: ...
    def build(self) -> Model: ...
    def add_primitive(
        self,
        body: int,
        shape: str,
        size: list[float],
        mass: tuple[float | None, float | None, bool],
        fields: dict[str, Any],
    ) -> int: ...
    def add_mesh(
        self,
        body: int,
        name: str,
        vertices: ArrayLike,
        faces: NDArray[np.int64] | None,
        mass: tuple[float | None, float | None, bool],
        fields: dict[str, Any],
    ) -> int: ...
    def add_mesh_file(
        self,
        body: int,
        name: str,
        path: str | PathLike[str],
        scale: ArrayLike,
        mass: tuple[float | None, float | None, bool],
        fields: dict[str, Any],
    ) -> int: ...
    def add_height_field(
        self,
        body: int,
        name: str,
        heights: ArrayLike,
        half_extents: ArrayLike,
        base: float,
        fields: dict[str, Any],
    ) -> int: ...
    def get_geom(self, geom: int, field: str) -> Any: ...
    def set_geom(self, geom: int, field: str, value: object) -> None: ...
    def add_pair(self, geoms: list[int], fields: dict[str, Any]) -> None: ...
    def add_actuator(
        self,
        name: str,
        on: str,
        target: int,
        gear: list[float],
        law: list[float],
        ctrl_range: ArrayLike | None,
        force_range: ArrayLike | None,
        delay: tuple[float, int, str] | None,
    ) -> int: ...
    def add_tendon(
        self,
        name: str,
        terms: list[tuple[int, float]],
        range: ArrayLike | None,  # noqa: A002
        rest: ArrayLike | None,
        parameters: list[float | ArrayLike],
    ) -> int: ...
    def add_spatial_tendon(
        self,
        name: str,
        branches: list[tuple[float, list[tuple[str, int, int | None]]]],
        range: ArrayLike | None,  # noqa: A002
        rest: ArrayLike | None,
        parameters: list[float | ArrayLike],
        rgba: ArrayLike,
        group: int,
    ) -> int: ...
    def add_connect(self, name: str, bodies: list[int], first: ArrayLike, second: ArrayLike | None) -> int: ...
    def add_distance(self, name: str, bodies: list[int], anchors: list[list[float]], distance: float | None) -> int: ...
    def add_weld(
        self, name: str, bodies: list[int], anchor: ArrayLike, pose: tuple[ArrayLike, ArrayLike] | None
    ) -> int: ...
    def add_coupling(
        self, name: str, y: tuple[str, int], x: tuple[str, int] | None, polynomial: list[float]
    ) -> int: ...
    def add_soft_body(
        self, body: int, soft_body: SoftBody, position: ArrayLike, quaternion: ArrayLike, fields: dict[str, Any]
    ) -> int: ...
    def get_soft_body(self, soft_body: int, field: str) -> Any: ...
    def set_soft_body(self, soft_body: int, field: str, value: object) -> None: ...
    def soft_nodes(self, soft_body: int) -> NDArray[np.float64]: ...
    def hold_soft_nodes(self, soft_body: int, nodes: ArrayLike, body: int | None) -> None: ...
    def set_equality(
        self,
        equality: int,
        active: bool,
        compliance: ArrayLike | None,
        solref: ArrayLike | None,
        solimp: ArrayLike | None,
    ) -> None: ...
    def add_keyframe(
        self,
        name: str,
        time: float,
        q: dict[int, list[float]],
        v: dict[int, list[float]],
        ctrl: dict[int, float],
        mocap: dict[int, list[float]],
    ) -> None: ...
    def get_actuator(
        self, actuator: int
    ) -> tuple[list[float], tuple[float, float] | None, tuple[float, float] | None]: ...
    def get_delay(self, actuator: int) -> tuple[float, int, str] | None: ...
    def set_actuator(
        self, actuator: int, law: list[float], ctrl_range: ArrayLike | None, force_range: ArrayLike | None
    ) -> None: ...

@final
class Simulation:
    """One world in motion.

    Args:
        model: The model; simulations share it.
        timestep: Time step, s; the model's own when None.
        accuracy: Error that may be made per second, in m, rad, and of velocities relative to 1 m/s or rad/s and
            themselves: steps are then as long as it lets them be, and ``step`` advances by the time step in as many as
            it takes. None: every step is one.
        scheme: Time-stepping scheme, by name or by (theta_q, theta_v, theta_vq): where in the step, from 0 to 1,
            positions, velocities and the velocities that move positions are taken.
        conserve: Whether the midpoint rule mends velocities at the end of a step, so that energy and the momentum that
            no joint can change are kept, or change by what forces do, to round-off.
        pd_law: Where ``pd`` is taken: as the scheme takes springs, or by the law of stable PD; auto: stable under
            symplectic Euler alone.
        contact: Friction law.
        tolerance: Relative tolerance of the contact solver on the scaled momentum balance.
        factorization_budget: Factorisations that an island as large as a pile of 125 bodies may spend on Coulomb's law
            in a step; a smaller one as many more as it is smaller. Then the step takes the friction bounds that it has
            come to, with momentum balanced to the tolerance; ``stats.unsettled`` counts the islands where that
            happened, ``stats.friction_residual`` says how far friction is from the law. None: until it stops improving.
        beta: Near-rigid contacts oscillate with the period beta · timestep.
        sigma: Tangential regularisation over the Delassus estimate: stuck contacts creep at about sigma · g · timestep.
        impratio: Of contacts whose surfaces have a ``solref``: friction yields as MuJoCo's with this ``impratio``.
            What slides is braked in the time constant of ``solref``, what sticks creeps under its load. None:
            friction is Coulomb's, as rigid as ``sigma`` says. Derivatives leave out how what yields follows the
            velocity before the step.
        recovery_speed: Greatest speed at which near-rigid contacts, limits and equalities that start violated are
            righted, m/s or rad/s.
        sleep_after: Islands that have rested for this long, s, sleep: they are not moved until something touches
            them or is done to them. None: ten steps where the model's file has the flag ``sleep``; else, and with
            ``math.inf``, nothing falls asleep. What actuators or PD control drive does not sleep unless the file
            allows it; contacts among sleepers are not reported.
        sleep_speed: What rests moves no faster at any point, m/s. None: the file's ``sleep_tolerance``, or 1e-3.
        threads: Threads that separate contact problems are shared among; the result is the same bits for any number.

    Raises:
        ValueError: When an option is outside its domain or not in this version.

    ``q``, ``v``, ``ctrl``, ``applied_force``, ``applied_wrench`` and ``surface_velocity`` are views of the state:
    they show what a step does and what is written into them acts in the next step. Other threads run while ``step``
    does; what they write into q and v meanwhile is lost, and calling other methods of this simulation raises
    ``RuntimeError``.
    """

    def __new__(
        cls,
        model: Model,
        *,
        timestep: float | None = None,
        accuracy: float | None = None,
        scheme: Literal["symplectic-euler", "bilinear", "midpoint", "implicit-euler", "explicit-euler"]
        | tuple[float, float, float] = "bilinear",
        conserve: bool = True,
        pd_law: Literal["auto", "stable", "theta"] = "auto",
        contact: Literal["sap", "lagged", "coulomb"] = "coulomb",
        tolerance: float = 1e-6,
        factorization_budget: int | None = 100,
        beta: float = 0.1,
        sigma: float = 1e-5,
        impratio: float | None = None,
        recovery_speed: float = 1.0,
        sleep_after: float | None = None,
        sleep_speed: float | None = None,
        threads: int = 1,
    ) -> Simulation: ...
    @property
    def model(self) -> Model:
        """The model."""

    @property
    def timestep(self) -> float:
        """Time step, s.

        Another one costs what a new simulation does, a fraction of a millisecond for small models; state, forces and
        parameters stay.
        """

    @timestep.setter
    def timestep(self, value: float) -> None: ...
    @property
    def time(self) -> float:
        """Time, s. Motion does not depend on it."""

    @time.setter
    def time(self, value: float) -> None: ...
    @property
    def q(self) -> NDArray[np.float64]:
        """Positions, (nq,), a live view."""

    @q.setter
    def q(self, value: ArrayLike) -> None: ...
    @property
    def v(self) -> NDArray[np.float64]:
        """Velocities, (nv,), a live view."""

    @v.setter
    def v(self, value: ArrayLike) -> None: ...
    @property
    def ctrl(self) -> NDArray[np.float64]:
        """Controls, (nu,), a live view."""

    @ctrl.setter
    def ctrl(self, value: ArrayLike) -> None: ...
    @property
    def act(self) -> NDArray[np.float64]:
        """Activations, the states that actuators have of their own, (na,), a live view; in order of actuators."""
    @act.setter
    def act(self, value: ArrayLike) -> None: ...
    @property
    def applied_force(self) -> NDArray[np.float64]:
        """Forces on the degrees of freedom, (nv,), N or N·m, a live view; they stay until changed."""

    @applied_force.setter
    def applied_force(self, value: ArrayLike) -> None: ...
    @property
    def applied_wrench(self) -> NDArray[np.float64]:
        """Torque, then force at the centre of mass of every body in world axes, (nbody, 6), a live view.

        They stay until changed.
        """

    @applied_wrench.setter
    def applied_wrench(self, value: ArrayLike) -> None: ...
    @property
    def markers(self) -> Markers:
        """Spheres, lines, arrows, frames, texts, trails in pictures, recordings, the viewer: see :class:`Markers`."""

    def _add_markers(self, shape: str, points: ArrayLike, radius: float, color: ArrayLike) -> None: ...
    def _add_label(self, text: str, position: ArrayLike, height: float, color: ArrayLike) -> None: ...
    def _add_trail(self, kind: str, index: int, places: int, radius: float, color: ArrayLike) -> None: ...
    def _clear_markers(self) -> None: ...
    def _drawing(
        self,
    ) -> tuple[
        list[tuple[list[list[float]], float, tuple[float, float, float, float]]],
        list[tuple[list[list[float]], float, tuple[float, float, float, float]]],
        list[tuple[str, list[float], float, tuple[float, float, float, float]]],
        dict[int, tuple[float, float, float, float]],
    ]: ...
    @property
    def _drawing_changes(self) -> int: ...
    @property
    def _marker_count(self) -> int: ...
    @property
    def surface_velocity(self) -> NDArray[np.float64]:
        """Velocities of the geoms' surfaces on their bodies, (ngeom, 3), m/s, a live view: conveyor belts.

        In the axes of the node that the geom moves with, world axes where it is fixed. They stay until changed.
        """

    @surface_velocity.setter
    def surface_velocity(self, value: ArrayLike) -> None: ...
    @property
    def equality_active(self) -> NDArray[np.float64]:
        """Which equality constraints are in force, 1 or 0, (neq,), a live view; one: ``equality(name).active``."""

    @equality_active.setter
    def equality_active(self, value: ArrayLike) -> None: ...
    @property
    def mocap_positions(self) -> NDArray[np.float64]:
        """Positions of the bodies that are moved from outside (MJCF ``mocap``), (nmocap, 3), m, a live view.

        A step takes such a body from where the last one left it, evenly in all of ``step(n)``, and it carries what it
        touches; by more than 5 cm or 0.5 rad a step it is put there, without velocity. Welds and connects pull others
        after it, and what hangs on it by joints goes along.
        """

    @mocap_positions.setter
    def mocap_positions(self, value: ArrayLike) -> None: ...
    @property
    def mocap_quaternions(self) -> NDArray[np.float64]:
        """Their orientations, (nmocap, 4), w x y z, a live view."""

    @mocap_quaternions.setter
    def mocap_quaternions(self, value: ArrayLike) -> None: ...
    def soft_body(self, soft_body: str | int) -> SoftBodyView:
        """A soft body by name or index, as a view: it shows this simulation's present state.

        Raises:
            UnknownNameError: When no soft body has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    @property
    def soft_bodies(self) -> list[SoftBodyView]:
        """All soft bodies."""

    @property
    def soft_positions(self) -> NDArray[np.float64]:
        """Positions of the nodes of all soft bodies, body after body, (nodes, 3), world, m, a live view."""

    @soft_positions.setter
    def soft_positions(self, value: ArrayLike) -> None: ...
    @property
    def soft_velocities(self) -> NDArray[np.float64]:
        """Velocities of the nodes of all soft bodies, (nodes, 3), m/s, a live view."""

    @soft_velocities.setter
    def soft_velocities(self, value: ArrayLike) -> None: ...
    @property
    def soft_forces(self) -> NDArray[np.float64]:
        """Forces on the nodes of all soft bodies, (nodes, 3), N, a live view; they stay until changed."""

    @soft_forces.setter
    def soft_forces(self, value: ArrayLike) -> None: ...
    def step(self, n: int = 1) -> None:
        """Advance by n time steps. Other threads run meanwhile; Ctrl-C stops between steps.

        Raises:
            SimulationError: When a step fails; the state is the one before that step.
            ValueError: When the state or an input is not finite.
        """

    def forward(self) -> None:
        """Find the accelerations, contacts, forces and sensor values of the present state, without a step.

        ``acceleration``, ``contacts``, ``contact_forces()``, the forces of constraints and actuators, and sensors of
        accelerations and forces are then those of the step that comes next. The state stays, and that step has the bits
        that it has without this. Time steps are those of the options, also under error control.

        Raises:
            SimulationError: When that step fails.
            ValueError: When the state or an input is not finite.
        """

    def advance_to(self, time: float) -> None:
        """Advance to a time: by steps that keep the accuracy, or by whole time steps and a last one that is shorter.

        Nothing happens when the time has passed. Other threads run meanwhile; Ctrl-C stops between steps.

        Raises:
            SimulationError: When a step fails; the state is the one before that step.
            ValueError: When the state, an input or the time is not finite.
        """

    def trajectory(self, times: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Advance to the last of the times; positions (n, nq) and velocities (n, nv) at each of them.

        Between steps they are interpolated, so that steps need not end there. Other threads run meanwhile; Ctrl-C stops
        between steps, and the simulation can go on from there.

        Raises:
            SimulationError: When a step fails; the state is the one before that step.
            ValueError: When the state or an input is not finite, or the times do not ascend or have passed.
        """

    def step_jacobians(self, parameters: Sequence[str] | None = None) -> StepJacobians:
        """The derivative of the next step with respect to the state and the controls that it starts from.

        By the implicit function theorem at the solution of the contact problem; the simulation stays as it is. Changes
        of q and q⁺ are in the tangent space, nv of them, as velocities: rotations in the body's frame. What sticks,
        slides, is apart or at a limit stays so.

        Args:
            parameters: Names of parameters with respect to which it is differentiated, too: the result's ``parameters``
                has an array (2 nv, …) for each. gravity, masses, coms, inertias, inertia_scales, geom_sizes,
                geom_positions, armature, damping, stiffness, gains (kp) and kv have a derivative; each of their numbers
                costs two steps of new simulations.

        Raises:
            SimulationError: When the step fails, the contacts that push change next to this state, or Coulomb's law has
                no solution.
            ValueError: When the state or an input is not finite, or parameters has another name.
        """

    @property
    def contacts(self) -> NDArray[np.void]:
        """The contact points of the last step, a structured array; a read-only copy.

        Fields: ``bodies`` (2,), ``geoms`` (2,): indices; ``position`` (3,): midway between the surfaces, world;
        ``normal`` (3,): from the first to the second, world; ``tangents`` (2, 3): world; ``gap``: m, negative in
        penetration; ``impulse`` (3,): on the second body along t1, t2, n, N·s; ``slip`` (2,): velocity of the second
        body relative to the first along t1, t2, m/s.
        """

    @property
    def stats(self) -> Stats:
        """What the last step did."""

    def pd(
        self,
        kp: ArrayLike,
        kd: ArrayLike,
        target: ArrayLike,
        target_velocity: ArrayLike | None = None,
        effort_limit: ArrayLike | None = None,
    ) -> None:
        """Control any degrees of freedom by stable PD, the root included, from the next step on until changed.

        The damping is implicit, and the position error is taken where the present velocity leads. Where kd < 1.5 dt kp
        the velocity at the end of the step has a part in it, without damping alone: any gain is stable.
        Zero gains leave a degree of freedom free. ``reset`` ends it.

        Args:
            kp: Stiffness, (nv,) or one for all, 0 or more.
            kd: Damping, (nv,) or one for all, 0 or more.
            target: Positions at the end of the step, (nq,).
            target_velocity: Velocities, (nv,); None: zero.
            effort_limit: Greatest forces, (nv,) or one for all; None: no limit.

        Raises:
            ValueError: When an argument has a wrong shape or value.
        """

    def energy(self) -> Energy:
        """Kinetic and potential energy of the present state, J."""

    @overload
    def state(self, *, as_array: Literal[False] = False) -> bytes:
        """The complete state; a simulation that restores it goes on with the same bits.

        Args:
            as_array: As numbers: time, ``q``, ``v``, ``act``, ``ctrl``, the seven numbers of each mocap body and
                ``equality_active``, one after the other. What the solver remembers, applied forces, PD control and
                parameters are not among them.
        """

    @overload
    def state(self, *, as_array: Literal[True]) -> NDArray[np.float64]: ...
    def restore(self, state: bytes | ArrayLike) -> None:
        """Go back to a state of this model: bytes of it, or numbers of ``state(as_array=True)``.

        Numbers leave applied forces, PD control and parameters as they are; what the solver remembers is forgotten.

        Raises:
            ValueError: When it is not a state of this model.
        """

    def reset(self, keyframe: str | int | None = None) -> None:
        """Go to a keyframe, by its name or its index (-1: the last), or to the default configuration at rest for None.

        Applied forces become zero.

        PD control ends, unlike that of a ``Batch``: call ``pd`` again. ``parameters`` stay.

        Raises:
            UnknownNameError: When the model has no keyframe of this name (it is a ``ValueError``, too).
            IndexError: When it has none of this index.
        """

    def body(self, body: str | int | BodyView) -> BodyView:
        """A body by name or index, as a view: it shows this simulation's present state.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    @property
    def bodies(self) -> Views[BodyView]:
        """All bodies, by name or index; in IPython names complete with Tab."""

    def joint(self, joint: str | int | JointView) -> JointView:
        """A joint by name or index, as a view: it shows this simulation's present state.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    @property
    def joints(self) -> Views[JointView]:
        """All joints, by name or index; in IPython names complete with Tab."""

    def geom(self, geom: str | int | GeomView) -> GeomView:
        """A geom by name or index, as a view: it shows this simulation's present state.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    @property
    def geoms(self) -> Views[GeomView]:
        """All geoms, by name or index; in IPython names complete with Tab."""

    def site(self, site: str | int | SiteView) -> SiteView:
        """A site by name or index, as a view: it shows this simulation's present state.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    @property
    def sites(self) -> Views[SiteView]:
        """All sites, by name or index; in IPython names complete with Tab."""

    def actuator(self, actuator: str | int | ActuatorView) -> ActuatorView:
        """An actuator by name or index, as a view: it shows this simulation's present state.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    @property
    def actuators(self) -> Views[ActuatorView]:
        """All actuators, by name or index; in IPython names complete with Tab."""

    def tendon(self, tendon: str | int | TendonView) -> TendonView:
        """A tendon by name or index, as a view: it shows this simulation's present state.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    @property
    def tendons(self) -> Views[TendonView]:
        """All tendons, by name or index; in IPython names complete with Tab."""

    @property
    def body_positions(self) -> NDArray[np.float64]:
        """Origins of the bodies, (nbody, 3), m; a read-only copy, like all arrays below."""

    @property
    def body_quaternions(self) -> NDArray[np.float64]:
        """Orientations of the bodies, (nbody, 4), w x y z."""

    @property
    def body_velocities(self) -> NDArray[np.float64]:
        """Velocities of the bodies, (nbody, 6): angular, then linear at the origin, world axes."""

    @property
    def body_accelerations(self) -> NDArray[np.float64]:
        """Accelerations of the bodies in the last step, (nbody, 6): angular, then linear at the origin.

        World axes. Those of degrees of freedom that went from v₀ to v in dt are (v − v₀)/dt, taken through the
        kinematics of the present state. Gravity is not in them: what falls freely accelerates downwards. Zero before
        the first step.
        """

    @property
    def body_coms(self) -> NDArray[np.float64]:
        """Centres of mass of the bodies, (nbody, 3), m."""

    @property
    def geom_positions(self) -> NDArray[np.float64]:
        """Origins of the geoms, (ngeom, 3), m."""

    @property
    def geom_quaternions(self) -> NDArray[np.float64]:
        """Orientations of the geoms, (ngeom, 4), w x y z."""

    @property
    def geom_velocities(self) -> NDArray[np.float64]:
        """Velocities of the geoms, (ngeom, 6): angular, then linear at the origin, world axes."""

    @property
    def site_positions(self) -> NDArray[np.float64]:
        """Origins of the sites, (nsite, 3), m."""

    @property
    def site_quaternions(self) -> NDArray[np.float64]:
        """Orientations of the sites, (nsite, 4), w x y z."""

    @property
    def site_velocities(self) -> NDArray[np.float64]:
        """Velocities of the sites, (nsite, 6): angular, then linear at the origin, world axes."""

    @property
    def tendon_lengths(self) -> NDArray[np.float64]:
        """Lengths of the tendons, (ntendon,), in the order of their names."""

    @property
    def acceleration(self) -> NDArray[np.float64]:
        """Acceleration of the degrees of freedom in the last step, (nv,): (v − v₀)/dt; zero before the first."""

    def jacobian(
        self,
        body: str | int | BodyView | None = None,
        *,
        site: str | int | SiteView | None = None,
        geom: str | int | GeomView | None = None,
        point: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """The Jacobian J, (6, nv): J v is the angular, then the linear velocity in world axes.

        Args:
            body: At the body's origin.
            site: At the site.
            geom: At the geom's origin.
            point: At the point of that body that is at this place in the world now, (3,), m.

        Raises:
            ValueError: When not one of body, site and geom is given, or the point has a wrong shape.
        """

    def bias_acceleration(
        self,
        body: str | int | BodyView | None = None,
        *,
        site: str | int | SiteView | None = None,
        geom: str | int | GeomView | None = None,
        point: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """J̇ v of the Jacobian of the same arguments, (6,): the acceleration there is J a + J̇ v.

        Args:
            body: At the body's origin.
            site: At the site.
            geom: At the geom's origin.
            point: At the point of that body that is at this place in the world now, (3,), m.

        Raises:
            ValueError: When not one of body, site and geom is given, or the point has a wrong shape.
        """

    def inverse_dynamics(self, acceleration: ArrayLike) -> NDArray[np.float64]:
        """The forces, (nv,), that added to ``applied_force`` give the next step this acceleration, (nv,).

        Contacts, limits, friction, springs, dampers, actuators and PD control act as they do at the end of that step:
        what ``mj_inverse`` gives, less what already acts. Zero for the acceleration that the step has anyway. The
        simulation stays as it is. Where constraints start violated, what rights them is that of the step without
        these forces.

        Raises:
            SimulationError: When the step fails, or under the options that ``step_jacobians`` refuses.
            ValueError: When the state or an input is not finite, or the acceleration has a wrong shape.
        """

    def sensor_jacobians(self) -> SensorJacobians:
        """The derivative of ``sensordata`` with respect to the present state and the controls.

        Sensors of accelerations and forces are those after ``forward()``. Differences of whole steps, 4 nv + 2 nu of
        them; the simulation stays as it is. x is that of ``step_jacobians``.

        Raises:
            SimulationError: When a step fails.
            ValueError: When the state or an input is not finite.
        """

    def center_of_mass(self, body: str | int | BodyView | None = None) -> NDArray[np.float64]:
        """The centre of mass of the model, or of a body and all that hangs on it, (3,), m.

        Bodies that are fixed in the world count.
        """

    def center_of_mass_jacobian(self, body: str | int | BodyView | None = None) -> NDArray[np.float64]:
        """The Jacobian of that centre of mass, (3, nv)."""

    def momentum(self, body: str | int | BodyView | None = None) -> NDArray[np.float64]:
        """Momentum of the model, or of a body and all that hangs on it, (6,).

        Angular about their centre of mass, then linear, in world axes, kg·m²/s and kg·m/s. Armature has none.
        """

    def momentum_jacobian(self, body: str | int | BodyView | None = None) -> NDArray[np.float64]:
        """The centroidal momentum matrix, (6, nv): the momentum is that times v."""

    @property
    def actuator_forces(self) -> NDArray[np.float64]:
        """Forces of the actuators in the last step, (nu,), N or N·m: before their gears, within their own limits.

        Those at the end of the step, impulses over its length, as are all forces below; zero before the first step.
        An actuator with several controls has its force, or its three, at the first of them, and zeros at the rest.
        """

    @property
    def actuation_forces(self) -> NDArray[np.float64]:
        """Forces of all actuators on the degrees of freedom, (nv,), within the joints' effort limits."""

    @property
    def pd_forces(self) -> NDArray[np.float64]:
        """Forces of the PD controller, (nv,)."""

    @property
    def passive_forces(self) -> NDArray[np.float64]:
        """Forces of springs and dampers of joints and tendons, and of gravity compensation, (nv,)."""

    @property
    def constraint_forces(self) -> NDArray[np.float64]:
        """Forces of contacts, limits, equalities and dry friction, (nv,)."""

    @property
    def body_contact_forces(self) -> NDArray[np.float64]:
        """Sums of the forces of contacts on the bodies in the last step, (nbody, 3), N, world axes; zero in the air.

        What soft bodies push with is among them.
        """

    def contact_forces(self) -> list[ContactForce]:
        """The contacts that pushed in the last step, with names, and forces in world axes.

        Those with soft bodies are in ``sim.soft_body(name).contact_forces``.
        """

    def ray(
        self,
        origin: ArrayLike,
        direction: ArrayLike,
        *,
        exclude: str | int | BodyView | Sequence[str | int | BodyView] | None = None,
        max_distance: float | None = None,
    ) -> RayHit:
        """The first geom that a ray meets.

        Surfaces are met from either side, so that a ray which begins inside a shape meets it where it leaves; planes
        from above alone and where they are drawn, meshes by their triangles. Geoms of opacity 0 are not met.

        Args:
            origin: World, (3,), m.
            direction: World, (3,), of any length.
            exclude: A body, or several, that the ray goes through.
            max_distance: How far it goes, m; None: without end.
        """

    def rays(
        self,
        origin: ArrayLike,
        directions: ArrayLike,
        *,
        exclude: str | int | BodyView | Sequence[str | int | BodyView] | None = None,
        max_distance: float | None = None,
    ) -> RayHits:
        """The first geoms that n rays from one point meet, along directions (n, 3); see ``ray``."""

    def distance(self, first: str | int | GeomView, second: str | int | GeomView) -> Distance:
        """How far two geoms are apart, whether they may touch or not.

        Meshes count as their convex hulls, as in contact, planes as half-spaces without end.

        Raises:
            ValueError: When neither is convex: planes and height fields have no distance from each other.
        """

    def record(self, fps: float = 60.0, *, stress: bool = False) -> Replay:
        """Record every step from now on, whoever makes it: ``step``, ``advance_to`` or ``trajectory``.

        The first frame is the present state. Recording does not change the motion. It ends with ``Replay.stop``, at the
        end of a ``with`` block, or when nobody has the replay any more::

            with sim.record() as replay:
                for _ in range(500):
                    sim.ctrl[:] = controller(sim)
                    sim.step()
            replay.save("motion.html")

        Args:
            fps: Frames per second of simulated time, about: a whole number of time steps lies between two frames.
            stress: Whether von Mises stresses of soft bodies are recorded, which the page then shows as colours.

        Raises:
            ValueError: When ``fps`` is not above 0, or a quaternion has no direction.
        """

    @property
    def sensordata(self) -> NDArray[np.float64]:
        """What all sensors show, (nsensordata,), in MuJoCo's layout and order; a read-only copy.

        It is computed when asked for. Sensors of position and velocity show the present state, those of acceleration
        and force the mean over the last step.
        """

    def sensor(self, sensor: str | int | SensorView) -> SensorView:
        """A sensor by name or index, as a view: ``sim.sensor("imu").value``.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    @property
    def sensors(self) -> Views[SensorView]:
        """All sensors, by name or index; in IPython names complete with Tab."""

    def equality(self, equality: str | int | EqualityView) -> EqualityView:
        """An equality constraint by name or index, as a view: ``sim.equality("grasp").active = True``.

        Raises:
            UnknownNameError: When nothing has this name; it lists names that are near.
            IndexError: When there is no such index.
        """

    @property
    def equalities(self) -> Views[EqualityView]:
        """All equality constraints, by name or index; in IPython names complete with Tab."""

    @property
    def options(self) -> dict[str, Any]:
        """The options as the constructor takes them, a copy: ``Simulation(model, **sim.options)``."""

    @property
    def parameters(self) -> SimulationParameters:
        """Masses, frictions, gains, … of this simulation alone, live arrays: they act from the next step on."""

    def __reduce__(self) -> tuple[Any, tuple[Model, dict[str, Any], bytes]]:
        """Pickles hold model, options and ``state``: the same bits follow.

        Contacts and statistics of the last step are left out.
        """

    def __copy__(self) -> Simulation:
        """A simulation of the same model in the same state, independent of this one."""

    def __deepcopy__(self, memo: dict[int, object]) -> Simulation:
        """A simulation of the same model in the same state, independent of this one."""

    def _pd(self) -> list[NDArray[np.float64]]: ...
    def _string_points(self) -> NDArray[np.float64]: ...
    def render(
        self,
        width: int | None = None,
        height: int | None = None,
        camera: Camera | str | int | None = None,
        kind: Literal["rgb", "depth", "segmentation", "bodies"] = "rgb",
        *,
        shadows: bool = True,
        antialias: bool = True,
        contacts: bool = False,
        sites: bool = False,
        frames: bool = False,
        stress: bool | float | None = None,
        groups: Sequence[int] | None = None,
    ) -> NDArray[Any]:
        """A picture of the present state, drawn without a GPU or a display; row 0 is the top.

        Geoms whose opacity is 0 are not drawn; those that are seen through count in depth and segmentation.

        Args:
            width: Pixels of a row, 1 to 16384; None: the ``resolution`` of the camera, or 640.
            height: Pixels of a column, 1 to 16384; None: the ``resolution`` of the camera, or 480.
            camera: Name or index of a camera of the model, a ``sapwood.Camera``, or None: the model's default
                view, which is that of MuJoCo's free camera.
            kind: ``rgb``: colours, (height, width, 3) uint8. ``depth``: distance of what the centre of a pixel sees
                along the camera's axis, (height, width) float32, m, infinite where that is nothing. ``segmentation``:
                its geom, (height, width) int32, −1 where there is none. ``bodies``: its body, the same way. Soft body k
                is −2 − k in both.
            shadows: Whether the light casts shadows.
            antialias: Whether a pixel's colour is the mean of 2×2 samples.
            contacts: Whether colours show the contact points of the last step and their forces: a ball at every point,
                a rod along the force on the second body, 0.4 times the size of the model for a force equal to its
                weight.
            sites: Whether colours show the sites, as balls.
            frames: Whether colours show the frames of the bodies: x red, y green, z blue.
            stress: Whether soft bodies are coloured by von Mises stress, from pale yellow (0) to dark red: the
                greatest at present, or this stress, Pa. None: they have their own colours.
            groups: Groups of geoms that are drawn; None: 0, 1 and 2, as in MuJoCo. By convention others hold collision
                shapes.

        Raises:
            ValueError: When an argument has a wrong value, or says nothing beside another.
            UnknownNameError: When no camera, or no body that one is to track, has this name.
            IndexError: When the index of the camera is too large.
            RuntimeError: When a step of this simulation is in progress in another thread.
        """

@final
class Renderer:
    """Draws pictures of a model, and keeps its buffers.

    Args:
        model: The model.
        width: Pixels of a row, 1 to 16384.
        height: Pixels of a column, 1 to 16384.
        threads: Threads that share a picture; it is the same bits for any number.

    Raises:
        ValueError: When an argument is outside its domain.
    """

    def __new__(cls, model: Model, width: int = 640, height: int = 480, *, threads: int = 1) -> Renderer: ...
    @property
    def model(self) -> Model:
        """The model."""

    @property
    def width(self) -> int:
        """Width of the pictures, pixels."""

    @property
    def height(self) -> int:
        """Height of the pictures, pixels."""

    def render(
        self,
        source: Simulation | ArrayLike,
        camera: Camera | str | int | None = None,
        kind: Literal["rgb", "depth", "segmentation", "bodies"] = "rgb",
        *,
        shadows: bool = True,
        antialias: bool = True,
        contacts: bool = False,
        sites: bool = False,
        frames: bool = False,
        stress: bool | float | None = None,
        groups: Sequence[int] | None = None,
    ) -> NDArray[Any]:
        """A picture of a simulation of the model, or of the model in a configuration.

        Args:
            source: The simulation, or positions (nq,), such as those of one world of a batch.
            camera: Name or index of a camera of the model, a ``sapwood.Camera``, or None: the model's default
                view, which is that of MuJoCo's free camera.
            kind: ``rgb``: colours, (height, width, 3) uint8. ``depth``: distance of what the centre of a pixel sees
                along the camera's axis, (height, width) float32, m, infinite where that is nothing. ``segmentation``:
                its geom, (height, width) int32, −1 where there is none. ``bodies``: its body, the same way. Soft body k
                is −2 − k in both.
            shadows: Whether the light casts shadows.
            antialias: Whether a pixel's colour is the mean of 2×2 samples.
            contacts: Whether colours show the contact points of the last step and their forces: a ball at every point,
                a rod along the force on the second body, 0.4 times the size of the model for a force equal to its
                weight.
            sites: Whether colours show the sites, as balls.
            frames: Whether colours show the frames of the bodies: x red, y green, z blue.
            stress: Whether soft bodies are coloured by von Mises stress, from pale yellow (0) to dark red: the
                greatest at present, or this stress, Pa. None: they have their own colours.
            groups: Groups of geoms that are drawn; None: 0, 1 and 2, as in MuJoCo. By convention others hold collision
                shapes.

        Raises:
            ValueError: When an argument has a wrong shape or value, or there is no such camera.
            IndexError: When the index of the camera is too large.
            RuntimeError: When this renderer, or a step of the simulation, is at work in another thread.
        """

_View = TypeVar("_View", covariant=True)

@final
class Views(Generic[_View]):
    """All things of one kind of a simulation, by name or index: ``sim.bodies["torso"]``."""

    def __len__(self) -> int: ...
    def __getitem__(self, key: str | int, /) -> _View: ...
    def __setitem__(self, key: str | int, value: bool, /) -> None:
        """Switch an equality constraint on or off: ``sim.equalities["grasp"] = True``."""

    def __contains__(self, key: object, /) -> bool: ...
    def __iter__(self) -> Iterator[_View]: ...
    def keys(self) -> list[str]:
        """The names, those that are not empty."""

    def _ipython_key_completions_(self) -> list[str]: ...

@final
class BodyView:
    """A body of a simulation; what it shows is the present state."""

    @property
    def name(self) -> str:
        """Name; empty when the file gives none."""

    @property
    def index(self) -> int:
        """Index in the model."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def position(self) -> NDArray[np.float64]:
        """Position of the origin, (3,), m. Of a body without joints of its own it can be set."""

    @position.setter
    def position(self, value: ArrayLike) -> None: ...
    @property
    def quaternion(self) -> NDArray[np.float64]:
        """Orientation, (4,), w x y z. Of a body without joints of its own it can be set."""

    @quaternion.setter
    def quaternion(self, value: ArrayLike) -> None: ...
    @property
    def mocap(self) -> bool:
        """Whether it is moved from outside (MJCF ``mocap``)."""

    @property
    def rotation(self) -> NDArray[np.float64]:
        """Orientation as a matrix, (3, 3): its columns are the axes in the world."""

    @property
    def velocity(self) -> NDArray[np.float64]:
        """Angular, then linear velocity of the origin, world axes, (6,), rad/s and m/s."""

    @property
    def acceleration(self) -> NDArray[np.float64]:
        """Angular, then linear acceleration of the origin in the last step, world axes, (6,), rad/s² and m/s².

        See ``Simulation.body_accelerations``.
        """

    @property
    def mass(self) -> float:
        """Mass, kg."""

    @property
    def com(self) -> NDArray[np.float64]:
        """Centre of mass, world, (3,), m."""

    @property
    def inertia(self) -> NDArray[np.float64]:
        """Rotational inertia about the centre of mass in the body's axes, (3, 3), kg·m²."""

    @property
    def parent(self) -> BodyView:
        """The body that it hangs on; the world hangs on itself."""

    def follow(
        self,
        motion: Callable[[float], ArrayLike | tuple[ArrayLike, ArrayLike]] | ArrayLike | None,
        times: ArrayLike | None = None,
    ) -> None:
        """Be where a function of time or an array of poses says, from the next step on. Of bodies with ``mocap`` alone.

        What the body touches is carried at the velocity of the motion. Copies of the simulation, states and pickles
        do not have it.

        Args:
            motion: Called before each step with the time at its end, s; returns the position there, (3,), m, or that
                and the orientation, (4,), w x y z. Or positions (n, 3), or with quaternions (n, 7), at ``times``:
                straight between them, turned about one axis at one rate; the first and the last stay. None ends it.
            times: When an array is where, (n,), s, ascending.

        Raises:
            AttributeError: When the body moves by its joints or is fixed.
            TypeError: When the motion is neither a function nor an array with ``times``.
            ValueError: When an array has another shape, is not finite or has a quaternion of zeros, or when times do
                not ascend.
        """

    @property
    def contact_force(self) -> NDArray[np.float64]:
        """Sum of the forces of contacts on it in the last step, (3,), N, world axes; zero in the air."""

    @property
    def applied_wrench(self) -> NDArray[np.float64]:
        """Torque and force at the centre of mass in world axes, (6,), a live view of ``sim.applied_wrench``."""

    @applied_wrench.setter
    def applied_wrench(self, value: ArrayLike) -> None: ...

@final
class JointView:
    """A joint of a simulation; what it shows is the present state."""

    @property
    def name(self) -> str:
        """Name; empty when the file gives none."""

    @property
    def index(self) -> int:
        """Index in the model."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def kind(self) -> str:
        """Kind: revolute, prismatic, screw, universal, planar, ball, free or weld."""

    @property
    def body(self) -> BodyView:
        """The body that it moves."""

    @property
    def q(self) -> Any:
        """Position: a number, or a live view of ``sim.q`` of a joint with several coordinates."""

    @q.setter
    def q(self, value: ArrayLike) -> None: ...
    @property
    def v(self) -> Any:
        """Velocity: a number, or a live view of ``sim.v`` of a joint with several degrees of freedom."""

    @v.setter
    def v(self, value: ArrayLike) -> None: ...
    @property
    def effort(self) -> Any:
        """Force of its actuators and of PD control in the last step, N or N·m: a number, or (n,) for n degrees."""

    @property
    def range(self) -> tuple[float, float] | None:
        """Limits of the coordinate (rad or m), or of the angle of a ball; None without."""

    @property
    def locked(self) -> bool:
        """Whether it is held where it was when this was set to True.

        Of balls, free joints, and joints with one degree of freedom.

        It sets ``sim.parameters.joint_locks`` of a ball or a free joint, of others ``joint_ranges``: False gives them
        the limits of the model again.
        """

    @locked.setter
    def locked(self, value: bool) -> None: ...
    @property
    def effort_limit(self) -> float | tuple[float, float] | None:
        """Greatest force of its drives, N or N·m, or the least and the greatest where they differ; None without."""

@final
class GeomView:
    """A geom of a simulation; what it shows is the present state."""

    @property
    def name(self) -> str:
        """Name; empty when the file gives none."""

    @property
    def index(self) -> int:
        """Index in the model."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def position(self) -> NDArray[np.float64]:
        """Position of the origin, (3,), m."""

    @property
    def quaternion(self) -> NDArray[np.float64]:
        """Orientation, (4,), w x y z."""

    @property
    def rotation(self) -> NDArray[np.float64]:
        """Orientation as a matrix, (3, 3): its columns are the axes in the world."""

    @property
    def velocity(self) -> NDArray[np.float64]:
        """Angular, then linear velocity of the origin, world axes, (6,), rad/s and m/s."""

    @property
    def acceleration(self) -> NDArray[np.float64]:
        """Angular, then linear acceleration of the origin in the last step, world axes, (6,), rad/s² and m/s².

        See ``Simulation.body_accelerations``.
        """

    @property
    def body(self) -> BodyView:
        """The body that it is fixed in."""

    @property
    def type(self) -> str:
        """The shape: plane, sphere, capsule, ellipsoid, cylinder, box, mesh or height-field."""

    @property
    def size(self) -> NDArray[np.float64]:
        """Size, (3,), as MJCF has it; 0 of a mesh or height field."""

    @property
    def color(self) -> tuple[float, float, float, float]:
        """Red, green, blue, opacity from 0 to 1; 0 hides it. 3 numbers leave it opaque.

        What is assigned is shown by pictures and the viewer from then on; recordings and copies have the model's
        colours.
        """

    @color.setter
    def color(self, value: ArrayLike) -> None: ...
    @property
    def friction(self) -> NDArray[np.float64]:
        """Coefficients of sliding, torsional and rolling friction, (3,); 1, m and m.

        It can be set, to a number for sliding or to the first of the three: it is in ``sim.parameters``.
        """

    @friction.setter
    def friction(self, value: ArrayLike) -> None: ...
    @property
    def contype(self) -> int:
        """Bits: two geoms may touch when one's contype and the other's conaffinity share one; it can be set."""

    @contype.setter
    def contype(self, value: int) -> None: ...
    @property
    def conaffinity(self) -> int:
        """See ``contype``; it can be set."""

    @conaffinity.setter
    def conaffinity(self, value: int) -> None: ...

@final
class SiteView:
    """A site of a simulation; what it shows is the present state."""

    @property
    def name(self) -> str:
        """Name; empty when the file gives none."""

    @property
    def index(self) -> int:
        """Index in the model."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def position(self) -> NDArray[np.float64]:
        """Position of the origin, (3,), m."""

    @property
    def quaternion(self) -> NDArray[np.float64]:
        """Orientation, (4,), w x y z."""

    @property
    def rotation(self) -> NDArray[np.float64]:
        """Orientation as a matrix, (3, 3): its columns are the axes in the world."""

    @property
    def velocity(self) -> NDArray[np.float64]:
        """Angular, then linear velocity of the origin, world axes, (6,), rad/s and m/s."""

    @property
    def acceleration(self) -> NDArray[np.float64]:
        """Angular, then linear acceleration of the origin in the last step, world axes, (6,), rad/s² and m/s².

        See ``Simulation.body_accelerations``.
        """

    @property
    def body(self) -> BodyView:
        """The body that it is fixed in."""

@final
class SoftBody:
    """A mesh of tetrahedra and what it is made of, for :meth:`sapwood.ModelBuilder.add_soft_body`. It does not change.

    Args:
        vertices: Nodes, (n, 3), m.
        tetrahedra: Nodes of each element, (m, 4), ordered so that (x1 - x0) x (x2 - x0) points to x3; or (m, 10), then
            with the nodes on the edges 01, 12, 02, 03, 13, 23.
        **properties: What it is made of: ``young`` (Pa, 1e5), ``poisson`` (0.4), ``density`` (kg/m³, 1000) or ``mass``
            (kg), ``damping`` (s, 0.01), ``mass_damping`` (1/s, 0), ``order`` ("P1" or "P2"), ``material``
            ("linear-corotated"), ``mass_matrix`` ("lumped").

    Raises:
        ValueError: When an argument does not fit: an element that is inverted or flat, a node that no element has, a
            Poisson's ratio of 0.5; it names the element or the argument.
        TypeError: When there is no such property.
    """

    def __new__(cls, vertices: ArrayLike, tetrahedra: ArrayLike, **properties: Unpack[SoftProperties]) -> SoftBody: ...
    @staticmethod
    def box(size: ArrayLike, cells: int | Sequence[int], **properties: Unpack[SoftProperties]) -> SoftBody:
        """Make a box, its centre at the origin.

        Args:
            size: Lengths of its edges, (3,), m.
            cells: Cells along each axis, or one number for all; each is five tetrahedra.
            **properties: As of :class:`SoftBody`.

        Raises:
            ValueError: When an argument does not fit.
        """

    @staticmethod
    def cylinder(
        radius: float, length: float, cells: int | Sequence[int], **properties: Unpack[SoftProperties]
    ) -> SoftBody:
        """Make a cylinder along z, its centre at the origin.

        Args:
            radius: Its radius, m.
            length: Its length, m.
            cells: Cells across the diameter (3 at least) and along z, or one number for both.
            **properties: As of :class:`SoftBody`.

        Raises:
            ValueError: When an argument does not fit.
        """

    @staticmethod
    def ball(radius: float, cells: int, **properties: Unpack[SoftProperties]) -> SoftBody:
        """Make a ball, its centre at the origin.

        Args:
            radius: Its radius, m.
            cells: Cells across the diameter, 3 at least.
            **properties: As of :class:`SoftBody`.

        Raises:
            ValueError: When an argument does not fit.
        """

    @staticmethod
    def from_file(path: str | PathLike[str], *, scale: float = 1.0, **properties: Unpack[SoftProperties]) -> SoftBody:
        """Read tetrahedra of four or ten nodes, whichever way round their nodes are.

        Args:
            path: A file of Gmsh 2.2 or 4.1, or legacy VTK, as text.
            scale: Its unit of length, m.
            **properties: As of :class:`SoftBody`.

        Raises:
            ValueError: When the file cannot be read, or is no mesh; it names the file and the line or the element.
        """

    @staticmethod
    def from_surface(
        vertices: ArrayLike,
        faces: ArrayLike,
        *,
        edge: float | None = None,
        **properties: Unpack[SoftProperties],
    ) -> SoftBody:
        """Fill a surface with tetrahedra, by the package pytetwild (``pip install sapwood[tetrahedra]``).

        The surface of the mesh is within a twentieth of ``edge`` of the one given, gaps and crossings of which are
        mended. The package does not make the same mesh each time: keep ``vertices`` and ``tetrahedra`` if that matters.

        Args:
            vertices: Vertices of the surface, (n, 3), m.
            faces: Triangles, (m, 3), counter-clockwise seen from outside.
            edge: Length of the elements' edges, m; a tenth of the diagonal of the surface's bounding box when None.
            **properties: As of :class:`SoftBody`.

        Raises:
            ImportError: When the package is not installed.
            ValueError: When an argument does not fit, or the surface has no inside.
        """

    @property
    def vertices(self) -> NDArray[np.float64]:
        """Positions of the nodes, (n, 3), m, read-only."""

    @property
    def tetrahedra(self) -> NDArray[np.uint32]:
        """The nodes of the elements, (m, 4) or (m, 10), read-only."""

    @property
    def triangles(self) -> NDArray[np.uint32]:
        """The nodes of the surface's triangles, (k, 3), counter-clockwise seen from outside, read-only."""

    @property
    def order(self) -> Literal["P1", "P2"]:
        """Whether elements have four nodes (P1) or ten (P2)."""

    @property
    def material(self) -> str:
        """The law of its material."""

    @property
    def young(self) -> float:
        """Young's modulus, Pa."""

    @property
    def poisson(self) -> float:
        """Poisson's ratio."""

    @property
    def density(self) -> float:
        """Density, kg/m³."""

    @property
    def mass(self) -> float:
        """Mass, kg."""

    @property
    def volume(self) -> float:
        """Volume, m³."""

    @property
    def damping(self) -> float:
        """Damping relative to stiffness, s."""

    @property
    def mass_damping(self) -> float:
        """Damping relative to mass, 1/s."""

@final
class SoftBodyView:
    """A soft body of a simulation; what it shows is the present state."""

    @property
    def name(self) -> str:
        """Name; empty when the file gives none."""

    @property
    def index(self) -> int:
        """Index in the model."""

    @property
    def positions(self) -> NDArray[np.float64]:
        """Positions of its nodes, (n, 3), world, m, a live view."""

    @property
    def velocities(self) -> NDArray[np.float64]:
        """Velocities of its nodes, (n, 3), m/s, a live view."""

    @property
    def applied_forces(self) -> NDArray[np.float64]:
        """Forces applied to its nodes, (n, 3), N, a live view; they stay until changed."""

    @property
    def elements(self) -> NDArray[np.uint32]:
        """The nodes of its tetrahedra, (elements, 4) or (elements, 10), read-only."""

    @property
    def triangles(self) -> NDArray[np.uint32]:
        """The nodes of its surface's triangles, (triangles, 3), counter-clockwise seen from outside, read-only."""

    @property
    def material(self) -> Literal["linear", "linear-corotated", "corotated", "stable-neo-hookean"]:
        """Stress by strain: the law of its material."""

    @property
    def young(self) -> float:
        """Young's modulus, Pa."""

    @property
    def poisson(self) -> float:
        """Poisson's ratio."""

    @property
    def density(self) -> float:
        """Mass density of the undeformed body, kg/m³."""

    @property
    def damping(self) -> float:
        """Damping relative to stiffness, s."""

    @property
    def mass_damping(self) -> float:
        """Damping relative to mass, 1/s."""

    @property
    def mass(self) -> float:
        """Mass, kg."""

    @property
    def com(self) -> tuple[float, float, float]:
        """Centre of mass, world, m."""

    @property
    def elastic_energy(self) -> float:
        """Energy of its deformation, J."""

    @property
    def von_mises(self) -> NDArray[np.float64]:
        """The von Mises stress at its nodes, (n,), Pa: that of ``stresses``, by which materials are said to yield."""

    @property
    def stresses(self) -> NDArray[np.float64]:
        """Cauchy stress at its nodes, (n, 3, 3), world axes, Pa: the mean over the elements of a node, by volume."""

    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy of all its nodes, J."""

    @property
    def contact_positions(self) -> NDArray[np.float64]:
        """Where it touched in the last step, (contacts, 3), world, m."""

    @property
    def contact_forces(self) -> NDArray[np.float64]:
        """The forces on it at ``contact_positions``, (contacts, 3), world, N: their mean over the step."""

    @property
    def contact_geoms(self) -> list[int]:
        """The geom at each of ``contact_positions``; -1 where a soft body touches."""

@final
class ActuatorView:
    """An actuator of a simulation; what it shows is the present state."""

    @property
    def name(self) -> str:
        """Name; empty when the file gives none."""

    @property
    def index(self) -> int:
        """Index in the model."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def force(self) -> float:
        """Force in the last step, before the gear, N or N·m."""

    @property
    def enabled(self) -> bool:
        """Whether it gives a force; it can be set, and counts from the next step on. An activation goes on."""

    @enabled.setter
    def enabled(self, value: bool) -> None: ...
    @property
    def group(self) -> int:
        """The group that it belongs to (MJCF ``group``)."""

    @property
    def ctrl(self) -> float:
        """The control."""

    @ctrl.setter
    def ctrl(self, value: float) -> None: ...
    @property
    def activation(self) -> float | None:
        """The state of its own, which the force law takes in place of the control; None without one. It can be set."""
    @activation.setter
    def activation(self, value: float) -> None: ...
    @property
    def length(self) -> float:
        """Length of what it acts on: gear times the joint's coordinate, or the tendon's length."""

    @property
    def velocity(self) -> float:
        """Rate of the length."""

    @property
    def target(self) -> JointView | TendonView | SiteView | BodyView | None:
        """What it acts on, a body if it adheres; None of what is not simulated."""

    @property
    def ctrl_range(self) -> tuple[float, float] | None:
        """The range that the control is cut to; None without."""

    @property
    def force_range(self) -> tuple[float, float] | None:
        """The range that the force is cut to; None without."""

@final
class TendonView:
    """A tendon of a simulation; what it shows is the present state."""

    @property
    def name(self) -> str:
        """Name; empty when the file gives none."""

    @property
    def index(self) -> int:
        """Index in the model."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def length(self) -> float:
        """Length."""

    @property
    def velocity(self) -> float:
        """Rate of the length."""

    @property
    def jacobian(self) -> NDArray[np.float64]:
        """Derivative of the rate by the velocities, (nv,).

        A pull of F along the tendon acts on the degrees of freedom with −F times this.
        """

    @property
    def strands(self) -> NDArray[np.float64]:
        """Ends of the straight pieces of a spatial tendon, (n, 2, 3), m, world; a fixed tendon has none.

        What lies on a geom is an arc from the end of one piece to the beginning of the next.
        """

    @property
    def range(self) -> tuple[float, float] | None:
        """Limits of the length; None without."""

@final
class EqualityView:
    """An equality constraint of a simulation."""

    @property
    def name(self) -> str:
        """Name; empty when the file gives none."""

    @property
    def index(self) -> int:
        """Index in the model."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def active(self) -> bool:
        """Whether it is in force; it can be set, and counts from the next step on."""

    @active.setter
    def active(self, value: bool) -> None: ...
    @property
    def kind(self) -> str:
        """What it holds: ``connect``, ``weld``, ``distance`` or ``coupling``."""

    def attach(self) -> None:
        """Hold the two bodies as they are now, from the next step on: a weld the relative pose, a connect one point.

        It sets ``active``, ``equality_anchors`` and ``equality_quaternions`` of ``sim.parameters``: the point of the
        second body stays, and the first body holds it where it is.

        Raises:
            ValueError: When it is neither a weld nor a connect.
        """

    @property
    def force(self) -> NDArray[np.float64]:
        """Force on its second body in the last step, (3,), N, world axes.

        Of a coupling of joints or tendons, y = p(x), the generalised force along y, (1,), N or N·m; along x it exerts
        −p′(x) times that.
        """

    @property
    def torque(self) -> NDArray[np.float64]:
        """Torque of a weld on its second body in the last step, (3,), N·m, world axes; zero of others."""

    @property
    def anchors(self) -> NDArray[np.float64]:
        """The point of each of the bodies that it holds, in their frames, (2, 3), m; they can be set."""

    @anchors.setter
    def anchors(self, value: ArrayLike) -> None: ...

@final
class SensorView:
    """A sensor of a simulation.

    What it shows is of the present state, or the mean over the last step (see ``stage``).
    """

    @property
    def name(self) -> str:
        """Name; empty when the file gives none."""

    @property
    def index(self) -> int:
        """Index in the model."""

    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def type(self) -> str:
        """What it measures: the name of its MJCF element, as ``gyro``."""

    @property
    def stage(self) -> str:
        """What it needs: ``position`` and ``velocity`` are of the present state, ``acceleration`` of the last step."""

    @property
    def dim(self) -> int:
        """How many numbers it has."""

    @property
    def address(self) -> int:
        """Where its numbers begin in ``sensordata``."""

    @property
    def value(self) -> NDArray[np.float64]:
        """What it shows now, (dim,), a read-only copy: it alone is computed."""

    @property
    def data(self) -> NDArray[np.float64]:
        """The same as ``value``."""

    @property
    def cutoff(self) -> float:
        """Values are clamped to this, distances between geoms looked for up to it; 0: no limit."""

    @property
    def noise(self) -> float:
        """Standard deviation of noise, as the file gives it; none is added."""

@final
class Replay:
    """The frames of a motion, and the page that plays them.

    ``Simulation.record`` makes one that grows with every step; ``from_trajectory`` one of positions alone. ``save``
    writes a single HTML file that plays in any browser without a network. In Jupyter, a replay at the end of a cell is
    shown.

    Frames are evenly spaced in simulated time. With a constant time step each is the state at the end of a step; a
    frame within a step is interpolated. Where the state is changed between steps (``sim.q = …``, ``reset``,
    ``restore``), the motion jumps, and the time of the replay goes on.
    """

    @staticmethod
    def from_trajectory(
        model: Model, q: ArrayLike, dt: float | None = None, *, times: ArrayLike | None = None, fps: float = 60.0
    ) -> Replay:
        """The motion through given positions, without contacts and energies.

        Args:
            model: What moves.
            q: Positions, (n, nq).
            dt: Time between two rows of ``q``, s: each row is a frame.
            times: Instead of ``dt``: the ascending times of the rows, (n,), s. Frames are interpolated.
            fps: With ``times``: frames per second.

        Raises:
            ValueError: When an argument has a wrong shape or value.
        """

    @property
    def model(self) -> Model:
        """The model."""

    @property
    def active(self) -> bool:
        """Whether steps are still being recorded."""

    @property
    def frame_time(self) -> float:
        """Time between two frames, s."""

    @property
    def time(self) -> NDArray[np.float64]:
        """Times of the frames, (n,), s; a copy, as are all arrays of a replay."""

    @property
    def q(self) -> NDArray[np.float64]:
        """Positions, (n, nq)."""

    @property
    def v(self) -> NDArray[np.float64]:
        """Velocities, (n, nv); (0, nv) of a motion through given positions."""

    @property
    def ctrl(self) -> NDArray[np.float64]:
        """Controls, (n, nu); (0, nu) of a motion through given positions."""

    @property
    def kinetic_energy(self) -> NDArray[np.float64]:
        """Kinetic energy, (n,), J; (0,) of a motion through given positions."""

    @property
    def potential_energy(self) -> NDArray[np.float64]:
        """Potential energy, (n,), J; (0,) of a motion through given positions."""

    def _contacts(self) -> tuple[list[int], NDArray[np.float64]]: ...
    def stop(self) -> None:
        """End the recording. The frames stay."""

    def __enter__(self) -> Replay: ...
    def __exit__(self, *_exception: object) -> None: ...
    def __len__(self) -> int: ...
    def html(self) -> str:
        """The page that plays the motion: one HTML document, about 0.6 MB without the motion.

        Raises:
            RuntimeError: When this build of sapwood has no replay page.
        """

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page that plays the motion to a file.

        Args:
            path: Such as ``motion.html``; a file that is there is replaced.

        Raises:
            OSError: When the file cannot be written.
            RuntimeError: When this build of sapwood has no replay page.
            ValueError: When the name ends with something else than ``.html`` or ``.htm``.
        """

    def _repr_html_(self) -> str: ...

@final
class Batch:
    """Many worlds of one model, stepped together.

    Worlds lie side by side in the lanes of vector registers, and groups of them are shared among threads. A step is
    that of a ``Simulation`` with the same options, up to the solver's tolerance. The bits of a world do not depend on
    its neighbours, the number of worlds, lanes or threads.

    Args:
        model: The model of all worlds.
        n: Number of worlds; all begin at the default configuration at rest.
        device: Where the worlds are: "cpu", or "cuda" (the first GPU), "cuda:1", …: then what is made is a
            ``DeviceBatch``, whose arrays are on the GPU. "host" runs the GPU's kernels on the processor, for tests.
        threads: Threads that share the worlds; those of the processor when None.
        precision: Numbers that steps in lanes are computed with, "f64" when None; arrays are of 64 bits in any case.
            On a GPU that of the arrays as well, "f32" when None.
        rows: On a GPU, room for rows of constraints that push in a step of a world, three to a contact; what the model
            is thought to need when None. More rows are slower; what has no room is counted in ``DeviceBatch.status``.
        lanes: Worlds side by side: 1, 4, or 8 where the processor has AVX-512, of 32 bits 1, 8 or 16. When None,
            those with which so many worlds take the least time on so many threads: a lone world is in no lane.
        contacts: Whether the contact points of the last step are recorded, for ``contacts``.
        timestep: As for ``Simulation``, like all that follow.
        accuracy: See ``Simulation``.
        scheme: See ``Simulation``.
        conserve: See ``Simulation``.
        pd_law: See ``Simulation``.
        contact: See ``Simulation``.
        tolerance: See ``Simulation``.
        factorization_budget: See ``Simulation``.
        beta: See ``Simulation``.
        sigma: See ``Simulation``.
        impratio: See ``Simulation``.
        recovery_speed: See ``Simulation``.
        sleep_after: See ``Simulation``.
        sleep_speed: See ``Simulation``.

    Raises:
        ValueError: When an option is outside its domain or not in this version.
        MemoryError: When so many worlds do not fit into memory.

    Warns:
        PerformanceWarning: When lanes cannot do what the model or an option asks for, so that worlds are stepped one by
            one; it says why, and ``alone`` does. Later, when single worlds have parameters that lanes cannot take.

    ``q``, ``v``, ``ctrl``, ``act``, ``time``, ``pd_target`` and applied forces are views of the state: they show what a
    step does, and what is written into them acts in the next step. Other threads run while ``step`` does; what they
    write into q, v, act and time meanwhile is lost, and calling other methods of this batch raises ``RuntimeError``.
    """

    def __new__(
        cls,
        model: Model,
        n: int,
        *,
        device: str = "cpu",
        threads: int | None = None,
        precision: Literal["f64", "f32"] | None = None,
        rows: int | None = None,
        lanes: int | None = None,
        contacts: bool = False,
        timestep: float | None = None,
        accuracy: float | None = None,
        scheme: Literal["symplectic-euler", "bilinear", "midpoint", "implicit-euler", "explicit-euler"]
        | tuple[float, float, float] = "bilinear",
        conserve: bool = True,
        pd_law: Literal["auto", "stable", "theta"] = "auto",
        contact: Literal["sap", "lagged", "coulomb"] = "coulomb",
        tolerance: float = 1e-6,
        factorization_budget: int | None = 100,
        beta: float = 0.1,
        sigma: float = 1e-5,
        impratio: float | None = None,
        recovery_speed: float = 1.0,
        sleep_after: float | None = None,
        sleep_speed: float | None = None,
    ) -> Batch: ...
    def __len__(self) -> int:
        """Number of worlds."""

    @property
    def model(self) -> Model:
        """The model."""

    @property
    def n(self) -> int:
        """Number of worlds."""

    @property
    def device(self) -> str:
        """Where the worlds are: "cpu"."""

    @property
    def timestep(self) -> float:
        """Time step, s."""

    @property
    def lanes(self) -> int:
        """Worlds side by side in a register; 1 where worlds are stepped one by one."""

    @property
    def threads(self) -> int:
        """Threads that share the worlds."""

    @property
    def alone(self) -> str | None:
        """Why worlds are stepped one by one; None where they are in lanes."""

    @property
    def q(self) -> NDArray[np.float64]:
        """Positions, (n, nq), a live view."""

    @q.setter
    def q(self, value: ArrayLike) -> None: ...
    @property
    def v(self) -> NDArray[np.float64]:
        """Velocities, (n, nv), a live view."""

    @v.setter
    def v(self, value: ArrayLike) -> None: ...
    @property
    def ctrl(self) -> NDArray[np.float64]:
        """Controls, (n, nu), a live view."""

    @ctrl.setter
    def ctrl(self, value: ArrayLike) -> None: ...
    @property
    def act(self) -> NDArray[np.float64]:
        """Activations, the states that actuators have of their own, (n, na), a live view; in order of actuators."""

    @act.setter
    def act(self, value: ArrayLike) -> None: ...
    @property
    def equality_active(self) -> NDArray[np.float64]:
        """Which equality constraints are in force, 1 or 0, (n, neq), a live view."""

    @equality_active.setter
    def equality_active(self, value: ArrayLike) -> None: ...
    @property
    def mocap_positions(self) -> NDArray[np.float64]:
        """Positions of the bodies that are moved from outside (MJCF ``mocap``), (n, nmocap, 3), m, a live view.

        A step takes such a body from where the last one left it, evenly in all of ``step(n)``, and it carries what it
        touches, as ``Simulation.mocap_positions`` says.
        """

    @mocap_positions.setter
    def mocap_positions(self, value: ArrayLike) -> None: ...
    @property
    def mocap_quaternions(self) -> NDArray[np.float64]:
        """Their orientations, (n, nmocap, 4), w x y z, a live view."""

    @mocap_quaternions.setter
    def mocap_quaternions(self, value: ArrayLike) -> None: ...
    @property
    def time(self) -> NDArray[np.float64]:
        """Times, (n,), s, a live view; motion does not depend on them."""

    @time.setter
    def time(self, value: ArrayLike) -> None: ...
    @property
    def pd_target(self) -> NDArray[np.float64]:
        """Target positions of PD control, (n, nq), a live view.

        Raises:
            ValueError: Before the first call of ``pd``.
        """

    @pd_target.setter
    def pd_target(self, value: ArrayLike) -> None: ...
    @property
    def applied_force(self) -> NDArray[np.float64]:
        """Forces on the degrees of freedom, (n, nv), N or N·m, a live view; kept until changed or reset.

        They cost nothing where nobody has asked for them.
        """

    @applied_force.setter
    def applied_force(self, value: ArrayLike) -> None: ...
    @property
    def applied_wrench(self) -> NDArray[np.float64]:
        """Torque (N·m) and force (N) at the centre of mass of each body, world axes, (n, nbody, 6), a live view.

        Kept until changed or reset; they cost nothing where nobody has asked for them.
        """

    @applied_wrench.setter
    def applied_wrench(self, value: ArrayLike) -> None: ...
    @property
    def surface_velocity(self) -> NDArray[np.float64]:
        """Velocities of the geoms' surfaces on their bodies, such as belts, m/s, (n, ngeom, 3), a live view.

        In the axes of the node that the body moves with, world axes where it is fixed. Kept until changed; a reset
        makes them the model's (MJCF ``surfacevel``) again. They cost nothing where nobody has asked for them and none
        moves.
        """

    @surface_velocity.setter
    def surface_velocity(self, value: ArrayLike) -> None: ...
    @property
    def sensordata(self) -> NDArray[np.float64]:
        """What all sensors of every world show now, (n, nsensordata), a read-only copy, in MuJoCo's layout.

        Each row is ``Simulation.sensordata`` of that world: sensors of positions and velocities look at the present
        state, those of accelerations and forces at the last step, with its own impulses. These are zero, but for
        gravity, before the first step and after a reset or a failure. They are computed when asked for.
        """

    def pd(
        self,
        kp: ArrayLike,
        kd: ArrayLike,
        target: ArrayLike,
        target_velocity: ArrayLike | None = None,
        effort_limit: ArrayLike | None = None,
    ) -> None:
        """Control all worlds by stable PD, until changed; see ``Simulation.pd``.

        Gains of 0 leave a degree of freedom free, in one world or in all. Worlds that have gains of their own and get
        others go on with what is remembered of them; a world costs about half of what a change of its parameters does.
        ``reset`` leaves it as it is; ``end_pd`` ends it.

        Args:
            kp: Stiffness, (nv,) or one for all, or (n, nv), 0 or more.
            kd: Damping, likewise.
            target: Positions at the end of the step, (n, nq), or (nq,) for all worlds; ``pd_target`` changes them.
            target_velocity: Velocities, likewise; None: zero.
            effort_limit: Greatest forces, likewise; None: those of the joints.

        Raises:
            ValueError: When an argument has a wrong shape or value.
        """

    def end_pd(self) -> None:
        """End PD control."""

    def step(self, k: int = 1) -> None:
        """Advance all worlds by k time steps. Other threads run meanwhile; Ctrl-C stops between steps.

        A world that fails, or holds what is not finite, stays as it was before that step; all others make theirs. After
        Ctrl-C worlds may have made different numbers of steps: ``time`` tells.

        Raises:
            SimulationError: When worlds failed: ``worlds`` lists them, the message says why the first did.
            ValueError: When a quaternion has no direction; no world has moved then.
        """

    @property
    def failed(self) -> NDArray[np.bool_]:
        """The worlds that failed in the last step, rollout or derivative, (n,), a read-only copy.

        A reset clears them.
        """

    @property
    def errors(self) -> dict[int, str]:
        """Why worlds failed in the last step, rollout or derivative, by index."""

    def reset(
        self,
        mask: ArrayLike | None = None,
        keyframe: str | int | None = None,
        states: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        """Take worlds to a keyframe, to the default configuration at rest, or to states of their own.

        Positions, velocities, controls and times are set (those not given: to zero), applied forces end, and what the
        solver remembers is forgotten. PD control and its targets stay, unlike those of a ``Simulation``. The cost is
        that of the worlds that are reset.

        Args:
            mask: Which worlds: booleans (n,), or indices, each once; None: all.
            keyframe: Name or index of a keyframe (-1: the last); None: the default configuration.
            states: Positions (k, nq) and velocities (k, nv), a row for each of the k worlds in ``mask``, in its order,
                or (nq,) and (nv,) for all of them.

        Raises:
            ValueError: When an argument has a wrong shape or value.
            UnknownNameError: When the model has no keyframe of this name (it is a ``ValueError``, too).
            IndexError: When it has none of this index.
        """

    @overload
    def rollout(
        self,
        q: ArrayLike | None,
        v: ArrayLike | None,
        ctrl: ArrayLike,
        *,
        skip: int = 1,
        targets: ArrayLike | None = None,
        sensors: Literal[False] = False,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Positions (n, T, nq) and velocities (n, T, nv) of all worlds under sequences of controls, in one call.

        Row t is the state after ``ctrl[:, t]`` has acted for ``skip`` steps: the same bits as assigning it and calling
        ``step(skip)`` for each. Afterwards the batch is at the end of the last row. Other threads run meanwhile; Ctrl-C
        stops between steps.

        A world that fails has NaN from that row on, without an exception: ``failed`` and ``errors`` tell which and why.

        Args:
            q: Positions at the beginning, (n, nq), or (nq,) for all worlds; None: where they are.
            v: Velocities at the beginning, (n, nv), or (nv,) for all worlds; None: what they are. Where q or v is
                given, what the solver remembers is forgotten.
            ctrl: Controls, (n, T, nu).
            skip: Time steps for each of the controls.
            targets: Targets of PD control beside the controls, (n, T, nq); None: ``pd_target``.
            sensors: Whether to return what sensors show after each control as well, (n, T, nsensordata).

        Raises:
            ValueError: When an argument has a wrong shape or value.
            MemoryError: When the result does not fit into memory.
        """

    @overload
    def rollout(
        self,
        q: ArrayLike | None,
        v: ArrayLike | None,
        ctrl: ArrayLike,
        *,
        skip: int = 1,
        targets: ArrayLike | None = None,
        sensors: Literal[True],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
    def state(self, world: int) -> bytes:
        """The state of a world, as ``Simulation.restore`` takes it.

        It leaves out what lanes remember of the last step, by which contacts and stops that rest are told from those
        that were just pressed in: the next step is that of a new simulation in this state. Of worlds that are stepped
        one by one it is complete.

        Raises:
            IndexError: When there is no such world.
        """

    def set_state(self, world: int, state: bytes | Simulation) -> None:
        """Take a world to a state of ``state`` or ``Simulation.state``, or to where a simulation of the model is.

        Raises:
            IndexError: When there is no such world.
            ValueError: When it is no state of this model, or has PD control by other gains than the batch's.
        """

    def simulation(self, world: int) -> Simulation:
        """A simulation with the options of the batch that goes on from where a world is.

        Raises:
            IndexError: When there is no such world.
        """

    def set_parameters(self, worlds: ArrayLike | None = None, **parameters: Unpack[ParameterArrays]) -> None:
        """Give worlds parameters of their own; those left out stay as they are.

        Each is an array with a row for each of these worlds, or one row for all. Positions and velocities stay; what
        the solver remembers is forgotten. Worlds stay in vector lanes but where lanes cannot: see ``BatchParameters``.

        Args:
            worlds: Indices (k,), or a boolean mask (n,); None: all.
            parameters: Arrays by name, (k, …) or without the k: those of ``sapwood.Parameters``.

        Raises:
            ValueError: When an argument has a wrong shape or value; no world has changed then.
            TypeError: When there is no parameter of a name.
        """

    def reset_parameters(self, worlds: ArrayLike | None = None) -> None:
        """Give worlds the parameters of the model again.

        Args:
            worlds: Indices (k,), or a boolean mask (n,); None: all.

        Raises:
            ValueError: When there are no such worlds.
        """

    @property
    def parameters(self) -> BatchParameters:
        """Masses, frictions, gains, … of every world as live arrays, with a leading n; called, those of one world.

        ``batch.parameters.masses[3, 1] *= 2`` acts from the next step on; ``batch.parameters(3)`` has copies of all.
        """

    def _parameter_array(self, name: str) -> NDArray[np.float64]:
        """The live array of a parameter."""

    def _parameters_of(self, world: int) -> Parameters:
        """All parameters of a world, copies."""

    def step_jacobians(self) -> StepJacobians:
        """The derivative of the next step of every world, A (n, 2 nv, 2 nv) and B (n, 2 nv, nu).

        Worlds stay as they are. See ``Simulation.step_jacobians``. A world whose step has no derivative has NaN,
        without an exception: ``failed`` and ``errors`` tell which and why.

        Raises:
            ValueError: When a quaternion has no direction.
            MemoryError: When the result does not fit into memory.
        """

    def vjp(self, grad_q: ArrayLike, grad_v: ArrayLike) -> StepGradients:
        """The gradient of a cost after the next step, carried back to what the step starts from.

        Vector–Jacobian products with ``step_jacobians``, of which none is stored. Worlds stay as they are. Gradients
        with respect to positions are in the tangent space. A world whose step has no derivative has NaN.

        Args:
            grad_q: Gradient with respect to the positions after the step, (n, nv).
            grad_v: Gradient with respect to the velocities after the step, (n, nv).

        Raises:
            ValueError: When an argument has a wrong shape or value.
        """

    @property
    def contacts(self) -> BatchContacts:
        """The contact points of the last step of every world; read-only copies.

        Worlds that failed or were reset since have none. Points are in no particular order within a world.

        Raises:
            RuntimeError: When the batch was not made with ``contacts=True``.
        """

    @property
    def stats(self) -> BatchStats:
        """What the batch did since it was made."""

    @property
    def options(self) -> dict[str, Any]:
        """The options as the constructor takes them, a copy: ``Batch(model, n, **batch.options)``."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Pickles hold model, options, PD control, parameters, and the ``state`` of every world."""

    def __copy__(self) -> Batch:
        """A batch of the same model in the same states, independent of this one."""

    def __deepcopy__(self, memo: dict[int, object]) -> Batch:
        """A batch of the same model in the same states, independent of this one."""

    @property
    def body_positions(self) -> NDArray[np.float64]:
        """Origins of the bodies of every world, (n, nbody, 3), m; a read-only copy of the present states."""

    @property
    def body_quaternions(self) -> NDArray[np.float64]:
        """Orientations of the bodies of every world, (n, nbody, 4), w x y z; a read-only copy."""

    @property
    def body_velocities(self) -> NDArray[np.float64]:
        """Velocities of the bodies of every world, (n, nbody, 6): angular, then linear at the origin, world axes."""

    @property
    def site_positions(self) -> NDArray[np.float64]:
        """Origins of the sites of every world, (n, nsite, 3), m; a read-only copy of the present states."""

    @property
    def site_quaternions(self) -> NDArray[np.float64]:
        """Orientations of the sites of every world, (n, nsite, 4), w x y z; a read-only copy."""

    @property
    def body_contact_forces(self) -> NDArray[np.float64]:
        """Sums of the forces of contacts on the bodies of every world in the last step, (n, nbody, 3), N, world axes.

        Contacts with soft bodies are not among them, nor in ``contacts``.

        Raises:
            RuntimeError: When the batch was made without ``contacts=True``.
        """

def _command(words: list[str]) -> int: ...
def _scene_json(model: Model) -> str: ...
def _load_mujoco(text: str, assets: Mapping[str, bytes], like: Model | None) -> Model: ...

@final
class _MujocoNumbers:
    def __new__(cls) -> _MujocoNumbers: ...
    @property
    def version(self) -> int: ...
    def keep(self, spans: list[tuple[int, int]]) -> None: ...
    def differ(self) -> bool: ...

@final
class _MujocoWorld:
    def __new__(cls, parts: Any, d: Any) -> _MujocoWorld: ...
    @staticmethod
    def contact_layout() -> tuple[list[tuple[str, int]], int]: ...

@final
class _MujocoWorlds:
    def __new__(cls, make: Any) -> _MujocoWorlds: ...
    def __len__(self) -> int: ...
    def put(self, d: Any, world: _MujocoWorld) -> bool: ...
    def remove(self, id: int) -> None: ...  # noqa: A002
    def forget(self) -> None: ...
    def step(self, m: Any, d: Any, nstep: int) -> None: ...
    def step1(self, m: Any, d: Any) -> None: ...
    def step2(self, m: Any, d: Any) -> None: ...
    def forward(self, m: Any, d: Any) -> None: ...
    def inverse(self, m: Any, d: Any) -> None: ...

def spd_solve(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    target: ArrayLike,
    kp: ArrayLike,
    kd: ArrayLike,
    dt: float,
    *,
    target_velocity: ArrayLike | None = None,
    effort_limit: ArrayLike | None = None,
    method: Literal["maba", "dense", "sparse", "pcg"] = "maba",
) -> SpdSolution:
    """Acceleration and torque of a stable PD controller (see ``sapwood.spd``).

    Args:
        model: Bodies, armature and gravity.
        q: Positions, (nq,).
        v: Velocities, (nv,).
        target: Target positions at the end of the step, (nq,).
        kp: Stiffness, (nv,) or one for all.
        kd: Damping, (nv,) or one for all.
        dt: Time step, s.
        target_velocity: Target velocities, (nv,); None: zero.
        effort_limit: Greatest forces, (nv,) or one for all: limits the torque, not the acceleration; None: no limit.
        method: Articulated bodies, O(n); dense or branch-sparse factorisation; conjugate gradients.

    Raises:
        ValueError: When an argument has a wrong shape or value, or the system is singular.
    """

@final
class DeviceArray:
    """An array of a batch on a GPU, by DLPack and by CUDA's array interface: ``torch.from_dlpack(batch.q)`` is a view.

    Views see what a step does once it has run, and what is written into them acts in the next step that is launched on
    the same stream. They keep the batch alive.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""

    @property
    def dtype(self) -> str:
        """The type of its numbers: "float32", "float64" or "int32"."""

    def __len__(self) -> int:
        """Number of worlds."""

    def __getitem__(self, index: Any, /) -> NoReturn:
        """Raises an error that names the ways to entries: a view by DLPack, a copy by :meth:`numpy`."""

    def __setitem__(self, index: Any, value: Any, /) -> None:
        """As :meth:`__getitem__`."""

    def numpy(self) -> NDArray[Any]:
        """A copy on the host, after all steps that were launched."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """A copy on the host, for numpy."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Address, shape and type, for CuPy and Numba."""

    def __dlpack_device__(self) -> tuple[int, int]:
        """Kind and number of the device."""

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The array as a capsule, without a copy."""

@final
class DeviceBatch:
    """Many worlds of one model on a GPU: what ``Batch(model, n, device="cuda")`` makes.

    A step is that of ``Batch`` on the processor: the same contact problem, solved by the same method, of 32 bits to
    about 1e-3. What the model or an option asks for and the GPU does not do is an error that names it.

    ``step`` launches kernels and returns; nothing waits but ``numpy``, assignments from the host, ``reset``,
    ``synchronize``, changes of parameters and of PD control, and ``sensordata`` when it is first asked for. Steps can
    be captured in a CUDA graph: again after arrays of sensors or forces are first asked for, after the first change of
    a parameter, and after ``pd`` and ``end_pd``.
    """

    @property
    def model(self) -> Model:
        """The model."""

    @property
    def n(self) -> int:
        """Number of worlds."""

    def __len__(self) -> int:
        """Number of worlds."""

    @property
    def device(self) -> str:
        """Where the worlds are: "cuda:0" and so on."""

    @property
    def precision(self) -> str:
        """Numbers that worlds are computed with: "f32" or "f64"."""

    @property
    def rows(self) -> int:
        """Room for rows of constraints that push in a step of a world, three to a contact."""

    @property
    def shared_memory(self) -> int:
        """Bytes of shared memory that a world takes while it is stepped."""

    @property
    def timestep(self) -> float:
        """Time step, s."""

    @property
    def q(self) -> DeviceArray:
        """Positions, (n, nq)."""

    @q.setter
    def q(self, value: ArrayLike) -> None: ...
    @property
    def v(self) -> DeviceArray:
        """Velocities, (n, nv)."""

    @v.setter
    def v(self, value: ArrayLike) -> None: ...
    @property
    def ctrl(self) -> DeviceArray:
        """Controls, (n, nu)."""

    @ctrl.setter
    def ctrl(self, value: ArrayLike) -> None: ...
    @property
    def act(self) -> DeviceArray:
        """Activations, (n, na)."""

    @act.setter
    def act(self, value: ArrayLike) -> None: ...
    @property
    def time(self) -> DeviceArray:
        """Times, (n,), s."""

    @property
    def pd_target(self) -> DeviceArray:
        """Targets of PD control, (n, nq).

        Raises:
            ValueError: Before the first call of ``pd``.
        """

    @pd_target.setter
    def pd_target(self, value: ArrayLike) -> None: ...
    @property
    def applied_force(self) -> DeviceArray:
        """Forces on the degrees of freedom, (n, nv), N or N·m; kept until changed, free until asked for."""

    @applied_force.setter
    def applied_force(self, value: ArrayLike) -> None: ...
    @property
    def applied_wrench(self) -> DeviceArray:
        """Torque (N·m) and force (N) at the centre of mass of each body, world axes, (n, nbody, 6).

        Kept until changed.
        """

    @applied_wrench.setter
    def applied_wrench(self, value: ArrayLike) -> None: ...
    @property
    def sensordata(self) -> DeviceArray:
        """What all sensors of every world show, (n, nsensordata), in MuJoCo's layout.

        Written at the end of each launch of steps from when it is first asked for, ``step(0)`` included: sensors of
        positions and velocities look at the present state, those of accelerations and forces at the last step of the
        launch. After ``step(0)``, and until the first step from when it is asked for, forces are 0 and velocities count
        as constant.

        Raises:
            NotImplementedError: When the model has sensors that the GPU does not read: they are named.
        """

    @property
    def status(self) -> DeviceArray:
        """Counts of every world since it was made or reset, (n, 8) of 32 bits.

        Columns: constraints that the next step starts from; iterations of the contact solver; steps whose contact
        problem was not solved to the tolerance; constraints that had no room; steps that move bodies so far that the
        processor makes them in parts; 1 where the last step failed, so that the world is as it was before; steps;
        constraints that pushed in the last step.
        """

    def step(self, k: int = 1, stream: Any = None) -> None:
        """Launch k time steps of all worlds, in one kernel.

        Args:
            k: Number of steps.
            stream: The stream to launch on: one of PyTorch or CuPy, or its address; the default stream when None.
        """

    def synchronize(self) -> None:
        """Wait for all steps that were launched."""

    def reset(
        self,
        mask: ArrayLike | None = None,
        keyframe: str | int | None = None,
        states: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        """Take worlds to a keyframe, to the default configuration at rest, or to states of their own.

        As ``Batch.reset``: controls, activations, time and applied forces become those of the keyframe, or zero; their
        counts begin anew.

        Args:
            mask: Which worlds, booleans (n,) or indices, each once; all when None.
            keyframe: Name or index of a keyframe.
            states: Positions and velocities of these worlds, in rows.

        Raises:
            ValueError: When there is no such keyframe, or an argument is wrong.
        """

    def set_parameters(self, worlds: ArrayLike | None = None, **parameters: Unpack[ParameterArrays]) -> None:
        """Give worlds parameters of their own, as ``Batch.set_parameters``; those left out stay as they are.

        Args:
            worlds: Indices (k,), or a boolean mask (n,); None: all.
            parameters: Arrays by name, (k, …) or without the k: those of ``sapwood.Parameters``.

        Raises:
            ValueError: When an argument has a wrong shape or value; no world has changed then.
            NotImplementedError: When the kernels of the model do not take a value; no world has changed then.
            RuntimeError: When the GPU has no memory for numbers of worlds, or fails.
        """

    def reset_parameters(self, worlds: ArrayLike | None = None) -> None:
        """Give worlds the parameters of the model again.

        Args:
            worlds: Indices (k,), or a boolean mask (n,); None: all.
        """

    @property
    def parameters(self) -> BatchParameters:
        """Masses, frictions, gains, … of every world as live NumPy arrays, as of ``Batch.parameters``."""

    def _parameter_array(self, name: str) -> NDArray[np.float64]:
        """The live array of a parameter."""

    def _parameters_of(self, world: int) -> Parameters:
        """All parameters of a world, copies."""

    def pd(
        self,
        kp: ArrayLike,
        kd: ArrayLike,
        target: ArrayLike,
        target_velocity: ArrayLike | None = None,
        effort_limit: ArrayLike | None = None,
    ) -> None:
        """Stable PD control of all worlds by the same gains, as of ``Batch.pd``."""

    def end_pd(self) -> None:
        """End PD control."""

@final
class SpdSolver:
    """Stable PD control of one model (see ``sapwood.spd``), with what can be kept from call to call.

    That is the packed tree, the pattern of the factor, and scratch. The numbers are those of ``sapwood.spd.solve``,
    bit for bit. A solver is used by one thread at a time; ``copy.copy(solver)`` makes another, and pickles hold its
    model and method.

    Args:
        model: Bodies, armature and gravity.
        method: Articulated bodies, O(n); dense or branch-sparse factorisation; conjugate gradients.

    Raises:
        ValueError: When there is no such method.
    """

    def __new__(cls, model: Model, method: Literal["maba", "dense", "sparse", "pcg"] = "maba") -> SpdSolver: ...
    @property
    def model(self) -> Model:
        """The model."""

    @property
    def method(self) -> Literal["maba", "dense", "sparse", "pcg"]:
        """The method."""

    def solve(
        self,
        q: ArrayLike,
        v: ArrayLike,
        target: ArrayLike,
        kp: ArrayLike,
        kd: ArrayLike,
        dt: float,
        *,
        target_velocity: ArrayLike | None = None,
        effort_limit: ArrayLike | None = None,
    ) -> SpdSolution:
        """Acceleration and torque, in new arrays.

        Args:
            q: Positions, (nq,).
            v: Velocities, (nv,).
            target: Target positions at the end of the step, (nq,).
            kp: Stiffness, (nv,) or one for all, N/m or N·m/rad.
            kd: Damping, (nv,) or one for all, N·s/m or N·m·s/rad.
            dt: Time step, s.
            target_velocity: Target velocities, (nv,); None: zero.
            effort_limit: Greatest forces, (nv,) or one for all, N or N·m: limits the torque, not the acceleration;
                None: no limit.

        Raises:
            RuntimeError: When another thread is using the solver.
            ValueError: When an argument has a wrong shape or value, or the system is singular.
        """

    def compute(
        self,
        q: ArrayLike,
        v: ArrayLike,
        target: ArrayLike,
        kp: ArrayLike,
        kd: ArrayLike,
        dt: float,
        *,
        target_velocity: ArrayLike | None = None,
        effort_limit: ArrayLike | None = None,
    ) -> None:
        """The same into ``acceleration`` and ``torque``, the arrays of the solver: without new ones, for loops.

        After an error they hold what they held before.

        Raises:
            RuntimeError: When another thread is using the solver.
            ValueError: When an argument has a wrong shape or value, or the system is singular.
        """

    @property
    def acceleration(self) -> NDArray[np.float64]:
        """Acceleration of the last ``compute``, (nv,), a read-only view: always the same array, zero before."""

    @property
    def torque(self) -> NDArray[np.float64]:
        """The controller's force in the last ``compute``, (nv,), within the effort limits, a read-only view."""

    @property
    def iterations(self) -> int:
        """Iterations of conjugate gradients in the last ``compute``; 1 for the direct methods."""

    @property
    def residual(self) -> float:
        """Relative residual of conjugate gradients in the last ``compute``; 0 for the direct methods."""

@final
class SapProblem:
    """Contacts, limits and other constraints on matrices of your own (see ``sapwood.sap``).

    Methods add constraints and return handles, which index what a solution says of them. What a solve finds out about
    ``A`` and the pattern of ``J`` is kept for the next one; nothing kept changes a result. Where no ``R`` is given a
    constraint is near-rigid: ``R = 0.01/(4π²) w`` (``1e-5 w`` for tangential rows, bounded and rolling constraints),
    ``w`` being the mean diagonal of ``J_k A⁻¹ J_kᵀ`` (by ``diag(A)⁻¹`` where more than 512 velocities hang together in
    ``A``).

    A problem is used by one thread at a time; ``copy.copy(problem)`` makes another.

    Args:
        A: Symmetric positive definite, (nv, nv): an array, a sparse matrix of scipy (or whatever has ``tocsr``), or its
            blocks on the diagonal, as an array (n, m, m) or a sequence of square arrays.
        v_star: Free-motion velocities, (nv,).

    Raises:
        ValueError: When an argument has a wrong shape or value, or ``A`` is not symmetric or not positive definite.
    """

    def __new__(cls, A: ArrayLike | SparseMatrix | Sequence[NDArray[np.float64]], v_star: ArrayLike) -> SapProblem: ...
    @property
    def v_star(self) -> NDArray[np.float64]:
        """Free-motion velocities, (nv,), a read-only copy; assign others to solve again."""

    @v_star.setter
    def v_star(self, value: ArrayLike) -> None: ...
    @property
    def nv(self) -> int:
        """Number of velocities."""

    @property
    def rows(self) -> int:
        """Number of rows of ``J`` so far."""

    def contact(
        self,
        J: ArrayLike | SparseMatrix,
        mu: ArrayLike,
        *,
        R_t: ArrayLike | None = None,
        R_n: ArrayLike | None = None,
        vn_hat: ArrayLike | None = None,
        vt_hat: ArrayLike | None = None,
        normal_impulse: ArrayLike | None = None,
    ) -> Constraints:
        """Add n contacts with friction; numbers may be one for all.

        Args:
            J: (3 n, nv), dense or sparse; rows of each contact: t1, t2, n.
            mu: Friction coefficients, (n,).
            R_t: Tangential regularisations, velocity per impulse, (n,), above 0; None: near-rigid.
            R_n: Normal regularisations, likewise.
            vn_hat: Normal biases, (n,): a contact pushes below this normal velocity; None: 0.
            vt_hat: Velocities of surfaces that move by themselves, belts, (n, 2) or (2,); None: 0.
            normal_impulse: Normal impulses that bound friction under the law ``lagged``, and rolling friction under
                ``sap``, (n,); for ``coulomb`` a guess.

        Raises:
            RuntimeError: When another thread is solving the problem.
            ValueError: When an argument has a wrong shape or value; nothing is added then.
        """

    def limit(
        self, J: ArrayLike | SparseMatrix, *, R: ArrayLike | None = None, v_hat: ArrayLike | None = None
    ) -> Constraints:
        """Add n one-sided constraints: γ = max(0, (v̂ − J v)/R).

        Args:
            J: (n, nv), or one row (nv,).
            R: Regularisations, velocity per impulse, (n,) or one for all; None: near-rigid.
            v_hat: Velocities below which they push, likewise; None: 0.

        Raises:
            RuntimeError: When another thread is solving the problem.
            ValueError: When an argument has a wrong shape or value; nothing is added then.
        """

    def equality(
        self, J: ArrayLike | SparseMatrix, *, R: ArrayLike | None = None, v_hat: ArrayLike | None = None
    ) -> Constraints:
        """Add n equalities: γ = (v̂ − J v)/R.

        Args:
            J: (n, nv), or one row (nv,).
            R: Regularisations, velocity per impulse, (n,) or one for all; None: near-rigid.
            v_hat: Velocities that they hold, likewise; None: 0.

        Raises:
            RuntimeError: When another thread is solving the problem.
            ValueError: When an argument has a wrong shape or value; nothing is added then.
        """

    def bounded(
        self,
        J: ArrayLike | SparseMatrix,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        R: ArrayLike | None = None,
        v_hat: ArrayLike | None = None,
    ) -> Constraints:
        """Add n impulses between bounds: γ = (v̂ − J v)/R cut to [lower, upper].

        Dry friction f of a joint is ``bounded(J, -dt * f, dt * f)``; a servo of gain d and velocity v̂ with effort limit
        f is ``bounded(J, -dt * f, dt * f, R=1 / (dt * d), v_hat=v̂)``.

        Args:
            J: (n, nv), or one row (nv,).
            lower: Least impulses, (n,) or one for all; may be infinite.
            upper: Greatest impulses, likewise.
            R: Regularisations, velocity per impulse, likewise; None: near-rigid.
            v_hat: Velocities at which they do not push, likewise; None: 0.

        Raises:
            RuntimeError: When another thread is solving the problem.
            ValueError: When an argument has a wrong shape or value; nothing is added then.
        """

    def rolling(
        self,
        contacts: Constraints | int,
        J: ArrayLike | SparseMatrix,
        rolling: ArrayLike,
        torsional: ArrayLike | None = None,
        *,
        R: ArrayLike | None = None,
    ) -> Constraints:
        """Add rolling and torsional friction to n contacts: ``|γ_t| ≤ rolling N``, ``|γ_n| ≤ torsional N``.

        N are the normal impulses of the contacts.

        Args:
            contacts: What ``contact`` returned.
            J: (3 n, nv): relative angular velocities about the axes t1, t2, n of each contact.
            rolling: Lengths, m, (n,) or one for all, 0 or more.
            torsional: Likewise; None: 0.
            R: Regularisations, angular velocity per angular impulse, likewise; None: near-rigid.

        Raises:
            RuntimeError: When another thread is solving the problem.
            TypeError: When ``contacts`` is no handle.
            ValueError: When the handle is not that of contacts, they have such friction already, or an argument has a
                wrong shape or value; nothing is added then.
        """

    def solve(
        self,
        *,
        law: Literal["sap", "lagged", "coulomb"] = "sap",
        factorization: Literal["auto", "sparse", "contact-space"] = "auto",
        tolerance: float = 1e-6,
        factorization_budget: int | None = 100,
        max_iterations: int = 300,
        initial: ArrayLike | ProblemSolution | None = None,
    ) -> ProblemSolution:
        """Velocities and impulses.

        Args:
            law: What bounds friction: ``sap`` the friction cone of a convex problem, ``lagged`` given normal impulses
                (convex), ``coulomb`` the contacts' own.
            factorization: ``sparse`` factors A + JᵀGJ in Newton's method with a line search, which always converges;
                ``contact-space`` works on J A⁻¹ Jᵀ of at most 48 rows, without a line search; ``auto`` is ``sparse``,
                but under Coulomb's law tries contact space first.
            tolerance: Relative tolerance on the scaled momentum balance.
            factorization_budget: Factorisations that the search for Coulomb's law may take; None: until it stops
                improving.
            max_iterations: Newton iterations of a convex problem before the solve gives up.
            initial: A guess of the velocities, (nv,), or the solution of a problem with the same constraints, that of
                the step before, say: its normal impulses are the given ones of ``lagged``.

        Raises:
            RuntimeError: When another thread is solving the problem.
            SimulationError: When the solve does not converge.
            ValueError: When an argument has a wrong shape or value, the law lacks a normal impulse, or there are too
                many rows for contact space.
        """

def sap_solve(
    A: ArrayLike | SparseMatrix | Sequence[NDArray[np.float64]],
    v_star: ArrayLike,
    J: ArrayLike | SparseMatrix,
    mu: ArrayLike,
    R_t: ArrayLike,
    R_n: ArrayLike,
    vn_hat: ArrayLike,
    *,
    law: Literal["sap", "coulomb"] = "sap",
    tolerance: float = 1e-6,
    factorization: Literal["auto", "sparse", "contact-space"] = "auto",
    max_iterations: int = 300,
) -> Solution:
    """Velocities and impulses of frictional contacts (see ``sapwood.sap``; other constraints: ``sapwood.sap.Problem``).

    Args:
        A: Symmetric positive definite, (nv, nv): dense, sparse, or blocks, as ``Problem`` takes it.
        v_star: Free-motion velocities, (nv,).
        J: Jacobian, (3 nc, nv), dense or sparse; rows of each contact: t1, t2, n.
        mu: Friction coefficients, (nc,) or one for all.
        R_t: Tangential regularisations, (nc,) or one for all, above 0.
        R_n: Normal regularisations, likewise.
        vn_hat: Normal biases, likewise.
        law: Friction as the cone of a convex problem, or Coulomb's law.
        tolerance: Relative tolerance on the scaled momentum balance.
        factorization: As in ``Problem.solve``.
        max_iterations: Newton iterations before the solve gives up.

    Raises:
        SimulationError: When the solve does not converge.
        ValueError: When an argument has a wrong shape or value.
    """

@final
class Tracking:
    """What following a motion came to.

    Arrays are of the end of each step, the start first: n is one more than the number of steps.
    """

    @property
    def model(self) -> Model:
        """The model."""

    @property
    def completed(self) -> bool:
        """Whether the motion was followed to the end of its time."""

    @property
    def message(self) -> str | None:
        """Why it was not: which body was lost and when, or how a step failed."""

    @property
    def notes(self) -> list[str]:
        """How joints, axes and units of a file met the model's."""

    @property
    def times(self) -> NDArray[np.float64]:
        """Times, (n,), s."""

    @property
    def effectors(self) -> tuple[str, ...]:
        """The bodies whose places are compared."""

    @property
    def errors(self) -> NDArray[np.float64]:
        """Distance of each from where the motion has it, both seen from the root, (n, effectors), m."""

    @property
    def root_errors(self) -> NDArray[np.float64]:
        """Distance of the root from its place in the world, (n,), m."""

    @property
    def joint_errors(self) -> NDArray[np.float64]:
        """Root mean square over the joints of what they are off by, (n,), rad (m of slides)."""

    @property
    def rms(self) -> float:
        """Root mean square of ``errors`` without the start, m."""

    @property
    def contacts(self) -> float:
        """Contact points that pushed, mean per step."""

    @property
    def replay(self) -> Replay:
        """The motion, with the reference as a pale ghost beside it on its page."""

    @property
    def reference(self) -> NDArray[np.float64]:
        """Positions of the motion at the frames of the replay, (frames, nq)."""

    def svg(self, title: str | None = None) -> str:
        """A picture of the errors over time.

        Args:
            title: Above it; None: model, clip, control and target.
        """

def track(
    model: Model,
    clip: str | PathLike[str],
    *,
    control: Literal["stable", "maba", "maba-standalone", "dense", "sparse", "pcg", "explicit"] = "stable",
    target: Literal["start", "end", "end-velocity"] = "end-velocity",
    dt: float | None = None,
    duration: float = 5.0,
    hand_of_god: bool = True,
    gains: tuple[float, float] | None = None,
    root_gains: tuple[float, float] | None = None,
    effort_limit: float | None = None,
    effectors: Sequence[str] | None = None,
    lost: float = 1.0,
    fps: float = 60.0,
    rename: dict[str, str] | None = None,
    scale: float | None = None,
    axes: Literal["y-up-z-forward", "y-up-x-forward", "z-up-x-forward", "z-up-minus-y-forward"] | None = None,
    keep_unnamed: bool = False,
    loop: bool | None = None,
) -> Tracking:
    """Let a model follow a motion by PD control, and say how far from it it is.

    Args:
        model: What moves; its first free joint is the motion's root.
        clip: A gait ("walk", "run", "trot", "pace", "canter", "slither"), or a file: BVH or DeepMimic's text.
        control: "stable": stable PD within the step, stable at any gain and step. "maba": the law of the MABA paper
            exactly, within the step. "maba-standalone", "dense" (DF), "sparse" (SF), "pcg": the same law, its force
            found before the step. "explicit": PD at the beginning of the step.
        target: What a step is to reach: the pose at its "start" or its "end" (the paper's), at rest, or that at its
            end with the motion's velocity.
        dt: Time step, s; None: the model's.
        duration: Simulated time, s.
        hand_of_god: Whether the root is held, too; otherwise it moves as forces of joints and ground let it.
        gains: Stiffness and damping of joints, N·m/rad and N·m·s/rad (slides: N/m, N·s/m); None: 75,000 and 4,000.
        root_gains: The same of the root's hand; N/m and N·s/m, too; None: 20,000 and 2,000. Both are the paper's.
        effort_limit: Greatest force of a joint, N·m or N, where the model has no smaller one; None: the model's alone.
        effectors: Bodies whose places are compared; None: the ends of all limbs.
        lost: Distance at which a body counts as lost and the run ends, m.
        fps: Frames of the replay per second, rounded to whole steps; 0: the first and the last alone.
        rename: Joints of the file, and those of the model that they stand for, where names differ.
        scale: Metres per unit of a BVH file; None: what makes its bones as long as the model's.
        axes: Of a BVH file; None: those in which its figure stands as the model does.
        keep_unnamed: Whether joints of the model that the file does not have stay at rest.
        loop: Whether the clip begins anew at its end; None: as the file says (BVH files stay at their end).

    Raises:
        ValueError: When there is no such clip, it is broken, does not fit the model, or an option is outside its
            domain. The message names file, frame, joint and what is near. A motion that is lost is a result.
    """

@final
class ImitationEpisodes:
    """Episodes of a character that imitates a motion, in the worlds of a batch: ``sapwood.gym.ImitationVectorEnv``.

    Args:
        batch: The worlds; made with ``contacts=True``. It gets the PD control of the task.
        clip: The motion: a gait's name, or a file.
        control_hz: Actions a second.
        spd: How targets become forces: "maba" within the step; "maba_standalone", "dense", "sparse" or "pcg"
            before it.
        action: What an action is: "target"; "residual" to the reference at the end of the control step; "lead", to that
            reference moved ahead by what damping holds joints back.
        rotations: How rotations are observed: "quaternion" or "6d".
        observe_root: Whether it is observed where the reference's root is.
        reward: Which reward: "paper" or "code".
        effort_limits: Whether forces of the controllers are limited.
        reference_state_init: Whether episodes begin anywhere in the motion, or all at its start.
        early_termination: Whether a fall ends an episode.
        cycle_sync: Whether the reference is moved to where the character is when a cycle begins.
        max_episode_steps: Control steps after which an episode is cut; None: no limit.
        autoreset: When worlds whose episodes ended begin again: "next-step", "same-step" or "disabled".
        kp: Stiffness by joint, N·m/rad or N/m, where it is other than the character's.
        kd: Damping by joint, N·m·s/rad or N·s/m.
        effort_limit: Greatest force by joint, N·m or N.
        end_effectors: Bodies whose tips the reward compares; None: the character's, or all that end a limb.
        fall_bodies: Bodies that must not touch the ground; None: those that the motion keeps above it.
        ground: Where the motion has its ground: "most", where a tenth of it is below; "start", where its first posture
            stands, and each posture that is below is lifted on to it.

    Raises:
        ValueError: When a value is outside its domain, or motion and model do not fit.
    """

    def __new__(
        cls,
        batch: Batch,
        clip: str,
        *,
        control_hz: float,
        spd: str,
        action: str,
        rotations: str,
        observe_root: bool,
        reward: str,
        effort_limits: bool,
        reference_state_init: bool,
        early_termination: bool,
        cycle_sync: bool,
        max_episode_steps: int | None,
        autoreset: str,
        kp: dict[str, float] | None = None,
        kd: dict[str, float] | None = None,
        effort_limit: dict[str, float] | None = None,
        end_effectors: list[str] | None = None,
        fall_bodies: list[str] | None = None,
        ground: str = "most",
    ) -> ImitationEpisodes: ...
    @property
    def observation(self) -> NDArray[np.float64]:
        """Observations, (n, number); a copy."""

    @property
    def observation_parts(self) -> list[tuple[str, int, int]]:
        """Name, beginning and end of each part of an observation."""

    @property
    def reward(self) -> NDArray[np.float64]:
        """Rewards of the last step, (n,); a copy."""

    @property
    def info(self) -> NDArray[np.float64]:
        """Terms of the reward and sums of the episode, (n, number), as ``info_names`` says; a copy."""

    @property
    def info_names(self) -> list[str]:
        """Names of the numbers of ``info``."""

    @property
    def fall_bodies(self) -> list[str]:
        """Names of the bodies that must not touch the ground."""

    @property
    def definition(self) -> dict[str, Any]:
        """What expressions over the arrays of many worlds have to know of the task.

        The motion at equal times, points that are observed and compared, joints with controllers, weights.
        """

    @property
    def gains(self) -> list[NDArray[np.float64]]:
        """Stiffness, damping and greatest force of the controllers, (nv,) each: N·m/rad, N·m·s/rad, N·m."""

    @property
    def end_effectors(self) -> list[str]:
        """Names of the bodies whose tips are end effectors."""

    @property
    def motion_time(self) -> NDArray[np.float64]:
        """Where worlds are in the motion, s, and how far their references are moved, x y, m: (n, 3)."""

    @property
    def action_len(self) -> int:
        """How many numbers an action has."""

    @property
    def duration(self) -> float:
        """Time of the motion, or of a cycle of it, s."""

    @property
    def most_steps(self) -> int | None:
        """Control steps that an episode from the start of the motion can have; None without a limit."""

    def last_observation(self, world: int) -> NDArray[np.float64]:
        """The last observation of the episode that ended in the last step of a world, (number,).

        Raises:
            ValueError: When there is no such world, or autoreset is not "same-step".
        """

    def last_info(self, world: int) -> NDArray[np.float64]:
        """Numbers of ``info`` at the end of that episode, (number,).

        Raises:
            ValueError: When there is no such world, or autoreset is not "same-step".
        """

    def reference(self, time: float) -> NDArray[np.float64]:
        """Positions of the motion at a time, (nq,)."""

    def reference_velocity(self, time: float) -> NDArray[np.float64]:
        """Velocities of the motion at a time, (nv,)."""

    def evaluate(
        self, q: ArrayLike, v: ArrayLike, time: float, offset: tuple[float, float] | None = None
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """What any state is worth at a time in the motion.

        Args:
            q: Positions, (nq,).
            v: Velocities, (nv,).
            time: Time in the motion, s.
            offset: How far the motion is moved, x y, m; None: not at all.

        Returns:
            The reward; its terms before they are weighted, pose, velocity, end effectors, root, centre of mass; and the
            observation.

        Raises:
            ValueError: When a vector has another length, or a number is not finite.
        """

    def reference_action(self, time: float) -> NDArray[np.float64]:
        """The action of kind "target" whose target is the motion at a time, (number,)."""

    def seed(self, world: int, seed: int) -> None:
        """Seed the generator of a world.

        Raises:
            IndexError: When there is no such world.
        """

    def memory(self) -> bytes:
        """All that episodes know beside the states of the worlds."""

    def restore(self, memory: bytes) -> None:
        """Go on with the episodes of a ``memory``.

        Raises:
            ValueError: When it is of another task, or another number of worlds.
        """

    def reset(self, which: ArrayLike) -> None:
        """Begin episodes in the worlds of a mask, (n,) booleans.

        Raises:
            ValueError: When it has another shape or type.
        """

    def step(self, actions: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Make a control step of every world.

        Args:
            actions: (n, number).

        Returns:
            Which episodes ended by a fall, which were cut, and which worlds were reset, (n,) each.

        Raises:
            ValueError: When actions have another shape, or are not finite.
        """

@final
class Episodes:
    """Episodes of a task in the worlds of a batch: what ``sapwood.gym`` is made of.

    Args:
        batch: The worlds; made with ``contacts=True`` for tasks that observe contact. It shares its live arrays.
        task: The task, by its name in Gymnasium, without version; or dm_control's, as in ``walker-run``.
        options: Its options, by the names of the v5 environment; tasks of dm_control have none.
        frame_skip: Time steps in a step.
        max_episode_steps: Steps after which an episode is cut; None: no limit.
        autoreset: When worlds whose episodes ended begin again: in the next step, in the same, or when told to.

    Raises:
        TypeError: When an option has a value of another kind.
        ValueError: When there is no such option, a value is outside its domain, or the model is not one for the task.
    """

    def __new__(
        cls,
        batch: Batch,
        task: str,
        options: dict[str, Any],
        *,
        frame_skip: int,
        max_episode_steps: int | None = None,
        autoreset: Literal["next-step", "same-step", "disabled"] = "next-step",
    ) -> Episodes: ...
    @property
    def batch(self) -> Batch:
        """The worlds."""

    @property
    def observation(self) -> NDArray[np.float64]:
        """Observations, (n, number), a live view."""

    @property
    def reward(self) -> NDArray[np.float64]:
        """Rewards of the last step, (n,), a live view."""

    @property
    def info(self) -> NDArray[np.float64]:
        """Numbers of ``info``, (n, number), a live view; ``info_columns`` says what they are."""

    @property
    def last_observation(self) -> NDArray[np.float64]:
        """Last observations of episodes that ended, (n, number), a live view; empty unless autoreset is "same-step"."""

    @property
    def last_info(self) -> NDArray[np.float64]:
        """Their last ``info``, likewise."""

    @property
    def next_q(self) -> NDArray[np.float64]:
        """Positions at which the next episodes begin, (n, nq), a live view to be written."""

    @property
    def next_v(self) -> NDArray[np.float64]:
        """Velocities with which the next episodes begin, (n, nv), a live view to be written."""

    @property
    def next_goal(self) -> NDArray[np.float64]:
        """Goals of the next episodes, (n, number), a live view to be written; (n, 0) where a task has none."""

    @property
    def next_act(self) -> NDArray[np.float64]:
        """Activations with which the next episodes begin, (n, na), a live view to be written."""

    @property
    def goal(self) -> NDArray[np.float64]:
        """Goals of the present episodes, (n, number)."""

    @property
    def observation_parts(self) -> list[tuple[str, int, int]]:
        """Name, beginning and end of each part of an observation of a task of dm_control; else empty."""

    @property
    def action_range(self) -> NDArray[np.float64]:
        """Ranges of the controls, (nu, 2); infinite where a control has none."""

    @property
    def info_columns(self) -> list[tuple[str, int, bool]]:
        """Name, number of numbers, and whether resets have it, of each entry of ``info``."""

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which worlds could not be simulated in the last step, (n,); it ended their episodes."""

    def reset(self, which: ArrayLike) -> None:
        """Begin episodes in the worlds of a mask, at their next states.

        Args:
            which: Booleans, (n,).

        Raises:
            ValueError: When it has another shape or type.
        """

    def model_of(self, goal: ArrayLike) -> Model:
        """The model of an episode with such a goal; the batch's where all episodes have the same.

        Args:
            goal: Numbers of a goal, as in a row of ``goal``.

        Raises:
            ValueError: When it has another length.
        """

    def memory(self) -> bytes:
        """All that episodes know beside the states of the worlds and where the next ones begin."""

    def restore(self, memory: bytes) -> None:
        """Go on with the episodes of a ``memory``.

        Args:
            memory: Of episodes of the same task, options and number of worlds.

        Raises:
            ValueError: When it is not.
        """

    def observe(self, world: int) -> None:
        """Take the observation of a world where the batch's arrays have put it, as after a reset; the episode goes on.

        Args:
            world: Its index.

        Raises:
            IndexError: When there is no such world.
        """

    def step(self, actions: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Make a step of every world: controls, time steps, observations, rewards, ends, resets.

        Args:
            actions: Controls, (n, nu).

        Returns:
            Which episodes ended by themselves, which were cut at their limit, and which worlds were reset, (n,) each.

        Raises:
            ValueError: When actions have another shape, or are not finite.
        """

    def evaluate(
        self,
        q_before: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        actions: ArrayLike,
        goals: ArrayLike | None = None,
        act: ArrayLike | None = None,
        sensordata: ArrayLike | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
        """Judge steps that were made elsewhere, without forces of contact.

        Args:
            q_before: Positions before, (k, nq) or (nq,).
            q: Positions after, (k, nq).
            v: Velocities after, (k, nv).
            actions: Controls between, (k, nu).
            goals: Goals of the episodes, (k, number); None: zeros.
            act: Activations after, (k, na); None: zeros.
            sensordata: What sensors show after, (k, nsensordata); None: zeros.

        Returns:
            Observations (k, number), rewards (k,), ends (k,), numbers of info (k, number).

        Raises:
            ValueError: When an argument has another shape, or is not finite.
        """
