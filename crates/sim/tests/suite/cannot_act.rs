//! Constraints that cannot move anything, or hardly, and loads far from the mass of what bears them.

use crate::common::{run, simulation};
use sapwood_sim::{Options, Simulation};

fn at(dt: f64) -> Options {
    Options { timestep: Some(dt), ..Options::default() }
}

/// A box that only slides, along x and z, above a plane.
fn slider(condim: u8, height: f64) -> Simulation {
    simulation(
        &format!(
            r#"<mujoco><worldbody>
            <geom type="plane" size="9 9 1" condim="{condim}" friction=".5 .01 .001"/>
            <body pos="0 0 {height}"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
            <geom type="box" size=".1 .1 .1" mass="1" condim="{condim}" friction=".5 .01 .001"/></body>
            </worldbody></mujoco>"#
        ),
        at(0.002),
    )
}

#[test]
fn rolling_friction_leaves_alone_what_cannot_turn() {
    for condim in [3, 4, 6] {
        let mut s = slider(condim, 0.15);
        s.state_mut().v[0] = 2.0;
        for _ in 0..1000 {
            s.step().unwrap();
            assert!(s.stats().friction_residual <= 1e-4, "condim {condim}: {:?}", s.stats());
        }
        let (q, v) = (&s.state().q, &s.state().v);
        assert!((q[1] + 0.05).abs() < 1e-5 && v[1].abs() < 1e-6, "condim {condim}: {q:?} {v:?}");
        // It slides from when it lands to where friction stops it: v²/(2 µ g) beyond what it flies, less what the impact takes.
        assert!(v[0].abs() < 1e-6, "condim {condim}: {v:?}");
        let landing = (2.0 * 0.05 / 9.81_f64).sqrt();
        let speed = 2.0 - 0.5 * 9.81 * landing;
        let way = 2.0 * landing + speed * speed / (2.0 * 0.5 * 9.81);
        assert!((q[0] - way).abs() < 0.02, "condim {condim}: {} for {way}", q[0]);
    }
}

#[test]
fn torsional_friction_still_acts_where_one_body_turns() {
    // A disc that spins on a slider which cannot turn.
    let mut s = simulation(
        r#"<mujoco><worldbody>
        <body pos="0 0 0"><joint type="slide" axis="1 0 0" damping="1"/>
        <geom type="box" size=".3 .3 .1" mass="5" condim="4" friction=".5 .01 .001"/></body>
        <body pos="0 0 .12"><freejoint/>
        <geom type="sphere" size=".02" mass="1" condim="4" friction=".5 .01 .001"/></body>
        </worldbody></mujoco>"#,
        at(0.002),
    );
    s.state_mut().v[6] = 30.0;
    run(&mut s, 50);
    // Torque μ_t m g on 0.4 m r².
    let slowed: f64 = 0.01 * 9.81 / (0.4 * 0.02 * 0.02) * 0.1;
    let spin = s.state().v[6];
    assert!((spin - (30.0 - slowed).max(0.0)).abs() < 0.05 * 30.0, "{spin}");
}

#[test]
fn a_contact_at_a_joint_s_centre_moves_nothing() {
    // The tip of the fixed pin is at the hinge, at the ball joint, or up to a millimetre beside it.
    for joint in [r#"type="hinge" axis="0 1 0""#, r#"type="ball""#] {
        for offset in [0.0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3] {
            for depth in [0.0, 1e-6, 1e-3] {
                let mut s = simulation(
                    &format!(
                        r#"<mujoco><worldbody>
                        <geom type="sphere" size=".05" pos="{offset} 0 {}"/>
                        <body pos="0 0 1"><joint {joint}/><geom type="box" size=".2 .2 .1" pos="0 0 -.1" mass="1"/></body>
                        </worldbody></mujoco>"#,
                        1.05 - depth
                    ),
                    at(0.002),
                );
                for _ in 0..200 {
                    s.step().unwrap();
                    let fastest = s.state().v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
                    // No point of the box, 0.35 m from the joint at most, is righted at more than ten times the speed of recovery.
                    assert!(0.35 * fastest < 10.0, "{joint} offset {offset} depth {depth}: {fastest} rad/s");
                }
            }
        }
    }
}

#[test]
fn what_nothing_acts_on_has_no_residual() {
    let mut s = simulation(
        r#"<mujoco><option gravity="0 0 0"/><worldbody><geom type="plane" size="9 9 1"/>
        <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
        <body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
        <body pos="1 0 .1"><joint axis="0 1 0" range="-30 30"/><geom type="box" size=".1 .1 .1" mass="1"/></body>
        </worldbody></mujoco>"#,
        at(0.002),
    );
    for _ in 0..10 {
        s.step().unwrap();
        assert!(s.stats().residual <= 1e-6 && s.stats().friction_residual <= 1e-4, "{:?}", s.stats());
        assert!(s.state().v.iter().all(|v| v.abs() < 1e-12), "{:?}", s.state().v);
    }
}

#[test]
fn a_heavy_box_rests_on_a_light_one() {
    for dt in [0.001, 0.002, 0.005, 0.01] {
        for heavy in [1.0, 1e2, 1e3, 1e4, 1e5, 1e6] {
            let mut s = simulation(
                &format!(
                    r#"<mujoco><worldbody><geom type="plane" size="9 9 1"/>
                    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
                    <body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="{heavy}"/></body>
                    </worldbody></mujoco>"#
                ),
                at(dt),
            );
            let mut deepest = 0.0_f64;
            for _ in 0..(1.0 / dt) as usize {
                s.step().unwrap();
                deepest = deepest.max(s.stats().penetration);
            }
            let (light, top) = (s.state().q[2], s.state().q[9]);
            assert!(deepest < 1e-4, "dt {dt}, {heavy} kg: {deepest} m deep, {light} {top}");
        }
    }
}
