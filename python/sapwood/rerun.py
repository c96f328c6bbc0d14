"""Recordings and running simulations in Rerun (https://rerun.io).

::

    from sapwood import rerun

    rerun.log(replay, "run.rrd")                     # a recording, as a file
    rerun.log(replay)                                # the same, in Rerun's viewer
    with rerun.Stream(sim) as stream:                # a simulation while it runs
        for _ in range(1000):
            sim.step()
            stream.log()

Entities are ``world/BODY/GEOM``, ``world/contacts``, ``energy/…``, ``ctrl/ACTUATOR``, on the timeline ``time``.

Needs the extra ``rerun``: ``pip install 'sapwood[rerun]'``.
"""

from __future__ import annotations

from os import PathLike, fspath
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood.viewer._picture import EYE, bounds, contact_forces
from sapwood.viewer._shapes import Drawn, scene

if TYPE_CHECKING:
    from typing_extensions import Self

    from sapwood._sapwood import Model, Replay, Simulation

__all__ = ["Stream", "log"]

TIMELINE = "time"
FORCE = (239, 91, 76)
# An arrow of 1 m stands for this part of the weight of the model.
WEIGHT = 2.0


def log(replay: Replay, path: str | PathLike[str] | None = None) -> Any:  # noqa: ANN401
    """Send a recording to Rerun.

    Args:
        replay: The recording.
        path: A file to write (``.rrd``), or None to open Rerun's viewer.

    Returns:
        The ``rerun.RecordingStream``, for more of your own.

    Raises:
        ImportError: When Rerun is not installed.
        ValueError: When the recording has no frame.
    """
    if len(replay) == 0:
        raise ValueError("a recording without frames: expected at least one")
    rr, recording = _open(replay.model, path)
    _log_shapes(rr, recording, replay.model)
    times = replay.time
    column = [rr.TimeColumn(TIMELINE, duration=times)]
    bodies = _entities(replay.model)
    poses = [replay.model.forward_kinematics(q) for q in replay.q]
    for body in range(1, replay.model.nbody):
        positions = np.array([pose.positions[body] for pose in poses])
        quaternions = np.array([_xyzw(pose.quaternions[body]) for pose in poses])
        columns = rr.Transform3D.columns(translation=positions, quaternion=quaternions)
        rr.send_columns(bodies[body], column, columns, recording=recording)
    named = [*zip(_controls(replay.model), replay.ctrl.T, strict=True)] if len(replay.ctrl) else []
    energies = (("energy/kinetic", replay.kinetic_energy), ("energy/potential", replay.potential_energy))
    for name, values in [*energies, *named]:
        if len(values):
            rr.send_columns(name, column, rr.Scalars.columns(scalars=values), recording=recording)
    counts, flat = replay._contacts()
    marks, at = flat.reshape(-1, 6), 0
    for time, count in zip(times, counts, strict=False):
        recording.set_time(TIMELINE, duration=time)
        _log_contacts(rr, recording, replay.model, marks[at : at + count, :3], marks[at : at + count, 3:])
        at += count
    recording.flush()
    return recording


class Stream:
    """A simulation in Rerun while it runs; call ``log`` whenever its state is to be shown.

    Attributes:
        sim: The simulation.
        recording: The ``rerun.RecordingStream``, for more of your own.
    """

    def __init__(self, sim: Simulation, path: str | PathLike[str] | None = None) -> None:
        """Open a file (``.rrd``), or Rerun's viewer for None, and log the present state.

        Args:
            sim: The simulation.
            path: The file.

        Raises:
            ImportError: When Rerun is not installed.
        """
        self.sim = sim
        self._rr, self.recording = _open(sim.model, path)
        _log_shapes(self._rr, self.recording, sim.model)
        self._bodies, self._names = _entities(sim.model), _controls(sim.model)
        self.log()

    def log(self) -> None:
        """Log poses, contacts, energies and controls of the present state."""
        rr, sim, recording = self._rr, self.sim, self.recording
        recording.set_time(TIMELINE, duration=sim.time)
        poses = sim.model.forward_kinematics(sim.q)
        for body in range(1, sim.model.nbody):
            transform = rr.Transform3D(
                translation=poses.positions[body], quaternion=rr.Quaternion(xyzw=_xyzw(poses.quaternions[body]))
            )
            recording.log(self._bodies[body], transform)
        energy = sim.energy()
        values = [("energy/kinetic", energy.kinetic), ("energy/potential", energy.potential)]
        for name, value in [*values, *zip(self._names, sim.ctrl, strict=True)]:
            recording.log(name, rr.Scalars(float(value)))
        _log_contacts(rr, recording, sim.model, *contact_forces(sim.contacts, sim.timestep))

    def close(self) -> None:
        """Write what is left."""
        self.recording.flush()
        self.recording.disconnect()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _open(model: Model, path: str | PathLike[str] | None) -> tuple[Any, Any]:
    try:
        import rerun as rr
    except ImportError as error:
        raise ImportError("logging to Rerun needs its SDK: pip install 'sapwood[rerun]'") from error
    recording = rr.RecordingStream(model.name or "sapwood")
    if path is None:
        recording.spawn()
    else:
        recording.save(fspath(path))
    _arrange(rr, recording, model)
    return rr, recording


