"""The live viewer's side of the server; a browser is not needed."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

import sapwood as sw
from sapwood.viewer._clock import Clock
from sapwood.viewer._drag import Drag
from sapwood.viewer._guard import refusal
from sapwood.viewer._panel import within
from sapwood.viewer._picture import contact_forces, soft_contact_forces
from sapwood.viewer._shapes import scene

HAS_VISER = importlib.util.find_spec("viser") is not None
needs_viser = pytest.mark.skipif(not HAS_VISER, reason="viser is not installed (pip install 'sapwood[viewer]')")

SHAPES = """<mujoco><asset><mesh name="tetrahedron" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
<hfield name="hill" nrow="2" ncol="2" size="1 1 1 .1" elevation="0 1 1 0"/></asset><worldbody>
<geom type="plane" size="0 0 1"/><geom type="hfield" hfield="hill" pos="5 0 0"/>
<body pos="0 0 2"><freejoint/><geom type="sphere" size=".3"/><geom type="capsule" size=".1 .2"/>
<geom type="cylinder" size=".1 .2" rgba="1 0 0 .5"/><geom type="ellipsoid" size=".1 .2 .3"/>
<geom type="box" size=".1 .2 .3" group="3"/>
<geom type="mesh" mesh="tetrahedron"/></body></worldbody></mujoco>"""

SLIDING = """<mujoco><worldbody><body><joint name="x" type="slide"/><geom size=".1"/></body></worldbody>
<actuator><position joint="x" kp="1" ctrlrange="2 3" ctrllimited="true"/></actuator></mujoco>"""

FALLING = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="0 0 1"/>
<body pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody>
<keyframe><key name="high" qpos="0 0 3 1 0 0 0"/></keyframe></mujoco>"""


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    """By the divergence theorem: right only when the surface is closed and faces outwards."""
    a, b, c = vertices[faces].astype(float).transpose(1, 0, 2)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def test_shapes_have_their_volume_and_face_outwards() -> None:
    drawn = scene(sw.load(SHAPES)).geoms
    by_kind = {geom.kind: geom for geom in drawn}
    r, h = 0.1, 0.4
    expected = {
        "sphere": 4 / 3 * np.pi * 0.3**3,
        "capsule": np.pi * r**2 * h + 4 / 3 * np.pi * r**3,
        "cylinder": np.pi * r**2 * h,
        "ellipsoid": 4 / 3 * np.pi * 0.1 * 0.2 * 0.3,
        "box": 8 * 0.1 * 0.2 * 0.3,
        "mesh": 1 / 6,
    }
    for kind, value in expected.items():
        # Inscribed polyhedra of 28 segments and 16 rings: 1 − O(π²/n²) of the round shapes.
        round_shape = kind not in ("box", "mesh")
        assert volume(by_kind[kind].vertices, by_kind[kind].faces) == pytest.approx(
            value, rel=0.03 if round_shape else 1e-6
        ), kind
    assert by_kind["cylinder"].color == (255, 0, 0)
    assert by_kind["cylinder"].opacity == 0.5
    assert [geom.kind for geom in drawn if geom.group >= 3] == ["box"]
    assert len(by_kind["hfield"].faces) == 2


def test_collision_shapes_of_urdf_are_of_group_3() -> None:
    shape = '<geometry><box size="1 1 1"/></geometry>'
    link = f'<link name="a"><visual>{shape}</visual><collision>{shape}</collision></link>'
    model = sw.load(f'<robot name="r">{link}</robot>')
    assert [geom.group for geom in scene(model).geoms] == [1, 3]


def test_contact_forces_carry_the_weight() -> None:
    sim = sw.Simulation(sw.load(FALLING))
    sim.step(400)
    points, forces = contact_forces(sim.contacts, sim.timestep)
    assert len(points) == 4
    assert forces.sum(axis=0) == pytest.approx([0, 0, 2 * 9.81], abs=1e-3)


def test_the_clock_keeps_the_asked_speed_and_catches_up_with_little() -> None:
    wall = [0.0]
    clock = Clock(0.0, 2.0, lambda: wall[0])
    assert clock.due(0.0) == 0.0
    wall[0] = 0.05
    assert clock.due(0.0) == pytest.approx(0.1)
    assert clock.due(0.1) == pytest.approx(0.0)
    # A second without a call is not made up for.
    wall[0] = 1.05
    assert clock.due(0.1) <= 0.2 + 1e-12
    clock.is_playing = False
    wall[0] = 2.0
    assert clock.due(0.3) == 0.0
    clock.is_playing = True
    wall[0] = 2.01
    assert clock.due(0.3) == pytest.approx(0.02)
    # After a reset time starts from where it is.
    assert abs(clock.due(0.0)) <= 0.2 + 1e-12


