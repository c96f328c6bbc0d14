//! Steps of the simulation against a dense reference, state by state: both ways in which a step is made, in the lane of a world by itself
//! and by the step for all models.

use std::sync::Arc;

use models::characters::{self, Character, Options as CharacterOptions};
use multibody::{Compliance, Equality, EqualityKind, Model};
use sapwood_sim::{ContactLaw, Options, Scheme, Simulation, WarmStart};
use spatial::Vec3;
use support::SplitMix64;

use crate::common;
use crate::dense_step::Reference;
use crate::dense_step::dense::{largest, minus};

/// Velocities differ by no more than this share of the greatest change of one in the step, with problems solved to 1e-11.
const AGREEMENT: f64 = 1e-8;

fn options(dt: f64) -> Options {
    Options { timestep: Some(dt), tolerance: 1e-11, factorization_budget: None, ..Options::default() }
}

/// What was compared.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    steps: usize,
    /// Whether there is a lane for them: of few trees, not all of one node, without cones and belts.
    has_lane: bool,
    /// Steps that were made in the lane, and those that both make in halves.
    in_lane: usize,
    halved: usize,
    /// Those of them that need not be for the reference.
    unexpected: usize,
    /// Steps with contacts that push, constraints that recover, and solutions other than the reference's that meet the law as well.
    pushing: usize,
    recovering: usize,
    others: usize,
    /// The greatest differences of velocities in both, and of positions.
    worst: [f64; 2],
    worst_q: [f64; 2],
}

/// Makes `steps` from one to the next, each by the lane, by the step for all models and by the reference.
fn compare(name: &str, mjcf: &str, options: &Options, steps: usize, act: impl FnMut(&mut Simulation, usize)) -> Tally {
    compare_changed(name, mjcf, |_| {}, options, steps, act)
}

