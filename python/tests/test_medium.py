"""The forces of a medium on bodies are those of MuJoCo's inertia box, and of its ellipsoids."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

# Where two moments of inertia are the same, as of the last body, the axes of its box are those of the file.
MODEL = """
<mujoco><option density="{density}" viscosity="{viscosity}" wind="{wind}" timestep="1e-7"/>
<worldbody>
  <body pos="0 0 1"><freejoint/><inertial pos=".02 -.01 .03" mass="1.5" fullinertia=".02 .03 .04 .002 -.003 .001"/>
    <geom type="box" size=".1 .2 .05" contype="0" conaffinity="0"/>
    <body pos=".2 0 0" euler="20 30 40"><joint type="ball"/><geom type="box" size=".2 .05 .03" pos=".1 0 0"
        contype="0" conaffinity="0"/>
      <body pos=".3 .1 0" euler="0 50 10"><joint axis="0 1 0" {limits}/>
        <geom type="ellipsoid" size=".1 .05 .02" pos=".1 0 0" contype="0" conaffinity="0"/>
        <body pos=".1 .1 .1" euler="10 0 0"><geom type="box" size=".05 .1 .02" contype="0" conaffinity="0"/></body>
        <body pos=".1 .1 .1"><joint axis="1 0 0"/><geom type="cylinder" size=".04" fromto="0 0 0 .1 .3 .2"
            contype="0" conaffinity="0"/></body>
      </body></body></body>
</worldbody></mujoco>"""


# With limits, which are far off, steps are made in lanes.
LIMITS = ["", 'range="-1000 1000"']


def accelerations(text: str, q: Any, v: Any, **options: Any) -> Any:
    sim = sw.Simulation(sw.load(text), **options)
    sim.q, sim.v = q, v
    sim.step()
    return (sim.v - v) / sim.timestep


@pytest.mark.parametrize(
    ("density", "viscosity", "wind"), [(1000, 0, "0 0 0"), (0, 0.9, "0 0 0"), (1.2, 0.3, "0 0 0"), (50, 0.3, "1 -2 3")]
)
@pytest.mark.parametrize("limits", LIMITS)
def test_accelerations_are_those_of_mujoco(density: float, viscosity: float, wind: str, limits: str) -> None:
    rng = np.random.default_rng(0)
    text = MODEL.format(density=density, viscosity=viscosity, wind=wind, limits=limits)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for scheme in ("bilinear", "symplectic-euler", "midpoint", "implicit-euler"):
        for _ in range(5):
            data.qpos[:] = model.qpos0
            mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
            data.qvel[:] = rng.normal(size=model.nv)
            mujoco.mj_forward(model, data)
            assert np.abs(data.qfrc_fluid).max() > 1e-2
            ours = accelerations(text, data.qpos.copy(), data.qvel.copy(), scheme=scheme)
            # Of first order in the time step.
            np.testing.assert_allclose(ours, data.qacc, rtol=0, atol=1e-4 * np.abs(data.qacc).max())


def test_axes_that_the_inertia_leaves_open_are_kept() -> None:
    """A cylinder across the wind, which turns the box of its inertia about its axis."""
    text = """<mujoco><option density="1.2" wind="0 0 9" timestep="1e-7"/><worldbody>
      <body><freejoint/><geom type="cylinder" size=".04" fromto="-.1 -.2 0 .1 .4 0"/></body>
      <body pos="2 0 0"><freejoint/><inertial pos="0 0 0" quat="1 2 3 4" mass="2" diaginertia=".2 .2 .1"/></body>
      <body pos="4 0 0"><freejoint/><geom size=".1"/><geom size=".1" pos=".3 .1 .2"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    ours = sw.load(text)
    for twin in (ours, sw.Model.from_mujoco(model), sw.load(ours.to_mjcf()), sw.Model.from_bytes(ours.to_bytes())):
        sim = sw.Simulation(twin)
        sim.step()
        np.testing.assert_allclose(sim.v / sim.timestep, data.qacc, rtol=0, atol=1e-5)


