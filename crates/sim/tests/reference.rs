//! Steps of the simulation against a dense reference, state by state: both ways in which a step is made, in the lane of a world by itself
//! and by the step for all models.

mod common;
#[path = "reference/mod.rs"]
mod dense_step;

use characters::{Character, Options as CharacterOptions};
use common::simulation;
use dense_step::Reference;
use dense_step::dense::{largest, minus};
use random::SplitMix64;
use sapwood_sim::{ContactLaw, Options, Simulation, WarmStart};

/// Velocities differ by no more than this share of the greatest change of one in the step, with problems solved to 1e-11.
const AGREEMENT: f64 = 1e-8;

fn options(dt: f64) -> Options {
    Options { timestep: Some(dt), tolerance: 1e-11, factorization_budget: None, ..Options::default() }
}

/// What was compared.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    steps: usize,
    /// Steps that were made in the lane, and those that both make in halves.
    in_lane: usize,
    halved: usize,
    /// Steps with contacts that push, constraints that recover, and solutions other than the reference's that meet the law as well.
    pushing: usize,
    recovering: usize,
    others: usize,
    /// The greatest differences of velocities in both, and of positions.
    worst: [f64; 2],
    worst_q: [f64; 2],
}

/// Makes `steps` from one to the next, each by the lane, by the step for all models and by the reference.
fn compare(
    name: &str,
    mjcf: &str,
    options: &Options,
    steps: usize,
    mut act: impl FnMut(&mut Simulation, usize),
) -> Tally {
    let mut lane = simulation(mjcf, options.clone());
    let (model, scene) = (lane.model().clone(), lane.scene().clone());
    let mut all = Simulation::without_lane(model, scene, options.clone()).unwrap();
    let still = simulation(mjcf, options.clone());
    let mut reference = Reference::of(&still);
    let mut tally = Tally::default();
    for step in 0..steps {
        act(&mut lane, step);
        let before = lane.state().clone();
        all.state_mut().clone_from(&before);
        lane.step().unwrap();
        all.step().unwrap();
        let expected = reference.step(&before, lane.contacts(), None);
        tally.steps += 1;
        let halves = [&lane, &all].map(|s| s.stats().substeps > 1);
        assert!(halves == [!expected.is_resolved; 2], "{name}, step {step}: {halves:?}, {}", expected.is_resolved);
        if halves[0] {
            // What halves remember is not told.
            tally.halved += 1;
            lane.state_mut().warm_start = WarmStart::default();
            reference.memory.clear();
            continue;
        }
        let scale = largest(&minus(&expected.v, &before.v)).max(9.81 * lane.timestep());
        let errors = |of: &Simulation, expected: &dense_step::Outcome| {
            let (v, q) = (minus(&of.state().v, &expected.v), minus(&of.state().q, &expected.q));
            [largest(&v) / scale, largest(&q) / (scale * of.timestep())]
        };
        let mut remembered = expected.impulses.clone();
        for (k, of) in [&lane, &all].into_iter().enumerate() {
            let mut found = errors(of, &expected);
            if !expected.is_solved || found[0] > AGREEMENT {
                // There may be several solutions of Coulomb's law: this is one, if it is found where the search begins next to it.
                let near = reference.step(&before, of.contacts(), Some(&of.state().v));
                if near.is_solved && errors(of, &near)[0] <= AGREEMENT {
                    tally.others += 1;
                    found = errors(of, &near);
                    if k == 0 {
                        remembered = near.impulses;
                    }
                }
            }
            if found[0] > AGREEMENT || found[1] > AGREEMENT {
                println!("{name}, step {step}: {k} differs by {found:?}; {:?}", of.stats());
            }
            tally.worst[k] = tally.worst[k].max(found[0]);
            tally.worst_q[k] = tally.worst_q[k].max(found[1]);
        }
        reference.memory = remembered;
        tally.in_lane += usize::from(lane.state().v != all.state().v);
        tally.pushing += usize::from(lane.stats().active_contacts > 0);
        tally.recovering += usize::from(expected.recovers);
    }
    println!("{name}: {tally:?}");
    tally
}