/// The same of a model that is changed first.
fn compare_changed(
    name: &str,
    mjcf: &str,
    change: impl FnOnce(&mut Model),
    options: &Options,
    steps: usize,
    mut act: impl FnMut(&mut Simulation, usize),
) -> Tally {
    let mut loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
    change(&mut loaded.model);
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let new = || Simulation::new(model.clone(), scene.clone(), options.clone()).unwrap();
    let (mut lane, still) = (new(), new());
    let mut all = Simulation::without_lane(model.clone(), scene.clone(), options.clone()).unwrap();
    let mut reference = Reference::of(&still);
    let trees = &still.model().tree.trees;
    let has_directions = model
        .materials
        .iter()
        .any(|surface| surface.second_friction.is_some() || surface.second_rolling_friction.is_some());
    let has_lane = trees.len() <= 4 && trees.iter().any(|nodes| nodes.len() > 1) && options.contact != ContactLaw::Sap;
    let is_linear = model.tendons.iter().all(|tendon| tendon.effort_limit.is_none() && !tendon.polynomial.is_any());
    let has_lane = has_lane && !has_directions && is_linear;
    let mut tally = Tally { has_lane, ..Tally::default() };
    for step in 0..steps {
        act(&mut lane, step);
        tally.has_lane &= lane.state().surface_velocity.is_empty();
        let before = lane.state().clone();
        all.state_mut().clone_from(&before);
        lane.step().unwrap();
        all.step().unwrap();
        let expected = reference.step(&before, lane.contacts(), None);
        tally.steps += 1;
        let halves = [&lane, &all].map(|s| s.stats().substeps > 1);
        assert!(halves[0] == halves[1] && (halves[0] || expected.is_resolved), "{name}, step {step}: {halves:?}");
        if halves[0] {
            // Halves report the points of the last one alone, and what they remember is not told.
            tally.halved += 1;
            tally.unexpected += usize::from(expected.is_resolved);
            lane.state_mut().warm_start = WarmStart::default();
            reference.memory.clear();
            continue;
        }
        let scale = largest(&minus(&expected.v, &before.v)).max(9.81 * lane.timestep());
        let errors = |of: &Simulation, expected: &crate::dense_step::Outcome| {
            let (v, q) = (minus(&of.state().v, &expected.v), minus(&of.state().q, &expected.q));
            // No number is a difference, too.
            [largest(&v) / scale, largest(&q) / (scale * of.timestep())]
                .map(|x| if x.is_nan() { f64::INFINITY } else { x })
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
            let act = largest(&minus(&of.state().act, &expected.act));
            assert!(act <= 1e-14, "{name}, step {step}: activations differ by {act}");
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
        assert!(!self.has_lane || 2 * (self.in_lane + self.halved) > self.steps, "{self:?}");
        assert!(worst.iter().chain(worst_q).all(|x| *x <= AGREEMENT), "{self:?}");
    }

    /// The same of a model whose contacts push in many of the steps.
    fn check_pushing(&self) {
        self.check();
        assert!(4 * self.pushing >= self.steps, "{self:?}");
    }

    /// The same of a model whose bodies touch nothing.
    fn check_without_contacts(&self) {
        self.check();
        assert!(self.unexpected == 0 && self.halved > 0, "{self:?}");
    }
}

/// Forces at random on all degrees of freedom from `first` on, others every few steps.
fn push(s: &mut Simulation, step: usize, random: &mut SplitMix64, most: f64, first: usize) {
    if step.is_multiple_of(5) {
        s.state_mut().applied_force[first..].iter_mut().for_each(|force| *force = most * random.symmetric());
    }
}

/// Controls at random, others every few steps.
fn control(s: &mut Simulation, step: usize, random: &mut SplitMix64, most: f64) {
    if step.is_multiple_of(5) {
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
    let mut act = |s: &mut Simulation, step: usize, (height, speed): (f64, f64)| {
        if step == 0 {
            s.state_mut().q[2] += height;
            s.state_mut().v.iter_mut().for_each(|v| *v = speed * random.symmetric());
            s.state_mut().applied_wrench[6..].iter_mut().for_each(|w| *w = random.symmetric());
        }
        push(s, step, &mut random, 5.0, 0);
    };
    let tally = compare("flying humanoid", &humanoid(), &options(0.004), 30, |s, step| act(s, step, (10.0, 8.0)));
    tally.check_without_contacts();
    let tally = compare("joints", JOINTS, &options(0.002), 60, |s, step| act(s, step, (0.0, 2.0)));
    tally.check_without_contacts();
}

/// Bodies that are held by a point, a frame, a distance, couplings and limits.
const TIES: &str = r#"<mujoco><worldbody>
    <body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0" limited="true" range="-40 60" frictionloss=".3" solreffriction=".05 1"/>
      <geom type="capsule" size=".03" fromto="0 0 0 0 0 -.3" contype="0" conaffinity="0"/>
      <body name="b" pos="0 0 -.3"><joint name="jb" type="ball" limited="true" range="0 70" frictionloss=".05"/>
        <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" contype="0" conaffinity="0"/></body></body>
    <body name="c" pos=".5 0 1"><joint name="jc" axis="0 1 0"/>
      <geom type="capsule" size=".03" fromto="0 0 0 0 0 -.3" contype="0" conaffinity="0"/>
      <body name="d" pos="0 .1 -.3"><joint name="jd" axis="1 0 0" limited="true" range="-30 30"/>
        <joint name="je" type="slide" axis="0 0 1" limited="true" range="-.02 .05" stiffness="30"/>
        <geom type="box" size=".05 .04 .03" contype="0" conaffinity="0"/></body></body>
    <body name="f" pos="0 1 1" gravcomp=".7"><freejoint/><geom type="box" size=".05 .04 .03" contype="0" conaffinity="0"/></body>
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
        push(s, step, &mut random, 7.0, 0);
    };
    let limits = ties("", "", "");
    compare("limits and dry friction", &limits, &options(0.004), 80, &mut act).check_without_contacts();
    let points = r#"<connect body1="b" body2="d" anchor=".25 0 0"/><connect body1="f" anchor="0 0 .1"/>
        <weld body1="f" body2="g" relpose=".25 .02 0 1 .1 0 0"/>"#;
    compare("ties", &ties(points, "", ""), &options(0.004), 80, &mut act).check_without_contacts();
    let soft =
        r#"<connect body1="b" body2="d" anchor=".25 0 0" solref="-400 -20"/><weld body1="f" body2="g" solref=".05 1"/>
        <joint joint1="jc" joint2="jd" polycoef=".1 .5 -.3 .2 0"/><distance/>"#
            .replace("<distance/>", "");
    compare("soft ties and couplings", &ties(&soft, "", ""), &options(0.004), 80, &mut act).check_without_contacts();
    let spring = Compliance::Physical { stiffness: 40.0, relaxation: 0.02 };
    let change = |model: &mut Model| {
        let [b, d] = ["b", "d"].map(|name| model.body(name).unwrap());
        let anchors = [Vec3::new(0.25, 0.0, 0.0), Vec3::new(0.0, 0.05, 0.0)];
        let mut add = |kind, compliance| {
            model.equalities.push(Equality { name: String::new(), kind, compliance, active: true });
        };
        add(EqualityKind::Distance { bodies: [b, d], anchors, distance: 0.3 }, Compliance::NearRigid);
        add(EqualityKind::Connect { bodies: [0, b], anchors: [Vec3::new(0.2, 0.0, 0.7), anchors[0]] }, spring);
        model.joints.iter_mut().for_each(|joint| joint.limit_compliance = spring);
    };
    let tally = compare_changed("distances and springs", &ties("", "", ""), change, &options(0.004), 80, &mut act);
    tally.check();
    assert_eq!(tally.unexpected, 0);
}