def test_it_slows_what_falls() -> None:
    """A ball reaches the speed at which Stokes' and the plate's resistance carry its weight."""
    mass, radius, density, viscosity = 0.2, 0.1, 300.0, 40.0
    sim = sw.Simulation(
        sw.load(f"""<mujoco><option density="{density}" viscosity="{viscosity}"/><worldbody>
        <body><freejoint/><geom size="{radius}" mass="{mass}"/></body></worldbody></mujoco>"""),
        timestep=0.001,
    )
    sim.step(3000)
    side = np.sqrt(6.0 * (0.4 * mass * radius**2) / mass)
    speed = -sim.v[2]
    resistance = 3 * np.pi * side * viscosity * speed + 0.5 * density * side**2 * speed**2
    np.testing.assert_allclose(resistance, 9.81 * mass, rtol=1e-6)


def test_a_body_without_inertia_falls() -> None:
    """Its box has next to no sides, and the medium nothing to take of its rotation."""
    sim = sw.Simulation(
        sw.load("""<mujoco><option density="1000" viscosity="1e-3"/><worldbody><body><joint type="slide" axis="0 0 1"/>
        <inertial pos="0 0 0" mass="1" diaginertia="0 0 0"/></body></worldbody></mujoco>"""),
        timestep=0.002,
    )
    sim.step(100)
    np.testing.assert_allclose(sim.v, -9.81 * 0.2, rtol=1e-6)


def test_jacobians_know_it() -> None:
    text = MODEL.format(density=100, viscosity=0.5, wind="1 0 0", limits="")
    sim = sw.Simulation(sw.load(text.replace('timestep="1e-7"', 'timestep="1e-3"')))
    sim.v = np.random.default_rng(1).normal(size=len(sim.v))
    state, v = sim.state(), np.array(sim.v)
    jacobians = sim.step_jacobians()
    nv = len(v)
    for k in range(nv):
        ends = []
        for sign in (1.0, -1.0):
            sim.restore(state)
            sim.v = v + sign * 1e-5 * np.eye(nv)[k]
            sim.step()
            ends.append(np.array(sim.v))
        difference = (ends[0] - ends[1]) / 2e-5
        np.testing.assert_allclose(jacobians.A[nv:, nv + k], difference, atol=1e-5)


def test_worlds_in_a_medium_are_those_of_simulations() -> None:
    """Also a world with masses of its own."""
    model = sw.load(MODEL.format(density=20, viscosity=0.3, wind="1 0 -1", limits="").replace("1e-7", "2e-3"))
    batch = sw.Batch(model, 3, tolerance=1e-11)
    masses = np.array(batch.parameters(1).masses)
    masses[1:] *= [1.5, 0.5, 2.0, 1.0, 1.0][: len(masses) - 1]
    batch.set_parameters([1], masses=[masses])
    sims = [sw.Simulation(model, tolerance=1e-11) for _ in range(2)]
    sims[1].parameters.masses = masses
    v = np.random.default_rng(0).normal(size=model.nv)
    batch.v[:] = v
    for sim in sims:
        sim.v = v
        sim.step(200)
    batch.step(200)
    for world, sim in enumerate(sims):
        # Steps of one problem in another order, 200 of them.
        np.testing.assert_allclose(batch.v[world], sim.v, atol=1e-9)
    assert np.abs(batch.v[0] - batch.v[1]).max() > 0.1


def test_worlds_of_ellipsoids_are_stepped_one_by_one() -> None:
    text = MODEL.format(density=1, viscosity=0, wind="0 0 0", limits="")
    model = sw.load(text.replace('type="ellipsoid"', 'type="ellipsoid" fluidshape="ellipsoid"'))
    with pytest.warns(sw.PerformanceWarning, match="a medium acts on ellipsoids"):
        batch = sw.Batch(model, 2)
    sim = sw.Simulation(model)
    batch.v[:, 0] = sim.v[0] = 3.0
    batch.step(10)
    sim.step(10)
    np.testing.assert_array_equal(batch.v[1], sim.v)


