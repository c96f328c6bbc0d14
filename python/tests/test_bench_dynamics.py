"""The dynamics suite of the benchmarks: its table of a tree read by Pinocchio, and what it makes of times."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agreement import Array

import sapwood as sw
from sapwood.bench import dynamics
from sapwood.bench.cases import MissingPackageError
from sapwood.bench.dynamics import Times
from sapwood.bench.tree_table import Tree, UnsuitableModelError

pytest.importorskip("mujoco")
pin = pytest.importorskip("pinocchio")

TREE = """<mujoco>
  <option gravity="0.5 0.3 -9"/>
  <worldbody>
    <body pos="1 2 3" quat="1 2 3 4">
      <freejoint/>
      <inertial pos="0.1 0 0.2" mass="2" fullinertia="0.3 0.4 0.5 0.02 -0.03 0.04"/>
      <body pos="0.1 0.2 0.3" quat="1 0 0.5 0">
        <joint type="ball" armature="0.1"/>
        <inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.2 0.25"/>
        <body pos="0 0 0.4">
          <joint type="hinge" axis="0 -1 0"/>
          <inertial pos="0 0 0.3" quat="1 0.2 0 0" mass="0.5" diaginertia="0.02 0.02 0.01"/>
        </body>
      </body>
      <body pos="0 -0.3 0" quat="0 1 0 1">
        <joint type="hinge" axis="1 2 3" armature="0.3"/>
        <inertial pos="0 0 0.3" mass="0.5" diaginertia="0.02 0.02 0.01"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""