def _arrange(rr: Any, recording: Any, model: Model) -> None:  # noqa: ANN401
    """Lays out the viewer: the scene seen from where the live viewer looks, energies and controls beside it."""
    from rerun import blueprint as rrb

    size, center = bounds(model, scene(model), model.keyframe().q)
    eye = rrb.EyeControls3D(position=center + size * np.array(EYE), look_target=center)
    plots = [rrb.TimeSeriesView(origin="energy", name="energy, J")]
    if model.nu:
        plots.append(rrb.TimeSeriesView(origin="ctrl", name="controls"))
    view = rrb.Spatial3DView(origin="world", name=model.name or "world", eye_controls=eye)
    layout = rrb.Horizontal(view, rrb.Vertical(*plots), column_shares=[3, 1])
    rr.send_blueprint(rrb.Blueprint(layout, collapse_panels=True), recording=recording)


def _entities(model: Model) -> list[str]:
    """The entity of every body; a body without a name has its index."""
    return ["world", *(f"world/{_part(name) or i}" for i, name in enumerate(model.body_names) if i > 0)]


def _controls(model: Model) -> list[str]:
    return [f"ctrl/{_part(name) or i}" for i, name in enumerate(model.actuator_names)]


def _part(name: str) -> str:
    """A name as a part of the path of an entity, where a slash would divide it."""
    return name.replace("/", "_")


def _xyzw(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.roll(quaternion, -1)


def _log_shapes(rr: Any, recording: Any, model: Model) -> None:  # noqa: ANN401
    """Logs every geom once, in the frame of its body; those of group 3 and above under ``collision``."""
    recording.log("world", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    bodies = _entities(model)
    for i, geom in enumerate(scene(model).geoms):
        if geom.opacity <= 0 or not len(geom.faces):
            continue
        folder = "collision/" if geom.group >= 3 else ""
        entity = f"{bodies[geom.body]}/{folder}{_part(geom.name) or f'{geom.kind}_{i}'}"
        recording.log(entity, _shape(rr, geom), static=True)
        place = rr.Transform3D(translation=geom.position, quaternion=rr.Quaternion(xyzw=_xyzw(geom.quaternion)))
        recording.log(entity, place, static=True)


def _shape(rr: Any, geom: Drawn) -> Any:  # noqa: ANN401
    color = (*geom.color, round(255 * geom.opacity))
    look = {"colors": [color], "fill_mode": "solid"}
    size = geom.size
    if geom.texture is None:
        match geom.kind:
            case "sphere":
                return rr.Ellipsoids3D(half_sizes=[[size[0]] * 3], **look)
            case "ellipsoid":
                return rr.Ellipsoids3D(half_sizes=[size], **look)
            case "box":
                return rr.Boxes3D(half_sizes=[size], **look)
            case "capsule":
                # Rerun's capsules begin at the centre of their lower cap.
                return rr.Capsules3D(radii=[size[0]], lengths=[2 * size[1]], translations=[[0, 0, -size[1]]], **look)
            case "cylinder":
                return rr.Cylinders3D(radii=[size[0]], lengths=[2 * size[1]], **look)
    textured = {}
    if geom.texture is not None and geom.places is not None:
        textured = {"vertex_texcoords": geom.places, "albedo_texture": np.asarray(geom.texture.image())}
    return rr.Mesh3D(
        vertex_positions=geom.vertices,
        triangle_indices=geom.faces,
        vertex_normals=_normals(geom.vertices, geom.faces),
        albedo_factor=color,
        **textured,
    )


def _normals(vertices: NDArray[np.float32], faces: NDArray[np.uint32]) -> NDArray[np.float32]:
    """Normals at the vertices: the sum of those of the faces around, by area."""
    a, b, c = vertices[faces].transpose(1, 0, 2)
    normals = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(normals, faces[:, k], np.cross(b - a, c - a))
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals /= np.maximum(lengths, 1e-20)
    return normals


def _log_contacts(
    rr: Any,  # noqa: ANN401
    recording: Any,  # noqa: ANN401
    model: Model,
    points: NDArray[np.float64],
    forces: NDArray[np.float64],
) -> None:
    scale = 1 / max(WEIGHT * float(model.body_masses[1:].sum()) * 9.81, 1e-9)
    recording.log("world/contacts", rr.Arrows3D(origins=points, vectors=scale * forces, colors=[FORCE]))
