"""Parameters of a simulation, or of the worlds of a batch, as live arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, final

import numpy as np

from sapwood._errors import UnknownNameError, did_you_mean, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from sapwood._results import Parameters
    from sapwood._sapwood import Batch, DeviceBatch


def _no_parameter(name: str) -> AttributeError:
    hint = did_you_mean(name, NAMES) or f"expected one that list(parameters) names, such as {', '.join(NAMES[:6])}"
    return AttributeError(f"there is no parameter {quoted(name)}: {hint}")


class _LiveParameters(ABC):
    """Parameters as live arrays, by name; those of the worlds of a batch have a leading n."""

    __slots__ = ()

    @abstractmethod
    def _array(self, name: str) -> NDArray[np.float64]:
        """The array of this name."""

    @abstractmethod
    def __iter__(self) -> Iterator[str]:
        """The names of the parameters."""

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """The live array of this name; ``kp`` is another one of ``gains``."""
        if name == "kp":
            name = "gains"
        if name not in NAMES:
            raise UnknownNameError(str(_no_parameter(name)))
        return self._array(name).view()

    if not TYPE_CHECKING:  # for checkers of types a name that does not exist is an error

        def __getattr__(self, name: str) -> NDArray[np.float64]:
            if name.startswith("_"):
                raise AttributeError(name)
            raise _no_parameter(name)

        def __setattr__(self, name: str, value: object) -> None:
            if not (name.startswith("_") or hasattr(type(self), name)):
                raise _no_parameter(name)
            super().__setattr__(name, value)

    def _write(self, name: str, value: ArrayLike) -> None:
        array = self._array(name)
        try:
            array[...] = value
        except (TypeError, ValueError) as error:
            expected = f"expected numbers, {array.shape}, or what numpy can broadcast to that"
            raise ValueError(f"parameters.{name}: {expected}: {error}") from None

    @property
    def gravity(self) -> NDArray[np.float64]:
        """Acceleration of gravity, (3,), m/s²."""
        return self._array("gravity").view()

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._write("gravity", value)

    @property
    def masses(self) -> NDArray[np.float64]:
        """Masses of the bodies, (nbody,), kg; rotational inertia changes in proportion."""
        return self._array("masses").view()

    @masses.setter
    def masses(self, value: ArrayLike) -> None:
        self._write("masses", value)

    @property
    def coms(self) -> NDArray[np.float64]:
        """Centres of mass in the bodies' frames, (nbody, 3), m; rotational inertia about them stays."""
        return self._array("coms").view()

    @coms.setter
    def coms(self, value: ArrayLike) -> None:
        self._write("coms", value)

    @property
    def inertias(self) -> NDArray[np.float64]:
        """Rotational inertias about the centres of mass in the bodies' axes, (nbody, 6): xx, yy, zz, xy, xz, yz, kg·m².

        At the model's masses: ``masses`` and ``inertia_scales`` multiply them.
        """
        return self._array("inertias").view()

    @inertias.setter
    def inertias(self, value: ArrayLike) -> None:
        self._write("inertias", value)

    @property
    def inertia_scales(self) -> NDArray[np.float64]:
        """Factors on the rotational inertias, (nbody,)."""
        return self._array("inertia_scales").view()

    @inertia_scales.setter
    def inertia_scales(self, value: ArrayLike) -> None:
        self._write("inertia_scales", value)

    @property
    def body_positions(self) -> NDArray[np.float64]:
        """Origins of the bodies in their parents' frames, (nbody, 3), m; what is free is where ``q`` has it."""
        return self._array("body_positions").view()

    @body_positions.setter
    def body_positions(self, value: ArrayLike) -> None:
        self._write("body_positions", value)

    @property
    def body_quaternions(self) -> NDArray[np.float64]:
        """Orientations of the bodies in their parents' frames, (nbody, 4), w x y z."""
        return self._array("body_quaternions").view()

    @body_quaternions.setter
    def body_quaternions(self, value: ArrayLike) -> None:
        self._write("body_quaternions", value)

    @property
    def joint_axes(self) -> NDArray[np.float64]:
        """Axes of the joints in their bodies' frames, (njoint, 3); 0 of those that have not one axis, and stay so."""
        return self._array("joint_axes").view()

    @joint_axes.setter
    def joint_axes(self, value: ArrayLike) -> None:
        self._write("joint_axes", value)

    @property
    def joint_anchors(self) -> NDArray[np.float64]:
        """Points of the joints in their bodies' frames, (njoint, 3), m; that of a free joint stays."""
        return self._array("joint_anchors").view()

    @joint_anchors.setter
    def joint_anchors(self, value: ArrayLike) -> None:
        self._write("joint_anchors", value)

    @property
    def frictions(self) -> NDArray[np.float64]:
        """Coefficients of sliding friction of the geoms, (ngeom,); of two geoms the larger counts."""
        return self._array("frictions").view()

    @frictions.setter
    def frictions(self, value: ArrayLike) -> None:
        self._write("frictions", value)

    @property
    def torsional_frictions(self) -> NDArray[np.float64]:
        """Greatest torques about the normal over normal force, (ngeom,), m; where a geom resists spinning."""
        return self._array("torsional_frictions").view()

    @torsional_frictions.setter
    def torsional_frictions(self, value: ArrayLike) -> None:
        self._write("torsional_frictions", value)

    @property
    def rolling_frictions(self) -> NDArray[np.float64]:
        """Greatest torques about a tangent over normal force, (ngeom,), m; where a geom resists rolling."""
        return self._array("rolling_frictions").view()

    @rolling_frictions.setter
    def rolling_frictions(self, value: ArrayLike) -> None:
        self._write("rolling_frictions", value)

    @property
    def solref(self) -> NDArray[np.float64]:
        """``solref`` of the geoms, (ngeom, 2), as MJCF has it; 0 of near-rigid geoms, which stay so."""
        return self._array("solref").view()

    @solref.setter
    def solref(self, value: ArrayLike) -> None:
        self._write("solref", value)

    @property
    def solimp(self) -> NDArray[np.float64]:
        """``solimp`` of the geoms, (ngeom, 5), as MJCF has it; 0 of near-rigid geoms, which stay so."""
        return self._array("solimp").view()

    @solimp.setter
    def solimp(self, value: ArrayLike) -> None:
        self._write("solimp", value)

    @property
    def pair_frictions(self) -> NDArray[np.float64]:
        """Frictions of the pairs in ``<contact>``, (npair, 4): sliding along both tangents, torsional, rolling."""
        return self._array("pair_frictions").view()

    @pair_frictions.setter
    def pair_frictions(self, value: ArrayLike) -> None:
        self._write("pair_frictions", value)

    @property
    def pair_solref(self) -> NDArray[np.float64]:
        """``solref`` of the pairs in ``<contact>``, (npair, 2); 0 of near-rigid ones, which stay so."""
        return self._array("pair_solref").view()

    @pair_solref.setter
    def pair_solref(self, value: ArrayLike) -> None:
        self._write("pair_solref", value)

    @property
    def pair_solimp(self) -> NDArray[np.float64]:
        """``solimp`` of the pairs in ``<contact>``, (npair, 5), likewise."""
        return self._array("pair_solimp").view()

    @pair_solimp.setter
    def pair_solimp(self, value: ArrayLike) -> None:
        self._write("pair_solimp", value)

    @property
    def limit_solref(self) -> NDArray[np.float64]:
        """``solref`` of the joints' limits, (njoint, 2); 0 of near-rigid ones, which stay so."""
        return self._array("limit_solref").view()

    @limit_solref.setter
    def limit_solref(self, value: ArrayLike) -> None:
        self._write("limit_solref", value)

    @property
    def limit_solimp(self) -> NDArray[np.float64]:
        """``solimp`` of the joints' limits, (njoint, 5), likewise."""
        return self._array("limit_solimp").view()

    @limit_solimp.setter
    def limit_solimp(self, value: ArrayLike) -> None:
        self._write("limit_solimp", value)

    @property
    def geom_sizes(self) -> NDArray[np.float64]:
        """Sizes of the geoms, (ngeom, 3), as MJCF has them; masses stay.

        Those of planes, meshes and height fields are 0 and count for nothing.
        """
        return self._array("geom_sizes").view()

    @geom_sizes.setter
    def geom_sizes(self, value: ArrayLike) -> None:
        self._write("geom_sizes", value)

    @property
    def geom_positions(self) -> NDArray[np.float64]:
        """Positions of the geoms in their bodies' frames, (ngeom, 3), m; masses stay."""
        return self._array("geom_positions").view()

    @geom_positions.setter
    def geom_positions(self, value: ArrayLike) -> None:
        self._write("geom_positions", value)

    @property
    def geom_quaternions(self) -> NDArray[np.float64]:
        """Orientations of the geoms in their bodies' frames, (ngeom, 4), w x y z."""
        return self._array("geom_quaternions").view()

    @geom_quaternions.setter
    def geom_quaternions(self, value: ArrayLike) -> None:
        self._write("geom_quaternions", value)

    @property
    def armature(self) -> NDArray[np.float64]:
        """Inertia of the drives, (nv,)."""
        return self._array("armature").view()

    @armature.setter
    def armature(self, value: ArrayLike) -> None:
        self._write("armature", value)

    @property
    def damping(self) -> NDArray[np.float64]:
        """Damping of the joints, (nv,), N·s/m or N·m·s/rad."""
        return self._array("damping").view()

    @damping.setter
    def damping(self, value: ArrayLike) -> None:
        self._write("damping", value)

    @property
    def stiffness(self) -> NDArray[np.float64]:
        """Stiffness of the joints, (nv,), N/m or N·m/rad."""
        return self._array("stiffness").view()

    @stiffness.setter
    def stiffness(self, value: ArrayLike) -> None:
        self._write("stiffness", value)

    @property
    def frictionloss(self) -> NDArray[np.float64]:
        """Coulomb friction of the joints, (nv,), N or N·m."""
        return self._array("frictionloss").view()

    @frictionloss.setter
    def frictionloss(self, value: ArrayLike) -> None:
        self._write("frictionloss", value)

    @property
    def joint_ranges(self) -> NDArray[np.float64]:
        """Limits of the joints, (njoint, 2), rad or m; of a ball (0, greatest angle); infinite where there are none."""
        return self._array("joint_ranges").view()

    @joint_ranges.setter
    def joint_ranges(self, value: ArrayLike) -> None:
        self._write("joint_ranges", value)

    @property
    def joint_locks(self) -> NDArray[np.float64]:
        """Where balls and free joints are held, (njoint, 8): 1, then q of the joint, then 0; all 0 of others."""
        return self._array("joint_locks").view()

    @joint_locks.setter
    def joint_locks(self, value: ArrayLike) -> None:
        self._write("joint_locks", value)

    @property
    def gains(self) -> NDArray[np.float64]:
        """Force of the actuators per unit of control, (nu,): kp of position servos and kv of velocity servos.

        The bias of a servo follows.
        """
        return self._array("gains").view()

    @gains.setter
    def gains(self, value: ArrayLike) -> None:
        self._write("gains", value)

    @property
    def kv(self) -> NDArray[np.float64]:
        """Damping of the actuators that are position servos, (nu,); those of others count for nothing."""
        return self._array("kv").view()

    @kv.setter
    def kv(self, value: ArrayLike) -> None:
        self._write("kv", value)

    @property
    def actuators_enabled(self) -> NDArray[np.float64]:
        """Whether the actuators give a force, (nu,), 1 or 0; an activation goes on either way."""
        return self._array("actuators_enabled").view()

    @actuators_enabled.setter
    def actuators_enabled(self, value: ArrayLike) -> None:
        self._write("actuators_enabled", value)

    @property
    def contypes(self) -> NDArray[np.float64]:
        """Bits of the geoms, (ngeom,): two may touch when one's contype and the other's conaffinity share one."""
        return self._array("contypes").view()

    @contypes.setter
    def contypes(self, value: ArrayLike) -> None:
        self._write("contypes", value)

    @property
    def conaffinities(self) -> NDArray[np.float64]:
        """See ``contypes``, (ngeom,)."""
        return self._array("conaffinities").view()

    @conaffinities.setter
    def conaffinities(self, value: ArrayLike) -> None:
        self._write("conaffinities", value)

    @property
    def condims(self) -> NDArray[np.float64]:
        """What geoms resist, (ngeom,): MJCF's ``condim``, 1, 3, 4 or 6; of two geoms the larger counts."""
        return self._array("condims").view()

    @condims.setter
    def condims(self, value: ArrayLike) -> None:
        self._write("condims", value)

    @property
    def disabled(self) -> NDArray[np.float64]:
        """What is switched off as a whole, (7,), 1 or 0: see :meth:`disable`.

        Contact, gravity, limit, actuation, frictionloss, spring, damper.
        """
        return self._array("disabled").view()

    @disabled.setter
    def disabled(self, value: ArrayLike) -> None:
        self._write("disabled", value)

    def disable(self, *features: str, worlds: ArrayLike | None = None) -> None:
        """Switch parts of the dynamics off, as MJCF's flags do, until :meth:`enable`.

        Args:
            features: ``"contact"`` of geoms, ``"gravity"``, ``"limit"`` of joints and tendons, ``"actuation"``,
                ``"frictionloss"``, ``"spring"`` and ``"damper"`` of joints and tendons. Equality constraints have
                ``equality_active``.
            worlds: Of a batch, which: indices or a mask; all when None.

        Raises:
            ValueError: When there is no such part.
        """
        self._switch(features, worlds, 1.0)

    def enable(self, *features: str, worlds: ArrayLike | None = None) -> None:
        """Switch parts that :meth:`disable` has switched off on again. What a file disables stays so."""
        self._switch(features, worlds, 0.0)

    def _switch(self, features: tuple[str, ...], worlds: ArrayLike | None, value: float) -> None:
        for name in features:
            if name not in FEATURES:
                hint = did_you_mean(name, FEATURES) or f"expected {', '.join(FEATURES)}"
                if name == "equality":
                    hint = "equality constraints have equality_active"
                raise ValueError(f"there is nothing to switch by the name {quoted(name)}: {hint}")
        disabled = self._array("disabled")
        if worlds is not None and disabled.ndim == 1:
            raise ValueError("worlds: a simulation has one, expected None")
        rows = disabled if worlds is None else disabled[np.asarray(worlds)]
        rows[..., [FEATURES.index(name) for name in features]] = value
        if worlds is not None:
            disabled[np.asarray(worlds)] = rows

    @property
    def equality_anchors(self) -> NDArray[np.float64]:
        """What equality constraints hold together, (neq, 6): a point of the first body, then of the second."""
        return self._array("equality_anchors").view()

    @equality_anchors.setter
    def equality_anchors(self, value: ArrayLike) -> None:
        self._write("equality_anchors", value)

    @property
    def equality_quaternions(self) -> NDArray[np.float64]:
        """Orientations of the second body in the frame of the first that welds hold, (neq, 4), w x y z."""
        return self._array("equality_quaternions").view()

    @equality_quaternions.setter
    def equality_quaternions(self, value: ArrayLike) -> None:
        self._write("equality_quaternions", value)

    @property
    def kp(self) -> NDArray[np.float64]:
        """``gains`` by the name that they have for position servos."""
        return self.gains

    @kp.setter
    def kp(self, value: ArrayLike) -> None:
        self.gains = value


