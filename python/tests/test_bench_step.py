"""The step and motion suites: their rows, and that worlds differ where they should."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sapwood.bench import motion, step
from sapwood.bench.engines import Sapwood

HOPPER = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 0.5"><freejoint/><geom type="sphere" size="0.1" mass="1"/>
<body><joint name="hip" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="0.3"/></body>
</body>
</worldbody><actuator><motor joint="hip" gear="5" ctrlrange="-1 1"/></actuator></mujoco>"""


def test_rows_say_what_was_driven_how(tmp_path: Path) -> None:
    path = tmp_path / "hopper.xml"
    path.write_text(HOPPER)
    driving = step.Driving("motion", 1.0, has_many_worlds=True)
    rows = step.run_driven(driving, {"hopper": lambda _: path}, ["mujoco"], repetitions=2)
    engines = {row["engine"] for row in rows}
    assert len(engines) == 3
    assert "sapwood" in engines
    assert {row["suite"] for row in rows} == {"motion"}
    assert {row["case"] for row in rows} == {"hopper"}
    ours = {row["metric"]: row["value"] for row in rows if row["engine"] == "sapwood"}
    assert ours["time over sapwood's"] == 1.0
    assert 0.0 <= float(ours["residual"]) <= 1e-6


def test_turns_are_worlds_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "hopper.xml"
    path.write_text(HOPPER)
    engine = Sapwood(path)
    ends = []
    for seed in (0, 1, 0):
        step.measure(engine, 1.0, seed)
        ends.append(engine.q)
    assert not np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])


def test_cases_of_motion_are_of_packages_that_are_tested_with() -> None:
    assert {"humanoid", "ant", "half_cheetah"} <= set(motion.CASES)
