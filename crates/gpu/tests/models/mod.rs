//! Models with what the kernels simulate.

pub mod shapes;

/// Every model by name.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    FEATURES.into_iter().chain(shapes::ALL)
}

const FEATURES: [(&str, &str); 14] = [
    ("joints", JOINTS),
    ("creep", CREEP),
    ("balls", BALLS),
    ("bodies", BODIES),
    ("actuators", ACTUATORS),
    ("equalities", EQUALITIES),
    ("soft_equalities", SOFT_EQUALITIES),
    ("tendons", TENDONS),
    ("soft contacts", SOFT),
    ("masses apart", UNEVEN),
    ("walker", WALKER),
    ("tops", TOPS),
    ("rolling", ROLLING),
    ("sensors", SENSORS),
];

/// A fixed tree of hinges and slides: springs, dampers, armature, dry friction, limits.
const JOINTS: &str = r#"<mujoco><option timestep=".004"/><worldbody>
  <body pos="0 0 2"><joint name="a" type="hinge" axis="0 1 .3" damping=".1" armature=".02" stiffness="3" springref=".2"/>
    <geom type="capsule" size=".05 .2" pos="0 0 -.2"/>
    <body pos="0 0 -.4"><joint name="b" type="hinge" axis="1 0 0" limited="true" range="-.1 .1" frictionloss=".05"/>
      <geom type="capsule" size=".04 .2" pos="0 0 -.2"/>
      <body pos="0 0 -.4"><joint name="c" type="slide" axis="0 0 1" limited="true" range="-.05 .05" damping="1"/>
        <geom type="sphere" size=".08"/></body></body>
    <body pos=".1 0 -.2"><joint name="d" type="hinge" axis="0 0 1" frictionloss=".01"/><geom type="box" size=".1 .03 .05" pos=".1 0 0" contype="0" conaffinity="0"/></body>
  </body></worldbody>
  <actuator><motor joint="a" gear="5"/><motor joint="b" gear="2"/><motor joint="d" gear=".2"/></actuator></mujoco>"#;

/// Dry friction that creeps, of a hinge and of a slide.
const CREEP: &str = r#"<mujoco><option timestep=".004"/><worldbody>
  <body pos="0 0 2"><joint name="a" type="hinge" axis="0 1 .3" damping=".1" frictionloss=".5" solreffriction=".1 1"/>
    <geom type="capsule" size=".05 .2" pos="0 0 -.2"/>
    <body pos=".1 0 -.2"><joint name="b" type="slide" axis="0 0 1" frictionloss="2" solreffriction=".05 1" solimpfriction=".8 .9 .01"/>
      <geom type="box" size=".1 .03 .05" pos=".1 0 0" contype="0" conaffinity="0"/></body>
  </body></worldbody>
  <actuator><motor joint="a" gear="5"/><motor joint="b" gear="2"/></actuator></mujoco>"#;

/// Ball joints with springs and limits, under a free base.
const BALLS: &str = r#"<mujoco><option timestep=".003"/><worldbody><geom type="plane" size="0 0 1" contype="3" conaffinity="3"/>
  <body pos="0 0 .81"><freejoint/><geom type="box" size=".15 .1 .08" contype="2" conaffinity="2"/>
    <body pos=".2 0 0"><joint type="ball" damping=".02" stiffness=".5"/><geom type="capsule" size=".04 .15" pos="0 0 -.15"/>
      <body pos="0 0 -.3"><joint type="ball" limited="true" range="0 .3" frictionloss=".02"/><geom type="sphere" size=".07" pos="0 0 -.1"/></body></body>
    <body pos="-.2 0 0"><joint type="ball" limited="true" range="0 .2"/><geom type="capsule" size=".04 .15" pos="0 0 -.15"/></body>
  </body></worldbody></mujoco>"#;

/// Several trees that meet: spheres, capsules and boxes.
const BODIES: &str = r#"<mujoco><option timestep=".004"/><worldbody><geom type="plane" size="0 0 1" friction=".6" contype="3" conaffinity="3"/>
  <body pos="0 0 .11"><freejoint/><geom type="capsule" size=".1 .2" euler="0 90 0"/></body>
  <body pos=".02 0.01 .33"><freejoint/><geom type="capsule" size=".1 .2" euler="0 90 40"/></body>
  <body pos="0 0 .56"><freejoint/><geom type="sphere" size=".1"/></body>
  <body pos=".7 0 .2"><freejoint/><geom type="box" size=".1 .08 .06" euler="20 30 0" contype="2" conaffinity="2"/></body>
  </worldbody></mujoco>"#;

