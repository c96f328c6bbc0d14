"""A live view of a simulation in the browser, on viser.

::

    viewer = sw.view(sim)                      # runs in real time until stopped
    viewer = sw.view(sim, controller=walk)     # walk(sim) is called before every step
    with sw.view(sim, run=False) as viewer:    # your own loop makes the steps
        while viewer.is_open:
            sim.ctrl[:] = policy(sim)
            sim.step()
            viewer.sync()

Needs the extra ``viewer``: ``pip install 'sapwood[viewer]'``.
"""

from __future__ import annotations

import importlib
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood.viewer._clock import Clock
from sapwood.viewer._drag import Drag
from sapwood.viewer._guard import Guard
from sapwood.viewer._panel import Panel
from sapwood.viewer._picture import Picture
from sapwood.viewer._shapes import Scene, scene

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sapwood._sapwood import Simulation

__all__ = ["Viewer", "view"]

Controller = Callable[["Simulation"], object]

# Time between two pictures, and between two updates of texts and plots, s.
PICTURE, TEXTS = 1 / 30, 1 / 5
# No pointer pulls farther from the origin, m.
FARTHEST = 1e5


def view(
    sim: Simulation,
    *,
    controller: Controller | None = None,
    run: bool = True,
    block: bool = False,
    port: int = 8080,
    host: str = "127.0.0.1",
    speed: float = 1.0,
    plots: Mapping[str, Callable[[Simulation], float]] | None = None,
) -> Viewer:
    """Show a simulation in the browser: play, pause, step, pull bodies, move sliders.

    The address is printed. Who does not have it is refused: it contains a token. On another machine, forward its port,
    ``ssh -L 8080:localhost:8080 HOST``, and open the same address.

    Args:
        sim: The simulation. With ``run`` the viewer's thread makes its steps: hold ``viewer.lock`` to use it meanwhile.
        controller: Called with the simulation before every step.
        run: Whether the viewer makes the steps. Otherwise your own loop does, and calls ``Viewer.sync`` after each.
        block: Whether to return only when the viewer has been closed, or after Ctrl-C.
        port: Where to listen; the next free one where it is taken.
        host: Who may connect: this machine alone, or ``0.0.0.0`` for everyone who can reach it.
        speed: Simulated time over wall-clock time.
        plots: Quantities to plot beside the energies, by name: functions of the simulation.

    Raises:
        ImportError: When viser is not installed.
        ValueError: When an argument has a wrong value.
    """
    viewer = Viewer(sim, controller=controller, run=run, port=port, host=host, speed=speed, plots=plots)
    if block:
        try:
            viewer.wait()
        except KeyboardInterrupt:
            viewer.close()
    return viewer


def _place(name: str, value: ArrayLike) -> NDArray[np.float64]:
    place = np.asarray(value, float)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise ValueError(f"{name} is {value!r}: expected three finite numbers, a place in the world in m")
    return place


