"""What stands beside the picture: buttons, sliders and plots."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sapwood._sapwood import Simulation
    from sapwood.viewer import Viewer

Quantity = Callable[["Simulation"], float]

# More sliders than this fit no screen.
MOST_SLIDERS = 80
# Points of a plot, and simulated time between two of them, s.
POINTS, SPACING = 300, 1 / 30
COLOURS = ("#d0563f", "#3f78b5", "#8a929b", "#0d9488", "#8a63b8", "#b96f1c")
HELP = """**Ctrl + drag** a body to pull it · drag to orbit · right-drag to pan · wheel to zoom"""


class Panel:
    """The controls of a viewer. Their callbacks only leave notes (``Viewer.later``) that its loop carries out."""

    viewer: Viewer
    status: Any
    play: Any
    plots: list[Plot]
    controls: list[Any]

    def __init__(self, viewer: Viewer, plots: dict[str, Quantity]) -> None:
        self.viewer, gui = viewer, viewer.server.gui
        gui.add_markdown(HELP)
        self.status = gui.add_markdown("")
        self.play = gui.add_button("Pause")
        self.play.on_click(lambda _: viewer.later(viewer.toggle))
        gui.add_button("Step").on_click(lambda _: viewer.later(viewer.step_once))
        names = ["start", *(name for name in viewer.sim.model.keyframe_names if name)]
        where = gui.add_dropdown("Reset to", names) if len(names) > 1 else None
        gui.add_button("Reset").on_click(
            lambda _: viewer.later(lambda: viewer.reset(where.value if where else "start"))
        )
        speed = gui.add_slider("Speed", 0.05, 4.0, 0.05, min(max(viewer.clock.speed, 0.05), 4.0))
        speed.on_update(lambda _: setattr(viewer.clock, "speed", speed.value))
        with gui.add_folder("Show", expand_by_default=False):
            self._switch("Contacts", viewer.show_contacts, "show_contacts")
            if any(geom.group >= 3 for geom in viewer.scene.geoms):
                collision = gui.add_checkbox("Collision shapes (group 3 and above)", False)
                collision.on_update(lambda _: viewer.later(lambda: viewer.picture.show_groups(collision.value)))
            strength = gui.add_slider("Pull", 0.1, 10.0, 0.1, 1.0)
            strength.on_update(lambda _: setattr(viewer, "strength", strength.value))
        self._actuators()
        self._pd()
        self.plots = [Plot(gui, "energy, J", _energies(), viewer.sim)]
        self.plots += [Plot(gui, name, {name: quantity}, viewer.sim) for name, quantity in plots.items()]

    def _switch(self, label: str, value: bool, name: str) -> None:
        box = self.viewer.server.gui.add_checkbox(label, value)
        box.on_update(lambda _: setattr(self.viewer, name, box.value))

    def _actuators(self) -> None:
        viewer, gui = self.viewer, self.viewer.server.gui
        if not viewer.scene.ctrl_ranges:
            return
        with gui.add_folder("Controls", expand_by_default=len(viewer.scene.ctrl_ranges) <= 12):
            if viewer.controller is not None:
                hand = gui.add_checkbox("By hand, not by the controller", False)
                hand.on_update(lambda _: setattr(viewer, "by_hand", hand.value))
            self.controls = [
                self._control(i, limits or (-1.0, 1.0))
                for i, limits in enumerate(viewer.scene.ctrl_ranges[:MOST_SLIDERS])
            ]

    def _control(self, i: int, limits: tuple[float, float]) -> Any:  # noqa: ANN401
        viewer = self.viewer
        low, high = limits
        name = viewer.sim.model.actuator_names[i] or f"actuator {i}"
        value = min(max(float(viewer.sim.ctrl[i]), low), high)
        step = (high - low) / 200 or 1.0
        slider = viewer.server.gui.add_slider(name, low, high, step, value)
        slider.on_update(lambda _: viewer.later(lambda: viewer.set_control(i, slider.value)))
        return slider

    def _pd(self) -> None:
        viewer, gui = self.viewer, self.viewer.server.gui
        if not len(viewer.gains[0]):
            return
        with gui.add_folder("PD", expand_by_default=False):
            for k, label in enumerate(("stiffness × 10^", "damping × 10^")):
                slider = gui.add_slider(label, -2.0, 2.0, 0.05, 0.0)
                slider.on_update(
                    lambda _, k=k, slider=slider: viewer.later(lambda: viewer.scale_gains(k, 10**slider.value))
                )
            single = [joint for joint in viewer.sim.model.joints if joint.q.stop - joint.q.start == 1]
            for joint in single[:MOST_SLIDERS]:
                at = joint.q.start
                low, high = joint.range if joint.range is not None else (-np.pi, np.pi)
                value = min(max(float(viewer.gains[2][at]), low), high)
                slider = gui.add_slider(joint.name or f"q[{at}]", low, high, (high - low) / 200 or 1.0, value)
                slider.on_update(
                    lambda _, at=at, slider=slider: viewer.later(lambda: viewer.set_target(at, slider.value))
                )

    def update(self, text: str) -> None:
        """Shows the present state; called some times per second."""
        if self.status.content != text:
            self.status.content = text
        label = "Pause" if self.viewer.clock.is_playing else "Play"
        if self.play.label != label:
            self.play.label = label
        for plot in self.plots:
            plot.send()


def _energies() -> dict[str, Quantity]:
    return {
        "kinetic": lambda sim: sim.energy().kinetic,
        "potential": lambda sim: sim.energy().potential,
    }


class Plot:
    """Quantities over the last seconds of simulated time."""

    def __init__(self, gui: Any, title: str, quantities: dict[str, Quantity], sim: Simulation) -> None:  # noqa: ANN401
        self.sim, self.quantities = sim, quantities
        self.times: deque[float] = deque(maxlen=POINTS)
        self.values: list[deque[float]] = [deque(maxlen=POINTS) for _ in quantities]
        self._changed = False
        self.note()
        series: list[dict[str, Any]] = [{"label": "t, s"}]
        series += [
            {"label": name, "stroke": COLOURS[i % len(COLOURS)], "width": 1.5} for i, name in enumerate(quantities)
        ]
        self.handle = gui.add_uplot(
            self.data(), tuple(series), title=title, aspect=1.6, scales={"x": {"time": False}}, legend={"show": True}
        )

    def note(self) -> None:
        """Takes a point when one is due."""
        now = self.sim.time
        if self.times and now < self.times[-1]:
            self.times.clear()
            for values in self.values:
                values.clear()
        if self.times and now - self.times[-1] < SPACING:
            return
        self.times.append(now)
        for values, quantity in zip(self.values, self.quantities.values(), strict=True):
            values.append(float(quantity(self.sim)))
        self._changed = True

    def data(self) -> tuple[np.ndarray, ...]:
        """Times and values, as they are sent."""
        return (np.array(self.times), *(np.array(values) for values in self.values))

    def send(self) -> None:
        """Shows what is new."""
        if self._changed:
            self.handle.data = self.data()
            self._changed = False
