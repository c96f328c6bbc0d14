"""Geoms as triangles."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood._sapwood import _scene_json
from sapwood.viewer._looks import Faces, Places, Texture, Vertices, parts, textures

if TYPE_CHECKING:
    from sapwood._sapwood import Model

# The colour that stands for "none chosen", and what is drawn in its place, tree by tree.
GREY = (0.5, 0.5, 0.5)
PALETTE = ((224, 154, 72), (96, 146, 200), (112, 170, 116), (196, 104, 96), (150, 124, 184), (88, 168, 168))
# Half the side of a plane without end that is not level, m.
ENDLESS = 20.0
# Vertices around a string.
SIDES = 8


@dataclass(frozen=True)
class Drawn:
    """A geom as it is drawn, in the frame of its body."""

    name: str
    body: int
    kind: str
    group: int
    position: NDArray[np.float64]
    quaternion: NDArray[np.float64]
    color: tuple[int, int, int]
    opacity: float
    vertices: Vertices
    faces: Faces
    size: tuple[float, ...] = ()
    texture: Texture | None = None
    # (u, v) of the vertices in the texture, from its upper left corner.
    places: Places | None = None
    # Which geom of the model it is, or is a part of.
    geom: int = 0


@dataclass(frozen=True)
class String:
    """A branch of a spatial tendon as it is drawn."""

    name: str
    radius: float
    color: tuple[int, int, int]
    opacity: float
    group: int
    # How many points it runs through.
    points: int


@dataclass(frozen=True)
class Scene:
    """What there is to draw and to act on."""

    geoms: list[Drawn]
    masses: NDArray[np.float64]
    coms: NDArray[np.float64]
    ctrl_ranges: list[tuple[float, float] | None]
    # Red, green, blue, opacity of soft bodies, from 0 to 1.
    soft_colors: list[tuple[float, float, float, float]]
    strings: list[String]


def scene(model: Model) -> Scene:
    """The shapes, masses and ranges of a model."""
    data = json.loads(_scene_json(model))
    trees = _trees(model.body_parents)
    known = textures(data["textures"])
    geoms = [
        replace(drawn, geom=i)
        for i, geom in enumerate(data["geoms"])
        for drawn in _drawn(geom, data["meshes"], known, trees)
    ]
    ranges = [None if limits is None else (float(limits[0]), float(limits[1])) for limits in data["ctrl_ranges"]]
    soft: list[tuple[float, float, float, float]] = [(r, g, b, a) for r, g, b, a in data["soft_colors"]]
    strings = [_string(string) for string in data["strings"]]
    return Scene(geoms, np.array(data["masses"]), np.array(data["coms"]).reshape(-1, 3), ranges, soft, strings)


def _string(string: dict[str, Any]) -> String:
    r, g, b, alpha = string["rgba"]
    color = (round(255 * r), round(255 * g), round(255 * b))
    return String(string["name"], string["radius"], color, alpha, string["group"], string["points"])


def tube(points: NDArray[np.float64], radius: float) -> Vertices:
    """Rings of :data:`SIDES` vertices around the points (n, 3) of a string."""
    pieces = np.diff(points, axis=0)
    lengths = np.linalg.norm(pieces, axis=1, keepdims=True)
    pieces = np.divide(pieces, lengths, out=np.zeros_like(pieces), where=lengths > 0)
    along = np.concatenate([pieces, np.zeros((1, 3))]) + np.concatenate([np.zeros((1, 3)), pieces])
    size = np.linalg.norm(along, axis=1, keepdims=True)
    along = np.where(size > 0, along / np.maximum(size, 1e-12), [0.0, 0.0, 1.0])
    # Across the string, along the axis that is furthest from it.
    across = np.cross(along, np.eye(3)[np.abs(along).argmin(axis=1)])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    other = np.cross(along, across)
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    rings = across[:, None] * np.cos(angles)[:, None] + other[:, None] * np.sin(angles)[:, None]
    vertices: Vertices = (points[:, None] + radius * rings).reshape(-1, 3).astype(np.float32)
    return vertices


def tube_faces(count: int) -> Faces:
    """The triangles between ``count`` rings."""
    i, j = np.meshgrid(np.arange(count - 1), np.arange(SIDES), indexing="ij")
    a, b = i * SIDES + j, i * SIDES + (j + 1) % SIDES
    faces = np.concatenate([np.stack([a, b, b + SIDES], -1), np.stack([a, b + SIDES, a + SIDES], -1)])
    return faces.reshape(-1, 3).astype(np.uint32)


Rgba = tuple[float, float, float, float]


def marker_meshes(markers: list[tuple[list[list[float]], float, Rgba]]) -> list[tuple[Rgba, Vertices, Faces]]:
    """The balls and rods of ``sim.markers`` as triangles, a mesh for each colour."""
    parts: dict[Rgba, list[tuple[Vertices, Faces]]] = {}
    for ends, radius, rgba in markers:
        points = np.array(ends)
        if len(points) == 1:
            vertices, faces = _revolved(radius * _arc(), 0.0)
            mesh = ((vertices + points[0]).astype(np.float32), faces)
        else:
            mesh = (tube(points, radius), tube_faces(2))
        parts.setdefault(rgba, []).append(mesh)
    meshes: list[tuple[Rgba, Vertices, Faces]] = []
    for rgba, own in parts.items():
        starts = np.cumsum([0, *(len(vertices) for vertices, _ in own[:-1])])
        faces = np.concatenate([faces + start for (_, faces), start in zip(own, starts, strict=True)])
        meshes.append((rgba, np.concatenate([vertices for vertices, _ in own]), faces.astype(np.uint32)))
    return meshes


def _trees(parents: list[int]) -> list[int]:
    """For each body, which child of the world it hangs from, counted from 0; the world's is 0."""
    roots = [0] * len(parents)
    count = 0
    for body, parent in enumerate(parents[1:], start=1):
        if parent == 0:
            roots[body], count = count, count + 1
        else:
            roots[body] = roots[parent]
    return roots