def test_a_pulled_body_goes_where_the_pointer_is() -> None:
    sim = sw.Simulation(sw.load(FALLING))
    sim.applied_wrench[1, 5] = 2 * 9.81
    drag = Drag(sim, scene(sim.model), 1, sim.q[:3])
    drag.target = np.array([0.5, -0.3, 1.6])
    for _ in range(1000):
        drag.apply()
        sim.step()
    assert drag.point == pytest.approx(drag.target, abs=0.01)
    drag.release()
    # What the user applies stays.
    assert sim.applied_wrench[1] == pytest.approx([0, 0, 0, 0, 0, 2 * 9.81])


def test_a_pull_on_a_light_link_is_stable() -> None:
    sim = sw.Simulation(sw.characters.dog(), timestep=0.01)
    lightest = 1 + int(np.argmin(sim.model.body_masses[1:]))
    poses = sim.model.forward_kinematics(sim.q)
    drag = Drag(sim, scene(sim.model), lightest, poses.positions[lightest], strength=10)
    drag.target = drag.point + np.array([0.0, 0.0, 0.3])
    for _ in range(300):
        drag.apply()
        sim.step()
        assert np.abs(sim.v).max() < 100


@pytest.fixture
def open_viewer() -> Iterator[Callable[..., sw.viewer.Viewer]]:
    opened: list[sw.viewer.Viewer] = []

    def make(*arguments: object, **options: object) -> sw.viewer.Viewer:
        opened.append(sw.view(*arguments, port=8765, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield make
    for viewer in opened:
        viewer.close()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "waited for 20 s"
        time.sleep(0.01)


@needs_viser
def test_the_viewer_steps_pauses_and_resets(open_viewer: Callable[..., sw.viewer.Viewer]) -> None:
    sim = sw.Simulation(sw.load(FALLING))
    calls = []
    viewer = open_viewer(sim, controller=lambda sim: calls.append(sim.time), plots={"height": lambda sim: sim.q[2]})
    assert viewer.url.startswith("http://localhost:87")
    wait_until(lambda: len(calls) > 20)
    viewer.pause()
    with viewer.lock:
        viewer.step_once()
        steps = len(calls)
    wait_until(lambda: len(calls) > steps)
    time.sleep(0.05)
    assert len(calls) == steps + 1
    viewer.reset("high")
    with viewer.lock:
        assert sim.q[2] == 3
    viewer.reset()
    with viewer.lock:
        assert sim.q[2] == 1
        assert sim.time == 0
    assert len(viewer.panel.plots[1].times) > 1


@needs_viser
def test_keys_and_camera(open_viewer: Callable[..., sw.viewer.Viewer]) -> None:
    sim = sw.Simulation(sw.load(FALLING))
    viewer = open_viewer(sim)
    viewer.on_key("j", lambda sim: sim.v.__setitem__(2, 7.0), label="Jump")
    viewer.on_key("ArrowUp", lambda sim: None)
    viewer.pause()
    commands = list(viewer.server.gui._command_handle_from_uuid.values())
    assert [command.label for command in commands[-2:]] == ["Jump", "Key ArrowUp"]
    for action in commands[-2]._impl.trigger_cb:
        action(None)
    wait_until(lambda: sim.v[2] == 7.0)
    viewer.look_from((2, -2, 1), look_at=(0, 0, 0.5))
    assert tuple(viewer.server.initial_camera.position) == (2, -2, 1)
    with pytest.raises(ValueError, match="key is 'hyper': expected a letter"):
        viewer.on_key("hyper", lambda sim: None)
    with pytest.raises(ValueError, match="look_at is position"):
        viewer.look_from((0, 0, 1), (0, 0, 1))


@needs_viser
def test_the_pointer_pulls(open_viewer: Callable[..., sw.viewer.Viewer]) -> None:
    sim = sw.Simulation(sw.load(FALLING))
    viewer = open_viewer(sim)
    event = SimpleNamespace(phase="start", start_position=(0.0, 0.0, 0.5), end_position=(0.0, 0.0, 1.5))
    viewer.dragged(1, event)
    wait_until(lambda: viewer.drag is not None and viewer.drag.force[2] > 0)
    viewer.dragged(1, SimpleNamespace(**{**vars(event), "phase": "end"}))
    wait_until(lambda: viewer.drag is None)
    with viewer.lock:
        assert not sim.applied_wrench.any()


@needs_viser
def test_a_program_pulls(open_viewer: Callable[..., sw.viewer.Viewer]) -> None:
    sim = sw.Simulation(sw.load(FALLING))
    viewer = open_viewer(sim, run=False, speed=100.0)
    viewer.pull(1, to=[0.5, -0.3, 1.6])
    for _ in range(400):
        sim.step()
        viewer.sync()
    # The spring holds the weight: m g / (m ω²), ω = 9 rad/s.
    assert sim.q[:3] == pytest.approx([0.5, -0.3, 1.6 - 9.81 / 81], abs=0.02)
    viewer.release()
    assert not sim.applied_wrench.any()
    with pytest.raises(ValueError, match="to is .*expected three finite numbers"):
        viewer.pull(1, to=[0.0, 1.0])
    with pytest.raises(ValueError, match="the world: expected one that moves"):
        viewer.pull("world", to=[0.0, 1.0, 0.0])
    with pytest.raises(sw.UnknownNameError):
        viewer.pull("torso", to=[0.0, 1.0, 0.0])


@needs_viser
def test_a_controller_that_fails_pauses(open_viewer: Callable[..., sw.viewer.Viewer]) -> None:
    def fail(_: sw.Simulation) -> None:
        raise RuntimeError("no idea")

    viewer = open_viewer(sw.Simulation(sw.load(FALLING)), controller=fail)
    wait_until(lambda: "Stopped**: RuntimeError: no idea" in viewer.panel.status.content)


@needs_viser
def test_a_loop_of_ones_own(open_viewer: Callable[..., sw.viewer.Viewer]) -> None:
    sim = sw.Simulation(sw.load(FALLING))
    viewer = open_viewer(sim, run=False)
    start = time.monotonic()
    for _ in range(20):
        sim.step()
        viewer.sync()
    # 0.1 s of simulated time take as long, but for the step that sync does not wait for.
    assert time.monotonic() - start > 0.08
    with pytest.raises(RuntimeError, match="run=False"):
        open_viewer(sw.Simulation(sw.load(FALLING))).sync()


def test_bad_input() -> None:
    sim = sw.Simulation(sw.load(FALLING))
    with pytest.raises(ValueError, match="speed is 0"):
        sw.view(sim, speed=0)
    with pytest.raises(ValueError, match="controller: with run=False"):
        sw.view(sim, run=False, controller=lambda _: None)


@needs_viser
def test_soft_bodies_move(open_viewer: Callable[..., sw.viewer.Viewer]) -> None:
    sim = sw.Simulation(sw.scenes.soft_gripper())
    sim.reset("lift")
    viewer = open_viewer(sim, run=False, speed=100.0)
    skin, nodes = viewer.picture._soft[0]
    start = skin.vertices.copy()
    assert volume(start, skin.faces) == pytest.approx(4 / 3 * np.pi * 0.04**3, rel=0.1)
    for _ in range(40):
        sim.step()
        viewer.sync()
    viewer.picture.update()
    assert np.allclose(skin.vertices, sim.soft_positions[nodes], atol=1e-7)
    assert np.abs(skin.vertices - start).max() > 1e-3
    points, forces = soft_contact_forces(sim)
    assert len(points) > 2
    assert forces.sum(axis=0) == pytest.approx(sim.soft_body(0).contact_forces.sum(axis=0))


@pytest.mark.parametrize(
    ("host", "origin", "listening", "is_refused"),
    [
        ("localhost:8080", None, "127.0.0.1", False),
        ("127.0.0.1:8080", "http://127.0.0.1:8080", "127.0.0.1", False),
        ("[::1]:8080", "http://[::1]:8080", "localhost", False),
        ("evil.example:8080", None, "127.0.0.1", True),
        (None, None, "127.0.0.1", True),
        ("localhost:8080", "http://evil.example", "127.0.0.1", True),
        ("localhost:8080", "http://localhost:8888", "127.0.0.1", True),
        ("localhost:8080", "null", "127.0.0.1", True),
        ("robot.example:8080", "http://robot.example:8080", "0.0.0.0", False),
        ("robot.example:8080", "http://evil.example", "0.0.0.0", True),
        ("LOCALHOST:8080", None, "127.0.0.1", False),
        # Names that begin like this machine's, or that some resolver takes to it.
        ("localhost.evil.example:8080", None, "127.0.0.1", True),
        ("127.0.0.1.nip.io:8080", None, "127.0.0.1", True),
        ("2130706433:8080", None, "127.0.0.1", True),
        ("0.0.0.0:8080", None, "127.0.0.1", True),
        ("localhost:8080@evil.example", None, "127.0.0.1", True),
        ("localhost:8080", "http://localhost:8080@evil.example", "127.0.0.1", True),
        ("localhost:8080", "http://localhost:8080.evil.example", "127.0.0.1", True),
        ("localhost:8080", "http://127.0.0.1:8080", "127.0.0.1", True),
        ("localhost:8080", "file://", "127.0.0.1", True),
        ("localhost:8080", "", "127.0.0.1", True),
        ("robot.example:8080", "http://robot.example:9090", "0.0.0.0", True),
        ("robot.example:8080", "null", "0.0.0.0", True),
    ],
)
def test_requests_of_other_sites_are_refused(
    host: str | None, origin: str | None, listening: str, is_refused: bool
) -> None:
    assert (refusal(host, origin, listening) is not None) == is_refused


@needs_viser
def test_the_server_lets_in_who_has_its_address(open_viewer: Callable[..., sw.viewer.Viewer]) -> None:
    import http.client

    viewer = open_viewer(sw.Simulation(sw.load(FALLING)), run=False)
    port = viewer.server.get_port()
    inside = viewer.url.partition(f":{port}")[2]
    own, other = f"localhost:{port}", sw.view(sw.Simulation(sw.load(FALLING)), run=False, port=port)
    other.close()
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    upgrade |= {"Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
    for path, headers, status in [
        (inside, [("Host", own)], 200),
        (inside, [("Host", own), *upgrade.items()], 101),
        (inside + "/", [("Host", own), ("Origin", f"http://{own}"), *upgrade.items()], 101),
        (inside, [("Host", "evil.example")], 403),
        (inside, [("Host", own), ("Origin", "http://evil.example")], 403),
        (inside, [("Host", own), ("Origin", "http://[evil")], 403),
        (inside, [("Host", own), ("Host", own)], 403),
        ("/", [("Host", own)], 403),
        ("/", [("Host", own), *upgrade.items()], 403),
        (inside[:-1], [("Host", own), *upgrade.items()], 403),
        (inside + "x", [("Host", own), *upgrade.items()], 403),
        ("/?token=" + inside[1:], [("Host", own), *upgrade.items()], 403),
        ("/" + inside, [("Host", own)], 403),
        (urlsplit(other.url).path, [("Host", own), *upgrade.items()], 403),
    ]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.putrequest("GET", path, skip_host=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        assert connection.getresponse().status == status, (path, headers)
        connection.close()


def test_values_of_sliders_are_within_their_range() -> None:
    taken: list[float] = []
    for value in (0.5, 7, -7.0, float("nan"), float("inf"), "1", [1.0], None):
        within(value, (-1.0, 2.0), taken.append)
    assert taken == [0.5, 2.0, -1.0]
    taken.clear()
    odd: list[Any] = [10**400, -(10**400), np.float64(0.25), True, False, 1j, b"1", {}, np.float32("nan"), "nan"]
    for one in odd:
        within(one, (-1.0, 2.0), taken.append)
    assert taken == [2.0, -1.0, 0.25]
    assert all(type(value) is float for value in taken)


@needs_viser
def test_messages_of_clients_are_checked(open_viewer: Callable[..., sw.viewer.Viewer]) -> None:
    sim = sw.Simulation(sw.load(SLIDING))
    viewer = open_viewer(sim)
    slider = viewer.panel.bound[0].slider
    # As a message of a client does, which may name any property.
    slider._impl.max = 1e9
    for value, is_there in [(1e6, 3.0), (float("nan"), 3.0), (-1.0, 2.0)]:
        slider._impl.value = value
        for call in slider._impl.update_cb:
            call(SimpleNamespace(client=0))
        wait_until(lambda: not viewer._notes)
        with viewer.lock:
            assert sim.ctrl[0] == is_there
    pulls: list[tuple[Any, Any]] = [
        ((0, 0, np.nan), (0, 0, 1)),
        ((0, 0, 0), (0, np.inf, 0)),
        ((0, 0, 0), (0, 0, 1e200)),
        ((0,), (1,)),
        (("a", "b", "c"), (0, 0, 1)),
        ((0, 0, 0), ((1, 2), (3,), 4)),
        (None, (0, 0, 1)),
        ({}, {}),
    ]
    for start, end in pulls:
        viewer.dragged(1, SimpleNamespace(phase="start", start_position=start, end_position=end))
    assert not viewer._notes
    assert viewer.drag is None


@needs_viser
def test_a_client_resets_to_what_there_is(open_viewer: Callable[..., sw.viewer.Viewer]) -> None:
    sim = sw.Simulation(sw.load(FALLING))
    viewer = open_viewer(sim, run=False)
    for name in ("nowhere", "", 0, None, ["high"], "high", "start"):
        viewer.panel._reset(name, ["start", "high"])
        viewer._carry_out()
        assert sim.q[2] == (3.0 if name == "high" else 1.0)


@needs_viser
def test_a_browser_that_does_not_answer_does_not_hold_up_the_end() -> None:
    import http.client

    viewer = sw.view(sw.Simulation(sw.load(FALLING)), run=False)
    port = viewer.server.get_port()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest("GET", viewer.url.partition(f":{port}")[2])
    for name, value in {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}.items():
        connection.putheader(name, value)
    connection.putheader("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
    connection.endheaders()
    assert connection.getresponse().status == 101
    started = time.monotonic()
    viewer.close()
    assert time.monotonic() - started < 2
    connection.close()
