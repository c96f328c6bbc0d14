//! What the friction laws promise, on one block and one ball, near-rigid, at 10 ms and 1 ms.

use crate::common::{G, block, run, simulation};
use sapwood_sim::{ContactLaw, Options};

const STEPS: [f64; 2] = [0.01, 0.001];

fn options(contact: ContactLaw, timestep: f64) -> Options {
    Options { contact, timestep: Some(timestep), ..Options::default() }
}

#[test]
fn a_block_slides_down_an_incline_as_coulomb_says() {
    for law in [ContactLaw::Sap, ContactLaw::Lagged, ContactLaw::Coulomb] {
        for dt in STEPS {
            let mut s = block(0.2, 0.4, options(law, dt));
            let steps = (1.0 / dt).round() as usize;
            run(&mut s, steps);
            let v = s.state().v[0];
            run(&mut s, steps);
            let a = s.state().v[0] - v;
            let expected = G * (0.4_f64.sin() - 0.2 * 0.4_f64.cos());
            assert!((a / expected - 1.0).abs() < 1e-6, "{law:?} {dt}: {a} {expected}");
        }
    }
}

/// The distance after which a block of 2 m/s stops, and the height above where it rests that its lowest corner reaches.
fn stop(law: ContactLaw, dt: f64) -> (f64, f64) {
    let mut s = block(0.5, 0.0, options(law, dt));
    run(&mut s, (0.5 / dt) as usize);
    let (x, rest) = (s.state().q[0], s.state().q[2]);
    s.state_mut().v[0] = 2.0;
    let mut hop = 0.0_f64;
    for _ in 0..(1.0 / dt) as usize {
        run(&mut s, 1);
        let q = &s.state().q;
        let up = spatial::Quat::new(q[3], q[4], q[5], q[6]).to_mat3();
        let drop = 0.1 * up.x.z.abs() + 0.1 * up.y.z.abs() + 0.05 * up.z.z.abs();
        hop = hop.max(q[2] - drop - (rest - 0.05));
    }
    assert!(s.state().v[0].abs() < 1e-6);
    (s.state().q[0] - x, hop)
}

#[test]
fn a_sliding_block_stays_down_and_stops_where_it_must() {
    for dt in STEPS {
        let expected = 2.0 * 2.0 / (2.0 * 0.5 * G);
        // Positions follow the velocities at the ends of the steps: v₀ dt/2 less.
        let by_steps = expected - 0.5 * dt * 2.0;
        for law in [ContactLaw::Lagged, ContactLaw::Coulomb] {
            let (distance, hop) = stop(law, dt);
            assert!((distance / by_steps - 1.0).abs() < 5e-3, "{law:?} {dt}: {distance} {by_steps}");
            assert!(hop < 10e-6, "{law:?} {dt}: {hop}");
        }
        // The cone lifts the block by about dt μ v.
        let (_, hop) = stop(ContactLaw::Sap, dt);
        assert!(hop > 0.1 * dt * 0.5 * 2.0, "{dt}: {hop}");
    }
}

/// |γ_t| / (μ γ_n) of a ball that hits the ground at 3 m/s across and 2 m/s down, in the impact.
fn impact(law: ContactLaw, dt: f64) -> f64 {
    let mjcf = r#"<mujoco><worldbody><geom type="plane" size="9 9 1" friction="0.3"/><body pos="0 0 0.15"><freejoint/>
        <geom type="sphere" size="0.1" mass="1" friction="0.3"/></body></worldbody></mujoco>"#;
    let mut s = simulation(mjcf, options(law, dt));
    s.state_mut().v[0] = 3.0;
    s.state_mut().v[2] = -2.0;
    for _ in 0..(0.1 / dt) as usize {
        run(&mut s, 1);
        if let Some(contact) = s.contacts().iter().find(|c| c.impulse[2] > 0.1) {
            let [t1, t2, n] = contact.impulse;
            return t1.hypot(t2) / (0.3 * n);
        }
    }
    panic!("no impact");
}

#[test]
fn an_oblique_impact_obeys_coulomb() {
    for dt in STEPS {
        for law in [ContactLaw::Sap, ContactLaw::Coulomb] {
            let ratio = impact(law, dt);
            assert!((ratio - 1.0).abs() < 1e-3, "{law:?} {dt}: {ratio}");
        }
    }
}

