"""Models made in code, and loaded models changed and put together.

::

    import sapwood as sw

    b = sw.ModelBuilder("pendulum")
    b.add_ground()
    rod = b.add_body("rod", position=(0, 0, 1))
    rod.add_joint("hinge", "revolute", axis=(0, 1, 0), damping=0.1)
    rod.add_geom("capsule", size=(0.02, 0.2), mass=0.5, position=(0, 0, -0.2))
    b.add_motor("motor", "hinge", ctrl_range=(-1, 1))
    sim = sw.Simulation(b.build())

Units are SI, angles radians, quaternions (w, x, y, z). Handles (:class:`BodyBuilder`, …) have properties that can be
assigned until the model is built; what is built does not change any more.
"""

from sapwood.builder._bodies import BodyBuilder
from sapwood.builder._elements import (
    ActuatorBuilder,
    CameraBuilder,
    EqualityBuilder,
    GeomBuilder,
    JointBuilder,
    KeyframeBuilder,
    SensorBuilder,
    SiteBuilder,
    TendonBuilder,
)
from sapwood.builder._model import ModelBuilder
from sapwood.builder._soft import SoftBodyBuilder

__all__ = [
    "ActuatorBuilder",
    "BodyBuilder",
    "CameraBuilder",
    "EqualityBuilder",
    "GeomBuilder",
    "JointBuilder",
    "KeyframeBuilder",
    "ModelBuilder",
    "SensorBuilder",
    "SiteBuilder",
    "SoftBodyBuilder",
    "TendonBuilder",
]
