//! The Jacobians of a step against central differences of whole steps, away from changes of mode.

use crate::common::{run, simulation};
use models::characters;
use multibody::{difference, integrate};
use sapwood_sim::{ContactLaw, Options, Simulation, SimulationError};

const LAWS: [ContactLaw; 3] = [ContactLaw::Sap, ContactLaw::Lagged, ContactLaw::Coulomb];

fn options(contact: ContactLaw) -> Options {
    Options { contact, tolerance: 1e-12, ..Options::default() }
}

/// (q, v)⁺ less what it is without a change, in the tangent space, after entry `column` of (q, v, ctrl) has moved by `h`.
fn moved(s: &mut Simulation, column: usize, h: f64, from: Option<&(Vec<f64>, Vec<f64>)>) -> (Vec<f64>, Vec<f64>) {
    let model = s.model().clone();
    let bytes = s.state().to_bytes();
    let (nv, state) = (model.nv(), s.state_mut());
    match column {
        c if c < nv => {
            let mut unit = vec![0.0; nv];
            unit[c] = 1.0;
            integrate(&model.tree, &mut state.q, &unit, h);
        }
        c if c < 2 * nv => state.v[c - nv] += h,
        c => state.ctrl[c - 2 * nv] += h,
    }
    s.step().unwrap();
    let mut end = (s.state().q.clone(), s.state().v.clone());
    s.state_mut().restore(&bytes).unwrap();
    if let Some((q, v)) = from {
        let mut dq = vec![0.0; nv];
        difference(&model.tree, q, &end.0, &mut dq);
        end.1.iter_mut().zip(v).for_each(|(a, b)| *a -= b);
        end.0 = dq;
    }
    end
}

/// The greatest error of a column's positions and velocities over the greatest entry of these in any column.
fn check(s: &mut Simulation, h: f64, tolerance: f64) {
    let before = s.state().to_bytes();
    let jacobians = s.step_jacobians().unwrap();
    assert_eq!(s.state().to_bytes(), before);
    let (nv, nu) = (s.model().nv(), s.model().nu());
    let from = moved(s, 0, 0.0, None);
    let mut columns = Vec::new();
    for column in 0..2 * nv + nu {
        let (plus, minus) = (moved(s, column, h, Some(&from)), moved(s, column, -h, Some(&from)));
        let d = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<f64>>();
        columns.push([d(&plus.0, &minus.0), d(&plus.1, &minus.1)]);
    }
    let largest = |half: usize, of: std::ops::Range<usize>| {
        columns[of].iter().flat_map(|c| &c[half]).fold(0.0, |most, x| f64::max(most, x.abs()))
    };
    // Of positions and velocities of about one, in the differences of steps.
    let round_off = 1e-15 / h;
    for (k, column) in columns.iter().enumerate() {
        // Columns of q, v and ctrl have units of their own.
        let group = if k < nv {
            0..nv
        } else if k < 2 * nv {
            nv..2 * nv
        } else {
            2 * nv..2 * nv + nu
        };
        for half in 0..2 {
            let scale = largest(half, group.clone());
            for i in 0..nv {
                let row = half * nv + i;
                let found = match k.checked_sub(2 * nv) {
                    None => jacobians.a[row * 2 * nv + k],
                    Some(control) => jacobians.b[row * nu + control],
                };
                let error = (found - column[half][i]).abs();
                assert!(
                    error <= tolerance * scale + round_off,
                    "row {row}, column {k}: {found} {} of {scale}",
                    column[half][i]
                );
            }
        }
    }
}

