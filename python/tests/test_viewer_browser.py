"""The live viewer in a real Chromium, used by mouse and keyboard.

Needs viser, playwright (``pip install playwright``; no browser of its own) and a Chromium: ``$CHROMIUM``, or one on
the path.
Pictures of every stage stay in ``$SCREENSHOTS`` where that is set.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sapwood as sw

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytest.importorskip("viser", reason="the viewer in a browser needs viser: pip install 'sapwood[viewer]'")
sync_api: Any = pytest.importorskip(
    "playwright.sync_api", reason="the viewer in a browser needs playwright: pip install playwright"
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
if CHROMIUM is None:
    pytest.skip("the viewer in a browser needs Chromium: set CHROMIUM to its path", allow_module_level=True)

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WIDTH, HEIGHT = 1000, 640
# A browser that draws without a GPU on a busy machine takes its time, s.
PATIENCE = 90

DESK = """<mujoco model="desk"><option timestep="0.005"/><worldbody><geom type="plane" size="0 0 1"/>
<body name="crate" pos="0 0 .3"><freejoint/><geom type="box" size=".3 .3 .3" mass="5" rgba=".8 .3 .2 1"/></body>
<body pos="1.2 0 .8"><joint name="hinge" axis="0 1 0" range="-90 90" damping="1"/>
<geom type="capsule" fromto="0 0 0 .6 0 0" size=".06"/></body></worldbody>
<actuator><motor name="motor" joint="hinge" ctrlrange="-20 20"/></actuator></mujoco>"""


class Person:
    """Somebody in front of the viewer."""

    def __init__(self, page: Any, viewer: sw.viewer.Viewer) -> None:
        self.page, self.viewer = page, viewer

    def read(self, quantity: Callable[[sw.Simulation], Any]) -> float:
        """A quantity of the simulation, between two steps of the viewer."""
        with self.viewer.lock:
            return float(quantity(self.viewer.sim))

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self.read(lambda sim: sim.time)

    def see(self, name: str) -> None:
        """Keeps a picture."""
        if folder := os.environ.get("SCREENSHOTS"):
            self.page.screenshot(path=Path(folder) / f"viewer-{name}.png")

    def press(self, button: str) -> None:
        """Clicks a button of the panel."""
        self.page.get_by_role("button", name=button, exact=True).click()

    def open(self, folder: str) -> None:
        """Opens a folder of the panel."""
        self.page.get_by_text(folder, exact=True).click()

    def slider(self, label: str) -> Any:
        """The thumb of a slider."""
        name = self.page.locator("label", has_text=label).first.get_attribute("for")
        return self.page.locator(f'[id="{name}"] [role=slider]')

    def move(self, label: str, pixels: float) -> None:
        """Drags the thumb of a slider."""
        self.slider(label).scroll_into_view_if_needed()
        box = self.slider(label).bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + pixels, y, steps=5)
        mouse.up()

    def pixel(self, point: NDArray[np.float64]) -> tuple[float, float]:
        """Where a point of the world is on the page."""
        client = next(iter(self.viewer.server.get_clients().values()))
        eye, target = np.array(client.camera.position), np.array(client.camera.look_at)
        ahead = (target - eye) / np.linalg.norm(target - eye)
        right = np.cross(ahead, client.camera.up_direction)
        right /= np.linalg.norm(right)
        offset = point - eye
        scale = HEIGHT / 2 / np.tan(client.camera.fov / 2) / (offset @ ahead)
        return WIDTH / 2 + scale * (offset @ right), HEIGHT / 2 - scale * (offset @ np.cross(right, ahead))


def wait_until(condition: Callable[[], bool], page: Any, seconds: float = PATIENCE) -> None:
    """Waits, and lets the page work meanwhile."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited for {seconds} s"
        page.wait_for_timeout(20)


@pytest.fixture(scope="module")
def person() -> Iterator[Person]:
    sim = sw.Simulation(sw.load(DESK))
    kp = np.zeros(sim.model.nv)
    kp[6] = 20
    sim.pd(kp, 0.1 * kp, sim.q.copy())
    with sw.view(sim, plots={"height": lambda sim: sim.q[2]}, port=8790) as viewer, sync_api.sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        complaints: list[str] = []
        page.set_default_timeout(1000 * PATIENCE)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(viewer.url)
        page.get_by_role("button", name="Pause", exact=True).wait_for()
        page.locator("canvas").first.wait_for()
        wait_until(lambda: bool(viewer.server.get_clients()), page)
        page.wait_for_timeout(1500)
        yield Person(page, viewer)
        browser.close()
    assert complaints == []


