//! Motions with closed forms, and what a step promises.

use crate::common::{self, BIPED, balls_in_a_box, run, simulation, tower};
use sapwood_sim::{Options, SimulationError};

const GROUND: &str = r#"<geom type="plane" size="5 5 .1"/>"#;

fn scene(body: &str) -> String {
    format!("<mujoco><worldbody>{GROUND}{body}</worldbody></mujoco>")
}

#[test]
fn free_fall_is_exact_for_symplectic_euler() {
    let ball = r#"<body pos="0 0 9"><freejoint/><geom type="sphere" size=".1"/></body>"#;
    let mut s = simulation(&scene(ball), Options { timestep: Some(0.01), ..Options::default() });
    run(&mut s, 100);
    assert!((s.state().v[2] + 9.81).abs() < 1e-12);
    // Σ_{k=1..n} g dt k dt
    assert!((s.state().q[2] - (9.0 - 9.81 * 0.5 * 1.01)).abs() < 1e-12);
}

#[test]
fn a_resting_box_does_not_sink() {
    let cube = r#"<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/></body>"#;
    let mut s = simulation(&scene(cube), Options { timestep: Some(0.01), ..Options::default() });
    run(&mut s, 1000);
    let z = s.state().q[2];
    run(&mut s, 1000);
    assert!((s.state().q[2] - z).abs() < 1e-9 && (z - 0.1).abs() < 1e-6, "{z} {}", s.state().q[2]);
    let weight: f64 = s.contacts().iter().map(|c| c.impulse[2]).sum::<f64>() / 0.01;
    assert!((weight - 2.0 * 9.81).abs() < 1e-3 * 2.0 * 9.81, "{weight}");
}

#[test]
fn a_tower_of_ten_boxes_stands_and_carries_its_weight() {
    let dt = 0.01;
    let mut s = simulation(&tower(), Options { timestep: Some(dt), ..Options::default() });
    run(&mut s, 100);
    let before = s.state().q.clone();
    run(&mut s, 1000);
    for b in 0..10 {
        for k in 0..3 {
            let drift = (s.state().q[7 * b + k] - before[7 * b + k]).abs() / (1000.0 * dt);
            assert!(drift < 1e-6, "box {b} drifts {drift} m/s along {k}");
        }
    }
    for level in 0..10 {
        let above = (10 - level) as f64 * 9.81;
        let carried: f64 =
            s.contacts().iter().filter(|c| c.bodies == [level, level + 1]).map(|c| c.impulse[2] / dt).sum();
        assert!((carried - above).abs() < 1e-3 * above, "below box {level}: {carried} N, expected {above} N");
    }
}

#[test]
fn contact_space_and_the_global_solver_move_alike() {
    let of = || simulation(BIPED, Options { tolerance: 1e-10, ..Options::default() });
    let [mut auto, mut global] = common::both_ways(of);
    let mut touching = 0;
    for _ in 0..200 {
        let before = auto.state().to_bytes();
        auto.step().unwrap();
        // From the same state: what round-off leaves grows from step to step where legs hit each other.
        global.state_mut().restore(&before).unwrap();
        global.step().unwrap();
        let error = common::difference(&auto, &global);
        assert!(error < 1e-6, "step {}: {error}", auto.state().step);
        touching += usize::from(auto.contacts().iter().any(|c| c.bodies[0] != 0 && c.impulse[2] > 0.0));
    }
    assert!(touching > 20, "the biped touched the box or itself in {touching} steps only");
}

#[test]
fn friction_holds_below_its_coefficient_and_slides_above() {
    let (g, mu, dt) = (9.81_f64, 0.5_f64, 0.005);
    for (degrees, slides) in [(20.0_f64, false), (35.0, true)] {
        let angle = degrees.to_radians();
        let gravity = format!("{} 0 {}", g * angle.sin(), -g * angle.cos());
        let mjcf = format!(
            r#"<mujoco><option gravity="{gravity}"/><default><geom friction="{mu}"/></default><worldbody>{GROUND}
            <body pos="0 0 .05"><freejoint/><geom type="box" size=".1 .1 .05"/></body></worldbody></mujoco>"#
        );
        let mut s = simulation(&mjcf, Options { timestep: Some(dt), ..Options::default() });
        run(&mut s, 200);
        let v = s.state().v[0];
        run(&mut s, 200);
        let acceleration = (s.state().v[0] - v) / (200.0 * dt);
        if slides {
            let expected = g * (angle.sin() - mu * angle.cos());
            assert!((acceleration - expected).abs() < 2e-3 * expected, "{acceleration} against {expected}");
        } else {
            // σ g dt is the creep of a stuck contact.
            assert!(s.state().v[0].abs() < 2.0 * 1e-5 * g * dt, "{}", s.state().v[0]);
        }
    }
}