@pytest.mark.parametrize("scheme", ["bilinear", "symplectic-euler", "midpoint"])
@pytest.mark.parametrize(
    "medium", ["density='1000'", "viscosity='5'", "density='1000' viscosity='1' wind='1 0 0'", "density='1e6'"]
)
def test_it_takes_energy_whatever_the_time_step(scheme: Any, medium: str) -> None:
    """Thin plates are so light beside what they displace that forces of the step's beginning turn them back."""
    plate = """<geom type="box" size=".1 .05 .001" pos=".1 0 0" density="500" contype="0" conaffinity="0"/>"""
    joints = """<joint axis="0 1 0"/><joint axis="0 0 1"/>"""
    text = f"""<mujoco><option {medium} gravity="0 0 0" timestep=".005"/><worldbody><body><freejoint/>{plate}
    <body pos=".2 0 0">{joints}{plate}<body pos=".2 0 0">{joints}{plate}</body></body></body></worldbody></mujoco>"""
    rng = np.random.default_rng(0)
    wind = np.array([1.0, 0, 0]) if "wind" in medium else np.zeros(3)
    for _ in range(10):
        sim = sw.Simulation(sw.load(text), scheme=scheme)
        sim.v = rng.normal(0, 2.0, sim.model.nv)
        energies = []
        for _ in range(200):
            # Of the motion relative to the medium.
            v = np.array(sim.v)
            v[:3] -= wind
            energies.append(0.5 * v @ sim.model.mass_matrix(np.array(sim.q)) @ v)
            sim.step()
        assert max(energies[1:]) <= energies[0] * (1 + 1e-2)
        assert energies[-1] < 0.2 * energies[0]


@pytest.mark.parametrize("scheme", ["bilinear", "symplectic-euler", "midpoint", "implicit-euler"])
def test_the_fish_of_dm_control_swims_on(scheme: Any) -> None:
    fish = pytest.importorskip("dm_control.suite.fish")
    text, assets = fish.get_model_and_assets()
    model = sw.load(text.decode() if isinstance(text, bytes) else text, assets=assets)
    rng = np.random.default_rng(3)
    for _ in range(10):
        sim = sw.Simulation(model, scheme=scheme)
        sim.v = rng.normal(0, 0.5, model.nv)
        for _ in range(50):
            sim.ctrl = rng.uniform(-1, 1, model.nu)
            sim.step(5)
        assert np.abs(sim.v).max() < 100