@final
class SimulationParameters(_LiveParameters):
    """Numbers of the model that a simulation has of its own, as live arrays.

    What is written into them acts from the next step on, and stays through ``reset``; ``state``, ``copy`` and pickles
    have it. The model and other simulations of it stay as they are. Values outside their domain raise ``ValueError``
    from whatever computes next, with the name, the index and what is expected there. A change costs about 0.1 ms for a
    quadruped, that of sizes and places of geoms what a new simulation does; steps without a change cost nothing more.
    """

    __slots__ = ("_arrays", "_of_model")

    def __init__(self, arrays: Mapping[str, NDArray[np.float64]]) -> None:
        self._arrays = dict(arrays)
        self._of_model = {name: array.copy() for name, array in arrays.items()}

    def reset(self) -> None:
        """Take all of the model's again."""
        for name, array in self._arrays.items():
            array[...] = self._of_model[name]

    def _array(self, name: str) -> NDArray[np.float64]:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the parameters."""
        return iter(self._arrays)

    def __repr__(self) -> str:
        changed = [name for name, array in self._arrays.items() if (array != self._of_model[name]).any()]
        return f"<sapwood.SimulationParameters, {', '.join(changed) or 'none'} of its own>"


@final
class BatchParameters(_LiveParameters):
    """Numbers of the model that the worlds of a batch have of their own, as live arrays with a leading n.

    ``batch.parameters.masses[3, 1] *= 2`` acts from the next step on; resets leave it. An array costs nothing before it
    is first asked for; from then on each step compares it with what it was. Worlds with parameters of their own stay in
    vector lanes but where lanes cannot: geoms of other sizes, places or bits, other ``solref`` or ``solimp``, friction,
    springs, limits or gear inertia where the model has none. Those are stepped one by one beside the others, which a
    ``PerformanceWarning`` says.
    """

    __slots__ = ("_batch",)

    def __init__(self, batch: Batch | DeviceBatch) -> None:
        self._batch = batch

    def __call__(self, world: int) -> Parameters:
        """All parameters of one world, as copies.

        Raises:
            IndexError: When there is no such world.
        """
        return self._batch._parameters_of(world)

    def reset(self) -> None:
        """Take all of the model's again, in every world."""
        self._batch.reset_parameters()

    def _array(self, name: str) -> NDArray[np.float64]:
        return self._batch._parameter_array(name)

    def __iter__(self) -> Iterator[str]:
        """The names of the parameters."""
        return iter(NAMES)

    def __repr__(self) -> str:
        return f"<sapwood.BatchParameters of {self._batch.n} worlds>"


# The columns of ``disabled``.
FEATURES = ("contact", "gravity", "limit", "actuation", "frictionloss", "spring", "damper")
NAMES = (
    "gravity",
    "masses",
    "coms",
    "inertias",
    "inertia_scales",
    "body_positions",
    "body_quaternions",
    "joint_axes",
    "joint_anchors",
    "frictions",
    "torsional_frictions",
    "rolling_frictions",
    "solref",
    "solimp",
    "pair_frictions",
    "pair_solref",
    "pair_solimp",
    "limit_solref",
    "limit_solimp",
    "geom_sizes",
    "geom_positions",
    "geom_quaternions",
    "armature",
    "damping",
    "stiffness",
    "frictionloss",
    "joint_ranges",
    "joint_locks",
    "gains",
    "kv",
    "actuators_enabled",
    "contypes",
    "conaffinities",
    "condims",
    "disabled",
    "equality_anchors",
    "equality_quaternions",
)
