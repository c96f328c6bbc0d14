"""Ctrl-C in the middle of long calls: KeyboardInterrupt at once, and the state as before the step."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.alone

SETUP = """
import sys, time
import numpy as np
import sapwood as sw

def chain(links):
    geom = '<geom type="capsule" size=".02" fromto="0 0 0 .1 0 0"/>'
    link = f'<body pos=".1 0 0"><joint axis="0 1 0" damping="1"/>{geom}'
    return f'<mujoco><worldbody>{link * links}{"</body>" * links}</worldbody></mujoco>'

def overlapping(side):
    rng, bodies = np.random.default_rng(1), ''
    for place in np.ndindex(side, side, side):
        x, y, z = .07 * np.array(place)
        quat = ' '.join(map(str, rng.normal(size=4)))
        geom = '<geom type="box" size=".05 .05 .05" mass="1"/>'
        bodies += f'<body pos="{x} {y} {z + .05}" quat="{quat}"><freejoint/>{geom}</body>'
    return f'<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="9 9 1"/>{bodies}</worldbody></mujoco>'

def flat(bodies):
    one = '<body pos="{} 0 1"><freejoint/><geom size=".1"/></body>'
    return '<mujoco><worldbody>' + ''.join(one.format(i) for i in range(bodies)) + '</worldbody></mujoco>'
"""

CALL = """
state = simulation.state() if simulation is not None else None
print("ready", flush=True)
try:
    call()
except KeyboardInterrupt:
    at = time.monotonic()
    assert simulation is None or is_moving or simulation.state() == state, "the state has changed"
    if simulation is not None:
        simulation.energy()
    print(at, flush=True)
else:
    sys.exit("not interrupted")
"""

CASES = {
    "steps": """
simulation, is_moving = sw.Simulation(sw.load(chain(2))), True
call = lambda: simulation.step(10**12)
""",
    "one step": """
simulation, is_moving = sw.Simulation(sw.load(overlapping(10)), factorization_budget=None), False
call = simulation.step
""",
    "one step of two threads": """
simulation, is_moving = sw.Simulation(sw.load(overlapping(10)), factorization_budget=None, threads=2), False
call = simulation.step
""",
    "advance_to": """
simulation, is_moving = sw.Simulation(sw.load(chain(30)), accuracy=1e-9), True
call = lambda: simulation.advance_to(1e6)
""",
    "trajectory": """
simulation, is_moving = sw.Simulation(sw.load(chain(30))), True
call = lambda: simulation.trajectory(np.linspace(0, 1e6, 5))
""",
    "step_jacobians": """
simulation, is_moving = sw.Simulation(sw.load(chain(1000)), scheme="symplectic-euler"), False
call = simulation.step_jacobians
""",
    "steps of a batch": """
batch, simulation = sw.Batch(sw.load(flat(3)), 20, threads=2), None
call = lambda: batch.step(10**12)
""",
    "rollout of a batch": """
batch, simulation = sw.Batch(sw.load(chain(20)), 20, threads=2), None
call = lambda: batch.rollout(None, None, np.zeros((20, 100, 0)), skip=10**6)
""",
    "step_jacobians of a batch": """
batch, simulation = sw.Batch(sw.load(chain(100)), 1000, threads=2, scheme="symplectic-euler"), None
call = batch.step_jacobians
""",
    "a picture": """
simulation, is_moving = sw.Simulation(sw.load(flat(3))), False
call = lambda: simulation.render(8192, 8192)
""",
    "soft body in the ground": """
body = '<body name="p" pos="0 0 -.2"><flexcomp name="f" type="grid" dim="3" count="8 8 8" spacing=".05 .05 .05" \\
mass="1"><elasticity young="1e4" poisson=".3"/></flexcomp></body>'
text = f'<mujoco><worldbody><geom type="plane" size="9 9 1"/>{body}</worldbody></mujoco>'
simulation, is_moving = sw.Simulation(sw.load(text)), True
call = lambda: simulation.step(10**6)
""",
    "meshes in one place": """
mesh = '<mesh name="m" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1 .1 .1 .1"/>'
bodies = '<body><freejoint/><geom type="mesh" mesh="m"/></body>' * 60
text = f'<mujoco><asset>{mesh}</asset><worldbody>{bodies}</worldbody></mujoco>'
simulation, is_moving = sw.Simulation(sw.load(text)), True
call = lambda: simulation.step(10**6)
""",
    "worlds of boxes in each other": """
batch, simulation = sw.Batch(sw.load(overlapping(4)), 3, threads=2), None
call = lambda: batch.step(10**6)
""",
    "load": """
simulation, text = None, flat(100_000)
call = lambda: [sw.load(text) for _ in range(100)]
""",
    "sap.solve": """
simulation, n = None, 4000
rng = np.random.default_rng(0)
root = rng.normal(size=(n, n))
A, J = root @ root.T + n * np.eye(n), rng.normal(size=(300, n))
one = np.ones(100)
call = lambda: [
    sw.sap.solve(A, rng.normal(size=n), J, .5 * one, 1e-3 * one, 1e-3 * one, one) for _ in range(100)
]
""",
}


@pytest.mark.skipif(not hasattr(os, "kill") or sys.platform == "win32", reason="signals are those of Unix")
@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_ends_a_long_call(case: str) -> None:
    # time.monotonic is the same clock in all processes.
    child = subprocess.Popen(
        [sys.executable, "-c", SETUP + CASES[case] + CALL],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where tests run in the background, children ignore Ctrl-C unless they are told.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n", child.communicate()[1]
    time.sleep(0.3)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    output, errors = child.communicate(timeout=60)
    assert child.returncode == 0, errors
    latency = float(output) - sent
    print(f"{case}: {1e3 * latency:.0f} ms")
    assert latency < 1.0


def test_no_array_is_the_first_of_the_process() -> None:
    """Where numpy's functions are looked up in the first call that makes an array, Ctrl-C in it is a panic."""
    script = """
import builtins
import sapwood as sw
sim = sw.Simulation(sw.load('<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>'))
known = builtins.__import__
def stop(name, *arguments, **options):
    if name.startswith("numpy"):
        raise KeyboardInterrupt
    return known(name, *arguments, **options)
builtins.__import__ = stop
for call in (lambda: sim.model.ctrl_range, lambda: sim.q, lambda: sim.model.mass_matrix([0.0])):
    try:
        call()
    except KeyboardInterrupt:
        pass
print("on")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "on\n"), done.stderr
