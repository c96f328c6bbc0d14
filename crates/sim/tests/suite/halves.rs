//! Steps that are made in halves: in the lane of a simulation as by the step for all models.

use crate::common::simulation;
use sapwood_sim::{Options, Simulation, State};
use support::SplitMix64;

/// The body of a robot of four legs of three links, and its motors, which can whirl them.
fn robot(at: &str) -> [String; 2] {
    let leg = |name: &str, x: f64, y: f64| {
        format!(
            r#"<body pos="{x} {y} 0"><joint name="{name}1" axis="1 0 0" range="-40 40"/><geom type="sphere" size=".04" mass=".4"/>
            <body><joint name="{name}2" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".3"/>
            <body pos="0 0 -.2"><joint name="{name}3" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.2" size=".015" mass=".1"/>
            </body></body></body>"#
        )
    };
    let legs = [("a", 0.2, 0.15), ("b", 0.2, -0.15), ("c", -0.2, 0.15), ("d", -0.2, -0.15)];
    let motors = (legs.iter().flat_map(|(leg, ..)| (1..4).map(move |k| format!("{leg}{k}"))))
        .map(|joint| format!(r#"<motor joint="{joint}" gear="8"/>"#))
        .collect();
    let legs: String = legs.map(|(name, x, y)| leg(name, x, y)).concat();
    [format!(r#"<body pos="{at}"><freejoint/><geom type="box" size=".25 .12 .05" mass="4"/>{legs}</body>"#), motors]
}

fn scene([bodies, motors]: [String; 2]) -> Simulation {
    let mjcf = format!(
        r#"<mujoco><compiler autolimits="true"/><option timestep=".005"/><default><joint damping=".02" armature=".001"/></default>
        <worldbody><geom type="plane" size="0 0 1"/>{bodies}</worldbody><actuator>{motors}</actuator></mujoco>"#
    );
    simulation(&mjcf, Options::default())
}

/// The robot on the ground.
fn whirling() -> Simulation {
    scene(robot("0 0 .45"))
}

fn largest(of: impl Iterator<Item = f64>) -> f64 {
    of.fold(0.0, |most, x| most.max(x.abs()))
}

/// How much more the second state differs from the first than both from where they began.
fn difference([a, b, start]: [&State; 3]) -> f64 {
    let between = |a: &State, b: &State| largest(a.v.iter().zip(&b.v).map(|(a, b)| a - b));
    between(a, b) / between(a, start)
}

fn meets_the_law(s: &Simulation) -> bool {
    s.stats().unsettled == 0 && s.stats().residual.max(s.stats().friction_residual) <= 1e-6
}

/// The difference of the states after a step from one where nothing is remembered of the steps before.
fn error_without_memory(mut start: State, a: &mut Simulation, b: &mut Simulation) -> f64 {
    start.forget_past();
    for of in [&mut *a, &mut *b] {
        of.state_mut().clone_from(&start);
        of.step().unwrap();
    }
    difference([a.state(), b.state(), &start])
}

#[test]
fn halves_in_a_lane_are_those_of_the_step_for_all_models() {
    let mut lane = whirling();
    let mut random = SplitMix64(2);
    let mut other = Simulation::without_lane(lane.model().clone(), lane.scene().clone(), Options::default()).unwrap();
    let (mut halved, mut touching, mut several, mut parted) = (0, 0, 0, 0);
    for step in 0..4000 {
        if step % 25 == 0 {
            lane.state_mut().ctrl.iter_mut().for_each(|u| *u = random.symmetric());
        }
        let start = lane.state().clone();
        other.state_mut().clone_from(&start);
        lane.step().unwrap();
        if lane.stats().substeps == 1 {
            continue;
        }
        other.step().unwrap();
        halved += 1;
        assert_eq!(lane.stats().substeps, other.stats().substeps, "step {step}");
        let error = difference([lane.state(), other.state(), &start]);
        if error > 1e-6 {
            // Coulomb's law has several solutions there, and which one is found depends on where the search begins.
            assert!(meets_the_law(&lane) && meets_the_law(&other), "step {step}: {error:e}");
            let after = lane.state().clone();
            let afresh = error_without_memory(start, &mut lane, &mut other);
            // Or on how it goes on: one of them has another contact that pushes.
            parted += usize::from(afresh > 1e-6);
            assert!(afresh <= 1e-6 || (meets_the_law(&lane) && meets_the_law(&other)), "step {step}: {afresh:e}");
            lane.state_mut().clone_from(&after);
            several += 1;
            continue;
        }
        let impulses = |s: &Simulation| largest(s.contacts().iter().flat_map(|contact| contact.impulse));
        let (ours, theirs) = (impulses(&lane), impulses(&other));
        touching += usize::from(theirs > 0.0);
        assert!((ours - theirs).abs() <= 1e-5 * theirs, "step {step}: impulses of {ours} and {theirs} N·s");
    }
    assert!(halved > 100 && touching > 20, "{halved} steps in halves, {touching} of them touch");
    assert!(several <= 2 && parted <= 1, "{several} steps have several solutions, {parted} wherever the search begins");
}

/// Boxes that slide and tumble, and the robot far above them, which does not touch itself.
fn crowd(boxes: usize) -> Simulation {
    let boxes = (0..boxes).map(|k| {
        let at = format!(r#"pos="{k} 0 .3" euler="{k}0 20 30""#);
        format!(
            r#"<body {at}><joint type="free" armature="0" damping="0"/><geom type="box" size=".1 .08 .05"/></body>"#
        )
    });
    let [body, motors] = robot("0 5 50");
    let body = body.replace("<geom", r#"<geom contype="0" conaffinity="0""#);
    scene([boxes.collect::<String>() + &body, motors])
}

#[test]
fn what_shares_no_constraint_with_a_tree_in_halves_keeps_its_step() {
    let (mut whirling, mut still, one) = (crowd(6), crowd(6), crowd(0));
    let mut robot = Simulation::without_lane(one.model().clone(), one.scene().clone(), Options::default()).unwrap();
    let [q, v] = [7 * 6, 6 * 6];
    for s in [&mut whirling, &mut still] {
        s.state_mut().v[..3].copy_from_slice(&[1.0, 0.5, 0.0]);
    }
    let mut random = SplitMix64(2);
    let mut halved = 0;
    for step in 0..400 {
        if step % 25 == 0 {
            robot.state_mut().ctrl.iter_mut().for_each(|u| *u = random.symmetric());
            whirling.state_mut().ctrl.clone_from(&robot.state().ctrl);
        }
        robot.state_mut().q.copy_from_slice(&whirling.state().q[q..]);
        robot.state_mut().v.copy_from_slice(&whirling.state().v[v..]);
        for s in [&mut whirling, &mut still, &mut robot] {
            s.step().unwrap();
        }
        assert_eq!(still.stats().substeps, 1, "step {step}");
        assert_eq!(whirling.stats().substeps, robot.stats().substeps, "step {step}");
        halved += usize::from(whirling.stats().substeps > 1);
        let (all, without, alone) = (whirling.state(), still.state(), robot.state());
        assert_eq!(all.q[..q], without.q[..q], "step {step}: the boxes");
        // Of its limits it remembers the whole step here, and its last part alone.
        let differ = largest(all.v[v..].iter().zip(&alone.v).map(|(a, b)| a - b));
        assert!(differ < 1e-6 * largest(alone.v.iter().copied()), "step {step}: the robot, by {differ:e}");
        assert_eq!(whirling.contacts(), still.contacts(), "step {step}");
    }
    assert!(halved > 50, "{halved} steps in halves");
}

/// The robot far above, a cart, an actuator that pulls both at one of its legs and at the cart by how far they are, and boxes.
fn drawn(boxes: usize) -> Simulation {
    let boxes =
        (0..boxes).map(|k| format!(r#"<body pos="{k} 0 .1"><freejoint/><geom type="box" size=".1 .08 .05"/></body>"#));
    let [body, motors] = robot("0 5 50");
    let cart = r#"<body pos="0 9 1"><joint name="cart" type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body>"#;
    let tendon = r#"</actuator><tendon><fixed name="both"><joint joint="cart" coef="1"/><joint joint="a2" coef=".5"/></fixed></tendon>
        <actuator><general tendon="both" gainprm="0" biastype="affine" biasprm="0 3 0"/>"#;
    let body = body.replace("<geom", r#"<geom contype="0" conaffinity="0""#);
    scene([cart.to_string() + &body + &boxes.collect::<String>(), motors + tendon])
}

#[test]
fn trees_that_a_tendon_pulls_at_make_halves_together() {
    let (mut crowd, few) = (drawn(6), drawn(0));
    let mut few = Simulation::without_lane(few.model().clone(), few.scene().clone(), Options::default()).unwrap();
    let [q, v] = [few.model().nq(), few.model().nv()];
    let mut random = SplitMix64(2);
    let mut halved = 0;
    for step in 0..400 {
        if step % 25 == 0 {
            few.state_mut().ctrl.iter_mut().for_each(|u| *u = random.symmetric());
            crowd.state_mut().ctrl.clone_from(&few.state().ctrl);
        }
        // While the cart is on its way, so is the force.
        (crowd.state_mut().q[0], crowd.state_mut().v[0]) = (0.0, 20.0);
        few.state_mut().q.copy_from_slice(&crowd.state().q[..q]);
        few.state_mut().v.copy_from_slice(&crowd.state().v[..v]);
        for s in [&mut crowd, &mut few] {
            s.step().unwrap();
        }
        halved += usize::from(few.stats().substeps > 1);
        let differ = largest(few.state().v.iter().zip(&crowd.state().v).map(|(a, b)| a - b));
        assert!(differ < 1e-6 * largest(few.state().v.iter().copied()), "step {step}: by {differ:e}");
    }
    assert!(halved > 50, "{halved} steps in halves");
}