def test_time_stands_still_and_goes_on(person: Person) -> None:
    page, timestep = person.page, person.viewer.sim.timestep
    start = person.time
    wait_until(lambda: person.time > start + 0.2, page)
    person.press("Pause")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    stands = person.time
    page.wait_for_timeout(400)
    assert person.time == stands
    person.see("paused")
    for steps in (1, 2):
        person.press("Step")
        until = stands + (steps - 0.5) * timestep
        wait_until(partial(later, person, until), page)
    page.wait_for_timeout(200)
    assert person.time == pytest.approx(stands + 2 * timestep, abs=1e-9)
    person.press("Play")
    wait_until(lambda: person.time > stands + 0.3, page)


def test_a_body_follows_the_pointer(person: Person) -> None:
    sim, page, mouse = person.viewer.sim, person.page, person.page.mouse
    with person.viewer.lock:
        before = sim.q[:3].copy()
    x, y = person.pixel(before)
    page.keyboard.down("Control")
    mouse.move(x, y)
    mouse.down()
    mouse.move(x - 60, y - 80, steps=8)
    mouse.move(x - 120, y - 160, steps=8)
    wait_until(lambda: person.viewer.drag is not None, page)
    drag = person.viewer.drag
    assert drag is not None
    assert drag.body == sim.model.body_names.index("crate")

    def distance() -> float:
        return person.read(lambda _: np.linalg.norm(drag.point - drag.target))

    def at_the_pointer() -> bool:
        return bool(np.abs(np.subtract(person.pixel(drag.target), (x - 120, y - 160))).max() < 3)

    # The weight of the crate stretches the spring by g / 81 s⁻² = 0.12 m.
    wait_until(lambda: at_the_pointer() and distance() < 0.2, page)
    person.see("pulled")
    assert person.read(lambda sim: sim.q[2]) > before[2] + 0.3
    mouse.up()
    page.keyboard.up("Control")
    wait_until(lambda: person.viewer.drag is None, page)
    with person.viewer.lock:
        assert not sim.applied_wrench.any()
    # It falls.
    wait_until(lambda: person.read(lambda sim: sim.q[2]) < 0.5, page)


def test_sliders_act(person: Person) -> None:
    page = person.page

    def control() -> float:
        return person.read(lambda sim: sim.ctrl[0])

    def stiffness() -> float:
        return person.read(lambda sim: sim._pd()[0][6])

    person.move("motor", 30)
    wait_until(lambda: control() > 5, page)
    moved = control()
    person.slider("motor").press("ArrowRight")
    wait_until(lambda: control() > moved, page)
    # A step of the slider is 1/200 of the range.
    assert control() == pytest.approx(moved + 0.2, abs=1e-6)
    person.open("PD")
    before = stiffness()
    person.move("stiffness × 10^", 20)
    wait_until(lambda: stiffness() > 2 * before, page)
    person.move("hinge", -20)
    wait_until(lambda: person.read(lambda sim: sim._pd()[2][7]) < -0.2, page)
    wait_until(lambda: person.read(lambda sim: sim.q[7]) < -0.1, page)
    person.see("sliders")


def test_plots_go_on_and_reset_starts_anew(person: Person) -> None:
    sim, page = person.viewer.sim, person.page
    plots = page.locator(".uplot canvas")
    assert plots.count() == 2
    before, start = plots.first.screenshot(), person.time
    wait_until(lambda: person.time > start + 1, page)
    assert plots.first.screenshot() != before
    # What a program changes, sliders show.
    with person.viewer.lock:
        sim.ctrl[0] = -7
    wait_until(lambda: shown(person, "motor") == -7, page)
    person.press("Pause")
    person.press("Reset")
    wait_until(lambda: person.time == 0, page)
    assert sim.q[:3] == pytest.approx([0, 0, 0.3])
    assert sim.ctrl[0] == 0
    assert sim._pd()[0][6] == 20
    for label in ("motor", "stiffness × 10^", "hinge"):
        wait_until(partial(shows_zero, person, label), page)
    person.see("reset")
    person.press("Play")
    page.wait_for_timeout(1200)
    person.see("playing")


def later(person: Person, than: float) -> bool:
    """Whether simulated time is beyond this one."""
    return person.time > than


def shows_zero(person: Person, label: str) -> bool:
    """Whether a slider stands at 0, to its step."""
    return abs(shown(person, label)) < 0.02


def shown(person: Person, label: str) -> float:
    """The value that a slider shows."""
    return float(person.slider(label).get_attribute("aria-valuenow"))