#[test]
fn tendons_and_drives() {
    let mut random = SplitMix64(3);
    let mut act = |s: &mut Simulation, step: usize| {
        push(s, step, &mut random, 4.0, 0);
        control(s, step, &mut random, 1.5);
    };
    let tendon = r#"limited="true" range="-.02 .03" frictionloss=".2" solreffriction="-50 -20" solimpfriction=".8 .95 .01" stiffness="4" damping=".2" springlength="-.1 .1" armature=".01""#;
    let actuators = r#"<position joint="ja" kp="30" kv="1" forcerange="-4 6" gear="1.5"/><motor joint="jd" gear="-2" ctrlrange="-1 1"/>
        <velocity joint="jc" kv="2" forcerange="-3 3"/><position joint="je" kp="200" kv="5" forcerange="-20 5"/>
        <position tendon="t" kp="5" kv=".3" forcerange="-1 2"/><motor tendon="t" gear=".5"/>"#;
    compare("drives", &ties("", "", actuators), &options(0.004), 80, &mut act).check_without_contacts();
    let with_states = r#"<general joint="ja" dyntype="integrator" gainprm="8" biastype="affine" biasprm="0 -8 -.3" actlimited="true" actrange="-.5 .5"/>
        <general joint="jc" dyntype="filter" dynprm=".05" gainprm="3" ctrlrange="-1 1"/>
        <general joint="jd" dyntype="filterexact" dynprm=".02" gainprm="2" actearly="true"/>"#;
    compare("activations", &ties("", "", with_states), &options(0.004), 80, &mut act).check_without_contacts();
    compare("tendons", &ties("", tendon, actuators), &options(0.004), 80, &mut act).check_without_contacts();
    let limited =
        r#"stiffness="4 -3 8" damping=".2 .1 .3" springlength="-.1 .1" armature=".01" actuatorfrcrange="-1 1.5""#;
    let pair = r#"<position tendon="t" kp="5" kv=".3"/><motor tendon="t"/>"#;
    let lift = |model: &mut Model| {
        model.bodies.iter_mut().for_each(|body| body.gravity_compensation = 0.8);
        for joint in model.joints.iter_mut().filter(|joint| joint.kind.nv() == 1) {
            (joint.is_lifted_by_actuators, joint.effort_limit) = (true, Some((-0.6, 0.9)));
        }
    };
    let tally = compare_changed("lifts of actuators", &ties("", "", actuators), lift, &options(0.004), 80, &mut act);
    tally.check_without_contacts();
    compare("limited sums", &ties("", limited, pair), &options(0.004), 80, &mut act).check_without_contacts();
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

/// Bodies that fall in each other and are much heavier than one another, on soft and on rigid surfaces; two geoms with a surface of their own.
const SURFACES: &str = r#"<mujoco><default><geom friction=".6"/></default><worldbody>
    <geom name="ground" type="plane" size="5 5 1"/>
    <body pos="0 0 .09"><freejoint/><geom type="box" size=".1 .1 .1" mass="MASS"/>
      <body pos="0 0 .1"><joint axis="1 0 0" range="-60 60"/><geom type="capsule" size=".03" fromto="0 0 .05 0 .1 .2" mass=".2"/></body></body>
    <body pos=".05 0 .275"><freejoint/><geom name="top" type="box" size=".05 .05 .08" mass="1" SOFT/></body>
    <body pos=".6 0 .02"><freejoint/><geom name="low" type="sphere" size=".05" mass=".5"/></body>
    </worldbody><contact><pair geom1="ground" geom2="low" friction=".2 .2 .01 .01 .01" condim="4" solref="-2000 -30"/></contact></mujoco>"#;

/// A finger on a hinge whose tip, its middle and a point near its axis lie in the ground, a box that slides out of it, and a joint that starts
/// beyond its limit.
const OVERLAPS: &str = r#"<mujoco><default><geom friction=".5"/></default><worldbody><geom type="plane" size="5 5 1"/>
    <body pos="0 0 .02"><joint axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 -.02" mass=".3"/>
      <body pos=".3 0 0"><joint axis="0 1 0" range="10 60"/><geom type="capsule" size=".02" fromto="0 0 0 .1 0 .03" mass=".1"/></body></body>
    <body pos="1 0 .04"><freejoint/><geom type="box" size=".1 .1 .05" mass="1"/></body></worldbody></mujoco>"#;

/// A capsule that rocks on a plane from a slope where it has no middle, cylinders beside it, a capsule and a cylinder on a box: soft.
const LINES: &str = r#"<mujoco><default><geom friction=".6" solref="-3000 -40"/></default><worldbody>
    <geom type="plane" size="5 5 1"/><geom type="box" size=".4 .4 .1" pos="2 0 .1"/>
    <body pos="0 0 .1"><freejoint/><geom type="capsule" size=".1 .2" euler="88 0 20" mass="1"/></body>
    <body pos="0 1 .1"><freejoint/><geom type="cylinder" size=".1 .05" euler="88 0 20" mass="1"/></body>
    <body pos="2 -.2 .3"><freejoint/><geom type="capsule" size=".1 .05" euler="89 0 20" mass="1"/></body>
    <body pos="2 .2 .3"><freejoint/><geom type="cylinder" size=".1 .05" euler="90 0 10" mass="1"/></body></worldbody></mujoco>"#;

/// The law of friction with steps of `dt`.
fn under(contact: ContactLaw, dt: f64) -> Options {
    Options { contact, ..options(dt) }
}

const LAWS: [ContactLaw; 3] = [ContactLaw::Lagged, ContactLaw::Coulomb, ContactLaw::Sap];

#[test]
fn robots_on_the_ground() {
    for law in LAWS {
        let mut random = SplitMix64(4);
        let of = under(law, 0.004);
        compare(&format!("humanoid, {law:?}"), &humanoid(), &of, 80, |s, step| {
            push(s, step, &mut random, 8.0, 6);
        })
        .check_pushing();
        compare(&format!("ant, {law:?}"), &ant(), &of, 160, |s, step| {
            control(s, step, &mut random, 1.0);
        })
        .check_pushing();
        compare(&format!("biped, {law:?}"), common::BIPED, &of, 60, |s, step| {
            if step == 0 {
                s.state_mut().q[2] = 0.95;
            }
            push(s, step, &mut random, 20.0, 6);
        })
        .check_pushing();
    }
}

#[test]
fn a_biped_that_jams() {
    let mut random = SplitMix64(9);
    let mjcf = common::BIPED.replace("friction=\".8\"", "friction=\"1.2\"");
    compare("jams", &mjcf, &options(0.005), 200, |s, step| {
        if step == 0 {
            s.state_mut().q[2] = 0.95;
        }
        push(s, step, &mut random, 60.0, 6);
    })
    .check_pushing();
}

#[test]
fn boxes_and_balls() {
    for law in LAWS {
        let mut random = SplitMix64(5);
        let of = under(law, 0.005);
        compare(&format!("gripper, {law:?}"), GRIPPER, &of, 60, |s, step| {
            let (lift, grip) = (if step > 20 { 0.05 } else { -0.06 }, 0.05);
            s.state_mut().ctrl.copy_from_slice(&[lift, grip, grip]);
        })
        .check_pushing();
        let closing = GRIPPER.replace("pos=\"0 0 .04\"", "pos=\"1 0 .04\"");
        let closing = closing.replace("friction=\".8\"", "friction=\".8\" solref=\"-300 -20\"");
        compare(&format!("soft fingers, {law:?}"), &closing, &of, 50, |s, _| {
            s.state_mut().ctrl.copy_from_slice(&[0.0, 0.08, 0.08]);
        })
        .check_pushing();
        compare(&format!("pile, {law:?}"), &pile(4), &of, 40, |s, step| {
            push(s, step, &mut random, 3.0, 0);
        })
        .check_pushing();
        let rolling = |s: &mut Simulation, step: usize, random: &mut SplitMix64, height: f64, speed: f64| {
            if step == 0 {
                s.state_mut().q[2] += height;
                s.state_mut().v.iter_mut().for_each(|v| *v = speed * random.symmetric());
                s.state_mut().v[2] = -speed;
            }
            push(s, step, random, 0.2, 0);
        };
        compare(&format!("balls, {law:?}"), BALLS, &of, 60, |s, k| rolling(s, k, &mut random, 0.0, 2.0))
            .check_pushing();
        compare(&format!("balls in flight, {law:?}"), BALLS, &of, 60, |s, k| rolling(s, k, &mut random, 0.1, 3.0))
            .check_pushing();
    }
}

#[test]
fn surfaces_and_overlaps() {
    for law in LAWS {
        let mut random = SplitMix64(6);
        let of = under(law, 0.005);
        for (mass, soft) in [(3.0, r#"solref="-3000 -40""#), (500.0, ""), (500.0, r#"solref=".03 1""#)] {
            let mjcf = SURFACES.replace("MASS", &mass.to_string()).replace("SOFT", soft);
            compare(&format!("{mass} kg {soft}, {law:?}"), &mjcf, &of, 40, |s, step| {
                push(s, step, &mut random, 2.0, 0);
            })
            .check_pushing();
        }
        let springs = |model: &mut Model| {
            let spring = Compliance::Physical { stiffness: 3e3, relaxation: 0.01 };
            model.materials.iter_mut().for_each(|surface| surface.compliance = spring);
        };
        compare_changed(&format!("springs, {law:?}"), OVERLAPS, springs, &of, 40, |s, k| {
            push(s, k, &mut random, 1.0, 0)
        })
        .check_pushing();
        let deep =
            SURFACES.replace("MASS", "3").replace("SOFT", r#"solref="-3000 -40""#).replace(".05 0 .275", ".05 0 .19");
        compare(&format!("deep, {law:?}"), &deep, &of, 40, |s, k| push(s, k, &mut random, 2.0, 0)).check_pushing();
        let two = SURFACES.replace("MASS", "3").replace("SOFT", "").replace(".2 .2 .01", ".2 .5 .01");
        compare(&format!("friction of two directions, {law:?}"), &two, &of, 40, |s, k| {
            push(s, k, &mut random, 2.0, 12)
        })
        .check_pushing();
        for speed in [0.5, 0.0] {
            compare(&format!("overlaps at {speed} m/s, {law:?}"), OVERLAPS, &of, 40, |s, step| {
                if step == 0 {
                    s.state_mut().v.iter_mut().for_each(|v| *v = speed * random.symmetric());
                }
                push(s, step, &mut random, 1.0, 0);
                s.state_mut().applied_force[2] = 8.0;
            })
            .check_pushing();
        }
    }
}

#[test]
fn lines() {
    for law in LAWS {
        let mut random = SplitMix64(7);
        compare(&format!("lines, {law:?}"), LINES, &under(law, 0.005), 60, |s, k| push(s, k, &mut random, 2.0, 0))
            .check_pushing();
    }
}

#[test]
fn belts() {
    for law in LAWS {
        compare(&format!("belts, {law:?}"), BALLS, &under(law, 0.005), 30, |s, step| {
            let n = s.scene().geoms.len();
            s.state_mut().surface_velocity =
                (0..3 * n).map(|k| (((5 * k + step / 10) % 7) as f64 - 3.0) * 0.1).collect();
        })
        .check();
    }
}

#[test]
fn rolling_of_two_directions() {
    let pair =
        r#"<contact><pair geom1="ground" geom2="ball" condim="6" friction=".7 .7 .02 .02 .001"/></contact></mujoco>"#;
    let mjcf = BALLS
        .replace(r#"<geom type="plane""#, r#"<geom name="ground" type="plane""#)
        .replacen(r#"<geom type="sphere""#, r#"<geom name="ball" type="sphere""#, 1)
        .replace("</mujoco>", pair);
    assert!(mjcf.contains(r#"name="ball""#));
    for law in LAWS {
        let mut random = SplitMix64(13);
        compare(&format!("balls on a lane, {law:?}"), &mjcf, &under(law, 0.005), 60, |s, step| {
            if step == 0 {
                s.state_mut().v[..6].copy_from_slice(&[0.6, 0.8, 0.0, -8.0, 6.0, 2.0]);
            }
            push(s, step, &mut random, 0.2, 0);
        })
        .check();
    }
}

#[test]
fn friction_that_yields() {
    for cone in ["elliptic", "pyramidal"] {
        let soft =
            format!(r#"<mujoco><option cone="{cone}"/><default><geom solref=".02 1" solimp=".8 .95 .01"/></default>"#);
        for (name, mjcf, seed) in [("balls", BALLS.to_owned(), 11), ("ant", ant().replace("0 0 .55", "0 0 .36"), 12)] {
            let mut random = SplitMix64(seed);
            let of = Options { impratio: Some(2.0), ..options(0.004) };
            let mjcf = mjcf.replacen("<mujoco>", &soft, 1);
            assert!(mjcf.contains("solref"), "{mjcf}");
            compare(&format!("{name} on a soft ground, {cone}"), &mjcf, &of, 60, |s, step| {
                control(s, step, &mut random, 1.0);
                if s.model().nu() == 0 {
                    s.state_mut().surface_velocity =
                        (0..3 * s.scene().geoms.len()).map(|k| 0.1 * (k % 4) as f64).collect();
                }
            })
            .check();
        }
    }
}

#[test]
fn symplectic_euler() {
    let mut random = SplitMix64(7);
    let of = Options { scheme: Scheme::SymplecticEuler, ..options(0.004) };
    let mjcf = ant().replace("0 0 .55", "0 0 .36");
    compare("ant, symplectic Euler", &mjcf, &of, 80, |s, step| control(s, step, &mut random, 1.0)).check_pushing();
}

#[test]
fn pd_control() {
    for effort in [30.0, f64::INFINITY] {
        let mut random = SplitMix64(8);
        let mut offset = Vec::new();
        compare(&format!("humanoid under PD, {effort}"), &humanoid(), &options(0.006), 60, |s, step| {
            let (model, nv) = (s.model().clone(), s.model().nv());
            if step.is_multiple_of(10) {
                offset = (0..nv).map(|i| if i < 6 { 0.0 } else { 0.3 * random.symmetric() }).collect();
            }
            let pd = &mut s.state_mut().pd;
            let of = |first: f64, rest: f64| (0..nv).map(|i| if i < 6 { first } else { rest }).collect::<Vec<f64>>();
            (pd.kp, pd.kd) = (of(0.0, 200.0), of(0.0, if step % 2 == 0 { 10.0 } else { 1.0 }));
            (pd.effort_limit, pd.target_velocity) = (of(f64::INFINITY, effort), of(0.0, 0.5));
            pd.effort_limit[nv - 3..].fill(f64::INFINITY);
            pd.target.clone_from(&model.q0);
            multibody::integrate(&model.tree, &mut pd.target, &offset, 1.0);
        })
        .check_pushing();
    }
}