impl Tally {
    fn check(&self) {
        let Self { worst, worst_q, .. } = self;
        assert!(worst.iter().chain(worst_q).all(|x| *x <= AGREEMENT), "{self:?}");
    }
}

/// Forces at random on all degrees of freedom from `first` on, others every few steps.
fn push(s: &mut Simulation, step: usize, random: &mut SplitMix64, (most, first): (f64, usize)) {
    if step % 5 == 0 {
        s.state_mut().applied_force[first..].iter_mut().for_each(|force| *force = most * random.symmetric());
    }
}

/// Controls at random, others every few steps.
fn control(s: &mut Simulation, step: usize, random: &mut SplitMix64, most: f64) {
    if step % 5 == 0 {
        s.state_mut().ctrl.iter_mut().for_each(|u| *u = most * random.symmetric());
    }
}

fn humanoid() -> String {
    characters::mjcf(Character::Humanoid, &CharacterOptions::default())
}

/// An arm of all kinds of joints with springs, dampers and armature, and a body that flies.
const JOINTS: &str = r#"<mujoco><worldbody>
    <body pos="0 0 1"><joint axis="0 1 .3" stiffness="3" springref="20" damping=".1" armature=".02"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .1 0 -.4" contype="0" conaffinity="0"/>
      <body pos=".1 0 -.4"><joint type="ball" stiffness="2" damping=".05"/>
        <geom type="box" size=".1 .05 .02" pos=".1 .02 0" contype="0" conaffinity="0"/>
        <body pos=".2 0 0"><joint type="slide" axis="1 0 1" stiffness="40" damping=".5"/><joint axis="0 0 1"/>
          <geom type="box" size=".03 .05 .02" pos="0 .1 0" contype="0" conaffinity="0"/></body></body></body>
    <body pos="1 0 1"><freejoint/><geom type="box" size=".1 .05 .02" pos=".1 0 .1"/>
      <body pos=".1 0 .1"><joint axis="1 0 0" limited="true" range="-170 170"/><geom type="capsule" size=".02" fromto="0 0 0 0 .2 .1"/></body></body>
    </worldbody></mujoco>"#;

#[test]
fn trees_in_free_motion() {
    let mut random = SplitMix64(1);
    let mut act = |s: &mut Simulation, step: usize, height: f64| {
        if step == 0 {
            s.state_mut().q[2] += height;
            s.state_mut().v.iter_mut().for_each(|v| *v = 2.0 * random.symmetric());
            s.state_mut().applied_wrench[6..].iter_mut().for_each(|w| *w = random.symmetric());
        }
        push(s, step, &mut random, (5.0, 0));
    };
    let tally = compare("flying humanoid", &humanoid(), &options(0.004), 30, |s, step| act(s, step, 10.0));
    tally.check();
    let tally = compare("joints", JOINTS, &options(0.002), 60, |s, step| act(s, step, 0.0));
    tally.check();
}

/// Bodies that are held by a point, a frame, a distance, couplings and limits.
const TIES: &str = r#"<mujoco><worldbody>
    <body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0" limited="true" range="-40 60" frictionloss=".3"/>
      <geom type="capsule" size=".03" fromto="0 0 0 0 0 -.3" contype="0" conaffinity="0"/>
      <body name="b" pos="0 0 -.3"><joint name="jb" type="ball" limited="true" range="0 70" frictionloss=".05"/>
        <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" contype="0" conaffinity="0"/></body></body>
    <body name="c" pos=".5 0 1"><joint name="jc" axis="0 1 0"/>
      <geom type="capsule" size=".03" fromto="0 0 0 0 0 -.3" contype="0" conaffinity="0"/>
      <body name="d" pos="0 .1 -.3"><joint name="jd" axis="1 0 0" limited="true" range="-30 30"/>
        <joint name="je" type="slide" axis="0 0 1" limited="true" range="-.02 .05" stiffness="30"/>
        <geom type="box" size=".05 .04 .03" contype="0" conaffinity="0"/></body></body>
    <body name="f" pos="0 1 1"><freejoint/><geom type="box" size=".05 .04 .03" contype="0" conaffinity="0"/></body>
    <body name="g" pos=".2 1 1"><freejoint/><geom type="box" size=".05 .04 .03" contype="0" conaffinity="0"/></body>
    </worldbody><equality>EQUALITIES</equality>
    <tendon><fixed name="t" TENDON><joint joint="jc" coef="1"/><joint joint="jd" coef="-.7"/></fixed></tendon>
    <actuator>ACTUATORS</actuator></mujoco>"#;

