"""Draws the pictures of the documentation into ``docs/images``: ``cargo xtask docs pictures``.

Each function below draws the picture of its name, from simulations that take a few seconds in all. The files are kept
in the repository, so that pages show them everywhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

import sapwood as sw

matplotlib.use("svg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[2] / "docs"
BLUE, ORANGE, GREEN, RED, GREY = "#2a6fbb", "#e07b28", "#3c9a5f", "#c0392b", "#8a8f98"

PICTURES: dict[str, Callable[[Path], None]] = {}


def picture(name: str) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    """Enters a function that draws into the file of this name."""

    def enter(draw: Callable[[Path], None]) -> Callable[[Path], None]:
        PICTURES[name] = draw
        return draw

    return enter


def write_small(path: Path, image: NDArray[np.uint8]) -> None:
    """A PNG of 256 colours, a third of the size."""
    from PIL import Image

    Image.fromarray(image).quantize(256, kmeans=1, dither=Image.Dither.NONE).save(path, optimize=True)


def panels(columns: int, height: float = 2.6) -> tuple[Any, Any]:
    """A figure with panels side by side."""
    figure, axes = plt.subplots(1, columns, figsize=(8, height), layout="constrained")
    for ax in np.atleast_1d(axes):
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def write_plot(path: Path, figure: Any) -> None:  # noqa: ANN401 - matplotlib has no types here
    """An SVG without dates and random identifiers, its text as text."""
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)

    def shorter(data: re.Match[str]) -> str:
        return re.sub(r"(\d+\.\d{2})\d+", r"\1", data[0])

    # Coordinates of two decimals draw the same.
    text = re.sub(r' d="[^"]*"', shorter, path.read_text())
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")


def hopper() -> sw.Model:
    """The leg of the ten-minute start."""
    match = re.search(r'hopper = """(.*?)"""', (DOCS / "start.md").read_text(), re.DOTALL)
    assert match
    return sw.load(match[1])


@picture("start-hopper.png")
def start_hopper(path: Path) -> None:
    """As the page of the start renders it."""
    write_small(path, sw.Simulation(hopper()).render(640, 480))


@picture("state-layout.svg")
def state_layout(path: Path) -> None:
    """Which numbers of q and v belong to which joint."""
    model = sw.load(
        """<mujoco><worldbody><body name="torso"><joint name="root" type="free"/><geom size=".1"/>
        <body><joint name="shoulder" type="ball"/><geom size=".1"/>
        <body><joint name="elbow"/><geom size=".1"/></body></body></body></worldbody></mujoco>"""
    )
    labels = {
        "q": [["x", "y", "z", "w", "x", "y", "z"], ["w", "x", "y", "z"], ["θ"]],
        "v": [["ẋ", "ẏ", "ż", "ωx", "ωy", "ωz"], ["ωx", "ωy", "ωz"], ["θ̇"]],
    }
    figure, axes = panels(1, 2.2)
    axes.set(xlim=(-0.6, 12), ylim=(-0.8, 2.5))
    axes.axis("off")
    for row, (name, groups) in enumerate(labels.items()):
        y = 1.35 - 1.35 * row
        axes.text(-0.5, y + 0.3, name, fontsize=14, fontstyle="italic", va="center")
        for joint, group, colour in zip(model.joints, groups, (BLUE, ORANGE, GREEN), strict=True):
            part = joint.q if name == "q" else joint.v
            assert part.stop - part.start == len(group)
            for index, label in zip(range(part.start, part.stop), group, strict=True):
                axes.add_patch(plt.Rectangle((index, y), 0.94, 0.6, facecolor=colour, alpha=0.25, edgecolor=colour))
                axes.text(index + 0.47, y + 0.3, label, ha="center", va="center", fontsize=11)
                axes.text(index + 0.47, y - 0.16, str(index), ha="center", va="center", fontsize=7, color=GREY)
            middle = (part.start + part.stop) / 2
            if name == "q":
                axes.text(middle, y + 0.82, f"{joint.name}: {joint.kind}", ha="center", fontsize=10, color=colour)
    write_plot(path, figure)


@picture("state-frames.png")
def state_frames(path: Path) -> None:
    """A tilted free body: world axes, and those of the body."""
    axes = "".join(
        f'<geom type="capsule" fromto="0 0 0 {0.45 * x} {0.45 * y} {0.45 * z}" size=".012" rgba="{x} {y} {z} 1" '
        'contype="0" conaffinity="0" mass="0"/>'
        for x, y, z in np.eye(3)
    )
    model = sw.load(
        f"""<mujoco><worldbody>{axes}<geom type="plane" size="2 2 1" rgba=".93 .94 .95 1"/>
        <body pos=".35 .75 .45" euler="25 20 35"><freejoint/>
        <geom type="box" size=".22 .14 .09" mass="1" rgba=".45 .6 .75 .6"/>{axes}</body></worldbody></mujoco>"""
    )
    camera = sw.Camera(lookat=[0.2, 0.35, 0.3], distance=2.1, azimuth=np.deg2rad(140), elevation=np.deg2rad(-22))
    write_small(path, sw.Simulation(model).render(640, 320, camera))


@picture("step-phases.svg")
def step_phases(path: Path) -> None:
    """A ball that falls onto the ground: free motion of a step, then the velocity that contact leaves."""
    drop = """<mujoco><worldbody><geom type="plane" size="0 0 1"/><body pos="0 0 .14"><freejoint/>
        <geom type="sphere" size=".1" mass="1"/></body></worldbody></mujoco>"""
    figure, axes = panels(1, 2.4)
    model, dt = sw.load(drop), 0.02
    sim = sw.Simulation(model, timestep=dt)
    times, heights, free = [0.0], [sim.q[2] - 0.1], []
    for _ in range(9):
        free.append(heights[-1] + dt * (sim.v[2] - 9.81 * dt))
        sim.step()
        times.append(sim.time)
        heights.append(sim.q[2] - 0.1)
    axes.axhspan(-0.02, 0, color=GREY, alpha=0.25, linewidth=0)
    axes.plot(times, heights, "o-", color=BLUE, label="the step's end")
    for k, height in enumerate(free):
        label = "free motion, v*" if k == 0 else None
        axes.plot(times[k : k + 2], [heights[k], height], "--", color=ORANGE, linewidth=1.2, label=label)
    axes.set(xlabel="time, s", ylabel="height above ground, m", ylim=(-0.02, 0.045))
    axes.legend(frameon=False)
    write_plot(path, figure)


@picture("contact-arch.png")
def contact_arch(path: Path) -> None:
    """A masonry arch that stands by friction, with its contact forces."""
    sim = sw.Simulation(sw.scenes.arch(11))
    sim.step(200)
    camera = sw.Camera(lookat=[0, 0, 0.5], distance=2.2, azimuth=np.deg2rad(75), elevation=np.deg2rad(-10))
    write_small(path, sim.render(640, 320, camera, contacts=True))


@picture("contact-laws.svg")
def contact_laws(path: Path) -> None:
    """A cube that slides to rest by each friction law, beside the closed form."""
    speed, friction, dt = 4.0, 0.7, 0.01
    figure, (left, right) = panels(2)
    for law, colour, style in [("coulomb", BLUE, "-"), ("lagged", GREEN, "-."), ("sap", ORANGE, "--")]:
        sim = sw.Simulation(sw.scenes.slider(speed, friction), timestep=dt, contact=law)  # type: ignore[arg-type]
        sim.reset("sliding")
        sim.step(0)
        height, rows = sim.q[2], []
        for _ in range(90):
            rows.append((sim.time, sim.v[0], 1e3 * (sim.q[2] - height)))
            sim.step()
        time, velocity, lift = np.array(rows).T
        left.plot(time, velocity, style, color=colour, label=f'"{law}"')
        right.plot(time, lift, style, color=colour)
    stop = speed / (friction * 9.81)
    left.plot([0, stop, 0.9], [speed, 0, 0], color="black", linewidth=0.8, label="closed form")
    left.set(xlabel="time, s", ylabel="velocity, m/s")
    right.set(xlabel="time, s", ylabel="height above its rest, mm")
    left.legend(frameon=False)
    write_plot(path, figure)


@picture("pd-gains.svg")
def pd_gains(path: Path) -> None:
    """A stiff hinge held by stable PD, and by the same law as an applied force."""
    model = sw.load(
        """<mujoco><worldbody><body pos="0 0 1"><joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="1"/></body></worldbody></mujoco>"""
    )
    kp, target = 400.0, 0.5
    figure, axes = panels(2)
    for ax, kd, dt in zip(axes, (20.0, 20.0), (0.002, 1 / 60), strict=True):
        stable, explicit = (sw.Simulation(model, timestep=dt) for _ in range(2))
        stable.pd(kp, kd, [target])
        rows = [(0.0, 0.0, 0.0)]
        while rows[-1][0] < 0.5:
            stable.step()
            if abs(explicit.v[0]) < 1e6:  # later steps would be errors
                explicit.applied_force[0] = kp * (target - explicit.q[0]) - kd * explicit.v[0]
                explicit.step()
            rows.append((stable.time, stable.q[0], explicit.q[0]))
        time, held, thrown = np.array(rows).T
        ax.plot(time, thrown, color=ORANGE, label="applied_force[:] = kp (target − q) − kd v")
        ax.plot(time, held, color=BLUE, label="sim.pd(kp, kd, target)")
        ax.axhline(target, color=GREY, linewidth=0.8)
        ax.set(xlabel="time, s", ylabel="angle, rad", ylim=(-0.6, 1.6), title=f"time step {1e3 * dt:.3g} ms")
        ax.title.set_fontsize(10)
    axes[0].legend(frameon=False, fontsize=8, loc="upper right")
    write_plot(path, figure)


@picture("schemes-energy.svg")
def schemes_energy(path: Path) -> None:
    """Energy of a flung arm without dampers under each scheme, and the error of position over the step."""
    figure, axes = panels(1)
    colours = {"bilinear": BLUE, "midpoint": GREEN, "symplectic-euler": ORANGE, "implicit-euler": RED}
    for scheme, colour in colours.items():
        sim = sw.Simulation(sw.scenes.flung_arm(), timestep=0.01, scheme=scheme)  # type: ignore[arg-type]
        sim.reset("flung")
        first, rows = sim.energy().total, []
        for _ in range(1000):
            rows.append((sim.time, sim.energy().total - first))
            try:
                sim.step()
            except sw.SimulationError:
                break
        time, energy = np.array(rows).T
        axes.plot(time[::4], energy[::4], color=colour, label=scheme, linewidth=1.4)
    axes.set(xlabel="time, s", ylabel="energy gained, J", ylim=(-60, 60))
    axes.legend(frameon=False, ncols=2)
    write_plot(path, figure)


@picture("worlds.png")
def worlds(path: Path) -> None:
    """Sixteen of the worlds of a batch."""
    model = hopper()
    pose = np.array([0, -0.12, 0, -0.5, 1.0, -0.5])
    kp = np.array([0, 0, 0, 2000, 2000, 2000])
    batch = sw.Batch(model, 64)
    batch.q[:] = pose
    batch.v[:, 0] = np.random.default_rng(0).uniform(-2, 2, size=64)
    batch.pd(kp, kp / 20, pose, effort_limit=200)
    batch.step(110)
    renderer = sw.Renderer(model, 160, 120)
    camera = sw.Camera(track="torso", lookat=[0, 0, -0.35], distance=2.6, azimuth=np.deg2rad(90), elevation=-0.1)
    tiles = [renderer.render(q, camera) for q in batch.q[:12]]
    write_small(path, np.vstack([np.hstack(tiles[row : row + 4]) for row in (0, 4, 8)]))


@picture("determinism.svg")
def determinism(path: Path) -> None:
    """How far a double pendulum is from where it is in another run."""
    model = sw.scenes.double_pendulum()
    reference, threads, moved = (sw.Simulation(model, timestep=0.005, threads=n) for n in (1, 2, 1))
    for sim in (reference, threads, moved):
        sim.q[:] = [2.0, 1.0]
    moved.q[0] += 1e-15
    figure, axes = panels(1, 2.4)
    rows = []
    for _ in range(400):
        for sim in (reference, threads, moved):
            sim.step(20)
        assert reference.state() == threads.state()
        rows.append((reference.time, np.abs(moved.q - reference.q).max()))
    time, apart = np.array(rows).T
    axes.semilogy(time, np.maximum(apart, 1e-17), color=ORANGE, label="1e-15 rad off at the start")
    axes.semilogy(time, np.full_like(time, 1e-17), color=BLUE, linewidth=2.5, label="the same run again: exactly 0")
    axes.set(xlabel="time, s", ylabel="largest difference in q, rad", ylim=(3e-18, 100))
    axes.set_yticks([1e-15, 1e-10, 1e-5, 1])
    axes.legend(frameon=False, loc="upper left")
    write_plot(path, figure)


def draw_all(folder: Path, names: list[str]) -> None:
    """Draws these pictures, or all of them."""
    settings = {"svg.fonttype": "none", "svg.hashsalt": "sapwood", "font.size": 9, "font.family": "sans-serif"}
    folder.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(settings):
        for name in names or PICTURES:
            PICTURES[name](folder / name)
            print(f"{folder / name}: {(folder / name).stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    draw_all(DOCS / "images", sys.argv[1:])
