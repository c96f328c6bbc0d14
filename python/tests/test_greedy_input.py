"""Short texts of large models: they load, or are refused, and take memory by their size."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sapwood as sw

LOADERS = {
    "100000 bodies": """'<mujoco><worldbody>' + ''.join(
        f'<body pos="{i} 0 0"><freejoint/><geom size="0.1"/></body>' for i in range(100000)
        ) + '</worldbody></mujoco>'""",
    "2000 nested bodies": """'<mujoco><worldbody>' + '<body pos="0.3 0 0"><joint/><geom size="0.1"/>' * 2000
        + '</body>' * 2000 + '</worldbody></mujoco>'""",
    "a million open tags": "'<mujoco>' + '<worldbody>' * 1000000",
}


@pytest.mark.parametrize("text", LOADERS.values(), ids=LOADERS)
def test_enormous_models(text: str) -> None:
    """They load and step, or are refused; in a process of its own, for what fails here is the stack."""
    program = f"""
import sapwood as sw
try:
    sim = sw.Simulation(sw.load({text}))
    sim.step()
    print("stepped", sim.model.nbody)
except sw.ModelError as error:
    print("refused:", str(error)[:200])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith(("stepped", "refused:"))


ROUND = """
import math
import sapwood as sw

def ring(n, height):
    return [(math.cos(2 * math.pi * i / n), math.sin(2 * math.pi * i / n), height) for i in range(n)]

def mesh(corners, faces=()):
    vertices = " ".join(f"{x:.9g}" for corner in corners for x in corner)
    face = f'face="{" ".join(str(i) for face in faces for i in face)}"' if faces else ""
    geom = '<body><freejoint/><geom type="mesh" mesh="m"/></body>'
    ground = '<geom type="plane" size="1 1 1" pos="0 0 -.1"/>'
    asset = f'<asset><mesh name="m" vertex="{vertices}" {face}/></asset>'
    return f'<mujoco>{asset}<worldbody>{ground}{geom}</worldbody></mujoco>'

n = 4000
cone = [(i, (i + 1) % n, n) for i in range(n)] + [(0, i + 1, i) for i in range(1, n - 1)]
texts = [
    mesh(ring(n, 0) + [(0, 0, 1)], cone),
    mesh(ring(n, 0) + ring(n, 1)),
    mesh([(x / 60, y / 60, z) for x in range(60) for y in range(60) for z in (0, 1)]),
    mesh(ring(n, 0) + ring(n // 2, 0.5)),
]
lines = lambda: open("/proc/self/status").read().splitlines()
used = lambda: int(next(line for line in lines() if line.startswith("VmHWM")).split()[1])
start = used()
for text in texts:
    sim = sw.Simulation(sw.load(text))
    sim.step(20)
    assert sim.time > 0.0
print(used() - start)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is asked for as Linux has it")
def test_flat_faces_of_many_corners_take_memory_by_their_number() -> None:
    """A cone, a prism, a slab and a frustum, of 4,000 corners or more: by their square 128 MB and more each."""
    done = subprocess.run([sys.executable, "-c", ROUND], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < 60_000, f"{done.stdout} kB"


GREEDY = {
    "keyframes": (
        "<mujoco><worldbody>"
        + '<body><freejoint/><geom size=".1"/></body>' * 300
        + "</worldbody><keyframe>"
        + "<key/>" * 300_000
        + "</keyframe></mujoco>",
        "numbers in all keyframes",
    ),
    "a sensor": (
        '<mujoco><worldbody><geom size="1"/></worldbody><sensor><user name="u" dim="100000000"/></sensor></mujoco>',
        "expected at most",
    ),
    "replicas in each other": (
        "<mujoco><worldbody>"
        + '<replicate count="100">' * 4
        + '<geom size=".1"/>'
        + "</replicate>" * 4
        + "</worldbody></mujoco>",
        "copied elements",
    ),
    "a soft body": (
        """<mujoco><worldbody><body name="p"><flexcomp name="f" type="grid" dim="3" count="2000 2000 2000" mass="1"
        spacing=".1 .1 .1"><elasticity young="1e4" poisson=".3"/></flexcomp></body></worldbody></mujoco>""",
        "count",
    ),
}


@pytest.mark.parametrize(("text", "message"), GREEDY.values(), ids=GREEDY)
def test_short_texts_of_large_models_are_refused(text: str, message: str) -> None:
    with pytest.raises(sw.ModelError, match=message):
        sw.load(text)


ENDLESS = {
    "cells": "sw.SoftBody.ball(0.1, endless)",
    "effectors": "sw.tracking.track(model, 'walk', effectors=endless)",
    "assets": "sw.load('<mujoco/>', assets={'a.stl': endless})",
}


@pytest.mark.parametrize("call", ENDLESS.values(), ids=ENDLESS)
def test_arrays_without_strides_are_no_lists(call: str) -> None:
    """Ten thousand million elements in one byte; in a process of its own, for memory that is not there ends it."""
    program = f"""
import numpy as np
import sapwood as sw

model = sw.load(sw.characters.mjcf("humanoid"))
endless = np.broadcast_to(np.True_, (10**10,))
try:
    {call}
except (TypeError, ValueError) as error:
    print("refused:", error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("refused:")
