"""The batch suite: its rows, that worlds differ, and what it leaves out. No test asks for a speed."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from test_bench_step import HOPPER

import sapwood as sw
from sapwood.bench import batch, batch_cases, batch_compare, batch_million, batch_scaling
from sapwood.bench.batch_engines import LoneSimulations, MujocoBatch, MujocoRollout, SapwoodBatch, Worlds
from sapwood.bench.batch_rows import Row
from sapwood.bench.cases import MissingPackageError

F64 = [("f64", 4)]


@pytest.fixture
def hopper(tmp_path: Path) -> Path:
    path = tmp_path / "hopper.xml"
    path.write_text(HOPPER)
    return path


def values(rows: list[Row], engine: str, case: str) -> dict[str, float]:
    return {str(r["metric"]): float(r["value"]) for r in rows if r["engine"] == engine and r["case"] == case}


def test_a_case_has_rows_of_all_engines_in_motion_and_at_rest(hopper: Path) -> None:
    setting = batch_compare.Setting(["mujoco"], 6, 0.1, 0.2, 1, 2, [*F64, ("f32", 8)])
    rows = batch_compare.measure("hopper", hopper, setting)
    assert {row["suite"] for row in rows} == {"batch"}
    assert {row["case"] for row in rows} == {"hopper motion", "hopper rest"}
    names = {str(row["engine"]) for row in rows}
    mujoco = {"mujoco-pyramidal", "mujoco-elliptic", "mujoco.batch-pyramidal"}
    assert names == mujoco | {"sapwood alone", "sapwood f64 x 4", "sapwood f32 x 8"}
    assert all(math.isfinite(float(row["value"])) for row in rows)
    for case in ("hopper motion", "hopper rest"):
        assert values(rows, "mujoco-pyramidal", case)["speed-up"] == 1.0
        ours = values(rows, "sapwood f64 x 4", case)
        assert ours["time"] > 0.0
        assert ours["unsettled"] == 0.0
        assert 0.0 <= ours["left"] <= 1.0
        assert all(values(rows, name, case)["lost worlds"] == 0.0 for name in names)


def test_engines_get_the_same_controls_and_move_alike(hopper: Path) -> None:
    model = sw.load(hopper)
    driver = batch_cases.Driver(batch_cases.control_ranges(hopper, model.nu))
    first = driver.controls(3, 8)
    assert np.array_equal(first[:2], driver.controls(3, 2))
    assert not np.array_equal(first, driver.controls(4, 8))
    engines: list[Worlds] = [SapwoodBatch(model, 8, "f64", 4, 1), LoneSimulations(model, 8)]
    others: list[Worlds] = [MujocoRollout(hopper, 8, "pyramidal", 1), MujocoBatch(hopper, 8, 1)]
    for engine in [*engines, *others]:
        driver.start(engine)
        driver.drive(engine, 0)
        engine.advance()
    # A hop of a chaotic model, but a short one.
    for world in range(8):
        assert np.allclose(engines[0].position(world), engines[1].position(world), atol=1e-3)
        # mujoco.batch keeps what its solver starts from, the rollout begins anew every time.
        assert np.allclose(others[0].position(world), others[1].position(world), atol=1e-3)
    assert not np.allclose(engines[0].position(0), engines[0].position(1), atol=1e-3)


def test_scaling_tells_times_memory_and_divergence(hopper: Path) -> None:
    rows = batch_scaling.measure("hopper", hopper, F64, turns=1, most=4, worlds=10)
    suites = {str(row["suite"]) for row in rows}
    assert suites == {"batch scaling", "batch resets", "batch divergence"}
    assert {row["case"] for row in rows if row["suite"] == "batch scaling"} == {"hopper, 1 worlds", "hopper, 4 worlds"}
    engines = {row["engine"] for row in rows if row["suite"] == "batch scaling"}
    assert engines == {"sapwood f64 x 1, 1 thread", "sapwood f64 x 4, 1 thread", "sapwood f64 x 4, 2 threads"}
    assert all(math.isfinite(float(row["value"])) for row in rows)


def test_many_steps_are_counted(hopper: Path) -> None:
    rows = batch_million.measure("hopper", hopper, F64, worlds=8, threads=1, steps=1000)
    found = values(rows, "sapwood f64 x 4", "hopper")
    assert found["steps"] == 1000
    assert (found["unsettled steps"], found["failed worlds"], found["worlds with NaN"]) == (0, 0, 0)


def test_rows_are_written_and_missing_files_are_said(
    hopper: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(folder: Path) -> Path:
        raise MissingPackageError("no such package")

    monkeypatch.setattr(batch, "CASES", {"hopper": lambda _: hopper, "gone": missing})
    rows = batch.run(
        [], ["hopper", "gone"], 1, worlds=4, seconds=0.1, settle=0.1, precision="f64", lanes="1,4", out=tmp_path
    )
    assert "gone          left out: no such package" in capsys.readouterr().out
    assert {row["engine"] for row in rows} == {"sapwood alone", "sapwood f64 x 1", "sapwood f64 x 4"}
    assert len(list(csv.DictReader((tmp_path / "batch.csv").open()))) == len(rows)
    assert (tmp_path / "batch.json").exists()


def test_lanes_of_no_processor_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert batch.variants("f64", "4,5") == F64
    assert "f64 x 5 left out" in capsys.readouterr().out


def test_a_robot_stands_on_a_ground(tmp_path: Path) -> None:
    try:
        path = batch_cases.CASES["anymal"](tmp_path)
    except MissingPackageError as error:
        pytest.skip(str(error))
    model = sw.load(path)
    assert (model.nv, model.nu) == (18, 12)
    assert model.body_parents[1] == 0
