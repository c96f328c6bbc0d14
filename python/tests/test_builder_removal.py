"""Elements of a builder renamed and removed, with what refers to them; sections of MJCF."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import sapwood as sw

ARM = """
<mujoco><worldbody><camera name="far" pos="0 -3 1"/>
  <body name="upper"><joint name="shoulder" axis="0 1 0"/><geom name="rod" size=".1"/><site name="mark"/>
    <body name="lower" pos="0 0 .5"><joint name="elbow" axis="0 1 0"/><geom name="tip" size=".1"/><site name="end"/>
      <camera name="near" pos="0 0 1"/></body></body>
  <body name="other" pos="2 0 0"><joint name="rail" type="slide"/><geom name="cart" size=".1"/></body></worldbody>
  <contact><pair geom1="tip" geom2="cart"/><exclude body1="upper" body2="other"/></contact>
  <tendon><fixed name="both"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="1"/></fixed>
    <spatial name="string"><site site="mark"/><site site="end"/></spatial></tendon>
  <equality><joint name="gear" joint1="rail" joint2="elbow"/>
    <weld name="grip" body1="lower" body2="other" active="false"/>
    <joint name="stay" joint1="shoulder"/></equality>
  <actuator><motor name="m1" joint="shoulder"/><motor name="m2" joint="elbow"/><motor name="m3" tendon="both"/>
    <motor name="m4" joint="rail"/></actuator>
  <sensor><jointpos name="s1" joint="shoulder"/><jointpos name="s2" joint="elbow"/>
    <framepos name="s3" objtype="site" objname="end"/>
    <actuatorfrc name="s4" actuator="m4"/></sensor>
  <keyframe><key name="k" qpos=".1 .2 .3" ctrl="1 2 3 4"/></keyframe></mujoco>"""


def test_a_body_goes_with_all_that_refers_to_it() -> None:
    builder = sw.ModelBuilder.from_model(sw.load(ARM))
    other, lower, elbow = builder.body("other"), builder.body("lower"), builder.joint("elbow")
    notes = {other: 1, lower: 2, elbow: 3}
    lower.remove()
    model = builder.build()
    assert model.body_names == ["world", "upper", "other"]
    assert model.joint_names == ["shoulder", "rail"]
    assert model.geom_names == ["rod", "cart"]
    assert model.site_names == ["mark"]
    assert model.camera_names == ["far"]
    assert model.tendon_names == []
    assert model.actuator_names == ["m1", "m4"]
    assert model.equality_names == ["stay"]
    assert model.sensor_names == ["s1", "s4"]
    key = model.keyframe("k")
    assert key.q.tolist() == [0.1, 0.3]
    assert key.ctrl.tolist() == [1, 4]
    # Handles from before know where theirs are now, or that they are gone.
    assert other.name == "other"
    assert other.index == 2
    assert notes == {other: 1, lower: 2, elbow: 3}
    assert builder.body("other") == other
    for gone in (lower, elbow):
        assert "(removed)" in repr(gone)
        assert gone != other
        with pytest.raises(ValueError, match="has been removed from the builder"):
            _ = gone.name
    # What is left moves as the same model written without.
    sim = sw.Simulation(model)
    sim.ctrl[:] = [0.5, 0.2]
    sim.step(100)
    assert np.isfinite(sim.q).all()


def test_single_elements() -> None:
    builder = sw.ModelBuilder.from_model(sw.load(ARM))
    twin = copy.copy(builder)
    builder.actuator("m1").remove()
    builder.equality("gear").remove()
    builder.sensor("s3").remove()
    builder.camera("near").remove()
    builder.keyframe("k").remove()
    builder.geom("tip").remove()
    model = builder.build()
    assert model.actuator_names == ["m2", "m3", "m4"]
    assert model.equality_names == ["grip", "stay"]
    assert model.sensor_names == ["s1", "s2", "s4"]
    assert model.camera_names == ["far"]
    assert model.keyframe_names == []
    assert model.geom_names == ["rod", "cart"]
    assert twin.build().to_mjcf() == sw.load(ARM).to_mjcf()
    with pytest.raises(ValueError, match="the world cannot be removed"):
        builder.world.remove()


def test_names_and_laws() -> None:
    builder = sw.ModelBuilder.from_model(sw.load(ARM))
    builder.joint("elbow").name = "bend"
    builder.sensor("s2").name = "angle"
    motor = builder.actuator("m2")
    motor.gain, motor.bias = 3, (0, -3, -1)
    model = builder.build()
    assert model.joint_names == ["shoulder", "bend", "rail"]
    assert "angle" in model.sensor_names
    sim = sw.Simulation(model)
    sim.ctrl[1] = 1
    sim.forward()
    assert sim.actuator_forces[1] == pytest.approx(3, rel=0.1)
    with pytest.raises(ValueError, match="there is a joint of this name already"):
        builder.joint("bend").name = "rail"


def test_sections_of_mjcf() -> None:
    builder = sw.ModelBuilder("arm")
    rod = builder.add_body("rod")
    rod.add_joint("hinge", axis=(0, 1, 0))
    rod.add_geom("capsule", size=(0.02, 0.2), mass=0.5)
    rod.add_site("imu")
    builder.add_mjcf(
        '<sensor><gyro name="gyro" site="imu"/></sensor><actuator><muscle name="m" joint="hinge"/></actuator>'
    )
    builder.add_mjcf('<worldbody><camera name="side" pos="0 -2 0"/></worldbody>')
    model = builder.build()
    assert model.sensor_names == ["gyro"]
    assert model.actuator_names == ["m"]
    assert model.camera_names == ["side"]
    builder.add_mjcf('<sensor><gyro site="nowhere"/></sensor>')
    with pytest.raises(sw.ModelError, match="nowhere"):
        builder.build()
    with pytest.raises(TypeError, match="expected MJCF text"):
        builder.add_mjcf(3)  # type: ignore[arg-type]