fn ties(equalities: &str, tendon: &str, actuators: &str) -> String {
    TIES.replace("EQUALITIES", equalities).replace("TENDON", tendon).replace("ACTUATORS", actuators)
}

#[test]
fn limits_ties_and_dry_friction() {
    let mut random = SplitMix64(2);
    let mut act = |s: &mut Simulation, step: usize| {
        push(s, step, &mut random, (4.0, 0));
    };
    let limits = ties("", "", "");
    compare("limits and dry friction", &limits, &options(0.004), 80, &mut act).check();
    let points = r#"<connect body1="b" body2="d" anchor=".25 0 0"/><connect body1="f" anchor="0 0 .1"/>
        <weld body1="f" body2="g" relpose=".2 0 0 1 0 0 0"/>"#;
    compare("ties", &ties(points, "", ""), &options(0.004), 80, &mut act).check();
    let soft =
        r#"<connect body1="b" body2="d" anchor=".25 0 0" solref="-400 -20"/><weld body1="f" body2="g" solref=".05 1"/>
        <joint joint1="jc" joint2="jd" polycoef=".1 .5 -.3 .2 0"/><distance/>"#
            .replace("<distance/>", "");
    compare("soft ties and couplings", &ties(&soft, "", ""), &options(0.004), 80, &mut act).check();
}

#[test]
fn tendons_and_drives() {
    let mut random = SplitMix64(3);
    let mut act = |s: &mut Simulation, step: usize| {
        push(s, step, &mut random, (2.0, 0));
        control(s, step, &mut random, 1.5);
    };
    let tendon = r#"limited="true" range="-.2 .3" frictionloss=".2" stiffness="4" damping=".2" springlength="-.1 .1" armature=".01""#;
    let actuators = r#"<position joint="ja" kp="30" kv="1" forcerange="-4 6" gear="1.5"/><motor joint="jd" gear="-2" ctrlrange="-1 1"/>
        <velocity joint="jc" kv="2" forcerange="-3 3"/><position joint="je" kp="200" kv="5" forcerange="-20 5"/>
        <position tendon="t" kp="5" kv=".3" forcerange="-1 2"/><motor tendon="t" gear=".5"/>"#;
    compare("drives", &ties("", "", actuators), &options(0.004), 80, &mut act).check();
    compare("tendons", &ties("", tendon, actuators), &options(0.004), 80, &mut act).check();
}