SCHEMES = ("bilinear", "symplectic-euler", "midpoint", "implicit-euler")
IN_WATER = """<mujoco><option timestep="{dt}" density="{density}" viscosity="{viscosity}" wind="{wind}"
gravity="0 0 -9.81"/><default><geom contype="0" conaffinity="0"/></default><worldbody>{bodies}</worldbody>
{actuators}</mujoco>"""
PROPELLER = IN_WATER.format(
    dt=0.01,
    density=1000,
    viscosity=0.001,
    wind="0 0 0",
    bodies="""<body><joint name="j" axis="0 0 1"/>
    <geom type="box" size=".3 .03 .002" pos=".3 0 0" euler="30 0 0" density="2000"/>
    <geom type="box" size=".3 .03 .002" pos="-.3 0 0" euler="-30 0 0" density="2000"/></body>""",
    actuators='<actuator><motor joint="j" gear="50"/></actuator>',
)
LEAF = IN_WATER.format(
    dt=0.02,
    density=1.2,
    viscosity=2e-5,
    wind="30 0 0",
    bodies='<body><freejoint/><geom type="box" size=".2 .1 .0002" density="100"/></body>',
    actuators="",
)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("text", [PROPELLER, LEAF], ids=["a propeller in water", "a leaf in a storm"])
def test_long_steps_end_near_mujocos_short_ones(text: str, scheme: Any) -> None:
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = 1e-4
    data = mujoco.MjData(model)
    sim = sw.Simulation(sw.load(text), scheme=scheme)
    if model.nu:
        sim.ctrl[:] = data.ctrl[:] = 1.0
    mujoco.mj_step(model, data, nstep=10_000)
    sim.step(round(1.0 / sim.timestep))
    # Of first order in the time step: a body turns by 0.07 rad in one.
    np.testing.assert_allclose(sim.v, data.qvel, rtol=0.02, atol=1e-6)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_plate_that_is_thrown_into_water_does_not_come_back(scheme: Any) -> None:
    """100 m/s, where 4 µs halve the speed: MuJoCo diverges with steps of 0.1 ms."""
    bodies = """<body><joint type="slide" axis="1 0 0"/><geom type="box" size=".001 .3 .3" density="100"/></body>"""
    for dt in (0.02, 1e-3, 1e-4):
        text = IN_WATER.format(dt=dt, density=1000, viscosity=0, wind="0 0 0", bodies=bodies, actuators="")
        sim = sw.Simulation(sw.load(text), scheme=scheme)
        sim.v = [100.0]
        speeds = [100.0]
        for _ in range(20):
            sim.step()
            speeds.append(float(sim.v[0]))
        assert all(-1e-12 <= later <= before + 1e-12 for before, later in pairwise(speeds)), speeds
    # 1 / v = 1 / v₀ + k t, of the box's mass and inertia: at any step, but for implicit schemes where it resolves that.
    for dt, steps, tolerance in ((1e-8, 400, 1e-2), (1e-4, 100, 1e-10), (0.01, 20, 1e-10)):
        if tolerance < 1e-5 and scheme in ("midpoint", "implicit-euler"):
            continue
        text = IN_WATER.format(dt=dt, density=1000, viscosity=0, wind="0 0 0", bodies=bodies, actuators="")
        sim = sw.Simulation(sw.load(text), scheme=scheme)
        sim.v = [100.0]
        sim.step(steps)
        mass = float(sim.model.body_masses[1])
        assert 1.0 / sim.v[0] == pytest.approx(1.0 / 100 + 0.5 * 1000 * 0.36 / mass * sim.time, rel=tolerance)


@pytest.mark.parametrize("dt", [0.001, 0.05])
def test_what_sinks_does_so_as_fast_as_drag_carries_its_weight(dt: float) -> None:
    """At steps in which a fall would be faster than that, too."""
    text = IN_WATER.format(
        dt=dt,
        density=1000,
        viscosity=0,
        wind="0 0 0",
        bodies="""<body><joint type="slide" axis="0 0 1"/><geom type="box" size=".5 .5 .001" density="1500"/></body>""",
        actuators="",
    )
    sim = sw.Simulation(sw.load(text))
    sim.step(round(10.0 / dt))
    assert 0.5 * 1000 * 1.0 * sim.v[0] ** 2 == pytest.approx(float(sim.model.body_masses[1]) * 9.81, rel=1e-5)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_thrown_into_honey_comes_to_rest(scheme: Any) -> None:
    bodies = """<body><freejoint/><geom type="capsule" size=".01 .1" density="1500"/><body pos="0 0 .1">
    <joint type="ball"/><geom type="capsule" size=".01" fromto="0 0 0 .1 0 .1" density="1500"/></body></body>"""
    text = IN_WATER.format(dt=0.01, density=1400, viscosity=10, wind="0 0 0", bodies=bodies, actuators="")
    model, rng = sw.load(text), np.random.default_rng(2)
    for _ in range(5):
        sim = sw.Simulation(model, scheme=scheme)
        v = rng.normal(0, 3.0, model.nv)
        sim.v = v
        start = 0.5 * v @ model.mass_matrix(np.array(sim.q)) @ v
        for _ in range(20):
            sim.step()
            now = np.array(sim.v)
            assert 0.5 * now @ model.mass_matrix(np.array(sim.q)) @ now < 0.5 * start
        # It sinks.
        assert np.abs(sim.v[:3]).max() < 0.2


