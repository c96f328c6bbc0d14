"""Multibody simulation with convex contact.

Load a model from MJCF, URDF or SDFormat, simulate it in contact with the world::

    import sapwood as sw

    model = sw.load("humanoid.xml")
    sim = sw.Simulation(model)
    sim.step(1000)
    print(sim.time, sim.q, sim.stats.contacts)

Units are SI, angles radians, quaternions (w, x, y, z). ``q`` and ``v`` are laid out as MuJoCo's ``qpos`` and ``qvel``.
"""

from typing import TYPE_CHECKING

from sapwood import builder, characters, sap, scenes, spd, tracking
from sapwood._errors import ModelError, PerformanceWarning, SimulationError, UnknownNameError
from sapwood._first_words import attribute_error
from sapwood._inverse_kinematics import PoseTarget
from sapwood._markers import Markers
from sapwood._parameters import BatchParameters, SimulationParameters
from sapwood._render import Camera, VideoWriter, video, write_png
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
    PaddedContacts,
    ParameterArrays,
    Parameters,
    Poses,
    RayHit,
    RayHits,
    SensorJacobians,
    SoftProperties,
    Stats,
    StepGradients,
    StepJacobians,
)
from sapwood._sapwood import (
    Batch,
    DeviceArray,
    DeviceBatch,
    Model,
    Renderer,
    Replay,
    Simulation,
    SoftBody,
    __version__,
    inverse_kinematics,
    load,
)
from sapwood.builder import ModelBuilder

if TYPE_CHECKING:
    from sapwood.viewer import view


def __getattr__(name: str) -> object:
    # Imported when it is first used: most programs look at nothing.
    if name == "view":
        from sapwood.viewer import view

        return view
    raise attribute_error("sapwood", name, __all__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Batch",
    "BatchContacts",
    "BatchParameters",
    "BatchStats",
    "Camera",
    "ContactForce",
    "DeviceArray",
    "DeviceBatch",
    "Distance",
    "Energy",
    "InverseKinematics",
    "Joint",
    "Keyframe",
    "Markers",
    "Model",
    "ModelBuilder",
    "ModelError",
    "ModelWarning",
    "PaddedContacts",
    "ParameterArrays",
    "Parameters",
    "PerformanceWarning",
    "PoseTarget",
    "Poses",
    "RayHit",
    "RayHits",
    "Renderer",
    "Replay",
    "SensorJacobians",
    "Simulation",
    "SimulationError",
    "SimulationParameters",
    "SoftBody",
    "SoftProperties",
    "Stats",
    "StepGradients",
    "StepJacobians",
    "UnknownNameError",
    "VideoWriter",
    "__version__",
    "builder",
    "characters",
    "inverse_kinematics",
    "load",
    "sap",
    "scenes",
    "spd",
    "tracking",
    "video",
    "view",
    "write_png",
]
