"""Builds ``benches/rapier`` with cargo, and runs it on scenes of boxes, balls and a ground."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from sapwood.bench.cases import MissingPackageError
from sapwood.bench.engines import Vector
from sapwood.bench.peer_sources import BuildError, cache_folder, folder_of


class Answer(NamedTuple):
    """What the program says."""

    times: list[float]
    """CPU time of a step, s, of every batch."""
    contacts: int
    """Contact points with an impulse at the end."""
    q: Vector
    """Positions in MuJoCo's layout at the end."""


@cache
def build() -> Path:
    """The program, built now or before, with the versions of its lock file."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise MissingPackageError("there is no cargo: see https://rustup.rs")
    target = cache_folder() / "rapier"
    sources = folder_of("rapier")
    locked = re.search(r'name = "rapier3d-f64"\nversion = "([^"]*)"', (sources / "Cargo.lock").read_text())
    version = locked[1] if locked else "?"
    print(f"building benches/rapier, rapier3d-f64 {version}: a minute the first time", flush=True)
    command = [cargo, "build", "--release", "--locked", "--quiet", "--manifest-path", str(sources / "Cargo.toml")]
    done = subprocess.run([*command, "--target-dir", str(target)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"cargo failed:\n{done.stderr[-2000:]}")
    return target / "release" / "sapwood-bench-rapier"


def run(binary: Path, text: str, timestep: float, settle: int, steps: int, batches: int) -> Answer:
    """Simulates a scene, MJCF text, for ``settle`` steps and then batches of ``steps``."""
    scene = {"timestep": timestep, "settle": settle, "steps": steps, "batches": batches, **read(text)}
    done = subprocess.run([str(binary)], input=json.dumps(scene), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{binary.name} failed: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    return Answer(answer["times"], answer["contacts"], np.array(answer["poses"]).ravel())


def read(text: str) -> dict[str, Any]:
    """Gravity and bodies of MJCF text as this package's scenes have it: bodies with one geom, no orientation of it.

    Raises:
        ValueError: When there is something else in it.
    """
    root = ElementTree.fromstring(text)
    world = root.find("worldbody")
    if world is None or any(body.find("body") is not None for body in world.iter("body")):
        raise ValueError("expected bodies that move freely, none below another")
    friction = root.find("default/geom[@friction]")
    default = "1" if friction is None else friction.get("friction", "1")
    bodies = [entry(geom, geom, default, fixed=True) for geom in world.findall("geom")]
    for body in world.findall("body"):
        (geom,) = body.findall("geom")
        if geom.get("pos") or geom.get("quat") or body.find("freejoint") is None or geom.get("mass") is None:
            raise ValueError(f"body {body.get('name')}: expected a freejoint and a geom with a mass in its origin")
        bodies.append(entry(body, geom, default, fixed=False))
    return {"gravity": [0, 0, -9.81], "bodies": bodies}


def entry(placed: ElementTree.Element, geom: ElementTree.Element, friction: str, *, fixed: bool) -> dict[str, Any]:
    """A body as the program reads it."""
    size = numbers(geom.get("size", "0"))
    shapes: dict[str, Any] = {"box": {"box": size}, "sphere": {"sphere": size[0]}, "plane": "plane"}
    return {
        "fixed": fixed,
        "shape": shapes[geom.get("type", "sphere")],
        "mass": float(geom.get("mass", "0")),
        "friction": numbers(geom.get("friction", friction))[0],
        "pos": numbers(placed.get("pos", "0 0 0")),
        "quat": numbers(placed.get("quat", "1 0 0 0")),
    }


def numbers(text: str) -> list[float]:
    """The numbers of an attribute."""
    return [float(word) for word in text.split()]
