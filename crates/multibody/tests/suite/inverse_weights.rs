//! Inverse weights beside those of MuJoCo 4.0.0, whose numbers these are.

use sapwood_multibody::InverseWeights;

const MODEL: &str = r#"<mujoco><worldbody>
<body name="a" pos="0 0 1"><freejoint/><inertial pos=".1 -.2 .3" mass="2" diaginertia=".3 .4 .5"/>
 <body name="b" pos=".3 0 .1"><joint name="h" type="hinge" axis="0 1 1" armature=".02"/>
  <inertial pos=".05 .1 -.2" mass=".7" diaginertia=".03 .02 .04"/>
  <body name="c" pos="0 .2 .3"><joint name="k" type="ball" pos=".01 .02 .03"/>
   <inertial pos=".02 0 .1" mass=".4" diaginertia=".003 .002 .004"/></body></body>
 <body name="d" pos="-.3 0 .1"><joint name="s" type="slide" axis="1 0 .5" armature=".1"/>
  <inertial pos="0 0 0" mass=".3" diaginertia=".01 .01 .01"/></body></body>
<body name="e" pos="2 0 0"><joint name="t" type="slide" axis="0 0 1"/><inertial pos=".1 0 0" mass="3" diaginertia=".1 .1 .1"/>
 <body name="f" pos=".1 .2 .3"><joint name="u" type="slide" axis="1 0 0"/>
  <inertial pos=".1 0 0" mass="1.5" diaginertia=".1 .1 .1"/></body></body>
<body name="g" pos="4 0 0"><joint name="w" type="hinge" axis="0 0 1"/><inertial pos="0 0 0" mass="3" diaginertia=".1 .1 .1"/></body>
<body name="h" pos="6 0 0"><joint type="slide" axis="0 0 1" armature=".3"/><inertial pos="0 0 0" mass="2" diaginertia=".1 .1 .1"/></body>
</worldbody>
<tendon><fixed name="x"><joint joint="h" coef="2"/><joint joint="s" coef="-1.5"/></fixed></tendon></mujoco>"#;

const SHIFTS: [f64; 9] = [
    0.0,
    3.436118206967e-1,
    5.668383717899e-1,
    1.066796250760,
    1.269992775318,
    7.407407407407e-2,
    2.962962962963e-1,
    0.0,
    0.5,
];
const TURNS: [f64; 9] =
    [0.0, 1.717164855452, 5.461522532131, 2.487878673492e2, 1.717164855452, 0.0, 0.0, 3.333333333333, 0.0];
const DOFS: [f64; 15] = [
    4.129842551675e-1,
    4.129842551675e-1,
    4.129842551675e-1,
    1.717164855452,
    1.717164855452,
    1.717164855452,
    1.488295400214e1,
    2.627676029947e2,
    2.627676029947e2,
    2.627676029947e2,
    2.717923507246,
    2.222222222222e-1,
    6.666666666667e-1,
    10.0,
    0.5,
];

#[test]
fn they_are_mujocos() {
    let model = formats::load_str(MODEL, None, &formats::LoadOptions::default()).unwrap().model;
    let weights = InverseWeights::new(&model);
    for (found, expected) in [
        (&weights.shifts, &SHIFTS[..]),
        (&weights.turns, &TURNS),
        (&weights.dofs, &DOFS),
        (&weights.tendons, &[68.161780755979]),
    ] {
        assert_eq!(found.len(), expected.len());
        for (x, y) in found.iter().zip(expected) {
            assert!((x - y).abs() < 1e-11 * y.max(1.0), "{found:?} {expected:?}");
        }
    }
}
