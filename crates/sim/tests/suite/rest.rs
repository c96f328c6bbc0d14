//! Things that stand on many corners come to rest.

use crate::common::{run, simulation};
use sapwood_sim::Options;
use spatial::{Quat, Vec3};

/// A can of 26 sides, 50 mm wide and 80 mm high, standing on the ground. Its coordinates, turned, have the digits of 32 bits, as those of most files,
/// so that no three corners of an end are in the plane of three others.
fn can(ground: &str, surface: &str) -> String {
    let turn = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.0);
    let mut corners = String::new();
    for (radius, i) in [0.025, 0.017].into_iter().flat_map(|radius| (0..52).map(move |i| (radius, i))) {
        let angle = f64::from(i / 2) * std::f64::consts::TAU / 26.0;
        let z = if i % 2 == 0 { -0.04 } else { 0.04 };
        let p = turn * Vec3::new(radius * libm::cos(angle), radius * libm::sin(angle), z);
        corners += &format!("{} {} {} ", p.x as f32, p.y as f32, p.z as f32);
    }
    let Quat { w, x, y, z } = turn.conjugate();
    format!(
        r#"<mujoco><option timestep="0.002"/><asset><mesh name="can" vertex="{corners}"/></asset><worldbody>
        <geom {ground}/>
        <body pos=".03 .02 .0402"><freejoint/><geom type="mesh" mesh="can" quat="{w} {x} {y} {z}" density="100" {surface}/></body>
        </worldbody></mujoco>"#
    )
}

#[test]
fn a_can_stands_still() {
    for ground in [r#"type="box" size=".2 .25 .02" pos="0 0 -.02""#, r#"type="plane" size="1 1 1""#] {
        for surface in ["", r#"solref=".001 1" solimp=".998 .998 .001""#] {
            let mut s = simulation(&can(ground, surface), Options::default());
            run(&mut s, 500);
            let speed = s.state().v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
            // What gravity adds in one step is 0.02.
            assert!(speed < 1e-7, "{ground} {surface}: {speed}");
            let mut iterations = 0;
            for _ in 0..100 {
                s.step().unwrap();
                iterations += s.stats().iterations;
            }
            assert!(iterations < 20, "{ground} {surface}: most solutions are those of the step before, {iterations}");
        }
    }
}