/// Servos with limits, activations, limits of joints.
const ACTUATORS: &str = r#"<mujoco><option timestep=".004"/><worldbody>
  <body pos="0 0 2"><joint name="a" type="hinge" axis="0 1 0"/><geom type="capsule" size=".05 .2" pos="0 0 -.2"/>
    <body pos="0 0 -.4"><joint name="b" type="hinge" axis="0 1 0" actuatorfrcrange="-2 2"/><geom type="capsule" size=".04 .2" pos="0 0 -.2"/>
      <body pos="0 0 -.4"><joint name="c" type="hinge" axis="1 0 0"/><geom type="capsule" size=".03 .1" pos="0 0 -.1"/>
        <body pos="0 0 -.2"><joint name="d" type="slide" axis="0 0 1"/><geom type="sphere" size=".05"/></body></body></body></body></worldbody>
  <actuator><position joint="a" kp="40" kv="2" forcerange="-3 3"/><velocity joint="b" kv="5"/><motor joint="b" gear="1" ctrlrange="-1 1"/>
    <general joint="c" dyntype="filter" dynprm=".05" gainprm="2" biastype="none"/>
    <intvelocity joint="d" kp="100" kv="5" actrange="-.1 .1"/></actuator></mujoco>"#;

/// Equalities.
const EQUALITIES: &str = r#"<mujoco><option timestep=".003"/><worldbody><geom type="plane" size="0 0 1"/>
  <body name="a" pos="0 0 1"><joint name="a" type="hinge" axis="0 1 0"/><geom type="capsule" size=".05 .2" pos="0 0 -.2"/>
    <body name="b" pos="0 0 -.4"><joint name="b" type="hinge" axis="0 1 0"/><geom type="capsule" size=".04 .1" pos="0 0 -.1"/></body></body>
  <body name="c" pos=".5 0 .8"><freejoint/><geom type="sphere" size=".1"/></body>
  <body name="d" pos=".5 0 1.1"><freejoint/><geom type="sphere" size=".1"/></body>
  <body name="e" pos="-.6 0 1"><freejoint/><geom type="capsule" size=".06 .1"/></body>
  <body name="f" pos="-.6 0 1.3"><joint name="f" type="slide" axis="0 0 1"/><geom type="sphere" size=".05"/></body></worldbody>
  <equality><joint joint1="b" joint2="a" polycoef="0.1 -1 .2 0 0"/><weld body1="c" body2="d"/><connect body1="e" body2="f" anchor="0 0 .2"/></equality>
  </mujoco>"#;

/// Equalities that give way, of what swings and spins.
const SOFT_EQUALITIES: &str = r#"<mujoco><option timestep=".003"/><default><equality solref=".05 .7" solimp=".7 .9 .01"/></default><worldbody>
  <body name="a" pos="0 0 1"><joint type="hinge" axis="0 1 0"/><geom type="capsule" size=".05 .2" pos="0 0 -.2"/>
    <body name="b" pos="0 0 -.4"><joint type="ball"/><geom type="capsule" size=".04 .1" pos="0 0 -.1"/></body></body>
  <body name="c" pos=".5 0 .8"><freejoint/><geom type="box" size=".1 .05 .08"/></body>
  <body name="d" pos=".8 0 1.1"><freejoint/><geom type="sphere" size=".1"/></body>
  <body name="e" pos="0 .3 .4"><freejoint/><geom name="e" type="sphere" size=".06"/></body>
  <body name="f" pos="-.6 0 1.3"><joint type="slide" axis="0 0 1"/><geom name="f" type="sphere" size=".05"/></body></worldbody>
  <equality><weld body1="c" body2="d"/><connect body1="b" body2="e" anchor="0 .1 -.2"/><connect body1="c" anchor="-.2 0 0"/>
    <distance geom1="e" geom2="f" distance="1"/></equality></mujoco>"#;