#[test]
fn a_double_pendulum_with_springs_and_servos() {
    let mut s = simulation(
        r#"<mujoco><option timestep="0.01"/><worldbody><body><joint axis="0 1 0" stiffness="3" damping=".2"/>
        <geom type="capsule" fromto="0 0 0 .5 0 0" size=".04"/><body pos=".5 0 0"><joint axis="0 1 0" armature=".01"/>
        <joint type="slide" axis="1 0 0" stiffness="50" springref=".1"/>
        <geom type="capsule" fromto="0 0 0 .4 0 .1" size=".03"/></body></body></worldbody>
        <actuator><position joint="joint1" kp="20" kv="2"/><motor joint="joint2" gear="3"/></actuator></mujoco>"#
            .replace(r#"<joint axis="0 1 0" armature"#, r#"<joint name="joint1" axis="0 1 0" armature"#)
            .replace(r#"<joint type="slide""#, r#"<joint name="joint2" type="slide""#)
            .as_str(),
        options(ContactLaw::Coulomb),
    );
    s.state_mut().q.copy_from_slice(&[0.4, -0.7, 0.05]);
    s.state_mut().v.copy_from_slice(&[2.0, -3.0, 0.4]);
    s.state_mut().ctrl.copy_from_slice(&[0.3, 1.5]);
    check(&mut s, 1e-5, 1e-8);
}

#[test]
fn a_free_body_tumbles_and_balls_swing() {
    let mut s = simulation(
        r#"<mujoco><option timestep="0.02"/><worldbody>
        <body><freejoint/><inertial pos=".1 -.05 .02" mass="2" diaginertia=".02 .05 .06"/></body>
        <body pos="3 0 0"><joint type="ball" damping=".1" stiffness="2"/><geom type="box" pos="0 .1 -.3" size=".05 .1 .2"/>
          <body pos="0 0 -.5"><joint type="ball" armature=".02"/><geom type="box" pos="0 0 -.2" size=".04 .02 .2"/></body>
        </body></worldbody></mujoco>"#,
        options(ContactLaw::Coulomb),
    );
    let v: Vec<f64> = (0..12).map(|i| 4.0 * (1.3 * f64::from(i) + 0.4).sin()).collect();
    s.state_mut().v.copy_from_slice(&v);
    run(&mut s, 20);
    check(&mut s, 1e-5, 1e-8);
}

/// A box (or ball) on a plane, gravity aslant.
fn on_a_plane(geom: &str, gravity: &str, law: ContactLaw) -> Simulation {
    simulation(
        &format!(
            r#"<mujoco><option timestep="0.005" gravity="{gravity}"/><worldbody>
            <geom type="plane" size="9 9 1" friction=".5"/>
            <body pos="0 0 .1"><freejoint/><geom {geom} mass="1.5" friction=".5"/></body></worldbody></mujoco>"#
        ),
        options(law),
    )
}

const BOX: &str = r#"type="box" size=".2 .15 .1""#;

#[test]
fn a_block_sticks() {
    for law in LAWS {
        let mut s = on_a_plane(BOX, "2 .5 -9", law);
        run(&mut s, 100);
        check(&mut s, 1e-6, 1e-5);
    }
}

/// On three balls: the points of a block change places with its tilt, and with them what the lagged law remembers.
#[test]
fn a_sledge_slides_and_turns() {
    for law in LAWS {
        let mut s = simulation(
            r#"<mujoco><option timestep="0.005" gravity="6 1 -9"/><worldbody><geom type="plane" size="9 9 1" friction=".5"/>
            <body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .15 .05" mass="1.5"/>
            <geom type="sphere" pos=".2 0 -.05" size=".05"/><geom type="sphere" pos="-.2 .15 -.05" size=".05"/>
            <geom type="sphere" pos="-.2 -.15 -.05" size=".05"/></body></worldbody></mujoco>"#,
            options(law),
        );
        s.state_mut().v.copy_from_slice(&[1.0, 0.3, 0.0, 0.0, 0.0, 0.7]);
        run(&mut s, 50);
        check(&mut s, 1e-6, 1e-5);
    }
}

#[test]
fn a_ball_rolls_and_skids() {
    for law in LAWS {
        for spin in [0.0, 30.0] {
            let mut s = on_a_plane(r#"type="sphere" size=".1""#, ".5 0 -9", law);
            s.state_mut().v[0] = 3.0;
            s.state_mut().v[4] = spin;
            run(&mut s, 20);
            check(&mut s, 1e-6, 1e-5);
        }
    }
}

#[test]
fn rolling_and_torsional_friction() {
    for law in LAWS {
        let mut s = simulation(
            r#"<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="9 9 1" condim="6"/>
            <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" condim="6" friction=".6 .02 .01"/></body>
            </worldbody></mujoco>"#,
            options(law),
        );
        s.state_mut().v.copy_from_slice(&[1.0, 0.4, 0.0, 0.0, 11.0, 3.0]);
        run(&mut s, 20);
        check(&mut s, 1e-6, 1e-5);
    }
}

#[test]
fn a_block_on_a_block() {
    let mut s = simulation(
        r#"<mujoco><option timestep="0.005" gravity="1 0 -9.81"/><worldbody><geom type="plane" size="9 9 1"/>
        <body pos="0 0 .1"><freejoint/><geom type="box" size=".3 .3 .1"/></body>
        <body pos=".02 .01 .3" euler="0 0 10"><freejoint/><geom type="box" size=".1 .12 .1"/></body></worldbody></mujoco>"#,
        options(ContactLaw::Coulomb),
    );
    run(&mut s, 100);
    check(&mut s, 1e-6, 1e-5);
}

#[test]
fn a_humanoid_stands_under_pd() {
    let text = characters::mjcf(characters::Character::Humanoid, &characters::Options::default());
    let mut s = simulation(&text, options(ContactLaw::Coulomb));
    let (nv, target) = (s.model().nv(), s.state().q.clone());
    let kp: Vec<f64> = (0..nv).map(|i| if i < 6 { 0.0 } else { 300.0 }).collect();
    let pd = sapwood_sim::Pd {
        kd: kp.iter().map(|k| 0.1 * k).collect(),
        kp,
        target,
        target_velocity: vec![0.0; nv],
        effort_limit: vec![f64::INFINITY; nv],
    };
    s.state_mut().pd = pd;
    run(&mut s, 60);
    assert!(s.stats().active_contacts > 0);
    check(&mut s, 1e-6, 1e-5);
}

#[test]
fn limits_of_hinges_and_balls() {
    let mut s = simulation(
        r#"<mujoco><option timestep="0.005"/><worldbody>
        <body><joint axis="0 1 0" limited="true" range="-20 30"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".04"/>
          <body pos=".5 0 0"><joint axis="0 1 0" limited="true" range="-10 40"/>
          <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/></body></body>
        <body pos="0 2 0"><joint type="ball" limited="true" range="0 40"/>
          <geom type="capsule" fromto="0 0 0 .5 .1 0" size=".04"/></body></worldbody></mujoco>"#,
        options(ContactLaw::Coulomb),
    );
    run(&mut s, 400);
    assert!(s.stats().limits >= 2);
    check(&mut s, 1e-6, 1e-5);
}

#[test]
fn a_four_bar_and_a_weld() {
    let mut s = simulation(
        r#"<mujoco><option timestep="0.005"/><worldbody>
        <body><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .3" size=".02"/>
          <body pos="0 0 .3"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .6 0 .2" size=".02"/>
          <site name="end" pos=".6 0 .2"/><body name="third" pos=".6 0 .2"><joint axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02"/></body></body></body>
        <body name="a" pos="0 3 1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
        <body name="b" pos=".3 3 1"><freejoint/><geom type="box" size=".1 .05 .1"/></body></worldbody>
        <equality><connect body1="third" anchor="0 0 -.5"/><weld body1="a" body2="b"/></equality>
        <actuator/></mujoco>"#,
        options(ContactLaw::Coulomb),
    );
    s.state_mut().v[0] = 1.0;
    s.state_mut().v[7] = 2.0;
    run(&mut s, 60);
    check(&mut s, 1e-6, 1e-5);
}

#[test]
fn a_drive_at_its_limit_and_dry_friction() {
    let mut s = simulation(
        r#"<mujoco><option timestep="0.005"/><worldbody>
        <body><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".04"/>
          <body pos=".5 0 0"><joint name="b" axis="0 1 0" frictionloss=".3"/>
          <geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/></body></body></worldbody>
        <actuator><position joint="a" kp="500" kv="20" forcerange="-5 5"/></actuator></mujoco>"#,
        options(ContactLaw::Coulomb),
    );
    s.state_mut().ctrl[0] = -2.0;
    run(&mut s, 20);
    check(&mut s, 1e-6, 1e-5);
}

/// Neither the steps that follow nor what the last one reported know of it.
#[test]
fn the_simulation_stays_as_it_was() {
    let (mut a, mut b) = (on_a_plane(BOX, "2 .5 -9", LAWS[2]), on_a_plane(BOX, "2 .5 -9", LAWS[2]));
    for _ in 0..30 {
        let (contacts, stats) = (a.contacts().to_vec(), *a.stats());
        a.step_jacobians().unwrap();
        assert_eq!((a.contacts(), *a.stats()), (&contacts[..], stats));
        run(&mut a, 1);
        run(&mut b, 1);
        assert_eq!(a.state().to_bytes(), b.state().to_bytes());
    }
}

#[test]
fn a_belt_a_tendon_and_compliant_ground() {
    for law in LAWS {
        let mut s = simulation(
            r#"<mujoco><option timestep="0.005"/><worldbody>
            <geom type="plane" size="9 9 1" solref="-2000 -50" friction=".5"/>
            <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass="1" friction=".5" solref="-2000 -50"/></body>
            <body pos="2 0 1"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".04"/>
              <body pos=".5 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/></body>
            </body></worldbody>
            <tendon><fixed stiffness="20" damping="1" range="-.3 .3" limited="true">
              <joint joint="a" coef="1"/><joint joint="b" coef="-.5"/></fixed></tendon></mujoco>"#,
            options(law),
        );
        let geoms = s.scene().geoms.len();
        s.state_mut().surface_velocity = vec![0.0; 3 * geoms];
        s.state_mut().surface_velocity[0] = 1.0;
        run(&mut s, 60);
        check(&mut s, 1e-6, 1e-5);
    }
}

#[test]
fn friction_of_two_directions() {
    let pair = |ball| format!(r#"<pair geom1="plane" geom2="{ball}" friction=".3 .6 0 0 0"/>"#);
    let pairs = ["a", "b", "c"].map(pair).concat();
    for law in LAWS {
        for (v, tilt) in [([0.0, 0.0], 1.0), ([0.5, 0.4], 0.0)] {
            let mut s = simulation(
                &format!(
                    r#"<mujoco><option gravity="{tilt} .5 -9"/><worldbody><geom name="plane" type="plane" size="9 9 1"/>
                    <body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .15 .05" mass="1.5"/>
                    <geom name="a" type="sphere" pos=".2 0 -.05" size=".05"/><geom name="b" type="sphere" pos="-.2 .15 -.05" size=".05"/>
                    <geom name="c" type="sphere" pos="-.2 -.15 -.05" size=".05"/></body></worldbody><contact>{pairs}</contact></mujoco>"#
                ),
                options(law),
            );
            run(&mut s, 10);
            s.state_mut().v[..2].copy_from_slice(&v);
            run(&mut s, 10);
            check(&mut s, 1e-6, 1e-5);
        }
    }
}

/// A step that is so short that what rests is moved out of its reach by the differences.
#[test]
fn short_steps() {
    let mut s = simulation(
        r#"<mujoco><option timestep="1e-4"/><worldbody><geom type="plane" size="9 9 1"/>
        <body pos="0 0 .1"><freejoint/><geom type="box" size=".2 .15 .1" mass="1.5"/></body>
        <body pos="2 0 1"><joint axis="0 1 0" limited="true" range="0 90"/>
          <geom type="capsule" fromto="0 0 0 -.5 0 0" size=".04"/></body></worldbody></mujoco>"#,
        options(ContactLaw::Coulomb),
    );
    run(&mut s, 10);
    check(&mut s, 1e-7, 1e-4);
}

#[test]
fn what_has_no_jacobian_is_an_error() {
    let mut s = on_a_plane(BOX, "0 0 -9", LAWS[2]);
    s.state_mut().v[0] = f64::NAN;
    assert!(matches!(s.step_jacobians(), Err(SimulationError::NotFinite { .. })));

    // So upright that the points of its rim are chosen otherwise where it is tilted a little more.
    let mut s = on_a_plane(r#"type="cylinder" size=".1 .1""#, "0 0 -9", LAWS[2]);
    let half_tilt = 0.45e-6 * 0.5_f64.sqrt();
    s.state_mut().q[3..].copy_from_slice(&[1.0, half_tilt, half_tilt, 0.0]);
    let before = s.state().to_bytes();
    let error = s.step_jacobians().unwrap_err();
    let message = "step 0 at 0 s has no Jacobians: the contacts that push change next to this state";
    assert_eq!(error.to_string(), message);
    assert_eq!(s.state().to_bytes(), before);
}
