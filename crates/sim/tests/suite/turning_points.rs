//! A floating tree with one joint has no motion within where the joint turns around. What the default scheme corrects there must not hold the
//! joint: it converges as all schemes of first order do.

use sapwood_sim::{Options, Scheme, Simulation};

use crate::common;

/// A box with a hinged ball; the plane, far below, has it stepped in a lane.
fn model(gravity: f64, plane: bool) -> String {
    let plane = if plane { r#"<geom type="plane" size="5 5 1" pos="0 0 -50"/>"# } else { "" };
    format!(
        r#"<mujoco><option gravity="0 0 {gravity}"/><worldbody>{plane}
        <body pos="0 0 5"><freejoint/><geom type="box" size=".1 .08 .05" mass=".5"/>
          <body pos=".1 0 0"><joint axis="0 1 0"/><geom type="sphere" size=".04" pos=".15 0 0" mass=".1"/></body>
        </body></worldbody></mujoco>"#
    )
}

/// Positions every 20 ms for half a second, under forces on the degrees of freedom.
fn course(text: &str, scheme: Scheme, dt: f64, force: [f64; 7]) -> Vec<Vec<f64>> {
    let options = Options { scheme, timestep: Some(dt), ..Options::default() };
    let mut simulation: Simulation = common::simulation(text, options);
    simulation.state_mut().v.copy_from_slice(&[0.3, 0.0, 0.2, 1.0, 5.0, 0.5, 4.0]);
    simulation.state_mut().applied_force.copy_from_slice(&force);
    let steps = (0.02 / dt).round() as usize;
    (0..25)
        .map(|_| {
            (0..steps).for_each(|_| simulation.step().unwrap());
            simulation.state().q.clone()
        })
        .collect()
}

fn error(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    a.iter().flatten().zip(b.iter().flatten()).fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
}

#[test]
fn a_joint_of_what_falls_and_turns_is_not_held_where_it_turns_around() {
    let forces = [
        ([0.0; 7], "nothing"),
        ([5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "a force"),
        ([0.0, 0.0, 0.0, 0.05, 0.0, 0.0, 0.0], "a torque"),
        ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05], "a motor"),
    ];
    for plane in [false, true] {
        for gravity in [0.0, -9.81] {
            let text = model(gravity, plane);
            for (force, name) in forces {
                let exact = course(&text, Scheme::Midpoint, 1e-4, force);
                let errors =
                    [2e-3, 1e-3, 5e-4].map(|dt| error(&course(&text, Options::default().scheme, dt, force), &exact));
                println!("{name}, gravity {gravity}: {errors:?}");
                // Of first order; held, the joint is off by 0.4 to 2 rad at every step size.
                assert!(errors[0] < 0.1 && errors[2] < 0.04 && errors[2] < 0.5 * errors[0], "{name}: {errors:?}");
            }
        }
    }
}

/// The midpoint rule is of second order, whether it corrects energy and momentum or not.
#[test]
fn the_midpoint_rule_takes_forces_where_the_root_is() {
    let text = model(-9.81, false);
    for (force, name) in
        [([5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "a force"), ([0.0, 0.0, 0.0, 0.05, 0.0, 0.0, 0.0], "a torque")]
    {
        let exact = course(&text, Scheme::SymplecticEuler, 1e-5, force);
        let errors = [2e-3, 1e-3].map(|dt| error(&course(&text, Scheme::Midpoint, dt, force), &exact));
        println!("{name}: {errors:?}");
        assert!(errors[0] < 2e-3 && errors[1] < 1e-3, "{name}: {errors:?}");
    }
}

/// In flight the centre of mass moves by dt V with V the velocity at the end of the step, and energy within the tree stays, however far bodies turn.
#[test]
fn the_centre_of_mass_of_what_flies_goes_where_momentum_takes_it() {
    let (dt, steps, g) = (2e-3, 200, -9.81);
    let hammer = r#"<mujoco><worldbody><body pos="0 0 5"><freejoint/><geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
        <geom type="box" size=".03 .06 .03" pos=".3 0 0"/></body></worldbody></mujoco>"#;
    for text in [model(g, false), model(g, true), hammer.to_owned()] {
        let mut s = common::simulation(&text, Options { timestep: Some(dt), ..Options::default() });
        let nv = s.model().nv();
        s.state_mut().v.copy_from_slice(&[0.3, 0.0, 2.0, 3.0, 25.0, -8.0, 30.0][..nv]);
        let mass: f64 = s.model().bodies.iter().map(|body| body.inertia.mass).sum();
        let at_start = s.observe().center_of_mass(0);
        let speed = s.observe().momentum(0).lin * (1.0 / mass);
        let energy_at_start = s.energy();
        (0..steps).for_each(|_| s.step().unwrap());
        let n = f64::from(steps);
        let expected = at_start + speed * (n * dt) + spatial::Vec3::new(0.0, 0.0, g * dt * dt * 0.5 * n * (n + 1.0));
        let away = (s.observe().center_of_mass(0) - expected).norm();
        let (end, energy) = (speed.z + n * dt * g, s.energy());
        let of_fall = 0.5 * mass * (end * end - speed.z * speed.z);
        let gain = energy.kinetic - energy_at_start.kinetic - of_fall;
        println!("{away:e} m, {gain:e} J of {}", energy.kinetic);
        assert!(away < 1e-11 && gain.abs() < 1e-11 * energy.kinetic, "{away} {gain}");
    }
}