KINDS = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
MEDIA = {
    "water": "density='1000' viscosity='0.001'",
    "honey": "density='0' viscosity='5'",
    "wind": "density='50' viscosity='0.3' wind='1 -2 3'",
}


def words(numbers: Any) -> str:
    return " ".join(f"{x:.4f}" for x in numbers)


def random_geom(rng: np.random.Generator) -> str:
    kind = str(rng.choice(list(KINDS)))
    size, place = rng.uniform(0.03, 0.3, KINDS[kind]), words(rng.normal(0, 0.1, 3))
    coefficients = f'fluidcoef="{words(rng.uniform(0, 2, rng.integers(1, 6)))}"' if rng.random() < 0.7 else ""
    turn = words(rng.uniform(-180, 180, 3))
    return f"""<geom type="{kind}" size="{words(size)}" pos="{place}" euler="{turn}" {coefficients}/>"""


def random_chain(medium: str, seed: int) -> str:
    """Bodies of one or two ellipsoids, of an ellipsoid beside a geom that is none, and of none."""
    rng = np.random.default_rng(seed)
    first, second, third = (random_geom(rng) + random_geom(rng) * int(rng.integers(0, 2)) for _ in range(3))
    return f"""<mujoco><option {medium}/><default><geom fluidshape="ellipsoid" contype="0" conaffinity="0"/></default>
    <worldbody><body pos="0 0 1"><freejoint/>{first}<body pos=".2 0 0" euler="20 30 40"><joint type="ball"/>{second}
    <geom type="box" size=".05 .1 .2" fluidshape="none"/><body pos=".3 .1 0"><joint axis="0 1 0"/>{third}
    <body pos=".1 .1 .1" euler="10 0 0"><geom type="box" size=".05 .1 .02" fluidshape="none"/></body>
    </body></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("medium", MEDIA.values(), ids=MEDIA)
def test_accelerations_of_ellipsoids_are_those_of_mujoco(medium: str) -> None:
    rng = np.random.default_rng(0)
    for seed in range(10):
        text = random_chain(medium, seed)
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
        data.qvel[:] = rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        assert np.abs(data.qfrc_fluid).max() > 1e-2
        start = data.qpos.copy(), data.qvel.copy()
        coarse, fine = (accelerations(text, *start, timestep=dt) for dt in (1e-5, 1e-6))
        ours = (10 * fine - coarse) / 9
        np.testing.assert_allclose(ours, data.qacc, rtol=0, atol=1e-6 * np.abs(data.qacc).max())


def test_thin_ellipsoids_are_those_of_mujoco() -> None:
    """Their added mass is near to where its formula ends."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        sizes = 10 ** rng.uniform(-3, 0, 3)
        text = f"""<mujoco><option density="1.2" timestep="1e-8" gravity="0 0 0"/><worldbody><body><freejoint/>
        <geom type="ellipsoid" size="{words(sizes)}" fluidshape="ellipsoid" fluidcoef="0 0 0 0 0"/></body>
        </worldbody></mujoco>"""
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        data.qvel[:] = rng.normal(size=6)
        mujoco.mj_forward(model, data)
        ours = accelerations(text, data.qpos.copy(), data.qvel.copy())
        np.testing.assert_allclose(ours, data.qacc, rtol=0, atol=1e-5 * np.abs(data.qacc).max())