#[test]
fn a_block_on_an_incline_of_20_degrees_creeps_less_than_a_micrometre_per_second() {
    for dt in STEPS {
        for law in [ContactLaw::Sap, ContactLaw::Lagged, ContactLaw::Coulomb] {
            let mut s = block(0.7, 20_f64.to_radians(), options(law, dt));
            run(&mut s, (1.0 / dt) as usize);
            let x = s.state().q[0];
            run(&mut s, (1.0 / dt) as usize);
            let creep = (s.state().q[0] - x).abs();
            assert!(creep < 1e-6, "{law:?} {dt}: {creep}");
        }
    }
}

/// A block whose friction with the plane is `along_y` in y and `along_x` in x; gravity at `angle` from the plane's normal towards `direction` from x.
fn skate(along_y: f64, along_x: f64, angle: f64, direction: f64, options: Options) -> sapwood_sim::Simulation {
    let ((s, c), (y, x)) = (angle.sin_cos(), direction.sin_cos());
    let gravity = [G * s * x, G * s * y, -G * c];
    let [gx, gy, gz] = gravity;
    simulation(
        &format!(
            r#"<mujoco><option gravity="{gx} {gy} {gz}"/><worldbody><geom name="plane" type="plane" size="9 9 1"/>
            <body pos="0 0 0.05"><freejoint/><geom name="block" type="box" size="0.1 0.1 0.05" mass="1"/></body></worldbody>
            <contact><pair geom1="plane" geom2="block" friction="{along_y} {along_x} 0 0 0"/></contact></mujoco>"#
        ),
        options,
    )
}

#[test]
fn a_block_slides_at_the_angle_of_each_direction() {
    let quarter = std::f64::consts::FRAC_PI_2;
    for (along_y, along_x) in [(0.5_f64, 0.2_f64), (0.2, 0.5)] {
        for law in [ContactLaw::Sap, ContactLaw::Lagged, ContactLaw::Coulomb] {
            for (direction, mu) in [(0.0, along_x), (quarter, along_y), (2.0 * quarter, along_x)] {
                let angle = mu.atan();
                let mut s = skate(along_y, along_x, angle - 1e-3, direction, options(law, 0.005));
                run(&mut s, 200);
                let speed = s.state().v[..2].iter().fold(0.0, |sum, v| sum + v * v).sqrt();
                assert!(speed < 1e-4, "{law:?} {along_y} {direction}: {speed}");
                let mut s = skate(along_y, along_x, angle + 0.1, direction, options(law, 0.005));
                run(&mut s, 100);
                let before = s.state().v.clone();
                run(&mut s, 100);
                let (y, x) = direction.sin_cos();
                let a = ((s.state().v[0] - before[0]) * x + (s.state().v[1] - before[1]) * y) / 0.5;
                let expected = G * ((angle + 0.1).sin() - mu * (angle + 0.1).cos());
                assert!((a / expected - 1.0).abs() < 1e-5, "{law:?} {along_y} {direction}: {a} {expected}");
            }
        }
    }
}

/// The force of a slide that is along neither axis loses the most energy that one within the ellipse can: −N (μ₁² v₁, μ₂² v₂) / |(μ₁ v₁, μ₂ v₂)|.
#[test]
fn friction_of_two_directions_opposes_a_slide_across_them_as_the_ellipse_says() {
    let (along_y, along_x) = (0.6_f64, 0.3_f64);
    // The convex cone lifts the block first.
    for law in [ContactLaw::Lagged, ContactLaw::Coulomb] {
        let mut s = skate(along_y, along_x, 0.0, 0.0, options(law, 1e-4));
        run(&mut s, 50);
        s.state_mut().v[..2].copy_from_slice(&[1.0, 0.7]);
        run(&mut s, 1);
        let before = s.state().v.clone();
        run(&mut s, 20);
        let middle = [before[0], before[1]].iter().zip(&s.state().v).map(|(a, b)| 0.5 * (a + b)).collect::<Vec<f64>>();
        let norm = (along_x * middle[0]).hypot(along_y * middle[1]);
        for (k, mu) in [along_x, along_y].into_iter().enumerate() {
            let (a, expected) = ((s.state().v[k] - before[k]) / 20e-4, -G * mu * mu * middle[k] / norm);
            assert!((a / expected - 1.0).abs() < 1e-3, "{law:?} {k}: {a} {expected}");
        }
        let contact = &s.contacts()[0];
        let (force, [t1, t2]) = (contact.impulse_world(), contact.tangents);
        let slip = t1 * contact.velocity[0] + t2 * contact.velocity[1];
        let ratio = slip.x * along_x * along_x / (slip.y * along_y * along_y);
        assert!((force.x / force.y / ratio - 1.0).abs() < 1e-3 && slip.x > 0.9, "{force:?} {slip:?}");
    }
}
