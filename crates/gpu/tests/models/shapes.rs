//! Models of every pair of shapes that has no closed form.

/// Two hulls.
macro_rules! hulls {
    () => {
        r#"<asset>
  <mesh name="wedge" vertex="-.1 -.08 -.05  .1 -.08 -.05  .1 .08 -.05  -.1 .08 -.05  -.06 -.05 .06
    .07 -.04 .05  .05 .06 .07  -.07 .05 .055"/>
  <mesh name="stone" vertex="0.02222 0.00000 0.08775  -0.02802 0.02053 0.08325  0.00424 -0.03858 0.07875  0.03438 0.03588 0.07425  -0.06223 -0.00881 0.06975
    0.05812 -0.02957 0.06525  -0.01917 0.05700 0.06075  -0.03596 -0.05543 0.05625  0.07684 0.02247 0.05175  -0.07868 0.02596 0.04725
    0.03733 -0.06375 0.04275  0.02706 0.06911 0.03825  -0.08019 -0.03721 0.03375  0.09238 -0.01621 0.02925  -0.05534 0.06290 0.02475
    -0.01247 -0.07731 0.02025  0.07525 0.05080 0.01575  -0.09913 0.00323 0.01125  0.07073 -0.05623 0.00675  -0.00469 0.07989 0.00225
    -0.06399 -0.06144 -0.00225  0.09882 0.01070 -0.00675  -0.08149 0.04528 -0.01125  0.02169 -0.07683 -0.01575  0.04837 0.06767 -0.02025
    -0.09157 -0.02344 -0.02475  0.08589 -0.03167 -0.02925  -0.03587 0.06838 -0.03375  -0.03055 -0.06817 -0.03825  0.07785 0.03282 -0.04275
    -0.08232 0.01728 -0.04725  0.04433 -0.05501 -0.05175  0.01313 0.06156 -0.05625  -0.05828 -0.03620 -0.06075  0.06865 -0.00448 -0.06525
    -0.04297 0.03707 -0.06975  0.00035 -0.04521 -0.07425  0.03248 0.02872 -0.07875  -0.03783 -0.00285 -0.08325  0.01772 -0.01073 -0.08775"/></asset>"#
    };
}

/// Every model by name.
pub const ALL: [(&str, &str); 13] = [
    ("shapes on a plane", PLANES),
    ("on a box", ON_BOX),
    ("boxes", BOXES),
    ("cylinders", CYLINDERS),
    ("a cylinder on a box", ROLLERS),
    ("cylinders on what is soft", SOFT_CYLINDERS),
    ("balls on round ones", BALLS),
    ("hulls", HULLS),
    ("on hulls", ON_HULLS),
    ("fixed shapes", FIXED),
    ("hills", HILLS),
    ("wheels on hills", WHEELS),
    ("lines", LINES),
];

/// Cylinder, ellipsoid, hulls of few and of many vertices.
const PLANES: &str = concat!(
    r#"<mujoco><option timestep=".003"/>"#,
    hulls!(),
    r#"<worldbody><geom type="plane" size="0 0 1" friction=".7"/>
  <body pos="0 0 0.2"><freejoint/><geom type="cylinder" size=".1 .08" euler="20 30 0"/></body>
  <body pos="1 0 0.2"><freejoint/><geom type="ellipsoid" size=".1 .07 .05" euler="20 30 0"/></body>
  <body pos="2 0 0.2"><freejoint/><geom type="mesh" mesh="wedge" euler="10 20 0"/></body>
  <body pos="3 0 0.2"><freejoint/><geom type="mesh" mesh="stone" euler="10 20 0"/></body>
</worldbody></mujoco>"#
);

/// A sphere and a capsule on a box.
const ON_BOX: &str = r#"<mujoco><option timestep=".003"/><worldbody><geom type="plane" size="0 0 1" friction=".7"/>
  <body pos="0 0 0.05"><freejoint/><geom type="box" size=".3 .2 .05"/></body>
  <body pos="0.05 0.03 0.17"><freejoint/><geom type="sphere" size=".06"/></body>
  <body pos="-0.15 0.0 0.16"><freejoint/><geom type="capsule" size=".05 .08" euler="90 20 0"/></body>
</worldbody></mujoco>"#;

/// Boxes on each other, one tilted.
const BOXES: &str = r#"<mujoco><option timestep=".003"/><worldbody><geom type="plane" size="0 0 1" friction=".7"/>
  <body pos="0 0 0.05"><freejoint/><geom type="box" size=".3 .2 .05"/></body>
  <body pos="0.05 0.03 0.17"><freejoint/><geom type="box" size=".1 .1 .06" euler="2 1 20"/></body>
  <body pos="0.06 0.03 0.35"><freejoint/><geom type="box" size=".08 .05 .05" euler="30 40 20"/></body>