#[test]
fn deep_overlap_is_righted_without_a_launch() {
    // A ball that starts with its centre on the ground, and a joint that starts 30° beyond its limit.
    let mjcf = r#"<mujoco><worldbody><geom type="plane" size="5 5 .1"/>
        <body><freejoint/><geom type="sphere" size=".1"/></body>
        <body pos="3 0 2"><joint axis="0 -1 0" range="30 60" armature=".01"/>
        <geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/></body></worldbody></mujoco>"#;
    let mut s = simulation(mjcf, Options { timestep: Some(0.005), ..Options::default() });
    for _ in 0..1000 {
        s.step().unwrap();
        assert!(s.state().v.iter().all(|v| v.abs() < 1.01), "{:?}", s.state().v);
    }
    assert!((s.state().q[2] - 0.1).abs() < 1e-4 && (s.state().q[7] - 30.0_f64.to_radians()).abs() < 1e-3);
}

#[test]
fn joint_limits_hold() {
    let mjcf = r#"<mujoco><worldbody><body><joint axis="0 1 0" range="-30 30"/>
        <geom type="capsule" fromto="0 0 0 1 0 0" size=".05"/></body></worldbody></mujoco>"#;
    let mut s = simulation(mjcf, Options { timestep: Some(0.005), ..Options::default() });
    run(&mut s, 1000);
    let limit = 30.0_f64.to_radians();
    assert!((s.state().q[0] - limit).abs() < 1e-5, "{}", s.state().q[0]);
    assert!(s.state().v[0].abs() < 1e-8);
}

