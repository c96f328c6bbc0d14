"""Contacts that a step leaves in an ``MjData``, beside MuJoCo's own."""

from __future__ import annotations

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
guest = pytest.importorskip("sapwood.mujoco")

PAIR = """<mujoco><option cone="{}"/><worldbody><geom name="ground" type="plane" size="2 2 .1"/>
  <body pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1" density="300"/></body></worldbody>
  <contact><pair geom1="box" geom2="ground" friction=".2 .4 .004 .001 .002" condim="4" margin=".01" solref=".03 1"/>
  </contact></mujoco>"""


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("pull", [(3, 2), (9, 0), (0, 4.9)])
def test_contacts_of_pairs_are_theirs(cone: str, pull: tuple[float, float]) -> None:
    m = mujoco.MjModel.from_xml_string(PAIR.format(cone))
    d, other = mujoco.MjData(m), mujoco.MjData(m)
    for data in (d, other):
        data.xfrc_applied[1, :2] = pull
    guest.step(m, d, 100)
    mujoco.mj_step(m, other, 100)
    assert d.ncon == other.ncon == 4
    for contact, theirs in zip(d.contact, other.contact, strict=True):
        assert contact.dim == theirs.dim
        for name in ("friction", "solref", "solimp", "frame", "includemargin"):
            np.testing.assert_allclose(getattr(contact, name), getattr(theirs, name), atol=1e-6, err_msg=name)
        # Nearly at the margin; what pulls at the box lifts it in MuJoCo, whose friction takes part in the normal force.
        np.testing.assert_allclose(contact.dist, theirs.dist, atol=5e-4)
    forces = np.zeros((2, 4, 6))
    for k in range(4):
        mujoco.mj_contactForce(m, d, k, forces[0, k])
        mujoco.mj_contactForce(m, other, k, forces[1, k])
    (normal, *rubbing), theirs = forces[:, :, :3].sum(axis=1)
    np.testing.assert_allclose(normal, 2.4 * 9.81, rtol=0.02)
    np.testing.assert_allclose(np.array(rubbing) / normal, theirs[1:] / theirs[0], atol=0.01)