</worldbody></mujoco>"#;

/// Cylinders and an ellipsoid on each other.
const CYLINDERS: &str = r#"<mujoco><option timestep=".003"/><worldbody><geom type="plane" size="0 0 1" friction=".7"/>
  <body pos="0 0 0.05"><freejoint/><geom type="cylinder" size=".3 .05"/></body>
  <body pos="0.05 0.03 0.17"><freejoint/><geom type="cylinder" size=".1 .06" euler="2 1 20"/></body>
  <body pos="0.16 0.03 0.33"><freejoint/><geom type="ellipsoid" size=".08 .05 .05" euler="30 40 20"/></body>
</worldbody></mujoco>"#;

/// A cylinder that rolls on a box, and a capsule on it.
const ROLLERS: &str = r#"<mujoco><option timestep=".003"/><worldbody><geom type="plane" size="0 0 1" friction=".7"/>
  <body pos="0 0 0.05"><freejoint/><geom type="box" size=".3 .3 .05"/></body>
  <body pos="0.05 0.03 0.21"><freejoint/><geom type="cylinder" size=".1 .06" euler="88 1 20"/></body>
  <body pos="0.04 0.13 0.36"><freejoint/><geom type="capsule" size=".05 .1" euler="80 10 20"/></body>
</worldbody></mujoco>"#;

/// Cylinders that stand, lean and roll on a soft plane, and one that rolls on a soft box.
const SOFT_CYLINDERS: &str = r#"<mujoco><option timestep=".003"/><default><geom solref=".03 .8" friction=".7"/></default><worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 0.05"><freejoint/><geom type="cylinder" size=".1 .05" euler="3 5 0"/></body>
  <body pos="1 0 0.1"><freejoint/><geom type="cylinder" size=".1 .05" euler="88 1 20"/></body>
  <body pos="2 0 0.05"><freejoint/><geom type="box" size=".3 .3 .05"/></body>
  <body pos="2 0 0.2"><freejoint/><geom type="cylinder" size=".1 .06" euler="88 1 20"/></body>
</worldbody></mujoco>"#;

/// Spheres on a cylinder and on an ellipsoid.
const BALLS: &str = r#"<mujoco><option timestep=".003"/><worldbody><geom type="plane" size="0 0 1" friction=".7"/>
  <body pos="0 0 0.05"><freejoint/><geom type="cylinder" size=".3 .05"/></body>
  <body pos="0.05 0.03 0.17"><freejoint/><geom type="sphere" size=".06"/></body>
  <body pos="0.06 -0.15 0.17"><freejoint/><geom type="ellipsoid" size=".1 .08 .06"/></body>
  <body pos="0.06 -0.15 0.27"><freejoint/><geom type="sphere" size=".05"/></body>
</worldbody></mujoco>"#;

/// Hulls on each other.
const HULLS: &str = concat!(
    r#"<mujoco><option timestep=".003"/>"#,
    hulls!(),
    r#"<worldbody><geom type="plane" size="0 0 1" friction=".7"/>
  <body pos="0 0 0.05"><freejoint/><geom type="mesh" mesh="wedge"/></body>
  <body pos="0.02 0.01 0.19"><freejoint/><geom type="mesh" mesh="wedge" euler="3 8 30"/></body>
  <body pos="0.02 0 0.33"><freejoint/><geom type="mesh" mesh="stone" euler="10 20 0"/></body>
</worldbody></mujoco>"#
);

/// Hulls with a box, a sphere, a capsule. None is in another: which friction moves what is righted has several answers.
const ON_HULLS: &str = concat!(
    r#"<mujoco><option timestep=".003"/>"#,
    hulls!(),
    r#"<worldbody><geom type="plane" size="0 0 1" friction=".7"/>
  <body pos="0 0 0.05"><freejoint/><geom type="box" size=".3 .3 .05"/></body>
  <body pos="0.0 0.0 0.17"><freejoint/><geom type="mesh" mesh="wedge" euler="3 8 30"/></body>
  <body pos="0.02 0.01 0.31"><freejoint/><geom type="sphere" size=".06"/></body>
  <body pos="0.2 0.0 0.16"><freejoint/><geom type="capsule" size=".05 .1" euler="90 10 0"/></body>
  <body pos="-0.19 0.16 0.19"><freejoint/><geom type="mesh" mesh="stone"/></body>
</worldbody></mujoco>"#
);

