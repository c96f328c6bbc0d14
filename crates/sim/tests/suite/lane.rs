//! Steps of a world in a lane of its own are those of the step for all models.

use crate::common::{BIPED, simulation};
use models::characters::{self, Character, Options as CharacterOptions};
use sapwood_sim::{ContactLaw, Options, Pd, Simulation, State, StepForces};
use support::SplitMix64;

/// Velocities differ by no more than this share of the greatest change of one in the step.
const AGREEMENT: f64 = 1e-6;

fn humanoid(options: Options) -> Simulation {
    simulation(&characters::mjcf(Character::Humanoid, &CharacterOptions::default()), options)
}

/// Pushes all joints at random.
fn push(s: &mut Simulation, random: &mut SplitMix64, most: f64) {
    let root = 6;
    s.state_mut().applied_force[root..].iter_mut().for_each(|force| *force = most * random.symmetric());
}

#[test]
fn residuals_are_within_the_tolerance() {
    let tolerance = Options::default().tolerance;
    let (mut pushing, mut worst) = (0, 0.0_f64);
    for seed in 0..WORLDS {
        let mut random = SplitMix64(seed);
        let options = Options { timestep: Some(0.004), ..Options::default() };
        let (mut s, most) = if seed % 2 == 0 { (humanoid(options), 60.0) } else { (simulation(BIPED, options), 30.0) };
        for step in 0..2000 {
            if step % 25 == 0 {
                push(&mut s, &mut random, most);
            }
            s.step().unwrap();
            let stats = s.stats();
            pushing += usize::from(stats.active_contacts > 0);
            if stats.unsettled == 0 {
                worst = worst.max(stats.residual);
            }
        }
    }
    assert!(worst <= tolerance && pushing > 1000 * WORLDS as usize, "{worst}, {pushing}");
}

/// Worlds that are pushed at random.
const WORLDS: u64 = 20;

/// A controller whose targets, gains and limits change with every step; `effort` is the mean limit.
fn control(pd: &mut Pd, s: &Simulation, effort: f64) {
    let (tree, time, step) = (&s.model().tree, s.state().time, s.state().step as f64);
    let nv = s.model().nv();
    let swing = |i: usize, rate: f64| libm::sin(1.7 * i as f64 + rate * time);
    let offset: Vec<f64> = (0..nv).map(|i| if i < 6 { 0.0 } else { 0.4 * swing(i, 5.0) }).collect();
    pd.target.clone_from(&s.model().q0);
    multibody::integrate(tree, &mut pd.target, &offset, 1.0);
    for i in 6..nv {
        pd.kp[i] = 300.0 + 50.0 * swing(i, 3.0);
        pd.kd[i] = 20.0 + 5.0 * libm::sin(0.3 * step + i as f64);
        pd.target_velocity[i] = 2.0 * libm::cos(1.7 * i as f64 + 5.0 * time);
        pd.effort_limit[i] = effort * (1.0 + 0.2 * swing(i, 7.0));
    }
}

fn none(s: &Simulation) -> Pd {
    let (zeros, target) = (vec![0.0; s.model().nv()], s.model().q0.clone());
    let effort_limit = vec![f64::INFINITY; zeros.len()];
    Pd { kp: zeros.clone(), kd: zeros.clone(), target, target_velocity: zeros, effort_limit }
}

fn largest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Steps both from a state: the largest difference of velocities, of the greatest change of one.
fn step_both(before: &State, s: &mut Simulation, all: &mut Simulation) -> f64 {
    for of in [&mut *s, &mut *all] {
        of.state_mut().clone_from(before);
        of.step().unwrap();
        assert!(of.stats().unsettled == 0 && of.stats().residual.max(of.stats().friction_residual) <= AGREEMENT);
    }
    let (v, v_all) = (&s.state().v, &all.state().v);
    let error = largest(v, v_all) / largest(v_all, &before.v).max(9.81 * s.timestep());
    if error.is_nan() { f64::INFINITY } else { error }
}

/// The same difference where it is small. Else both meet Coulomb's law, which has several solutions there, and which one is found depends on
/// where the search begins: the difference from the same state without what is remembered. `s` is left as it was.
fn error_from_afresh(error: f64, mut before: State, s: &mut Simulation, all: &mut Simulation) -> f64 {
    if error <= AGREEMENT {
        return error;
    }
    let after = s.state().clone();
    before.forget_past();
    let afresh = step_both(&before, s, all);
    s.state_mut().clone_from(&after);
    afresh
}