/// Fixed tendons: limits, springs, dampers, friction, armature, actuators.
const TENDONS: &str = r#"<mujoco><option timestep=".004"/><worldbody>
  <body pos="0 0 2"><joint name="a" type="hinge" axis="0 1 0"/><geom type="capsule" size=".05 .2" pos="0 0 -.2"/>
    <body pos="0 0 -.4"><joint name="b" type="hinge" axis="0 1 0"/><geom type="capsule" size=".04 .2" pos="0 0 -.2"/>
      <body pos="0 0 -.4"><joint name="c" type="hinge" axis="1 0 0"/><geom type="capsule" size=".03 .1" pos="0 0 -.1"/></body></body></body></worldbody>
  <tendon><fixed name="s" stiffness="5" damping=".2"><joint joint="a" coef="1"/><joint joint="b" coef="-.5"/></fixed>
    <fixed name="l" limited="true" range="-.2 .2"><joint joint="b" coef="1"/><joint joint="c" coef=".5"/></fixed>
    <fixed name="f" frictionloss=".02" solreffriction="-10 -8" solimpfriction=".7 .9 .01" armature=".01"><joint joint="a" coef=".3"/><joint joint="c" coef="1"/></fixed></tendon>
  <actuator><motor tendon="s" gear="2"/><position tendon="f" kp="8" kv=".3" forcerange="-1 1"/></actuator></mujoco>"#;

/// Contacts that are springs.
const SOFT: &str = r#"<mujoco><option timestep=".003"/><worldbody><geom type="plane" size="0 0 1" solref=".05 .5"/>
  <body pos="0 0 .3"><freejoint/><geom type="box" size=".2 .1 .1" solref=".05 .5"/>
    <body pos=".3 0 0"><joint type="hinge" axis="0 1 0" limited="true" range="-.2 .2" solreflimit=".03 1"/><geom type="capsule" size=".05 .1" solref=".05 .5"/></body></body>
  </worldbody></mujoco>"#;

/// A heavy body on a light one.
const UNEVEN: &str = r#"<mujoco><option timestep=".004"/><worldbody><geom type="plane" size="0 0 1" contype="3" conaffinity="3"/>
  <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass=".1"/></body>
  <body pos="0.01 0 .35"><freejoint/><geom type="sphere" size=".15" mass="20"/></body>
  <body pos="1 0 .05"><freejoint/><geom type="box" size=".1 .1 .1" mass="3" contype="2" conaffinity="2"/></body></worldbody></mujoco>"#;

/// A body on two legs that falls and slides.
const WALKER: &str = r#"<mujoco><option timestep=".004"/><worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 .9"><freejoint/><geom type="capsule" size=".1 .2"/>
    <body pos="0 .12 -.25"><joint name="lh" type="hinge" axis="0 1 0" limited="true" range="-1 1" armature=".01"/><geom type="capsule" size=".05 .15" pos="0 0 -.15"/>
      <body pos="0 0 -.3"><joint name="lk" type="hinge" axis="0 1 0" limited="true" range="-.2 1.5" armature=".01"/><geom type="capsule" size=".04 .12" pos="0 0 -.15"/></body></body>
    <body pos="0 -.12 -.25"><joint name="rh" type="hinge" axis="0 1 0" limited="true" range="-1 1" armature=".01"/><geom type="capsule" size=".05 .15" pos="0 0 -.15"/>
      <body pos="0 0 -.3"><joint name="rk" type="hinge" axis="0 1 0" limited="true" range="-.2 1.5" armature=".01"/><geom type="capsule" size=".04 .12" pos="0 0 -.15"/></body></body>
  </body></worldbody>
  <actuator><motor joint="lh" gear="30"/><motor joint="lk" gear="20"/><motor joint="rh" gear="30"/><motor joint="rk" gear="20"/></actuator></mujoco>"#;

/// Bodies that spin on a plane and on each other, with torsional friction, beside one without.
const TOPS: &str = r#"<mujoco><option timestep=".004"/><worldbody><geom type="plane" size="0 0 1" condim="4" friction=".6 .01"/>
  <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" condim="4" friction=".6 .02"/></body>
  <body pos=".02 .01 .29"><freejoint/><geom type="capsule" size=".08 .1" euler="80 20 0" condim="4" friction=".6 .02"/></body>
  <body pos=".6 0 .07"><freejoint/><geom type="box" size=".1 .08 .06" euler="3 5 0" contype="2" conaffinity="1"/></body>
  <body pos="-.6 0 .5"><joint type="hinge" axis="0 1 0" limited="true" range="-1 1"/><geom type="capsule" size=".05 .2" pos="0 0 -.25"/></body>
  </worldbody></mujoco>"#;

/// Bodies that roll with resistance.
const ROLLING: &str = r#"<mujoco><option timestep=".004"/><worldbody><geom type="plane" size="0 0 1" condim="6" friction=".6 .01 .01"/>
  <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1"/></body>
  <body pos=".02 .01 .28"><freejoint/><geom type="sphere" size=".08" condim="4" friction=".6 .02"/></body>
  <body pos=".6 0 .1"><freejoint/><geom type="cylinder" size=".1 .05" euler="87 5 0" friction=".6 .01 .002"/></body></worldbody></mujoco>"#;