/// Stairs of boxes that are fixed in the world, a post and a dome.
const FIXED: &str = r#"<mujoco><option timestep=".003"/><worldbody>
  <geom type="box" size=".1 .5 0.02" pos="0.0 0 0.02"/><geom type="box" size=".1 .5 0.04" pos="0.2 0 0.04"/><geom type="box" size=".1 .5 0.06" pos="0.4 0 0.06"/>
  <geom type="cylinder" size=".2 .1" pos="-.4 0 .1"/><geom type="sphere" size=".2" pos="-.4 .5 .0"/>
  <body pos="0.1 0 0.2"><freejoint/><geom type="box" size=".05 .06 .07" euler="3 8 30"/></body>
  <body pos="0.3 0.2 0.3"><freejoint/><geom type="sphere" size=".06"/></body>
  <body pos="-0.4 0.0 0.35"><freejoint/><geom type="capsule" size=".05 .1" euler="90 10 0"/></body>
  <body pos="-0.38 0.5 0.33"><freejoint/><geom type="capsule" size=".05 .1" euler="90 10 0"/></body>
</worldbody></mujoco>"#;

/// Shapes of every kind on hills.
const HILLS: &str = r#"<mujoco><option timestep=".003"/><asset><mesh name="wedge" vertex="-.1 -.08 -.05  .1 -.08 -.05  .1 .08 -.05  -.1 .08 -.05  -.06 -.05 .06
    .07 -.04 .05  .05 .06 .07  -.07 .05 .055"/>
  <hfield name="hills" nrow="7" ncol="9" size="1.2 .9 .3 .1" elevation="
    0.500 0.621 0.419 0.079 0.052 0.404 0.714 0.667 0.482
    0.923 0.957 0.615 0.324 0.380 0.552 0.451 0.138 0.053
    0.639 0.570 0.411 0.539 0.873 0.965 0.647 0.286 0.269
    0.476 0.122 0.022 0.332 0.678 0.685 0.494 0.518 0.804
    0.684 0.357 0.363 0.545 0.493 0.182 0.032 0.302 0.700
    0.414 0.492 0.825 0.984 0.720 0.334 0.257 0.451 0.502
    0.006 0.263 0.633 0.697 0.510 0.487 0.758 0.956 0.745"/></asset>
  <worldbody><geom type="hfield" hfield="hills" friction=".7"/>
  <body pos="-.8 -.5 .45"><freejoint/><geom type="sphere" size=".07" contype="2"/></body>
  <body pos="-.3 -.4 .45"><freejoint/><geom type="capsule" size=".05 .1" euler="70 20 0" contype="2"/></body>
  <body pos=".3 -.4 .45"><freejoint/><geom type="box" size=".1 .08 .06" euler="10 20 30" contype="2"/></body>
  <body pos=".8 -.4 .45"><freejoint/><geom type="mesh" mesh="wedge" euler="10 20 0" contype="2"/></body></worldbody></mujoco>"#;

/// Round shapes with edges on hills.
const WHEELS: &str = r#"<mujoco><option timestep=".003"/><asset>
  <hfield name="hills" nrow="7" ncol="9" size="1.2 .9 .3 .1" elevation="
    0.500 0.621 0.419 0.079 0.052 0.404 0.714 0.667 0.482
    0.923 0.957 0.615 0.324 0.380 0.552 0.451 0.138 0.053
    0.639 0.570 0.411 0.539 0.873 0.965 0.647 0.286 0.269
    0.476 0.122 0.022 0.332 0.678 0.685 0.494 0.518 0.804
    0.684 0.357 0.363 0.545 0.493 0.182 0.032 0.302 0.700
    0.414 0.492 0.825 0.984 0.720 0.334 0.257 0.451 0.502
    0.006 0.263 0.633 0.697 0.510 0.487 0.758 0.956 0.745"/></asset>
  <worldbody><geom type="hfield" hfield="hills" friction=".7"/>
  <body pos="-.3 .4 .45"><freejoint/><geom type="cylinder" size=".1 .05" euler="80 20 0" contype="2"/></body>
  <body pos=".4 .3 .45"><freejoint/><geom type="ellipsoid" size=".1 .07 .05" euler="10 20 30" contype="2"/></body></worldbody></mujoco>"#;

/// Capsules and cylinders that lie on a soft plane and on a box, and turn there.
const LINES: &str = r#"<mujoco><option timestep=".003"/><worldbody>
  <geom type="plane" size="0 0 1" friction=".7"/><geom type="box" size=".4 .4 .1" pos="2 0 .1" friction=".7"/>
  <body pos="0 0 .1"><freejoint/><geom type="capsule" size=".1 .2" euler="90 0 20" solref=".02 1"/></body>
  <body pos="2 -.2 .3"><freejoint/><geom type="capsule" size=".1 .05" euler="90 0 20"/></body>
  <body pos="2 .2 .3"><freejoint/><geom type="cylinder" size=".1 .05" euler="90 0 10"/></body></worldbody></mujoco>"#;