#[test]
fn pd_control_is_that_of_the_step_for_all_models() {
    for rate in [30.0, 120.0] {
        for effort in [30.0, 120.0, f64::INFINITY] {
            let options = Options { timestep: Some(1.0 / rate), tolerance: 1e-11, ..Options::default() };
            let mut s = humanoid(options.clone());
            let mut all = Simulation::without_lane(s.model().clone(), s.scene().clone(), options).unwrap();
            let mut pd = none(&s);
            let (mut in_lane, mut others, mut pushing) = (0, 0, 0);
            for _ in 0..400 {
                control(&mut pd, &s, effort);
                s.state_mut().pd.clone_from(&pd);
                let before = s.state().clone();
                let error = step_both(&before, &mut s, &mut all);
                in_lane += usize::from(s.state().v != all.state().v);
                pushing += usize::from(s.stats().active_contacts > 0);
                others += usize::from(error_from_afresh(error, before, &mut s, &mut all) > AGREEMENT);
            }
            println!("{rate} Hz, up to {effort}: {in_lane} in the lane, {others} differ, {pushing} push");
            assert!(in_lane > 150 && others == 0 && pushing > 100, "{rate}, {effort}: {in_lane} {others} {pushing}");
        }
    }
}

#[test]
fn bits_under_pd_control_depend_on_the_state_alone() {
    let options = || Options { timestep: Some(0.01), ..Options::default() };
    let mut s = humanoid(options());
    let mut pd = none(&s);
    for step in 0..300 {
        // With limits, without, and without control.
        let effort = if step % 20 < 10 { 40.0 } else { f64::INFINITY };
        control(&mut pd, &s, effort);
        s.state_mut().pd.clone_from(if step % 7 == 3 { const { &NO_PD } } else { &pd });
        let before = s.state().to_bytes();
        s.step().unwrap();
        if step % 5 == 4 {
            let mut fresh = humanoid(options());
            fresh.state_mut().restore(&before).unwrap();
            fresh.step().unwrap();
            assert!(fresh.state().to_bytes() == s.state().to_bytes(), "step {step}");
        }
    }
    assert!(s.stats().active_contacts > 0);
}

const NO_PD: Pd =
    Pd { kp: Vec::new(), kd: Vec::new(), target: Vec::new(), target_velocity: Vec::new(), effort_limit: Vec::new() };

#[test]
fn forces_are_those_of_the_last_step() {
    let options = Options { timestep: Some(0.01), tolerance: 1e-11, ..Options::default() };
    let mut s = humanoid(options.clone());
    let mut all = Simulation::without_lane(s.model().clone(), s.scene().clone(), options).unwrap();
    let mut pd = none(&s);
    for _ in 0..50 {
        control(&mut pd, &s, 40.0);
        s.state_mut().pd.clone_from(&pd);
        all.state_mut().restore(&s.state().to_bytes()).unwrap();
        s.step().unwrap();
        all.step().unwrap();
        // What is set for the next step says nothing about the last one.
        s.state_mut().pd.kp.fill(0.0);
        let (ours, theirs) = (s.step_forces().clone(), all.step_forces().clone());
        let size = |x: &[f64]| largest(x, &vec![0.0; x.len()]);
        assert!(largest(&ours.pd, &theirs.pd) < 1e-4 && size(&ours.pd) > 10.0);
        let parts =
            |of: &StepForces| [&of.pd, &of.actuators, &of.actuation, &of.passive, &of.constraint].map(Vec::clone);
        for (ours, theirs) in parts(&ours).iter().zip(&parts(&theirs)) {
            assert!(largest(ours, theirs) < 1e-5 * (10.0 + size(theirs)));
        }
    }
}