def test_ellipsoids_are_written_and_carried() -> None:
    text = random_chain(MEDIA["wind"], 3)
    model, ours = mujoco.MjModel.from_xml_string(text), sw.load(text)
    assert not ours.warnings
    written = ours.to_mjcf()
    np.testing.assert_allclose(mujoco.MjModel.from_xml_string(written).geom_fluid, model.geom_fluid, rtol=1e-9)
    assert sw.load(written).to_mjcf() == written
    q, v = ours.keyframe().q, np.random.default_rng(0).normal(size=ours.nv)
    builder = sw.ModelBuilder.from_model(sw.load(f"<mujoco><option {MEDIA['wind']}/></mujoco>"))
    builder.attach(ours)
    others = builder.build(), sw.Model.from_mujoco(model), sw.load(written), sw.Model.from_bytes(ours.to_bytes())
    changes = []
    for of in (ours, *others):
        sim = sw.Simulation(of, timestep=1e-4)
        sim.q, sim.v = q, v
        sim.step()
        changes.append(np.array(sim.v) - v)
    for change in changes[1:]:
        np.testing.assert_allclose(change, changes[0], rtol=0, atol=1e-6 * np.abs(changes[0]).max())


def test_negative_drag_is_an_error() -> None:
    with pytest.raises(sw.ModelError, match="expected 0 or more"):
        sw.load("""<mujoco><worldbody><geom size="1" fluidshape="ellipsoid" fluidcoef="1 -1"/></worldbody></mujoco>""")


PLATE = """<geom type="{kind}" size=".1 .05 .001" pos=".1 0 0" density="500" contype="0" conaffinity="0"
fluidshape="ellipsoid"/>"""
HINGES = """<joint axis="0 1 0"/><joint axis="0 0 1"/>"""


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("dt", [0.002, 0.005, 0.02])
@pytest.mark.parametrize("links", [1, 3])
def test_ellipsoids_lose_energy_whatever_the_time_step(scheme: Any, dt: float, links: int) -> None:
    """A thin plate moves 40 times its mass of water: forces of the beginning of a step turn it over."""
    if scheme == "implicit-euler" and dt > 0.01:
        pytest.skip("positions at the end of such steps are not found to the tolerance")
    plate = PLATE.format(kind="box" if links == 1 else "ellipsoid")
    chain = f"<body><freejoint/>{plate}"
    chain += f"""<body pos=".2 0 0">{HINGES}{plate}""" * (links - 1) + "</body>" * links
    text = f"""<mujoco><option density="1000" viscosity="0.001" gravity="0 0 0" timestep="{dt}"/>
    <worldbody>{chain}</worldbody></mujoco>"""
    model, rng = sw.load(text), np.random.default_rng(0)
    for _ in range(40 if links == 1 else 10):
        sim = sw.Simulation(model, scheme=scheme)
        sim.v = rng.normal(0, 3.0, model.nv)
        energies = []
        for _ in range(100):
            v = np.array(sim.v)
            energies.append(0.5 * v @ model.mass_matrix(np.array(sim.q)) @ v)
            sim.step()
        assert max(energies[1:]) <= energies[0] * (1 + 1e-2)
        assert energies[-1] < 0.1 * energies[0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_leaves_that_tumble_end_near_mujocos_short_steps(scheme: Any) -> None:
    text = """<mujoco><option density="1.225" viscosity="1.8e-5" wind="0 0 1" timestep="2e-4"/><worldbody><body>
    <freejoint/><geom size=".025 .01 5e-4" pos=".025 0 0" euler="20 0 0"/><geom size=".025 .01 5e-4" pos="-.025 0 0"
    euler="-19 0 0"/></body></worldbody>
    <default><geom type="box" mass="1e-3" fluidshape="ellipsoid"/></default></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = 1e-5
    data = mujoco.MjData(model)
    sim = sw.Simulation(sw.load(text), scheme=scheme)
    mujoco.mj_step(model, data, nstep=40_000)
    sim.step(2000)
    np.testing.assert_allclose(sim.v, data.qvel, rtol=0.05, atol=0.02)