/// A body on a leg with an arm on a ball joint, and everything that sensors may read of it.
const SENSORS: &str = r#"<mujoco model="sensors"><option timestep=".004" magnetic="0 -.5 .1"/><worldbody>
  <geom type="plane" size="0 0 1"/><site name="post" pos=".5 0 .3" euler="10 20 30"/>
  <body name="trunk" pos="0 0 .62"><freejoint/><geom name="trunk" type="box" size=".15 .1 .08"/><site name="imu" pos=".05 .02 .03" euler="0 30 10"/>
    <body name="thigh" pos="0 .05 -.08"><joint name="hip" type="hinge" axis="0 1 .2" limited="true" range="-1 1" armature=".01"/><geom type="capsule" size=".04 .1" pos="0 0 -.12"/>
      <body name="shin" pos="0 0 -.24" euler="0 5 0"><joint name="knee" type="hinge" axis="0 1 0"/><geom type="capsule" size=".03 .1" pos="0 0 -.12"/>
        <geom name="foot" type="sphere" size=".05" pos="0 0 -.24"/><site name="sole" type="box" size=".08 .08 .04" pos="0 0 -.27"/><site name="toe" type="capsule" size=".03 .05" pos=".02 0 -.28" euler="90 0 0"/></body></body>
    <body name="arm" pos="0 -.12 .05"><joint name="shoulder" type="ball" damping=".1"/><geom type="ellipsoid" size=".04 .03 .1" pos="0 0 -.1"/><site name="palm" type="ellipsoid" size=".05 .05 .05" pos="0 0 -.2"/></body>
  </body>
  <body pos=".2 .1 .06"><freejoint/><geom type="box" size=".06 .06 .06"/><site name="lid" type="cylinder" size=".06 .03" pos="0 0 .06"/></body></worldbody>
  <tendon><fixed name="leg"><joint joint="hip" coef="1"/><joint joint="knee" coef="-.5"/></fixed></tendon>
  <actuator><position name="hip" joint="hip" kp="60" kv="3" forcerange="-5 5"/><motor name="hip2" joint="hip" gear="2"/><position name="knee" joint="knee" kp="40" kv="1"/>
    <motor name="knee2" joint="knee" gear="-3"/><motor name="leg" tendon="leg" gear="2"/><position name="stay" tendon="leg" kp="10" kv=".5" forcerange="-1 1"/></actuator>
  <sensor><clock/><jointpos joint="hip"/><jointvel joint="knee"/><jointactuatorfrc joint="hip"/><jointactuatorfrc joint="knee"/><ballquat joint="shoulder"/><ballangvel joint="shoulder"/>
    <tendonpos tendon="leg"/><tendonvel tendon="leg"/><actuatorpos actuator="knee2"/><actuatorvel actuator="leg"/><actuatorfrc actuator="hip"/><actuatorfrc actuator="hip2"/>
    <actuatorfrc actuator="knee"/><actuatorfrc actuator="knee2"/><actuatorfrc actuator="leg"/><actuatorfrc actuator="stay"/>
    <framepos objtype="site" objname="sole"/><framepos objtype="body" objname="shin" reftype="site" refname="imu"/><framequat objtype="site" objname="imu"/><framequat objtype="xbody" objname="shin"/>
    <framequat objtype="geom" objname="foot" reftype="body" refname="arm"/><framexaxis objtype="site" objname="palm"/><frameyaxis objtype="geom" objname="trunk" reftype="site" refname="post"/><framezaxis objtype="xbody" objname="arm"/>
    <framelinvel objtype="site" objname="palm"/><framelinvel objtype="body" objname="shin" reftype="xbody" refname="arm"/><frameangvel objtype="site" objname="imu"/><frameangvel objtype="xbody" objname="shin" reftype="xbody" refname="trunk"/>
    <framelinacc objtype="site" objname="sole"/><frameangacc objtype="body" objname="arm"/><framelinacc objtype="site" objname="post"/>
    <accelerometer site="imu"/><accelerometer site="palm" cutoff="9"/><velocimeter site="imu"/><gyro site="imu"/><gyro site="palm"/><magnetometer site="palm"/>
    <subtreecom body="trunk"/><subtreelinvel body="thigh"/><subtreeangmom body="trunk"/><touch site="sole"/><touch site="toe"/><touch site="palm"/><touch site="lid"/></sensor></mujoco>"#;