#[test]
fn friction_is_that_of_the_step_for_all_models() {
    let dry = BIPED.replace("<freejoint/>", r#"<joint type="free" armature="0" damping="0" frictionloss=".5"/>"#);
    for (contact, model) in [(ContactLaw::Lagged, BIPED), (ContactLaw::Coulomb, BIPED), (ContactLaw::Coulomb, &dry)] {
        let options = Options { timestep: Some(0.004), tolerance: 1e-11, contact, ..Options::default() };
        let mut s = simulation(model, options.clone());
        let mut all = Simulation::without_lane(s.model().clone(), s.scene().clone(), options).unwrap();
        let mut random = SplitMix64(3);
        let (mut in_lane, mut others, mut worst) = (0, 0, 0.0_f64);
        for step in 0..2000 {
            if step % 25 == 0 {
                push(&mut s, &mut random, 40.0);
            }
            let before = s.state().clone();
            let error = step_both(&before, &mut s, &mut all);
            in_lane += usize::from(s.state().v != all.state().v);
            let error = error_from_afresh(error, before, &mut s, &mut all);
            others += usize::from(error > AGREEMENT);
            worst = worst.max(error);
        }
        println!("{contact:?}: {in_lane} in the lane, {others} differ, by {worst:.1e} at most");
        assert!(in_lane > 500 && others == 0, "{contact:?}: {in_lane}, {others}, {worst}");
    }
}

/// The lane solves islands one after another, of four bodies that move freely by themselves at most: the biped's two balls, and two boxes.
#[test]
fn islands_are_solved_by_themselves() {
    let steps_in_lane = |boxes: usize| {
        let body =
            |k| format!(r#"<body pos="{k} 3 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>"#);
        let lying: String = (0..boxes).map(body).collect();
        let options = Options { timestep: Some(0.004), tolerance: 1e-11, ..Options::default() };
        let mut s = simulation(&BIPED.replace("</worldbody>", &(lying + "</worldbody>")), options.clone());
        let mut all = Simulation::without_lane(s.model().clone(), s.scene().clone(), options).unwrap();
        let joints = 6..s.model().tree.dofs[0].end;
        let mut random = SplitMix64(3);
        let (mut in_lane, mut others) = (0, 0);
        for step in 0..400 {
            if step % 25 == 0 {
                s.state_mut().applied_force[joints.clone()].fill_with(|| 40.0 * random.symmetric());
            }
            let before = s.state().clone();
            let error = step_both(&before, &mut s, &mut all);
            in_lane += usize::from(s.state().v != all.state().v);
            others += usize::from(error_from_afresh(error, before, &mut s, &mut all) > AGREEMENT);
        }
        assert_eq!(others, 0, "{boxes} boxes");
        in_lane
    };
    let [one, two, three] = [1, 2, 3].map(steps_in_lane);
    assert!(one > 200 && two > 200 && three == 0, "{one}, {two}, {three}");
}

/// Robots that do not touch each other take the iterations that each of them takes alone.
#[test]
fn robots_apart_move_as_each_alone() {
    let robot = |k: usize| {
        format!(
            r#"<body pos="{} 0 .45"><freejoint/><geom type="box" size=".2 .1 .05" mass="3"/>
            <body pos="0 0 -.05"><joint axis="0 1 0" damping=".2"/><geom type="capsule" fromto="0 0 0 .1 0 -.3" size=".04" mass="1"/>
            <body pos=".1 0 -.3"><joint axis="1 0 0" damping=".2"/><geom type="sphere" size=".07" mass=".5"/></body></body></body>"#,
            4 * k
        )
    };
    let world = |robots: std::ops::Range<usize>| {
        let robots: String = robots.map(robot).collect();
        let text = format!(r#"<mujoco><worldbody><geom type="plane" size="0 0 1"/>{robots}</worldbody></mujoco>"#);
        simulation(&text, Options { timestep: Some(0.004), tolerance: 1e-10, ..Options::default() })
    };
    let (mut together, mut alone) = (world(0..6), Vec::from_iter((0..6).map(|k| world(k..k + 1))));
    let (nq, nv) = (alone[0].state().q.len(), alone[0].state().v.len());
    let mut random = SplitMix64(5);
    let (mut of_all, mut of_each, mut worst) = (0, 0, 0.0_f64);
    for step in 0..400 {
        for (k, one) in alone.iter_mut().enumerate() {
            if step % 25 == 0 {
                push(one, &mut random, 4.0);
            }
            let whole = together.state_mut();
            whole.q[k * nq..(k + 1) * nq].copy_from_slice(&one.state().q);
            whole.v[k * nv..(k + 1) * nv].copy_from_slice(&one.state().v);
            whole.applied_force[k * nv..(k + 1) * nv].copy_from_slice(&one.state().applied_force);
            one.state_mut().forget_past();
            one.step().unwrap();
            of_each += one.stats().iterations;
        }
        together.state_mut().forget_past();
        together.step().unwrap();
        of_all += together.stats().iterations;
        for (k, one) in alone.iter().enumerate() {
            worst = worst.max(largest(&one.state().v, &together.state().v[k * nv..(k + 1) * nv]));
        }
    }
    assert!(worst < 1e-6, "{worst:e}");
    let ratio = of_all as f64 / of_each as f64;
    assert!((0.9..1.1).contains(&ratio), "{of_all} of {of_each} iterations");
}

/// The numbers in what a state remembers of its contacts.
fn remembered(s: &Simulation) -> Vec<f64> {
    let text = format!("{:?}", s.state().warm_start);
    text.split(|c: char| !"0123456789+-.e".contains(c)).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn friction_of_two_directions_is_remembered_as_by_the_step_for_all_models() {
    let mjcf = r#"<mujoco><option timestep=".004"/><worldbody><geom name="ground" type="plane" size="0 0 1"/>
        <body pos="0 0 .55"><joint axis="0 0 1" damping=".1"/><geom size=".05"/>
        <body><joint axis="0 1 0"/><geom type="capsule" fromto=".05 0 0 .6 0 -.3" size=".03"/>
        <body pos=".6 0 -.3"><joint axis="0 1 0" range="-40 40"/><geom name="tip" type="sphere" size=".1"/></body></body></body></worldbody>
        <contact><pair geom1="ground" geom2="tip" condim="3" friction=".8 .2"/></contact></mujoco>"#;
    let options = Options { tolerance: 1e-11, ..Options::default() };
    let mut s = simulation(mjcf, options.clone());
    let mut all = Simulation::without_lane(s.model().clone(), s.scene().clone(), options).unwrap();
    s.state_mut().v[0] = 2.0;
    let mut touching = 0;
    for step in 0..300 {
        let before = s.state().clone();
        step_both(&before, &mut s, &mut all);
        let [ours, theirs] = [&s, &all].map(remembered);
        assert_eq!(ours.len(), theirs.len(), "step {step}");
        touching += usize::from(!ours.is_empty());
        assert!(largest(&ours, &theirs) < 1e-6, "step {step}: {ours:?} beside {theirs:?}");
    }
    assert!(touching > 100, "{touching}");
}

/// Arms of a body that floats clap, at rest as a whole or at 50 m/s: what their tree has in common of its motion brings none of them nearer.
#[test]
fn speed_of_a_tree_changes_nothing_of_its_own_contacts() {
    const CLAPPER: &str = r#"<mujoco><option timestep=".002" gravity="0 0 0"/><worldbody><body><freejoint/>
      <geom type="box" size=".2 .1 .1" mass="5"/>
      <body pos=".2 0 .15"><joint name="a" axis="0 1 0" damping=".01"/><geom type="capsule" fromto="0 0 0 0 0 .4" size=".04"/></body>
      <body pos="-.2 0 .15"><joint name="b" axis="0 1 0" damping=".01"/><geom type="capsule" fromto="0 0 0 0 0 .4" size=".04"/></body>
      </body></worldbody></mujoco>"#;
    let [mut still, mut fast] = [(); 2].map(|()| simulation(CLAPPER, Options::default()));
    fast.state_mut().v[..3].copy_from_slice(&[30.0, -40.0, 10.0]);
    let mut touching = 0;
    for step in 0..1500 {
        for s in [&mut still, &mut fast] {
            let push = if step / 250 % 2 == 0 { 0.5 } else { -0.5 };
            s.state_mut().applied_force[6..].copy_from_slice(&[-push, push]);
            s.step().unwrap();
        }
        touching += still.stats().active_contacts;
        assert_eq!(still.stats().active_contacts, fast.stats().active_contacts, "step {step}");
        assert!(largest(&still.state().q[7..], &fast.state().q[7..]) < 1e-6, "step {step}");
    }
    assert!(touching > 10, "{touching}");
}
