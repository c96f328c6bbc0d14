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
MAX_SLIDERS = 80
# Simulated over real time, and the strength of pulls: limits of their sliders. The lower one is the step, too.
SPEEDS, PULLS = (0.05, 4.0), (0.1, 10.0)
# Points of a plot, and simulated time between two of them, s.
POINTS, SPACING = 300, 1 / 30
COLOURS = ("#d0563f", "#3f78b5", "#8a929b", "#0d9488", "#8a63b8", "#b96f1c")
HELP = """**Ctrl + drag** a body to pull it · drag to orbit · right-drag to pan · wheel to zoom"""


def within(value: Any, limits: tuple[float, float], use: Callable[[float], None]) -> None:  # noqa: ANN401 - of viser
    """Uses the value of a slider, within limits: what a client sends need not be what the slider can be."""
    # What is true or false is no value, though Python counts with it; integers may be larger than any float.
    if isinstance(value, (int, float)) and not isinstance(value, bool) and -np.inf < value < np.inf:
        use(float(min(max(value, limits[0]), limits[1])))


class Bound:
    """A slider of a quantity that the simulation may change, too."""

    def __init__(self, viewer: Viewer, slider: Any, read: Quantity, write: Callable[[float], None]) -> None:  # noqa: ANN401
        self.slider, self._read, self._write = slider, read, write
        # Clients can change those of the slider, too.
        self._limits = (slider.min, slider.max)
        self._sim, self._shown = viewer.sim, read(viewer.sim)
        slider.on_update(self._moved)
        self._viewer = viewer

    def _moved(self, event: Any) -> None:  # noqa: ANN401
        # Values that the program gives the slider are no wish of the user.
        if event.client is not None:
            within(self.slider.value, self._limits, lambda value: self._viewer.later(lambda: self._set(value)))

    def _set(self, value: float) -> None:
        self._write(value)
        self._shown = self._read(self._sim)

    def show(self) -> None:
        """Moves the slider where something else has changed the quantity."""
        value = self._read(self._sim)
        if value != self._shown:
            self._shown = value
            self.slider.value = min(max(value, self._limits[0]), self._limits[1])


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
        names = ["start", *(name or str(k) for k, name in enumerate(viewer.sim.model.keyframe_names))]
        where = gui.add_dropdown("Reset to", names) if len(names) > 1 else None
        gui.add_button("Reset").on_click(lambda _: self._reset(where.value if where else "start", names))
        speed = gui.add_slider("Speed", *SPEEDS, SPEEDS[0], min(max(viewer.clock.speed, SPEEDS[0]), SPEEDS[1]))
        speed.on_update(lambda _: within(speed.value, SPEEDS, lambda value: setattr(viewer.clock, "speed", value)))
        with gui.add_folder("Show", expand_by_default=False):
            self._switch("Contacts", viewer.show_contacts, "show_contacts")
            if any(geom.group >= 3 for geom in viewer.scene.geoms):
                collision = gui.add_checkbox("Collision shapes (group 3 and above)", False)
                collision.on_update(lambda _: viewer.later(lambda: viewer.picture.show_groups(collision.value)))
            pull = gui.add_slider("Pull", *PULLS, PULLS[0], 1.0)
            pull.on_update(lambda _: within(pull.value, PULLS, lambda value: setattr(viewer, "strength", value)))
        self.bound: list[Bound] = []
        self._actuators()
        self._pd()
        self.plots = [Plot(gui, "energy, J", _energies(), viewer.sim)]
        self.plots += [Plot(gui, name, {name: quantity}, viewer.sim) for name, quantity in plots.items()]

    def _reset(self, name: Any, names: list[str]) -> None:  # noqa: ANN401 - of viser
        if name in names:
            self.viewer.later(lambda: self.viewer.reset(name))

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
            for i, limits in enumerate(viewer.scene.ctrl_ranges[:MAX_SLIDERS]):
                name = viewer.sim.model.actuator_names[i] or f"actuator {i}"
                self._control(i, name, limits or (-1.0, 1.0))

    def _slider(
        self, label: str, limits: tuple[float, float], read: Quantity, write: Callable[[float], None], step: float = 0.0
    ) -> None:
        """Adds a slider that shows a quantity and sets it."""
        low, high = (rounded(limit) for limit in limits)
        value = min(max(read(self.viewer.sim), low), high)
        slider = self.viewer.server.gui.add_slider(label, low, high, step or (high - low) / 200 or 1.0, value)
        self.bound.append(Bound(self.viewer, slider, read, write))

    def _pd(self) -> None:
        viewer, gui = self.viewer, self.viewer.server.gui
        if not len(viewer.gains[0]):
            return
        with gui.add_folder("PD", expand_by_default=False):
            for k, label in enumerate(("stiffness × 10^", "damping × 10^")):
                self._gain(k, label)
            single = [joint for joint in viewer.sim.model.joints if joint.q.stop - joint.q.start == 1]
            for joint in single[:MAX_SLIDERS]:
                at = joint.q.start
                self._target(at, joint.name or f"q[{at}]", joint.range or (-np.pi, np.pi))

    def _control(self, i: int, label: str, limits: tuple[float, float]) -> None:
        self._slider(label, limits, lambda sim: float(sim.ctrl[i]), lambda value: self.viewer.set_control(i, value))

    def _gain(self, k: int, label: str) -> None:
        viewer = self.viewer
        self._slider(
            label,
            (-2.0, 2.0),
            lambda _: float(np.log10(viewer.factors[k])),
            lambda value: viewer.scale_gains(k, 10**value),
            step=0.05,
        )

    def _target(self, at: int, label: str, limits: tuple[float, float]) -> None:
        viewer = self.viewer
        self._slider(label, limits, lambda _: float(viewer.gains[2][at]), lambda value: viewer.set_target(at, value))

    def update(self, text: str) -> None:
        """Shows the present state; called some times per second."""
        if self.status.content != text:
            self.status.content = text
        label = "Pause" if self.viewer.clock.is_playing else "Play"
        if self.play.label != label:
            self.play.label = label
        for bound in self.bound:
            bound.show()
        for plot in self.plots:
            plot.send()


def rounded(limit: float) -> float:
    """A limit in four digits, which is what there is room for."""
    return float(f"{limit:.4g}")


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
