"""Scenes that several tests use, as MJCF text."""

from __future__ import annotations


def tower(count: int, half: float = 0.1, mass: float = 1.0, timestep: float = 0.01, gap: float = 0.0) -> str:
    """Cubes on a ground plane, one upon the other."""
    bodies = "".join(
        f'<body name="box{i}" pos="0 0 {half + i * (2 * half + gap)}"><freejoint/>'
        f'<geom type="box" size="{half} {half} {half}" mass="{mass}"/></body>'
        for i in range(count)
    )
    return f"""
    <mujoco model="tower of {count}"><option timestep="{timestep}"/>
      <worldbody><geom name="ground" type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>"""


CLUTTER = """
<mujoco model="clutter">
  <default><geom density="500" friction="0.6"/></default>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.2"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>
    <body pos="0.05 0.03 0.45"><freejoint/><geom type="box" size="0.1 0.08 0.1"/></body>
    <body pos="1 0 0.15"><freejoint/><geom type="sphere" size="0.1"/></body>
    <body pos="1.05 0 0.4"><freejoint/><geom type="sphere" size="0.1"/></body>
    <body pos="0 1 0.15" euler="0 80 0"><freejoint/><geom type="capsule" size="0.05 0.2"/></body>
    <body pos="0.1 1 0.35"><freejoint/><geom type="cylinder" size="0.1 0.05"/></body>
  </worldbody>
</mujoco>
"""

RAGDOLL = """
<mujoco model="ragdoll">
  <default><geom density="900" friction="0.8"/><joint damping="0.5" armature="0.01"/></default>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="torso" pos="0 0 0.8">
      <freejoint/>
      <geom type="capsule" fromto="0 0 -0.15 0 0 0.15" size="0.09"/>
      <body name="head" pos="0 0 0.3">
        <joint type="ball" range="0 60" limited="true"/><geom type="sphere" size="0.1"/>
      </body>
      <body name="arm" pos="0 0.13 0.12">
        <joint type="ball"/><geom type="capsule" fromto="0 0 0 0 0.2 0" size="0.04"/>
        <body pos="0 0.2 0"><joint axis="1 0 0" range="0 140" limited="true"/>
          <geom type="capsule" fromto="0 0 0 0 0.2 0" size="0.03"/></body>
      </body>
      <body name="leg" pos="0 0.07 -0.2">
        <joint type="ball"/><geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.05"/>
        <body pos="0 0 -0.27"><joint axis="0 1 0" range="-140 0" limited="true"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.04"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

URDF = """
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 0.2" rpy="0.1 0 0"/><mass value="2"/>
      <inertia ixx="0.03" iyy="0.03" izz="0.01" ixy="0.001" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.05" length="0.4"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial><origin xyz="0 0 0.15"/><mass value="1"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.15"/><geometry><box size="0.1 0.1 0.3"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><origin xyz="0 0 0.5" rpy="0 0.3 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/><dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="lower"/><origin xyz="0 0 0.42"/><axis xyz="1 0 0"/>
  </joint>
</robot>
"""
