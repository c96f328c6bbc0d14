//! Coulomb's law in the first step of a body that touches the ground and starts at rest.

use crate::common::{self, G, simulation};
use sapwood_sim::{ContactLaw, Options, Simulation};

const STEPS: [f64; 2] = [0.01, 0.001];
/// What sticks creeps slower than this, m/s: σ g dt is 1e-6 at 10 ms.
const CREEP: f64 = 1e-5;
const GAPS: [f64; 4] = [0.0, 1e-6, 1e-5, 1e-4];

/// A box or a ball at rest above a plane, gravity at `angle` from the plane's normal towards x.
fn at_rest(geom: &str, mu: f64, angle: f64, gap: f64, dt: f64) -> Simulation {
    let (s, c) = angle.sin_cos();
    let mjcf = format!(
        r#"<mujoco><option gravity="{} 0 {}"/><worldbody><geom type="plane" size="9 9 1" friction="{mu}"/>
        <body pos="0 0 {}"><freejoint/><geom {geom} mass="1" friction="{mu}"/></body></worldbody></mujoco>"#,
        G * s,
        -G * c,
        0.1 + gap
    );
    simulation(&mjcf, Options { contact: ContactLaw::Coulomb, timestep: Some(dt), ..Options::default() })
}

/// Friction over normal impulse of the last step, and the speed of the slowest contact point along the plane at its end, m/s.
fn ratio(s: &Simulation) -> (f64, f64) {
    let sum = s.contacts().iter().fold(spatial::Vec3::ZERO, |sum, c| sum + c.impulse_world());
    let slowest = s.contacts().iter().fold(f64::INFINITY, |least, c| least.min(c.velocity[0].hypot(c.velocity[1])));
    (sum.x.hypot(sum.y) / sum.z, slowest)
}

#[test]
fn friction_is_coulombs_from_the_first_step_on() {
    for (geom, resistance) in [(r#"type="box" size="0.1 0.1 0.1""#, 1.0), (r#"type="sphere" size="0.1""#, 2.0 / 7.0)] {
        for (mu, degrees) in
            [(0.7, 20.0_f64), (0.5, 20.0), (0.7, 40.0), (0.5, 40.0), (0.3, 16.0), (0.3, 17.0), (0.3, 60.0)]
        {
            let angle = degrees.to_radians();
            // What friction has to be, over the normal force, to hold the box or to keep the ball from slipping.
            let needed = resistance * angle.tan();
            for (dt, gap) in STEPS.into_iter().flat_map(|dt| GAPS.map(|gap| (dt, gap))) {
                let mut s = at_rest(geom, mu, angle, gap, dt);
                let lands_in = (2.0 * gap / (G * angle.cos())).sqrt();
                for step in 0..40 {
                    common::run(&mut s, 1);
                    let (ratio, speed) = ratio(&s);
                    let case = format!("{geom} mu {mu} {degrees}° gap {gap} dt {dt} step {step}: {ratio}, {speed} m/s");
                    if f64::from(step) * dt < lands_in && (ratio.is_nan() || ratio <= 0.0) {
                        continue; // Still in the air.
                    }
                    assert!(s.stats().friction_residual <= 1e-4, "{case}: {:?}", s.stats());
                    if speed > CREEP {
                        // The residual is relative to the whole impulse, not to friction alone.
                        assert!((ratio / mu - 1.0).abs() < 1e-4 * (1.0 + mu * mu).sqrt() / mu, "{case}");
                    } else {
                        assert!(ratio <= mu * (1.0 + 1e-4), "{case}");
                    }
                    // While it lands it may slip on: the ground pushes less than it does later.
                    if step == 39 {
                        assert_eq!(speed > CREEP, needed > mu, "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_slope_accelerates_as_coulomb_says_from_the_start() {
    for (mu, degrees) in [(0.5, 40.0_f64), (0.3, 17.0), (0.3, 60.0)] {
        for dt in STEPS {
            let angle = degrees.to_radians();
            let mut s = at_rest(r#"type="box" size="0.1 0.1 0.1""#, mu, angle, 0.0, dt);
            let a = G * (angle.sin() - mu * angle.cos());
            for step in 1..=10 {
                common::run(&mut s, 1);
                // Near the friction angle little is left of g sin θ, of which the tolerance is a part.
                let error = (s.state().v[0] / (dt * f64::from(step)) - a) / (G * angle.sin());
                assert!(error.abs() < 1e-3, "mu {mu} {degrees}° dt {dt} step {step}: {error}");
            }
        }
    }
}