/// Four legs of two hinges each around a ball, as gymnasium's ant.
fn ant() -> String {
    let leg = |k: usize| {
        let (x, y) = ([1.0, -1.0, -1.0, 1.0][k], [1.0, 1.0, -1.0, -1.0][k]);
        let axis = format!("{} {} 0", -y, x);
        format!(
            r#"<body><geom type="capsule" size=".08" fromto="0 0 0 {hx} {hy} 0"/>
            <body pos="{hx} {hy} 0"><joint name="hip{k}" axis="0 0 1" range="-30 30"/>
              <geom type="capsule" size=".08" fromto="0 0 0 {hx} {hy} 0"/>
            <body pos="{hx} {hy} 0"><joint name="ankle{k}" axis="{axis}" range="30 70"/>
              <geom type="capsule" size=".08" fromto="0 0 0 {fx} {fy} 0"/></body></body></body>"#,
            hx = 0.2 * x,
            hy = 0.2 * y,
            fx = 0.4 * x,
            fy = 0.4 * y
        )
    };
    let legs: String = (0..4).map(leg).collect();
    let motors: String = (0..4)
        .map(|k| format!(r#"<motor joint="hip{k}" gear="30" ctrlrange="-1 1"/><motor joint="ankle{k}" gear="30" ctrlrange="-1 1"/>"#))
        .collect();
    format!(
        r#"<mujoco><default><joint armature="1" damping="1" limited="true"/><geom friction="1" density="5"/></default><worldbody>
        <geom type="plane" size="9 9 1"/><body pos="0 0 .55"><freejoint/><geom type="sphere" size=".25"/>{legs}</body></worldbody>
        <actuator>{motors}</actuator></mujoco>"#
    )
}

/// A gripper of two fingers that squeezes a box.
const GRIPPER: &str = r#"<mujoco><default><geom friction=".8"/></default><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 .2"><joint name="lift" type="slide" axis="0 0 1"/><geom type="box" size=".1 .03 .02" mass="1"/>
      <body pos="-.06 0 -.06"><joint name="l" type="slide" axis="1 0 0" range="0 .08"/><geom type="box" size=".01 .03 .06" mass=".2"/></body>
      <body pos=".06 0 -.06"><joint name="r" type="slide" axis="-1 0 0" range="0 .08"/><geom type="box" size=".01 .03 .06" mass=".2"/></body>
    </body>
    <body pos="0 0 .04"><freejoint/><geom type="box" size=".03 .03 .04" mass=".3"/></body></worldbody>
    <actuator><position joint="lift" kp="400" kv="30"/><position joint="l" kp="200" kv="10" forcerange="-8 8"/>
    <position joint="r" kp="200" kv="10" forcerange="-8 8"/></actuator></mujoco>"#;

/// Boxes that lie on each other, a little askew.
fn pile(count: usize) -> String {
    let body = |k: usize| {
        let (x, z) = (0.02 * (k % 3) as f64, 0.06 + 0.11 * k as f64);
        format!(
            r#"<body pos="{x} {x} {z}" euler="0 {} 0"><freejoint/><geom type="box" size=".05 .06 .05" mass="1"/></body>"#,
            3 * k
        )
    };
    let bodies: String = (0..count).map(body).collect();
    format!(
        r#"<mujoco><default><geom friction=".6"/></default><worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>"#
    )
}

/// Balls that roll and spin with resistance, one of them with an arm.
const BALLS: &str = r#"<mujoco><default><geom friction=".7 .02 .005" condim="6"/></default><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1" mass="1"/>
      <body pos="0 0 .1"><joint axis="1 0 0" damping=".01"/><geom type="capsule" size=".02" fromto="0 0 0 0 .1 .1" mass=".2"/></body></body>
    <body pos=".25 0 .1"><freejoint/><geom type="sphere" size=".1" mass="1" condim="4"/></body></worldbody></mujoco>"#;

/// The law of friction with steps of `dt`.
fn under(contact: ContactLaw, dt: f64) -> Options {
    Options { contact, ..options(dt) }
}

#[test]
fn contacts() {
    for law in [ContactLaw::Lagged, ContactLaw::Coulomb, ContactLaw::Sap] {
        let mut random = SplitMix64(4);
        let name = |what: &str| format!("{what}, {law:?}");
        let of = under(law, 0.005);
        compare(&name("humanoid"), &humanoid(), &of, 60, |s, step| {
            push(s, step, &mut random, (40.0, 6));
        });
        compare(&name("ant"), &ant(), &of, 100, |s, step| {
            control(s, step, &mut random, 1.0);
        });
        compare(&name("biped"), common::BIPED, &of, 60, |s, step| {
            if step == 0 {
                s.state_mut().q[2] = 0.95;
            }
            push(s, step, &mut random, (20.0, 6));
        });
        compare(&name("gripper"), GRIPPER, &of, 60, |s, step| {
            let (lift, grip) = (if step > 20 { 0.05 } else { -0.06 }, 0.05);
            s.state_mut().ctrl.copy_from_slice(&[lift, grip, grip]);
        });
        compare(&name("pile"), &pile(4), &of, 40, |s, step| {
            push(s, step, &mut random, (3.0, 0));
        });
        compare(&name("balls"), BALLS, &of, 60, |s, step| {
            if step == 0 {
                s.state_mut().v.iter_mut().for_each(|v| *v = 2.0 * random.symmetric());
            }
            push(s, step, &mut random, (0.2, 0));
        });
    }
}
