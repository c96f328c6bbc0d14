"""Models with every sensor, for the tests of sensors."""

ALL = """<mujoco>
<compiler angle="radian"/>
<option magnetic=".3 .2 -.4"/>
<worldbody>
<site name="world" pos="0 0 1" quat="1 .2 0 .1"/>
<geom name="floor" type="plane" size="5 5 1" pos="0 0 -3"/>
<body name="base" pos="0 0 1">
<freejoint/>
<geom name="box" type="box" size=".2 .1 .1" mass="3"/>
<geom type="sphere" size=".07" pos=".2 .1 0" mass=".7"/>
<site name="imu" pos=".1 0 .05" euler=".3 .2 .1" type="box" size=".3 .2 .1"/>
<site name="down" pos="0 0 -.15" euler="3.0 .1 0"/>
<body name="arm" pos=".3 0 0">
<joint name="hinge" axis="0 1 .2" range="-.6 .4" limited="true" armature=".02" damping=".1"/>
<geom name="arm" type="capsule" fromto="0 0 0 .4 .1 0" size=".04" mass="1"/>
<site name="wrist" pos=".05 0 0" euler="0 .5 0"/>
<body name="hand" pos=".4 .1 0">
<joint name="ball" type="ball" range="0 .9" limited="true" damping=".02"/>
<geom name="hand" type="ellipsoid" size=".05 .08 .03" pos="0 .05 .02" mass=".5"/>
<site name="palm" pos=".02 .05 0" type="sphere" size=".2"/>
<body name="tool" pos="0 .1 0" quat="1 .3 .2 0">
<geom name="tool" type="box" size=".03 .04 .1" mass=".3"/>
<site name="tip"/>
</body>
</body>
</body>
<body name="tail" pos="-.3 0 0">
<inertial pos="-.1 0 .02" mass=".8" diaginertia=".01 .02 .015" quat="1 .1 .3 -.2"/>
<joint name="slide" type="slide" axis="1 .1 0" range="-.2 .3" limited="true" stiffness="3"/>
</body>
</body>
</worldbody>
<tendon>
<fixed name="tendon" range="-.3 .2" limited="true" stiffness="2" springlength="0">
<joint joint="hinge" coef="1.5"/>
<joint joint="slide" coef="-2"/>
</fixed>
</tendon>
<actuator>
<motor name="motor" joint="hinge" gear="3"/>
<position name="servo" joint="slide" kp="20" forcerange="-2 2"/>
<motor name="ball" joint="ball" gear=".1 .2 .3"/>
<position name="pull" tendon="tendon" kp="4" gear="2"/>
</actuator>
<sensor>{sensors}</sensor>
</mujoco>"""
"""A body that flies, with a joint of every kind; ``{sensors}`` stands for what is measured."""

STATE_SENSORS = """<clock/>
<jointpos joint="hinge" cutoff=".3"/>
<jointvel joint="slide"/>
<tendonpos tendon="tendon"/>
<tendonvel tendon="tendon"/>
<actuatorpos actuator="motor"/>
<actuatorpos actuator="ball"/>
<actuatorpos actuator="pull"/>
<actuatorvel actuator="ball"/>
<actuatorvel actuator="pull"/>
<ballquat joint="ball"/>
<ballangvel joint="ball"/>
<jointlimitpos joint="hinge"/>
<jointlimitvel joint="hinge"/>
<jointlimitpos joint="ball"/>
<jointlimitvel joint="ball"/>
<tendonlimitpos tendon="tendon"/>
<tendonlimitvel tendon="tendon"/>
<e_potential/>
<e_kinetic/>
<velocimeter site="palm"/>
<gyro site="imu"/>
<magnetometer site="wrist"/>
<magnetometer site="world"/>
<insidesite site="imu" objtype="geom" objname="arm"/>
<insidesite site="palm" objtype="xbody" objname="hand"/>
<subtreecom body="arm"/>
<subtreelinvel body="hand"/>
<subtreeangmom body="base"/>
<subtreecom body="world"/>
<rangefinder site="down" data="dist dir origin point depth"/>
<rangefinder site="down"/>
<rangefinder site="world" cutoff="1.5"/>
<distance geom1="hand" geom2="box" cutoff="3"/>
<normal geom1="hand" geom2="box" cutoff="3"/>
<fromto geom1="hand" geom2="box" cutoff="3"/>
<distance geom1="hand" geom2="box" cutoff=".01"/>
<distance body1="base" geom2="floor" cutoff="9"/>"""
"""Sensors of positions and velocities, but for those of frames."""

MOTION_SENSORS = """<accelerometer site="imu"/>
<accelerometer site="tip"/>
<accelerometer site="world"/>
<force site="wrist"/>
<torque site="wrist"/>
<force site="palm"/>
<torque site="palm"/>
<force site="tip"/>
<torque site="tip"/>
<force site="imu"/>
<torque site="imu"/>
<framelinacc objtype="body" objname="hand"/>
<frameangacc objtype="geom" objname="hand"/>
<framelinacc objtype="xbody" objname="arm"/>
<framelinacc objtype="site" objname="tip"/>
<actuatorfrc actuator="motor"/>
<actuatorfrc actuator="servo"/>
<actuatorfrc actuator="ball"/>
<actuatorfrc actuator="pull"/>
<jointactuatorfrc joint="hinge"/>
<jointactuatorfrc joint="slide"/>
<tendonactuatorfrc tendon="tendon"/>"""
"""Sensors of accelerations and forces that need no contact."""

STAND = """<mujoco>
<option timestep=".002"/>
<worldbody>
<geom name="floor" type="plane" size="5 5 1"/>
<body name="foot" pos="0 0 .06">
<freejoint/>
<geom name="sole" type="box" size=".2 .15 .05" mass="2"/>
<site name="sole" type="box" size=".25 .2 .08"/>
<site name="toe" type="box" size=".1 .2 .08" pos=".2 0 0"/>
<body name="leg" pos=".03 0 .05">
<joint name="ankle" axis="0 1 0" range="-.5 .5" limited="true"/>
<geom name="leg" type="capsule" fromto="0 0 .1 0 0 .5" size=".04" mass="3"/>
<site name="ankle" euler="0 20 0"/>
<body name="head" pos="0 0 .6">
<geom name="head" type="sphere" size=".1" mass="4"/>
<site name="neck" pos="0 0 -.1"/>
</body>
</body>
</body>
</worldbody>
<actuator>
<position joint="ankle" kp="2000" kv="50"/>
</actuator>
<sensor>
<touch name="touch" site="sole"/>
<touch name="toe" site="toe"/>
<force name="ankle" site="ankle"/>
<torque name="ankle_torque" site="ankle"/>
<force name="neck" site="neck"/>
<accelerometer name="imu" site="ankle"/>
<contact name="net" subtree1="foot" data="found force torque pos normal" reduce="netforce"/>
<contact name="under" geom1="floor" geom2="sole" data="found force dist normal" num="6" reduce="maxforce"/>
<contact name="over" body1="foot" data="found normal" num="2"/>
<contact name="none" body1="head" data="found normal"/>
</sensor>
</mujoco>"""
"""A leg of three bodies that stands on the floor."""
