"""What is drawn: bodies, contacts, and the spring that pulls."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood.viewer._drag import rotate
from sapwood.viewer._shapes import String, marker_meshes, tube, tube_faces

if TYPE_CHECKING:
    from sapwood._sapwood import Model, Simulation
    from sapwood.viewer import Viewer
    from sapwood.viewer._looks import Faces, Vertices
    from sapwood.viewer._shapes import Drawn, Rgba, Scene

CONTACT, FORCE, PULL = (18, 181, 166), (239, 91, 76), (240, 180, 60)
# Sizes as parts of the size of the model.
POINT, SHAFT, HEAD = 0.012, 0.004, 0.014
# Height of capital letters in heights of a line.
CAPITALS = 0.7
# From where the camera looks at first, in sizes of the model.
EYE = (0.8, -1.0, 0.35)
# An arrow as long as this part of the model stands for the weight of the model.
WEIGHT = 0.5


class Picture:
    """The scene of a viewer, kept in step with its simulation."""

    viewer: Viewer
    api: Any
    frames: list[Any]
    size: float
    newtons_per_metre: float

    def __init__(self, viewer: Viewer) -> None:
        self.viewer, self.api = viewer, viewer.server.scene
        self.api.set_up_direction("+z")
        model = viewer.sim.model
        self.frames = [self.api.add_frame(f"/bodies/{body}", show_axes=False) for body in range(model.nbody)]
        self.collision: list[Any] = []
        self._sent: NDArray[np.float64] | None = None
        self._sent_soft: NDArray[np.float64] | None = None
        self._marks: dict[str, Any] = {}
        self._markers: list[Any] = []
        self._trails: list[Any] = []
        self._drawn: tuple[Any, Any] = ([], [])
        self._changes = 0
        self._handles: dict[int, list[tuple[Any, Drawn]]] = {}
        self.size, center = bounds(model, viewer.scene, viewer.sim.q, viewer.sim.soft_positions)
        for i, geom in enumerate(viewer.scene.geoms):
            self._add(i, geom)
        self._soft = self._add_soft()
        self._strings = self._add_strings()
        mass = float(viewer.scene.masses[1:].sum()) + sum(body.mass for body in viewer.sim.soft_bodies)
        self.newtons_per_metre = max(mass * 9.81, 1e-9) / (WEIGHT * self.size)
        camera = viewer.server.initial_camera
        camera.position = tuple(center + self.size * np.array(EYE))
        camera.look_at = tuple(center)
        self.update()

    def _poses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.viewer.sim.body_positions, self.viewer.sim.body_quaternions

    def _add(self, i: int, geom: Drawn) -> None:
        if geom.opacity <= 0 or not len(geom.faces):
            return
        name = f"/bodies/{geom.body}/{i}_{geom.name or geom.kind}".replace(" ", "_")
        place = {"position": tuple(geom.position), "wxyz": tuple(geom.quaternion)}
        if geom.kind == "plane" and geom.body == 0 and 0 in geom.size and geom.texture is None:
            cell = 10.0 ** round(np.log10(self.size / 3))
            self.api.add_grid(
                name,
                infinite_grid=True,
                cell_size=cell / 5,
                section_size=cell,
                plane_color=(226, 230, 234),
                plane_opacity=1.0,
                fade_distance=20 * self.size,
                shadow_opacity=0.25,
                **place,
            )
            return
        if geom.texture is not None:
            # As a GLB file, with or without the group that is shown.
            shown = {"visible": geom.group < 3, **place}
            handle: Any = self.api.add_mesh_trimesh(name, textured(geom), cast_shadow=geom.kind != "plane", **shown)
        else:
            handle = self._add_plain(name, geom, place)
        self._handles.setdefault(geom.geom, []).append((handle, geom))
        if geom.group >= 3:
            self.collision.append(handle)
        if geom.body != 0:
            handle.on_drag("left", modifier="cmd/ctrl")(lambda event, body=geom.body: self.viewer.dragged(body, event))

    def _add_plain(self, name: str, geom: Drawn, place: dict[str, Any]) -> Any:  # noqa: ANN401
        opacity = None if geom.opacity >= 1 else geom.opacity
        side = "double" if geom.kind in ("mesh", "hfield", "plane") else "front"
        return self.api.add_mesh_simple(
            name,
            geom.vertices,
            geom.faces,
            color=geom.color,
            opacity=opacity,
            flat_shading=geom.kind == "mesh",
            side=side,
            visible=geom.group < 3,
            **place,
        )

    def _add_soft(self) -> list[tuple[Any, NDArray[np.integer[Any]]]]:
        """The surfaces of soft bodies, with the nodes of their vertices among those of all."""
        skins: list[tuple[Any, NDArray[np.integer[Any]]]] = []
        first = 0
        for body, rgba in zip(self.viewer.sim.soft_bodies, self.viewer.scene.soft_colors, strict=True):
            nodes, faces = np.unique(body.triangles, return_inverse=True)
            handle = self.api.add_mesh_simple(
                f"/soft/{body.index}_{body.name}".replace(" ", "_"),
                np.asarray(body.positions[nodes], np.float32),
                faces.reshape(-1, 3).astype(np.uint32),
                color=tuple(round(255 * c) for c in rgba[:3]),
                opacity=None if rgba[3] >= 1 else rgba[3],
            )
            skins.append((handle, first + nodes))
            first += len(body.positions)
        return skins

    def _add_strings(self) -> list[tuple[Any, String]]:
        """Spatial tendons, each a tube."""
        handles: list[tuple[Any, String]] = []
        for i, (string, points) in enumerate(self._string_paths()):
            handle = self.api.add_mesh_simple(
                f"/strings/{i}_{string.name}".replace(" ", "_"),
                tube(points, string.radius),
                tube_faces(string.points),
                color=string.color,
                opacity=None if string.opacity >= 1 else string.opacity,
                side="double",
                visible=string.group < 3,
            )
            handles.append((handle, string))
            if string.group >= 3:
                self.collision.append(handle)
        return handles

    def _string_paths(self) -> list[tuple[String, NDArray[np.float64]]]:
        strings = self.viewer.scene.strings
        if not strings:
            return []
        ends = np.cumsum([string.points for string in strings])
        return list(zip(strings, np.split(self.viewer.sim._string_points(), ends[:-1]), strict=True))

    def show_groups(self, on: bool) -> None:
        """Shows or hides geoms and strings of group 3 and above."""
        for handle in self.collision:
            handle.visible = on

    def update(self) -> None:
        """Sends the poses that have changed, contacts, and the pull."""
        poses = np.hstack(self._poses())
        with self.viewer.server.atomic():
            for body, frame in enumerate(self.frames):
                if self._sent is not None and np.array_equal(poses[body], self._sent[body]):
                    continue
                frame.position, frame.wxyz = poses[body, :3], poses[body, 3:]
            if self._sent is None or not np.array_equal(poses, self._sent):
                self._move_strings()
            self._sent = poses
            self._move_soft()
            self._draw_markers()
            self._contacts()
            self._pull()

    def _draw_markers(self) -> None:
        """Sends markers, and geoms in other colours, where either has changed."""
        sim = self.viewer.sim
        if sim._drawing_changes == self._changes:
            return
        self._changes = sim._drawing_changes
        markers, trails, labels, colors = sim._drawing()
        # Trails change at every step, all else when a program draws.
        if (markers, labels) != self._drawn:
            self._drawn = (markers, labels)
            for handle in self._markers:
                handle.remove()
            self._markers = [self._add_mesh(f"/markers/{k}", *mesh) for k, mesh in enumerate(marker_meshes(markers))]
            self._markers += [self._add_label(f"/labels/{k}", *label) for k, label in enumerate(labels)]
        for handle in self._trails:
            handle.remove()
        self._trails = [
            self._add_mesh(f"/trails/{k}", rgba, tube(np.array(points), radius), tube_faces(len(points)))
            for k, (points, radius, rgba) in enumerate(trails)
            if len(points) > 1
        ]
        for geom, rgba in colors.items():
            for handle, drawn in self._handles.get(geom, []):
                handle.visible = rgba[3] > 0 and drawn.group < 3
                if drawn.texture is None:
                    handle.color = tuple(round(255 * c) for c in rgba[:3])
                    handle.opacity = None if rgba[3] >= 1 else rgba[3]

    def _add_mesh(self, name: str, rgba: Rgba, vertices: Vertices, faces: Faces) -> Any:  # noqa: ANN401
        color = tuple(round(255 * c) for c in rgba[:3])
        opacity = None if rgba[3] >= 1 else rgba[3]
        return self.api.add_mesh_simple(
            name, vertices, faces, color=color, opacity=opacity, side="double", cast_shadow=False
        )

    def _add_label(self, name: str, text: str, position: list[float], height: float, _: Rgba) -> Any:  # noqa: ANN401
        return self.api.add_label(
            name,
            text,
            position=tuple(position),
            font_size_mode="scene",
            # viser counts the line, not its capital letters.
            font_scene_height=height / CAPITALS,
            anchor="center-center",
        )

    def _move_soft(self) -> None:
        positions = self.viewer.sim.soft_positions
        if self._sent_soft is not None and np.array_equal(positions, self._sent_soft):
            return
        for handle, nodes in self._soft:
            handle.vertices = np.asarray(positions[nodes], np.float32)
        self._sent_soft = positions.copy()

    def _move_strings(self) -> None:
        for (handle, string), (_, points) in zip(self._strings, self._string_paths(), strict=True):
            handle.vertices = tube(points, string.radius)

    def _contacts(self) -> None:
        sim = self.viewer.sim
        points, forces = contact_forces(sim.contacts if self.viewer.show_contacts else (), sim.timestep)
        if self.viewer.show_contacts and self._soft:
            soft_points, soft_forces = soft_contact_forces(sim)
            points, forces = np.vstack([points, soft_points]), np.vstack([forces, soft_forces])
        self._points("contacts", points)
        self._arrows("forces", points, points + forces / self.newtons_per_metre, FORCE)

    def _pull(self) -> None:
        drag = self.viewer.drag
        none = np.zeros((0, 3))
        tail, head = (none, none) if drag is None else (drag.point[None], drag.target[None])
        self._arrows("pull", tail, head, PULL)

    def _points(self, name: str, points: NDArray[np.float64]) -> None:
        if len(points):
            self._marks[name] = self.api.add_point_cloud(
                f"/{name}",
                points.astype(np.float32),
                CONTACT,
                point_size=POINT * self.size,
                point_shape="circle",
                precision="float32",
            )
        elif name in self._marks:
            self._marks.pop(name).remove()

    def _arrows(
        self, name: str, tails: NDArray[np.float64], heads: NDArray[np.float64], color: tuple[int, int, int]
    ) -> None:
        if len(tails):
            ends = np.stack([tails, heads], axis=1).astype(np.float32)
            self._marks[name] = self.api.add_arrows(
                f"/{name}",
                ends,
                color,
                shaft_radius=SHAFT * self.size,
                head_radius=HEAD * self.size,
                head_length=3 * HEAD * self.size,
            )
        elif name in self._marks:
            self._marks.pop(name).remove()


def textured(geom: Drawn) -> Any:  # noqa: ANN401
    """A geom with its texture, for trimesh, whose v goes upwards."""
    trimesh: Any = importlib.import_module("trimesh")
    if geom.texture is None or geom.places is None:
        raise ValueError("a geom without a texture")
    factor = [*geom.color, round(255 * min(geom.opacity, 1.0))]
    material = trimesh.visual.material.PBRMaterial(
        baseColorTexture=geom.texture.image(),
        baseColorFactor=factor,
        metallicFactor=0.0,
        roughnessFactor=0.8,
        doubleSided=geom.kind in ("mesh", "hfield", "plane"),
        alphaMode="OPAQUE" if geom.opacity >= 1 else "BLEND",
    )
    visual = trimesh.visual.TextureVisuals(uv=geom.places * [1, -1] + [0, 1], material=material)
    return trimesh.Trimesh(geom.vertices, geom.faces, visual=visual, process=False)


def bounds(
    model: Model, of: Scene, q: NDArray[np.float64], soft_positions: NDArray[np.float64] | None = None
) -> tuple[float, NDArray[np.float64]]:
    """Size and centre of what moves, or of all where nothing does, in a configuration."""
    poses = model.forward_kinematics(q)
    shown = [geom for geom in of.geoms if geom.kind != "plane" and len(geom.vertices)]
    corners = [] if soft_positions is None else [*soft_positions]
    moving = [geom for geom in shown if geom.body != 0] or ([] if corners else shown)
    if not moving and not corners:
        return 2.0, np.zeros(3)
    for geom in moving:
        radius = float(np.linalg.norm(geom.vertices, axis=1).max())
        at = poses.positions[geom.body] + rotate(poses.quaternions[geom.body], geom.position)
        corners += [at - radius, at + radius]
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    return max(float(np.linalg.norm(high - low)), 1e-3), (low + high) / 2


def soft_contact_forces(sim: Simulation) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points (n, 3) where soft bodies are pushed, and the forces on them, N (n, 3)."""
    points = np.vstack([np.zeros((0, 3)), *(body.contact_positions for body in sim.soft_bodies)])
    forces = np.vstack([np.zeros((0, 3)), *(body.contact_forces for body in sim.soft_bodies)])
    pushed = forces.any(axis=1)
    return points[pushed], forces[pushed]


def contact_forces(contacts: Any, timestep: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # noqa: ANN401
    """Points (n, 3) that push and the forces there, N (n, 3): on the second body, or on the first beside the world."""
    contacts = [contact for contact in contacts if contact["impulse"].any()]
    if not contacts:
        return np.zeros((0, 3)), np.zeros((0, 3))
    axes = np.array([[*contact["tangents"], contact["normal"]] for contact in contacts])
    impulses = np.array([contact["impulse"] for contact in contacts])
    signs = np.array([-1.0 if contact["bodies"][1] == 0 else 1.0 for contact in contacts])
    forces = signs[:, None] / timestep * np.einsum("nkj,nk->nj", axes, impulses)
    return np.array([contact["position"] for contact in contacts]), forces
