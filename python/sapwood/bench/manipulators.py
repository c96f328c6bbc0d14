"""Models of robots that hold something: a gripper with a box."""

from __future__ import annotations

from pathlib import Path

GRIPPER = """<mujoco model="gripper">
  <option timestep="0.002"/>
  <default>
    <geom friction="1 0.005 0.0001" condim="4"/>
    <joint damping="1"/>
  </default>
  <worldbody>
    <geom name="table" type="plane" size="0 0 1" condim="3"/>
    <body name="beam" pos="0 0 0.25">
      <joint name="x" type="slide" axis="1 0 0" range="-0.3 0.3" damping="20"/>
      <geom type="capsule" fromto="-0.1 0 0 0.1 0 0" size="0.03" mass="3" contype="0" conaffinity="0"/>
      <body name="column">
        <joint name="z" type="slide" axis="0 0 1" range="-0.3 0.3" damping="20"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.025" mass="2" contype="0" conaffinity="0"/>
        <body name="wrist" pos="0 0 -0.1">
          <joint name="roll" axis="0 0 1" range="-90 90"/>
          <geom type="box" size="0.03 0.08 0.015" mass="0.6" contype="0" conaffinity="0"/>
          <body name="wrist2" pos="0 0 -0.03">
            <joint name="pitch" axis="0 1 0" range="-60 60"/>
            <geom type="box" size="0.03 0.08 0.015" mass="0.4" contype="0" conaffinity="0"/>
            <body name="left" pos="0 0.055 -0.015">
              <joint name="left" type="slide" axis="0 -1 0" range="-0.02 0.055" frictionloss="0.2"/>
              <geom type="box" size="0.012 0.006 0.03" pos="0 0 -0.03" mass="0.05"/>
              <geom type="box" size="0.015 0.008 0.015" pos="0 0 -0.072" mass="0.03"/>
            </body>
            <body name="right" pos="0 -0.055 -0.015">
              <joint name="right" type="slide" axis="0 1 0" range="-0.02 0.055" frictionloss="0.2"/>
              <geom type="box" size="0.012 0.006 0.03" pos="0 0 -0.03" mass="0.05"/>
              <geom type="box" size="0.015 0.008 0.015" pos="0 0 -0.072" mass="0.03"/>
            </body>
          </body>
        </body>
      </body>
    </body>
    <body name="box" pos="0 0 0.03">
      <freejoint/>
      <geom type="box" size="0.025 0.025 0.03" mass="0.2"/>
    </body>
  </worldbody>
  <actuator>
    <position joint="x" kp="1000" kv="100" forcerange="-100 100" ctrlrange="-0.05 0.05"/>
    <position joint="z" kp="3000" kv="150" forcerange="-80 80" ctrlrange="0.05 0.2"/>
    <position joint="roll" kp="20" kv="1" forcerange="-20 20" ctrlrange="-0.4 0.4"/>
    <position joint="pitch" kp="20" kv="1" forcerange="-20 20" ctrlrange="-0.2 0.2"/>
    <position joint="left" kp="800" kv="20" forcerange="-20 20" ctrlrange="0.04 0.045"/>
    <position joint="right" kp="800" kv="20" forcerange="-20 20" ctrlrange="0.04 0.045"/>
  </actuator>
</mujoco>
"""
"""Two fingers on slides, servos of limited force, condim 4 as grippers have; they begin around a box on a table."""


def gripper(folder: Path) -> Path:
    """The gripper above; its servos close around the box and lift it."""
    path = folder / "gripper.xml"
    path.write_text(GRIPPER)
    return path
