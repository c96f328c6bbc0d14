//! Tops that spin, wobble and hop on the ground: nothing drives them, so that they gain no energy at any step.

use sapwood_sim::Options;
use spatial::{Quat, Vec3};

use crate::common;

/// A ball to stand on with a disc above it.
const TOP: &str = r#"<mujoco><worldbody><geom type="plane" size="0 0 1"/><body pos="0 0 .02"><freejoint/>
<geom type="sphere" size=".02" mass=".02"/><geom type="cylinder" pos="0 0 .06" size=".05 .01" mass=".3"/></body></worldbody></mujoco>"#;

/// The most energy in `seconds` over that of the start, as a share.
fn gain(dt: f64, tilt: f64, v: [f64; 6], seconds: f64) -> f64 {
    let mut s = common::simulation(TOP, Options { timestep: Some(dt), ..Options::default() });
    let turn = Quat::from_rotation_vector(Vec3::new(tilt, 0.0, 0.0));
    s.state_mut().q[3..7].copy_from_slice(&[turn.w, turn.x, turn.y, turn.z]);
    s.state_mut().v.copy_from_slice(&v);
    let start = s.energy().total();
    let mut most = start;
    for _ in 0..(seconds / dt).round() as usize {
        s.step().unwrap();
        most = most.max(s.energy().total());
    }
    most / start - 1.0
}

#[test]
fn tops_on_the_ground_gain_no_energy() {
    for dt in [0.01, 0.005, 0.002, 0.001] {
        for (tilt, v) in [
            (0.02, [0.0, 0.0, 0.0, 0.0, 0.0, 150.0]),
            (0.05, [1.2, -0.7, 0.4, 0.8, -1.5, 150.0]),
            (-0.1, [-0.3, 1.6, 0.9, -2.0, 0.6, 149.0]),
            (0.4, [0.5, 0.2, 1.1, 1.0, 1.0, 80.0]),
        ] {
            let gain = gain(dt, tilt, v, 10.0);
            assert!(gain < 1e-3, "dt {dt} tilt {tilt}: gains {gain}");
        }
    }
}
