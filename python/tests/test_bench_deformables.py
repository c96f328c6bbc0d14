"""The deformables suite: its mesh, and that its peers run it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from sapwood.bench import deformables
from sapwood.bench.deformables_engines import EDGE, Cube, Mujoco, Sapwood, SoftEngine

mujoco = pytest.importorskip("mujoco")


@pytest.mark.parametrize("cells", [1, 2, 3])
def test_tetrahedra_fill_the_cube_and_share_their_faces(cells: int) -> None:
    points, tetrahedra = Cube(cells, 0.05, 0.01, 0.0).mesh()
    assert len(tetrahedra) == 5 * cells**3
    corners = points[tetrahedra]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
    assert volumes.min() > 0
    assert volumes.sum() == pytest.approx(EDGE**3, rel=1e-12)
    assert points.min(axis=0) == pytest.approx([-0.05, -0.05, 0.05])
    faces = Counter(frozenset(np.delete(nodes, k)) for nodes in tetrahedra for k in range(4))
    # Two triangles for each square of the surface; every face inside belongs to two tetrahedra.
    outside, inside = 12 * cells**2, (20 * cells**3 - 12 * cells**2) // 2
    assert sorted(faces.values()) == [1] * outside + [2] * inside


@pytest.mark.parametrize("make", [lambda cube: Mujoco(cube, "CG"), Sapwood], ids=["mujoco", "sapwood"])
def test_engines_fall_as_they_integrate_and_rest(make: Callable[[Cube], SoftEngine]) -> None:
    cube = Cube(2, 0.05, 0.01, 0.0)
    engine = make(cube)
    before = engine.nodes
    engine.step(5)
    # Velocities first, then places: (1 + 2 + … + 5) g dt².
    assert engine.nodes[:, 2] == pytest.approx(before[:, 2] - 15 * 9.81e-4, abs=1e-9)
    case = deformables.Case("rest", 2)
    engine.step(100)
    error, travel = deformables.outcome(case, cube, engine, 105)
    # Contact is soft and the mesh coarse: a millimetre.
    assert abs(error) < 1e-3
    assert abs(travel) < 1e-4


def test_rows_name_case_and_engine(capsys: pytest.CaptureFixture[str]) -> None:
    rows = deformables.measure("rest", deformables.Case("rest", 1), [lambda cube: Mujoco(cube, "Newton")], 1)
    assert [row["engine"] for row in rows] == ["mujoco-newton"]
    assert float(rows[0]["ms"]) > 0
    assert "5 tetrahedra" in capsys.readouterr().out