def read_table(text: str) -> tuple[Any, list[list[Array]]]:
    """The model and the states (q, v, tau, a) of a table, as ``benches/pinocchio/tree.hpp`` reads them."""
    model, states = pin.Model(), []
    for line in text.splitlines():
        keyword, *words = line.split()
        if keyword == "body":
            parent, kind, x = int(words[0]), words[1], np.array(words[2:], dtype=float)
            w, i, j, k = x[6:10]
            place = pin.SE3(pin.Quaternion(w, i, j, k).normalized().matrix(), x[3:6])
            xx, yy, zz, xy, xz, yz = x[14:]
            inertia = pin.Inertia(x[10], x[11:14], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
            joints = {"free": pin.JointModelFreeFlyer, "ball": pin.JointModelSpherical}
            joint = joints[kind]() if kind in joints else pin.JointModelRevoluteUnaligned(x[:3] / np.linalg.norm(x[:3]))
            added = model.addJoint(parent, joint, place, f"body{model.njoints}")
            model.appendBodyToJoint(added, inertia, pin.SE3.Identity())
            continue
        x = np.array(words, dtype=float)
        if keyword == "gravity":
            model.gravity.linear = x
        elif keyword == "armature":
            model.armature = x
        else:
            assert keyword == "state"
            states.append(np.split(x, np.cumsum([model.nq, model.nv, model.nv])))
    return model, states


def test_table_is_the_same_mechanism() -> None:
    tree, ours = Tree(TREE), sw.load(TREE)
    states = tree.random_states(5)
    table = tree.table(states, [ours.forward_dynamics(*state) for state in states])
    model, read = read_table(table)
    data = model.createData()
    assert model.nv == ours.nv == 11
    assert len(read) == 5
    for q, v, tau, a in read:
        np.testing.assert_allclose(pin.rnea(model, data, q, v, a), tau, rtol=0, atol=1e-12 * np.abs(a).max())
        np.testing.assert_allclose(pin.aba(model, data, q, v, tau), a, rtol=0, atol=1e-12 * np.abs(a).max())


def test_random_states_repeat_and_are_unit() -> None:
    first, second = Tree(TREE).random_states(3), Tree(TREE).random_states(3)
    for a, b in zip(first, second, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
        assert np.linalg.norm(a.q[3:7]) == pytest.approx(1.0, abs=1e-15)
        assert np.linalg.norm(a.q[7:11]) == pytest.approx(1.0, abs=1e-15)
    assert not np.array_equal(first[0].q, first[1].q)


@pytest.mark.parametrize(
    "joint", ['<joint type="slide"/>', '<joint pos="0 0 1"/>', "", '<joint axis="1 0 0"/><joint axis="0 1 0"/>']
)
def test_other_trees_are_refused(joint: str) -> None:
    xml = f'<mujoco><worldbody><body name="arm">{joint}<geom size="1"/></body></worldbody></mujoco>'
    with pytest.raises(UnsuitableModelError, match="arm: "):
        Tree(xml)


def test_disagreement_is_an_error() -> None:
    good = {"aba": 0.5, "aba-world": None, "crba+cholesky": 1e-12, "crba+llt": 1e-12}
    rows = dynamics.check("dog", "pinocchio g++", {"residual": 1e-13, "differences": good})
    assert len(rows) == 5
    for residual, dense in [(1e-9, 1e-12), (None, 1e-12), (1e-13, 1e-7), (1e-13, None)]:
        with pytest.raises(dynamics.DisagreementError, match=r"dog, pinocchio g\+\+"):
            dynamics.check("dog", "pinocchio g++", {"residual": residual, "differences": {**good, "crba+llt": dense}})


def test_times_are_read_from_lines_and_lists() -> None:
    lines = '{"case": "dog", "kernel": "aba", "ns": 10, "median": 12}\n{"case": "dog", "kernel": "maba", "ns": 2}\n'
    expected = [("dog", "aba", Times(12.0, 10.0)), ("dog", "maba", Times(2.0, 2.0))]
    assert dynamics.parse(lines) == expected
    assert dynamics.parse(f"[{','.join(lines.splitlines())}]") == expected
    assert dynamics.parse("") == []


def test_ratios_are_to_the_faster_build_and_convention() -> None:
    samples = {
        ("dog", "pinocchio clang++", "aba"): [Times(100.0, 90.0)],
        ("dog", "pinocchio clang++", "aba-world"): [Times(80.0, 60.0), Times(300.0, 70.0), Times(84.0, 70.0)],
        ("dog", "pinocchio g++", "aba"): [Times(120.0, 50.0)],
        ("dog", "pinocchio g++", "rnea"): [Times(40.0, 40.0)],
        ("dog", "sapwood", "maba"): [Times(21.0, 20.0)],
        ("dog", "sapwood", "rnea"): [Times(10.0, 10.0)],
        ("dog", "sapwood", "other"): [Times(10.0, 10.0)],
        ("cat", "sapwood", "aba"): [Times(1.0, 1.0)],
    }
    rows = dynamics.report(["dog"], samples)
    values = {(row["engine"], row["metric"]): row["value"] for row in rows}
    assert all(set(row) == {"suite", "case", "engine", "metric", "value", "unit"} for row in rows)
    assert values["pinocchio clang++", "aba-world"] == 84.0
    assert values["pinocchio clang++", "aba-world, least"] == 60.0
    assert values["sapwood", "pinocchio's time over maba"] == 4.0
    assert values["sapwood", "pinocchio's time over rnea"] == 4.0
    assert values["sapwood", "pinocchio's time over maba, of leasts"] == 2.5
    assert ("sapwood", "pinocchio's time over other") not in values
    assert {row["case"] for row in rows} == {"dog"}


def test_driving_is_compared_with_what_is_not_driven() -> None:
    pooled = {
        ("sapwood", "aba"): Times(10.0, 8.0),
        ("sapwood", "maba"): Times(12.0, 10.0),
        ("sapwood", "pd+aba"): Times(30.0, 20.0),
        ("sapwood", "pd+maba"): Times(30.0, 22.0),
        ("pinocchio g++", "maba"): Times(1.0, 1.0),
    }
    found = {row["metric"]: row["value"] for row in dynamics.overheads("dog", pooled)}
    assert found == pytest.approx(
        {
            "maba over aba, of leasts": 0.25,
            "pd+aba over aba, of leasts": 1.5,
            "pd+maba over pd+aba, of leasts": 0.1,
            "pd+maba over aba, of leasts": 1.75,
        }
    )


def test_our_side_may_be_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dynamics.our_times(str(tmp_path / "missing"), []) == []
    assert dynamics.our_times(f'{sys.executable} -c "raise SystemExit(3)"', []) == []
    assert capsys.readouterr().out.count("sapwood left out") == 2


def test_models_come_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "dog72.xml").write_text(TREE)
    (tmp_path / "dog72_ground.xml").write_text("<mujoco/>")
    xml, tree = dynamics.read("dog", tmp_path)
    assert xml == TREE
    assert tree.nv == 11
    with pytest.raises(MissingPackageError, match="0 files"):
        dynamics.read("humanoid", tmp_path)
