"""Textures and paints, as vertices of triangles have them."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

Vertices = NDArray[np.float32]
Faces = NDArray[np.uint32]
Places = NDArray[np.float32]

# The axes of the sides of a cube, as OpenGL has them: the one that it faces along, the one to the right, the one down.
SIDES = np.array(
    [
        [[1, 0, 0], [0, 0, -1], [0, -1, 0]],
        [[-1, 0, 0], [0, 0, 1], [0, -1, 0]],
        [[0, 1, 0], [1, 0, 0], [0, 0, 1]],
        [[0, -1, 0], [1, 0, 0], [0, 0, -1]],
        [[0, 0, 1], [1, 0, 0], [0, -1, 0]],
        [[0, 0, -1], [-1, 0, 0], [0, -1, 0]],
    ],
    float,
)


@dataclass(frozen=True)
class Texture:
    """A PNG file; of a cube six squares below each other."""

    kind: str
    png: bytes

    def image(self) -> Any:  # noqa: ANN401
        """As a picture of Pillow."""
        from PIL import Image

        return Image.open(io.BytesIO(self.png)).convert("RGB")


@dataclass(frozen=True)
class Part:
    """Triangles of one look; ``places`` are (u, v) of the vertices from the upper left corner of the texture."""

    vertices: Vertices
    faces: Faces
    color: tuple[int, int, int]
    texture: Texture | None = None
    places: Places | None = None


def textures(data: list[dict[str, Any]]) -> list[Texture]:
    """The textures of a scene."""
    return [Texture(texture["kind"], base64.b64decode(texture["png"])) for texture in data]


def parts(
    geom: dict[str, Any],
    meshes: list[dict[str, Any]],
    known: list[Texture],
    vertices: Vertices,
    faces: Faces,
    color: tuple[int, int, int],
) -> Iterator[Part]:
    """The triangles of a geom, those of each look together."""
    look: dict[str, Any] | None = geom.get("texture")
    index: int | None = geom["mesh"]
    mesh = None if index is None else meshes[index]
    if look is not None:
        yield _textured(look, known[int(look["image"])], mesh, vertices, faces, color)
    elif geom.get("painted") and mesh is not None and "paint_of" in mesh:
        paint_of = np.frombuffer(base64.b64decode(mesh["paint_of"]), "<u4")
        corners = _corner_places(mesh)
        paints: list[dict[str, Any]] = mesh["paints"]
        for k, paint in enumerate(paints):
            chosen = paint_of == k
            if not chosen.any():
                continue
            own = (round(255 * paint["rgb"][0]), round(255 * paint["rgb"][1]), round(255 * paint["rgb"][2]))
            if "image" in paint and corners is not None:
                unrolled, triangles = _unrolled(vertices, faces[chosen])
                places = corners[chosen].reshape(-1, 2)
                yield Part(unrolled, triangles, (255, 255, 255), known[int(paint["image"])], places)
            else:
                used, renumbered = np.unique(faces[chosen], return_inverse=True)
                yield Part(vertices[used], renumbered.reshape(-1, 3).astype(np.uint32), own)
    else:
        yield Part(vertices, faces, color)


def _textured(
    look: dict[str, Any],
    texture: Texture,
    mesh: dict[str, Any] | None,
    vertices: Vertices,
    faces: Faces,
    color: tuple[int, int, int],
) -> Part:
    if look["map"] == "plane":
        places = vertices[:, :2] * look["scale"] + look["offset"]
        return Part(vertices, faces, color, texture, places.astype(np.float32))
    unrolled, triangles = _unrolled(vertices, faces)
    corners = unrolled.reshape(-1, 3, 3).astype(float)
    match look["map"]:
        case "corners":
            found = None if mesh is None else _corner_places(mesh)
            places = np.zeros((len(faces), 3, 2)) if found is None else found * look["repeat"]
        case "cube":
            places = _on_cube(corners * look["scale"])
        case "box":
            places = _on_box(corners / look["size"]) * look["repeat"]
        case kind:
            places = _around(corners / look["size"], kind == "cylinder") * look["repeat"]
    return Part(unrolled, triangles, color, texture, places.reshape(-1, 2).astype(np.float32))


def _unrolled(vertices: Vertices, faces: Faces) -> tuple[Vertices, Faces]:
    """Every triangle with three vertices of its own."""
    return vertices[faces].reshape(-1, 3), np.arange(3 * len(faces), dtype=np.uint32).reshape(-1, 3)


def _corner_places(mesh: dict[str, Any]) -> Places | None:
    if "texcoords" not in mesh:
        return None
    return np.frombuffer(base64.b64decode(mesh["texcoords"]), "<f4").reshape(-1, 3, 2)


def _around(corners: NDArray[np.float64], straight: bool) -> NDArray[np.float64]:
    x, y, z = np.moveaxis(corners, -1, 0)
    u: NDArray[np.float64] = np.arctan2(y, x) / (2 * np.pi) % 1.0
    # A triangle across the seam goes on beyond it; a pole has the longitude of its neighbours.
    u += (u.max(axis=1, keepdims=True) - u) > 0.5
    pole = np.hypot(x, y) < 1e-6
    others = np.where(pole, 0, u).sum(axis=1, keepdims=True) / np.maximum((~pole).sum(axis=1, keepdims=True), 1)
    u = np.where(pole, others, u)
    length = np.maximum(np.linalg.norm(corners, axis=-1), 1e-9)
    v = 0.5 - 0.5 * z if straight else np.arccos(np.clip(z / length, -1, 1)) / np.pi
    return np.stack([u, v], axis=-1)


def _on_cube(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places in six squares below each other, of the side that the middle of a triangle faces."""
    middle = corners.mean(axis=1)
    side = np.argmax(middle @ SIDES[:, 0].T, axis=1)
    ahead, right, down = (np.einsum("nij,nj->ni", corners, SIDES[side, k]) for k in range(3))
    ahead = np.maximum(ahead, 1e-9)
    s, t = (np.clip(0.5 + 0.5 * across / ahead, 0, 1) for across in (right, down))
    return np.stack([s, (side[:, None] + t) / 6], axis=-1)


def _on_box(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    a, b, c = np.moveaxis(corners, 1, 0)
    normal = np.cross(b - a, c - a)
    axis = np.argmax(np.abs(normal), axis=1)
    sign = np.sign(np.take_along_axis(normal, axis[:, None], 1))
    x, y, z = (corners[..., k] for k in range(3))
    axis = axis[:, None]
    s: NDArray[np.float64] = np.where(axis == 2, x, np.where(axis == 0, y * sign, -x * sign))
    t: NDArray[np.float64] = np.where(axis == 2, -y * sign, -z)
    return 0.5 + 0.5 * np.stack([s, t], axis=-1)