#[test]
fn stiff_servos_are_stable_and_keep_their_force_limit() {
    let servo = |range: &str| {
        format!(
            r#"<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="j" axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 1 0 0" size=".05"/></body></worldbody>
            <actuator><position joint="j" kp="1e6" kv="1e4" {range}/></actuator></mujoco>"#
        )
    };
    let mut s = simulation(&servo(""), Options { timestep: Some(0.02), ..Options::default() });
    s.state_mut().ctrl[0] = 1.0;
    run(&mut s, 500);
    assert!((s.state().q[0] - 1.0).abs() < 1e-6 && s.state().v[0].abs() < 1e-6);

    let mut s = simulation(&servo(r#"forcerange="-1 1""#), Options { timestep: Some(0.02), ..Options::default() });
    s.state_mut().ctrl[0] = 1.0;
    s.step().unwrap();
    let inertia = s.model().bodies[1].inertia;
    let about_joint = inertia.inertia.yy() + inertia.mass * inertia.com.norm_squared();
    assert!((s.state().v[0] - 0.02 / about_joint).abs() < 1e-12);
}

#[test]
fn what_is_not_finite_is_named_and_changes_nothing() {
    let mut s = simulation(BIPED, Options::default());
    s.state_mut().v[3] = f64::NAN;
    let before = s.state().to_bytes();
    let error = s.step().unwrap_err();
    assert!(matches!(error, SimulationError::NotFinite { name: "v", index: 3, .. }), "{error}");
    assert!(s.state().to_bytes() == before);

    s.state_mut().v[3] = 0.0;
    let root = s.model().tree.nodes[0].quaternion().unwrap();
    for length in [0.0, 1e300] {
        s.state_mut().q[root..root + 4].copy_from_slice(&[length, 0.0, 0.0, 0.0]);
        let error = s.step().unwrap_err();
        assert!(matches!(error, SimulationError::NoRotation { index, .. } if index == root), "{error}");
    }
    s.state_mut().q[root] = 1.0;
    s.state_mut().applied_force.pop();
    assert!(matches!(s.step(), Err(SimulationError::Size { name: "applied_force", .. })));
}

#[test]
fn options_out_of_their_domain_are_refused() {
    for options in [
        Options { timestep: Some(0.0), ..Options::default() },
        Options { timestep: Some(f64::NAN), ..Options::default() },
        Options { sigma: -1.0, ..Options::default() },
        Options { threads: 0, ..Options::default() },
    ] {
        let error = sapwood_sim::Simulation::new(Default::default(), Default::default(), options).unwrap_err();
        assert!(matches!(error, SimulationError::Option { .. }));
    }
}

/// Bodies and drives are sorted to their trees: in a world of several, each tree moves as it does alone.
#[test]
fn trees_of_one_world_keep_their_own_bodies_and_drives() {
    let arm = |i: usize| {
        let limit = 0.2 + 0.1 * i as f64;
        format!(
            r#"<body pos="{} 0 2"><joint name="s{i}" axis="0 1 0" damping=".1"/><geom type="capsule" size=".03 .2"/>
            <body pos="0 0 -.4" gravcomp=".5"><joint name="e{i}" type="hinge" axis="0 1 0" range="-{limit} {limit}"
            limited="true"/><geom type="capsule" size=".03 .1"/></body></body>"#,
            3 * i
        )
    };
    let ball = |i: usize| {
        format!(
            r#"<body pos="{} 5 9" gravcomp=".{i}"><joint name="b{i}" type="ball"/><geom type="box" size=".1 .2 .3"
            pos=".1 0 0"/></body>"#,
            3 * i
        )
    };
    let drives = |i: usize| {
        format!(
            r#"<position joint="e{i}" kp="{}"/><motor joint="b{i}" gear="1 0 2"/><motor joint="s{i}" gear="{}"/>"#,
            10 + i,
            1 + i
        )
    };
    let world = |trees: &[usize]| {
        let text = |part: &dyn Fn(usize) -> String| trees.iter().map(|&i| part(i)).collect::<String>();
        let compiler = r#"<compiler angle="radian"/>"#;
        let (bodies, drives) = (text(&|i| arm(i) + &ball(i)), text(&drives));
        let mjcf = format!("<mujoco>{compiler}<worldbody>{bodies}</worldbody><actuator>{drives}</actuator></mujoco>");
        let mut s = simulation(&mjcf, Options::default());
        for (k, u) in s.state_mut().ctrl.iter_mut().enumerate() {
            *u = [0.5, 0.3, -0.7][k % 3];
        }
        run(&mut s, 200);
        (s.state().q.clone(), s.state().v.clone())
    };
    let (q, v) = world(&[0, 1, 2, 3]);
    for i in 0..4 {
        let (alone_q, alone_v) = world(&[i]);
        assert_eq!(q[6 * i..6 * i + 6], alone_q, "tree {i}");
        assert_eq!(v[5 * i..5 * i + 5], alone_v, "tree {i}");
        assert!(alone_v.iter().all(|&v| v != 0.0), "{alone_v:?}");
    }
}

/// Near-rigid slip, the hardest for Newton's method.
#[test]
fn every_step_of_balls_in_a_box_converges() {
    let mut s = simulation(&balls_in_a_box(27), Options { timestep: Some(0.001), ..Options::default() });
    for _ in 0..1500 {
        s.step().unwrap();
        assert!(s.stats().penetration < 1e-3, "{}", s.stats().penetration);
    }
}

#[test]
fn fields_of_any_size_end_a_step() {
    for size in
        ["1 1 1e10 .1", "1e-200 1e-200 1 .1", "1e10 1 1e-300 .1", "1e-300 1e10 1e10 1e10", "1e-10 1e-160 1e10 .1"]
    {
        let mjcf = format!(
            r#"<mujoco><asset><hfield name="h" nrow="3" ncol="3" elevation="0 1 0 1 .1 1 0 1 0" size="{size}"/></asset>
            <worldbody><geom type="hfield" hfield="h"/><body pos="0 0 .6"><freejoint/><geom type="box" size=".1 .2 .3"/></body>
            <body pos=".2 .1 .1"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>"#
        );
        let mut s = simulation(&mjcf, Options::default());
        // An error says what it is.
        while s.step().is_ok() && s.state().step < 20 {}
    }
}