class Viewer:
    """A live view (see ``sapwood.view``).

    Attributes:
        sim: The simulation.
        url: Where to look at it, with the token that lets one in.
        lock: Held while the viewer uses the simulation.
        is_open: Whether it has not been closed.
    """

    sim: Simulation
    url: str
    lock: threading.RLock
    is_open: bool
    controller: Controller | None
    run: bool
    scene: Scene
    clock: Clock
    gains: list[NDArray[np.float64]]
    show_contacts: bool
    by_hand: bool
    strength: float
    picture: Picture
    panel: Panel

    def __init__(
        self,
        sim: Simulation,
        *,
        controller: Controller | None,
        run: bool,
        port: int,
        host: str,
        speed: float,
        plots: Mapping[str, Callable[[Simulation], float]] | None,
    ) -> None:
        if not (speed > 0 and np.isfinite(speed)):
            raise ValueError(f"speed is {speed}: expected a finite number above 0")
        if not run and controller is not None:
            raise ValueError("controller: with run=False your own loop makes the steps, so call it there")
        try:
            import viser
        except ImportError as error:
            raise ImportError("the viewer needs viser: pip install 'sapwood[viewer]'") from error
        self.sim, self.controller, self.run = sim, controller, run
        self.lock = threading.RLock()
        self.scene = scene(sim.model)
        self.clock = Clock(sim.time, speed)
        self.gains = [values.copy() for values in sim._pd()]
        self.drag: Drag | None = None
        self.show_contacts, self.by_hand, self.strength = True, False, 1.0
        self._start, self.factors = sim.state(), [1.0, 1.0]
        self._hand = sim.ctrl.copy()
        self._notes: deque[Callable[[], None]] = deque()
        self._single_steps = 0
        self._error: BaseException | None = None
        self._next_picture = self._next_texts = 0.0
        self.is_open = True
        guard = Guard(host)
        with guard.on_servers():
            self.server: Any = viser.ViserServer(host=host, port=port, label=sim.model.name or "Sapwood", verbose=False)
        self.url = f"http://localhost:{self.server.get_port()}/{guard.token}"
        self.picture = Picture(self)
        self.panel = Panel(self, dict(plots or {}))
        print(f"sapwood: the viewer is at {self.url}")
        self._thread: threading.Thread | None = None
        if run:
            self._thread = threading.Thread(target=self._loop, name="sapwood-viewer", daemon=True)
            self._thread.start()

    # What buttons and sliders do; carried out by the loop.

    def later(self, action: Callable[[], None]) -> None:
        """Has the loop do something between two steps."""
        self._notes.append(action)

    def play(self) -> None:
        """Lets time pass."""
        self.clock.is_playing = True

    def pause(self) -> None:
        """Stops time."""
        self.clock.is_playing = False

    def toggle(self) -> None:
        """Plays or pauses."""
        self.clock.is_playing = not self.clock.is_playing
        self._error = None

    def step_once(self) -> None:
        """Pauses, and makes one step."""
        self.pause()
        self._single_steps += 1

    def reset(self, keyframe: str = "start") -> None:
        """Goes to the state at the time when the viewer was opened, or to a keyframe."""
        with self.lock:
            if keyframe == "start":
                self.sim.restore(self._start)
                self.gains, self.factors = [values.copy() for values in self.sim._pd()], [1.0, 1.0]
            else:
                self.sim.reset(keyframe)
                if len(self.gains[0]):
                    # A keyframe knows nothing of PD control, which goes on.
                    self._set_pd()
            self._hand = self.sim.ctrl.copy()

    def set_control(self, actuator: int, value: float) -> None:
        """Sets a control by hand."""
        self._hand[actuator] = value
        if self.controller is None:
            self.sim.ctrl[actuator] = value

    def set_target(self, coordinate: int, value: float) -> None:
        """Sets an entry of the PD target."""
        self.gains[2][coordinate] = value
        self._set_pd()

    def scale_gains(self, which: int, factor: float) -> None:
        """Scales the stiffness (0) or the damping (1) of PD control."""
        self.factors[which] = factor
        self._set_pd()

    def _set_pd(self) -> None:
        kp, kd, target, target_velocity, effort_limit = self.gains
        self.sim.pd(self.factors[0] * kp, self.factors[1] * kd, target, target_velocity, effort_limit)

    def pull(self, body: str | int, to: ArrayLike, *, point: ArrayLike | None = None) -> None:
        """Pulls a body by a spring, as the pointer does, until ``release`` or another pull.

        Args:
            body: Name or index.
            to: Where to, world, (3,), m.
            point: The point of the body that is pulled, where it is in the world now, (3,), m; None: its origin.

        Raises:
            UnknownNameError: When there is no such body.
            ValueError: When an argument has a wrong shape or value, or the body is the world.
        """
        index = self.sim.model.body_index(body)
        if index == 0:
            raise ValueError(f"body is {body!r}, the world: expected one that moves")
        end = _place("to", to)
        with self.lock:
            start = self.sim.body(index).position if point is None else _place("point", point)
            self._drag_to(index, "start", start, end)
            if self.drag is not None:
                self.drag.apply()

    def on_key(self, key: str, action: Callable[[Simulation], object], *, label: str = "") -> None:
        """Has a key of the page do something with the simulation, between two steps.

        Args:
            key: A letter, a digit, or a name such as ``"arrowup"``, ``"enter"`` or ``"space"``.
            action: Called with the simulation; an error stops the viewer as one of the controller does.
            label: What the page's list of commands (Ctrl-K) says of it; the key when empty.

        Raises:
            ValueError: When there is no such key.
        """
        keys = get_args(importlib.import_module("viser._messages").HotkeyKey)
        known = {name.lower(): name for name in keys}
        if key.lower() not in known:
            raise ValueError(f"key is {key!r}: expected a letter, a digit, or one of {', '.join(keys[-10:])}")
        command = self.server.gui.add_command(label or f"Key {key}", hotkey=known[key.lower()])

        def act() -> None:
            action(self.sim)

        command.on_trigger(lambda _: self.later(act))

    def look_from(self, position: ArrayLike, look_at: ArrayLike) -> None:
        """Puts the camera of all pages, and of those that are opened later, at a point, looking at another, (3,), m."""
        eye, center = _place("position", position), _place("look_at", look_at)
        if np.array_equal(eye, center):
            raise ValueError("look_at is position: expected another point")
        cameras = [self.server.initial_camera, *(client.camera for client in self.server.get_clients().values())]
        for camera in cameras:
            camera.position, camera.look_at = tuple(eye), tuple(center)

    def release(self) -> None:
        """Ends a pull."""
        with self.lock:
            if self.drag is not None:
                self.drag.release()
                self.drag = None

    def dragged(self, body: int, event: Any) -> None:  # noqa: ANN401
        """Notes a movement of the pointer that pulls a body."""
        phase = event.phase
        # What a client sends need not be where a pointer can be, nor numbers.
        try:
            start, end = (np.array(place, dtype=float) for place in (event.start_position, event.end_position))
        except (TypeError, ValueError):
            return
        if not all(place.shape == (3,) and (np.abs(place) < FARTHEST).all() for place in (start, end)):
            return
        self.later(lambda: self._drag_to(body, phase, start, end))

    def _drag_to(self, body: int, phase: str, start: np.ndarray, end: np.ndarray) -> None:
        if phase == "start":
            if self.drag is not None:
                self.drag.release()
            self.drag = Drag(self.sim, self.scene, body, start, self.strength)
        if self.drag is not None:
            self.drag.target = end
            if phase == "end":
                self.drag.release()
                self.drag = None

    # The loop.

    def _carry_out(self) -> None:
        while self._notes:
            self._notes.popleft()()

    def _one_step(self) -> None:
        if self.controller is not None:
            self.controller(self.sim)
            if self.by_hand:
                self.sim.ctrl[:] = self._hand
        if self.drag is not None:
            self.drag.apply()
        self.sim.step()

    def _advance(self) -> None:
        """Makes the steps that are due."""
        until = time.perf_counter() + PICTURE
        steps, self._single_steps = self._single_steps, 0
        for _ in range(steps):
            self._one_step()
        while self.clock.due(self.sim.time) >= self.sim.timestep and time.perf_counter() < until:
            self._one_step()
            for plot in self.panel.plots:
                plot.note()

    def _show(self) -> None:
        now = time.perf_counter()
        if now >= self._next_picture:
            self.picture.update()
            self._next_picture = now + PICTURE
        if now >= self._next_texts:
            self.panel.update(self._text())
            self._next_texts = now + TEXTS

    def _text(self) -> str:
        if self._error is not None:
            return f"**Stopped**: {type(self._error).__name__}: {self._error}"
        state = f"{self.clock.rate:.2f} × real time" if self.clock.is_playing else "paused"
        return f"t = {self.sim.time:.3f} s · {state} · {self._contacts()} contacts"

    def _contacts(self) -> int:
        return len(self.sim.contacts) + sum(len(body.contact_geoms) for body in self.sim.soft_bodies)

    def _loop(self) -> None:
        while self.is_open:
            with self.lock:
                try:
                    self._carry_out()
                    self._advance()
                except Exception as error:
                    # The picture stays, and says what happened.
                    self._error = error
                    self.pause()
                    traceback.print_exc()
                self._show()
            time.sleep(0.002)

    def sync(self) -> None:
        """Shows the present state, and waits until it is time for the next step, or as long as the viewer is paused.

        For loops of your own, with ``run=False``; call it after every step.

        Raises:
            RuntimeError: When the viewer makes the steps itself.
        """
        if self.run:
            raise RuntimeError("the viewer makes the steps: sw.view(sim, run=False) leaves them to your own loop")
        for plot in self.panel.plots:
            plot.note()
        while self.is_open:
            self._carry_out()
            if self._single_steps > 0:
                self._single_steps -= 1
                break
            if self.clock.is_playing and self.clock.due(self.sim.time) >= 0:
                break
            if not self.clock.is_playing:
                self.clock.due(self.sim.time)
            self._show()
            time.sleep(0.002)
        if self.is_open:
            self._show()
            if self.drag is not None:
                self.drag.apply()

    def wait(self) -> None:
        """Returns when the viewer has been closed."""
        while self.is_open:
            time.sleep(0.1)

    def close(self) -> None:
        """Ends the viewer. The simulation stays as it is."""
        if not self.is_open:
            return
        self.is_open = False
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)
        self.release()
        self.server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sapwood.Viewer at {self.url}{'' if self.is_open else ', closed'}>"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" style="width: 100%; height: 600px; border: 0"></iframe>'
