//! Islands that rest sleep, and wake when something comes near or is done to them.

use crate::common::{run, simulation};
use sapwood_sim::{Options, Scheme, Simulation};

/// Two stacks of two boxes, a ball above the first, and a pendulum with a motor.
const STACKS: &str = r#"<mujoco><worldbody><geom type="plane" size="9 9 1"/>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body pos="2 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body pos="2 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
    <body pos="0 0 12"><freejoint/><geom type="sphere" size=".1" mass="1"/></body>
    <body pos="5 0 2"><joint name="hinge" axis="0 1 0" damping="1"/><geom type="sphere" size=".1" pos="0 0 -.5" mass="1"/></body>
    </worldbody><actuator><motor joint="hinge"/></actuator></mujoco>"#;

fn options(scheme: Scheme) -> Options {
    Options { scheme, timestep: Some(0.005), sleep_after: Some(0.2), ..Options::default() }
}

/// Which trees sleep.
fn asleep(s: &Simulation) -> Vec<bool> {
    s.state().rests.iter().map(|rest| rest.asleep_with.is_some()).collect()
}

#[test]
fn what_rests_sleeps_and_wakes_when_it_is_hit() {
    for (_, scheme) in Scheme::NAMED {
        let mut s = simulation(STACKS, options(scheme));
        run(&mut s, 100);
        // The ball falls, and a motor may move the pendulum at any time.
        assert_eq!(asleep(&s), [true, true, true, true, false, false], "{scheme}");
        assert_eq!((s.stats().asleep, s.stats().contacts), (4, 0));
        let q = s.state().q.clone();
        run(&mut s, 100);
        assert!(s.state().q[..28] == q[..28], "what sleeps does not move by a bit");
        // 11.6 m of fall take 1.54 s.
        let mut woken = None;
        for k in 200..400 {
            run(&mut s, 1);
            if !asleep(&s)[0] && woken.is_none() {
                woken = Some(k);
                assert_eq!(asleep(&s)[..4], [false, false, true, true]);
            }
        }
        let time = woken.map(|k| f64::from(k) * 0.005);
        assert!(time.is_some_and(|t| (t - 1.54).abs() < 0.03), "{scheme}: {time:?}");
        assert!(s.state().q[2] > 0.099 && s.state().q[2] < 0.11);
    }
}

#[test]
fn what_is_done_to_a_sleeper_wakes_it_and_its_island() {
    let disturbances: [fn(&mut Simulation); 4] = [
        |s| s.state_mut().v[12] = 0.1,
        |s| s.state_mut().q[14] += 1e-9,
        |s| s.state_mut().applied_force[12] = 0.1,
        // The first box of the second stack is body 3, its force along x.
        |s| s.state_mut().applied_wrench[6 * 3 + 3] = 0.1,
    ];
    for disturb in disturbances {
        let mut s = simulation(STACKS, options(Scheme::SymplecticEuler));
        run(&mut s, 100);
        disturb(&mut s);
        run(&mut s, 1);
        assert_eq!(asleep(&s)[..4], [true, true, false, false]);
    }
}

/// Coordinates that a text has rounded are those of before.
#[test]
fn round_off_wakes_nobody() {
    let mut s = simulation(STACKS, options(Scheme::Bilinear));
    run(&mut s, 100);
    let asleep_before = asleep(&s);
    assert!(asleep_before[2]);
    s.state_mut().q[14] += 1e-14;
    run(&mut s, 1);
    assert_eq!(asleep(&s), asleep_before);
}

#[test]
fn a_step_that_fails_wakes_nobody() {
    let disturbances: [fn(&mut Simulation); 3] = [
        |s| s.state_mut().applied_force[12] = 1e308,
        |s| s.state_mut().v[12] = 1e308,
        // The ball above the first stack.
        |s| s.state_mut().v[26] = -1e308,
    ];
    for (_, scheme) in Scheme::NAMED {
        for disturb in disturbances {
            let mut s = simulation(STACKS, options(scheme));
            run(&mut s, 100);
            let asleep_before = asleep(&s);
            let (quiet, steps) = (s.state().to_bytes(), s.state().step);
            disturb(&mut s);
            let disturbed = s.state().to_bytes();
            assert!(s.step().is_err(), "{scheme}");
            assert!(s.state().to_bytes() == disturbed, "{scheme}");
            // Nothing of the failure is left in the scratch either.
            s.state_mut().restore(&quiet).unwrap();
            run(&mut s, 1);
            assert_eq!((asleep(&s), s.state().step), (asleep_before, steps + 1), "{scheme}");
        }
    }
}

#[test]
fn what_sleeps_is_part_of_the_state() {
    let mut s = simulation(STACKS, options(Scheme::Midpoint));
    run(&mut s, 150);
    let saved = s.state().to_bytes();
    run(&mut s, 250);
    let mut other = simulation(STACKS, options(Scheme::Midpoint));
    other.state_mut().restore(&saved).unwrap();
    run(&mut other, 250);
    assert!(s.state().to_bytes() == other.state().to_bytes());
}

#[test]
fn without_the_option_nothing_sleeps() {
    let mut s = simulation(STACKS, Options { sleep_after: None, ..options(Scheme::SymplecticEuler) });
    run(&mut s, 200);
    assert!(s.state().rests.is_empty() && s.stats().asleep == 0 && s.stats().contacts > 0);
}

#[test]
fn what_sleeps_is_not_mended() {
    const LINKAGE: &str = r#"<mujoco><option gravity="0 0 0"/><worldbody><body><freejoint/>
        <geom type="capsule" size=".05" fromto="0 0 0 .4 0 0" mass="1"/><body pos=".4 0 0"><joint axis="0 1 0"/>
        <geom type="capsule" size=".05" fromto="0 0 0 .3 0 .1" mass="1"/></body></body></worldbody></mujoco>"#;
    let mut s = simulation(LINKAGE, Options { sleep_speed: Some(0.1), ..options(Scheme::Midpoint) });
    s.state_mut().v[6] = 0.1;
    run(&mut s, 30);
    assert!(s.state().v[6] != 0.0);
    run(&mut s, 30);
    assert_eq!(asleep(&s), [true]);
    run(&mut s, 10);
    assert!(s.state().v.iter().all(|v| *v == 0.0), "{:?}", s.state().v);
}