def _drawn(geom: dict[str, Any], meshes: list[dict[str, Any]], known: list[Texture], trees: list[int]) -> list[Drawn]:
    """A geom, or its parts where these look different."""
    r, g, b, alpha = geom["rgba"]
    chosen = "texture" in geom or any(abs(x - y) > 1e-6 for x, y in zip((r, g, b), GREY, strict=True))
    body: int = geom["body"]
    color = PALETTE[trees[body] % len(PALETTE)]
    if chosen:
        color = (round(255 * r), round(255 * g), round(255 * b))
    vertices, faces = _triangles(geom, meshes)
    return [
        Drawn(
            geom["name"],
            geom["body"],
            geom["type"],
            geom["group"],
            np.array(geom["pos"]),
            np.array(geom["quat"]),
            part.color,
            alpha,
            part.vertices,
            part.faces,
            tuple(geom["size"]),
            part.texture,
            part.places,
        )
        for part in parts(geom, meshes, known, vertices, faces, color)
    ]


def _triangles(geom: dict[str, Any], meshes: list[dict[str, Any]]) -> tuple[Vertices, Faces]:
    size = geom["size"]
    match geom["type"]:
        case "plane":
            x, y = (extent if extent > 0 else ENDLESS for extent in size)
            corners = np.array([[-x, -y, 0], [x, -y, 0], [x, y, 0], [-x, y, 0]], np.float32)
            return corners, np.array([[0, 1, 2], [0, 2, 3]], np.uint32)
        case "sphere":
            return _revolved(size[0] * _arc(), 0.0)
        case "ellipsoid":
            vertices, faces = _revolved(_arc(), 0.0)
            return (vertices * np.array(size, np.float32)), faces
        case "capsule":
            return _revolved(size[0] * _arc(), size[1])
        case "cylinder":
            radius, half = size
            # Rims twice, so that the sides are smooth and the ends flat.
            return _revolved(np.array([[0, -1], [1, -1], [1, -1], [1, 1], [1, 1], [0, 1]]) * [radius, half], 0.0)
        case "box":
            return _box(size)
        case _:
            which: int = geom["mesh"]
            mesh = meshes[which]
            width = "<u2" if mesh["index_bits"] == 16 else "<u4"
            vertices = np.frombuffer(base64.b64decode(mesh["vertices"]), "<f4").reshape(-1, 3)
            faces = np.frombuffer(base64.b64decode(mesh["triangles"]), width).reshape(-1, 3)
            return vertices.astype(np.float32), faces.astype(np.uint32)


def _arc() -> NDArray[np.float64]:
    """A half circle of radius 1 from the lower pole to the upper, the equator twice: (n, 2) radius and height."""
    angles = np.linspace(-np.pi / 2, np.pi / 2, 17)
    angles = np.insert(angles, 8, 0.0)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _revolved(profile: NDArray[np.float64], half: float, segments: int = 28) -> tuple[Vertices, Faces]:
    """A profile (n, 2) turned about z, its halves drawn apart by ``half`` up and down."""
    n = len(profile)
    shift = np.where(np.arange(n) < n / 2, -half, half)
    turn = np.linspace(0, 2 * np.pi, segments, endpoint=False)
    radius, height = profile[:, 0], profile[:, 1] + shift
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    vertices = np.concatenate(
        [radius[:, None, None] * ring, np.broadcast_to(height[:, None, None], (n, segments, 1))], axis=2
    ).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(n - 1), np.arange(segments), indexing="ij")
    a, b = i * segments + j, i * segments + (j + 1) % segments
    faces = np.concatenate([np.stack([a, b, b + segments], -1), np.stack([a, b + segments, a + segments], -1)])
    return vertices.astype(np.float32), faces.reshape(-1, 3).astype(np.uint32)


def _box(half: list[float]) -> tuple[Vertices, Faces]:
    """A box with four vertices per side, so that its edges are sharp."""
    vertices: list[NDArray[np.float64]] = []
    faces: list[NDArray[np.int_]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = np.roll(np.eye(3), axis, axis=0)[1:]
            w = np.roll(np.eye(3), axis, axis=0)[0]
            if sign < 0:
                u, v = v, u
            faces.append(np.array([[0, 1, 2], [0, 2, 3]]) + len(vertices))
            vertices += [sign * w - u - v, sign * w + u - v, sign * w + u + v, sign * w - u + v]
    return (np.array(vertices) * half).astype(np.float32), np.concatenate(faces).astype(np.uint32)
