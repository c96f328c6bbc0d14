//! One step in lanes from each state of runs of models of every kind is that of a simulation from the same state.

use crate::common::{self, Loaded, humanoid, load};
use multibody::{JointKind, JointType};
use sapwood_batch::{Batch, BatchOptions, Precision};
use sim::{ContactLaw, Options, Pd, Scheme, Simulation, State};
use support::SplitMix64;

/// Runs of a model, steps of each, and how long a control holds.
const RUNS: usize = 20;
const STEPS: usize = 200;
const HOLD: usize = 20;

/// Velocities differ by no more than this share of the greatest change of one in the step, or of what gravity changes where nothing moves.
/// The same of positions.
const AGREEMENT: f64 = 1e-6;
const TOLERANCE: f64 = 1e-11;

/// The same in 32 bits, of all steps but a few.
const AGREEMENT_OF_SINGLES: f64 = 1e-3;

/// Share of the steps that may be left to a simulation: of the case that leaves most, 10,000 steps leave 0.057.
const MAX_LEFT: f64 = 0.06;

/// Share of the steps that may differ by more: where contacts jam Coulomb's law has more than one solution. Of 10,000 steps under PD
/// control, 2 do; of other cases none.
const MAX_OTHERS: f64 = 1e-3;

/// A model and how it is stepped.
struct Case {
    name: &'static str,
    loaded: Loaded,
    options: Options,
    pd: Option<Pd>,
    /// Share of the steps that may differ by more in 32 bits.
    spare_of_singles: f64,
}

fn case(name: &'static str, loaded: Loaded) -> Case {
    Case { name, loaded, options: Options::default(), pd: None, spare_of_singles: 0.01 }
}

/// Links of a chain, each with what `joint` says, one inside the other.
fn chain(links: usize, joint: impl Fn(usize) -> String) -> String {
    let open = |k: usize| {
        format!(r#"<body pos="0 0 -.2">{}<geom type="capsule" fromto="0 0 0 .02 0 -.2" size=".03"/>"#, joint(k))
    };
    (0..links).map(open).collect::<String>() + &"</body>".repeat(links)
}

fn hinge(k: usize, more: &str) -> String {
    let axis = ["0 1 0", "1 0 0", "1 2 0"][k % 3];
    format!(r#"<joint name="h{k}" axis="{axis}" {more}/>"#)
}

const PLANE: &str = r#"<geom type="plane" size="0 0 1"/>"#;

/// A model from the parts of its file.
fn model(worldbody: &str, rest: &str) -> Loaded {
    load(&format!(
        r#"<mujoco><compiler autolimits="true"/><option timestep=".004"/><default><geom friction=".7"/></default>
        <worldbody>{worldbody}</worldbody>{rest}</mujoco>"#
    ))
}

/// An arm that hangs, with position servos and a velocity servo, which are at their limits now and then.
fn servos() -> Loaded {
    let arm = chain(4, |k| hinge(k, r#"range="-150 150" damping=".05""#));
    model(
        &format!(r#"{PLANE}<body pos="0 0 1.04"><geom type="sphere" size=".05"/>{arm}</body>"#),
        r#"<actuator><position joint="h0" kp="40" kv="2" forcerange="-3 3" ctrlrange="-2 2"/>
        <position joint="h1" kp="30" kv="1" forcerange="-2 2"/><position joint="h2" kp="20" forcerange="-1 1"/>
        <velocity joint="h3" kv="1" forcerange="-.5 .5"/></actuator>"#,
    )
}

/// The same arm, by actuators with states of their own.
fn activations() -> Loaded {
    let arm = chain(4, |k| hinge(k, r#"range="-150 150" damping=".05""#));
    model(
        &format!(r#"{PLANE}<body pos="0 0 1.04"><geom type="sphere" size=".05"/>{arm}</body>"#),
        r#"<actuator><position joint="h0" kp="40" kv="2" timeconst=".1" forcerange="-3 3" ctrlrange="-2 2"/>
        <general joint="h1" dyntype="integrator" gainprm="4" ctrlrange="-.9 .9" actrange="-.3 .3"/>
        <general joint="h2" dyntype="filterexact" dynprm=".02" gainprm="3" actearly="true"/>
        <general joint="h3" dyntype="filter" dynprm=".002" gainprm="2"/></actuator>"#,
    )
}

/// Ball joints and hinges whose PD control is at its limits.
fn limited_pd() -> Case {
    let joint = |k: usize| if k == 2 { hinge(k, "") } else { r#"<joint type="ball" damping=".02"/>"#.into() };
    let body = format!(
        r#"{PLANE}<body pos="0 0 .8"><freejoint/><geom type="box" size=".1 .08 .05"/>{}</body>"#,
        chain(4, joint)
    );
    let loaded = model(&body, "");
    let (nv, mut target) = (loaded.model.nv(), loaded.model.q0.clone());
    let mut random = SplitMix64(5);
    for node in &loaded.model.tree.nodes[1..] {
        let q = &mut target[node.q..node.q + node.joint.nq()];
        q.iter_mut().for_each(|q| *q += 0.5 * random.symmetric());
        if q.len() == 4 {
            let norm = q.iter().map(|q| q * q).sum::<f64>().sqrt();
            q.iter_mut().for_each(|q| *q /= norm);
        }
    }
    let of_joints = |x: f64| (0..nv).map(|i| if i < 6 { 0.0 } else { x }).collect::<Vec<f64>>();
    let pd = Pd {
        kp: of_joints(60.0),
        kd: of_joints(1.5),
        target,
        target_velocity: vec![0.0; nv],
        effort_limit: vec![2.0; nv],
    };
    // Hard contact problems are solved in 32 bits as well, where they used to be left to one world: 1.1e-3 at the upper fiftieth.
    Case { pd: Some(pd), spare_of_singles: 0.03, ..case("PD control with effort limits", loaded) }
}

/// Tendons with limits, springs, dampers, friction and actuators.
fn tendons() -> Loaded {
    let arm = chain(5, |k| hinge(k, r#"damping=".02""#));
    model(
        &format!(r#"<body pos="0 0 1.5"><geom type="sphere" size=".05"/>{arm}</body>"#),
        r#"<tendon><fixed name="a" limited="true" range="-.4 .3"><joint joint="h0" coef="1"/><joint joint="h1" coef="-.5"/></fixed>
        <fixed name="b" stiffness="20" damping=".1" springlength="-.1 .2"><joint joint="h1" coef=".7"/><joint joint="h2" coef="1"/></fixed>
        <fixed name="c" frictionloss=".2"><joint joint="h2" coef="1"/><joint joint="h4" coef="1"/></fixed>
        <fixed name="d"><joint joint="h3" coef="1"/><joint joint="h4" coef=".5"/></fixed></tendon>
        <actuator><motor tendon="a" gear="2"/><position tendon="d" kp="5" kv=".2"/></actuator>"#,
    )
}

/// Equalities of every kind between trees, and with the world.
fn equalities() -> Loaded {
    let arm = |pos: &str, first: usize| {
        let links = chain(3, |k| hinge(first + k, r#"damping=".02""#));
        format!(r#"<body pos="{pos}"><geom type="sphere" size=".03"/>{links}</body>"#)
    };
    let free = |name: &str, pos: &str| {
        format!(
            r#"<body name="{name}" pos="{pos}"><freejoint/><geom name="{name}" type="sphere" size=".08"/><geom type="box" pos=".1 0 0" size=".1 .05 .05"/></body>"#
        )
    };
    model(
        &[
            PLANE.into(),
            arm("0 0 1.2", 0),
            arm("0 1 1.2", 3),
            free("a", "1 0 .6"),
            free("b", "1 .6 .6"),
            free("c", "2 0 .6"),
            free("d", "2 .6 .6"),
        ]
        .concat(),
        r#"<equality><connect body1="a" body2="b" anchor="0 .3 0"/><weld body1="c" body2="d"/>
        <distance geom1="b" geom2="d"/><joint joint1="h0" joint2="h1" polycoef=".1 .8 .2 0 0"/><joint joint1="h4" polycoef=".2 0 0 0 0"/>
        </equality><actuator><motor joint="h0"/><motor joint="h2"/><motor joint="h5"/></actuator>"#,
    )
}

/// Dry friction and limits of balls, and springs on them; a part of a weight that is carried.
fn balls() -> Loaded {
    let joint = |k: usize| match k {
        0 => r#"<joint type="ball" range="0 40" frictionloss=".05"/>"#.into(),
        1 => r#"<joint type="ball" stiffness="3" damping=".02"/>"#.into(),
        2 => hinge(k, r#"frictionloss=".3" stiffness="2" springref="30""#),
        _ => r#"<joint type="ball" range="0 60" damping=".01"/>"#.into(),
    };
    let arm = chain(4, joint).replacen("<body pos", r#"<body gravcomp=".7" pos"#, 2);
    model(
        &format!(r#"<body pos="0 0 1.5"><geom type="sphere" size=".05"/>{arm}</body>"#),
        r#"<actuator><motor joint="h2" gear="2"/></actuator>"#,
    )
}

/// Bodies that roll and turn under rolling and torsional friction.
fn rolling() -> Loaded {
    let body = |pos: &str, geom: &str| format!(r#"<body pos="{pos}"><freejoint/><geom {geom}/></body>"#);
    let geoms = [
        body("0 0 .12", r#"type="sphere" size=".1" condim="6" friction=".8 .02 .005""#),
        body("1 0 .12", r#"type="capsule" size=".06 .1" euler="0 80 0" condim="4" friction=".6 .03 .001""#),
        body("2 0 .12", r#"type="sphere" size=".1" condim="4" friction=".5 .05 .001""#),
        body("0 1 .12", r#"type="ellipsoid" size=".12 .1 .08" condim="6" friction=".8 .02 .003""#),
    ];
    model(&[PLANE, &geoms.concat()].concat(), "")
}

/// Objects of 1 to 1000 masses beside an arm that pushes them.
fn uneven() -> Loaded {
    let arm = chain(3, |k| hinge(k, r#"damping=".1" range="-120 120""#));
    let ball = |pos: &str, mass: f64| {
        format!(r#"<body pos="{pos}"><freejoint/><geom type="sphere" size=".08" mass="{mass}"/></body>"#)
    };
    model(
        &[
            PLANE.into(),
            format!(r#"<body pos="0 0 .92"><geom type="sphere" size=".03"/>{arm}</body>"#),
            ball(".12 0 .09", 0.1),
            ball("-.12 .02 .09", 100.0),
            ball(".3 0 .09", 3.0),
            ball("-.12 .02 .26", 0.1),
        ]
        .concat(),
        r#"<actuator><motor joint="h0" gear="10"/><motor joint="h1" gear="8"/><motor joint="h2" gear="4"/></actuator>"#,
    )
}

/// A screw and slides in a chain of hinges. A file cannot say that a joint is a screw.
fn screws() -> Loaded {
    let joint = |k: usize| match k {
        3 => r#"<joint name="h3" type="slide" axis="0 .3 1" range="-.1 .1" stiffness="50" damping="1"/>"#.into(),
        _ => hinge(k, r#"damping=".02""#),
    };
    let arm = chain(5, joint);
    let mut loaded = model(
        &format!(r#"<body pos="0 0 1.5"><geom type="sphere" size=".05"/>{arm}</body>"#),
        r#"<actuator><motor joint="h1"/><motor joint="h2"/><motor joint="h3" gear="5"/></actuator>"#,
    );
    let mut model = (*loaded.model).clone();
    for joint in [1, 4] {
        let JointKind::Revolute { axis } = model.joints[joint].kind else { panic!("{:?}", model.joints[joint]) };
        model.joints[joint].kind = JointKind::Screw { axis, pitch: 0.02 };
        let node = model.tree.nodes.iter_mut().find(|node| node.v == model.joints[joint].v).unwrap();
        (node.joint, node.pitch) = (JointType::Screw, 0.02);
    }
    loaded.model = model.into();
    loaded
}

/// Two robots that wrestle. Where one stands on edges of its box, 2 % of the steps in 32 bits differ by more, up to 0.15.
fn robots() -> Case {
    Case { spare_of_singles: 0.04, ..case("robots that touch", common::robots()) }
}

/// The cone law under symplectic Euler.
fn cone() -> Case {
    let options = Options { contact: ContactLaw::Sap, scheme: Scheme::SymplecticEuler, ..Options::default() };
    Case { options, ..case("cone law, symplectic Euler", humanoid()) }
}

fn lagged() -> Case {
    let options = Options { contact: ContactLaw::Lagged, ..Options::default() };
    Case { options, ..case("lagged law", humanoid()) }
}

fn cases() -> Vec<Case> {
    vec![
        case("humanoid", humanoid()),
        case("servos at their limits", servos()),
        case("actuators with states", activations()),
        limited_pd(),
        case("tendons", tendons()),
        // Rounding of the 24 rows that hold them together: 1.0e-3 at the hundredth.
        Case { spare_of_singles: 0.02, ..case("equalities", equalities()) },
        case("balls", balls()),
        Case { spare_of_singles: 0.04, ..case("rolling and torsional friction", rolling()) },
        case("masses of 1 to 1000", uneven()),
        case("screws", screws()),
        robots(),
        cone(),
        lagged(),
    ]
}

/// What steps of a case in lanes were like.
struct Outcome {
    /// Of each step, relative, in ascending order.
    errors: Vec<f64>,
    /// Worlds whose positions or velocities have other bits in another number of lanes.
    bits_differ: usize,
    left: f64,
    pushing: u64,
}

/// Steps runs of a case in lanes and one by one.
fn compare(case: &Case, precision: Precision, lanes: [usize; 2]) -> Outcome {
    let (model, scene) = (&case.loaded.model, &case.loaded.scene);
    let (nq, nv, nu, na) = (model.nq(), model.nv(), model.nu(), model.na());
    let mut simulation = case.options.clone();
    if precision == Precision::F64 {
        simulation.tolerance = TOLERANCE;
    }
    let mut batches = lanes.map(|lanes| {
        let mut options = BatchOptions::default();
        (options.simulation, options.precision) = (simulation.clone(), precision);
        (options.lanes, options.threads) = (Some(lanes), Some(1));
        let mut batch = Batch::new(model.clone(), scene.clone(), RUNS, options).unwrap();
        batch.set_pd(case.pd.clone()).unwrap();
        assert_eq!(batch.alone(), None, "{}", case.name);
        batch
    });
    // Those of the batch: worlds of 32 bits have another least σ.
    let simulation = batches[0].options().clone();
    let start = |seed| {
        let mut random = SplitMix64(seed);
        let mut run = Simulation::without_lane(model.clone(), scene.clone(), simulation.clone()).unwrap();
        let state = run.state_mut();
        state.v.iter_mut().for_each(|v| *v = random.symmetric());
        state.pd = case.pd.clone().unwrap_or_default();
        (run, random)
    };
    let mut runs: Vec<_> = (0..RUNS as u64).map(start).collect();
    let (mut errors, mut bits_differ, mut unsettled) = (Vec::new(), 0, 0);
    for step in 0..STEPS {
        for (world, (run, random)) in runs.iter_mut().enumerate() {
            if step % HOLD == 0 {
                run.state_mut().ctrl.iter_mut().for_each(|u| *u = random.symmetric());
            }
            run.state_mut().forget_past();
            let state = run.state();
            for batch in &mut batches {
                batch.forget(world);
                batch.q_mut()[world * nq..][..nq].copy_from_slice(&state.q);
                batch.v_mut()[world * nv..][..nv].copy_from_slice(&state.v);
                batch.ctrl_mut()[world * nu..][..nu].copy_from_slice(&state.ctrl);
                batch.act_mut()[world * na..][..na].copy_from_slice(&state.act);
            }
        }
        let [one, other] = &mut batches;
        one.step(1).unwrap();
        other.step(1).unwrap();
        bits_differ += differing(one.q(), other.q(), nq) + differing(one.v(), other.v(), nv);
        let worlds = one.q().chunks_exact(nq).zip(one.v().chunks_exact(nv));
        for (world, ((q, v), (run, _))) in worlds.zip(&mut runs).enumerate() {
            let before = (run.state().q.clone(), run.state().v.clone());
            run.step().unwrap();
            let act = &one.act()[world * na..][..na];
            assert!(largest(&run.state().act, act) <= 1e-6, "{}: {act:?}", case.name);
            if run.stats().unsettled > 0 {
                // What says that it has not met the law is nothing to compare with.
                unsettled += 1;
                continue;
            }
            let State { q: end_q, v: end_v, .. } = run.state();
            let change = largest(end_v, &before.1).max(9.81 * run.timestep());
            let error = largest(end_v, v) / change;
            let moved = largest(end_q, &before.0).max(run.timestep() * change);
            let error = error.max(largest(end_q, q) / moved);
            errors.push(if error.is_nan() { f64::INFINITY } else { error });
        }
    }
    assert!(unsettled <= (RUNS * STEPS) / 200, "{}: {unsettled} steps of a simulation are unsettled", case.name);
    errors.sort_by(f64::total_cmp);
    let stats = batches[0].stats();
    let left = stats.left as f64 / stats.steps as f64;
    let outcome = Outcome { errors, bits_differ, left, pushing: stats.pushing };
    println!(
        "{}: median {:.1e}, upper hundredth {:.1e}, most {:.1e}; {:.4} left, {:.2} push; bits of {} differ",
        case.name,
        outcome.at(0.5),
        outcome.at(0.99),
        outcome.at(1.0),
        outcome.left,
        outcome.pushing as f64 / stats.steps as f64,
        outcome.bits_differ
    );
    outcome
}

impl Outcome {
    /// The error that this share of the steps does not exceed.
    fn at(&self, share: f64) -> f64 {
        self.errors[(share * (self.errors.len() - 1) as f64) as usize]
    }
}

/// Leaves out what a simulation remembers of its last step.
/// How many worlds have other bits.
fn differing(a: &[f64], b: &[f64], of_world: usize) -> usize {
    let differ = |(a, b): (&f64, &f64)| a.to_bits() != b.to_bits();
    let worlds = a.chunks_exact(of_world).zip(b.chunks_exact(of_world));
    worlds.filter(|(a, b)| a.iter().zip(*b).any(differ)).count()
}

fn largest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
}

#[test]
fn steps_are_those_of_a_simulation() {
    let mut wrong = Vec::new();
    for case in cases() {
        let outcome = compare(&case, Precision::F64, [4, 1]);
        let differ = outcome.errors.iter().filter(|error| **error > AGREEMENT).count();
        let most = (MAX_OTHERS * outcome.errors.len() as f64) as usize;
        if differ > most || outcome.bits_differ > 0 || outcome.left > MAX_LEFT || outcome.pushing == 0 {
            wrong.push(format!(
                "{}: {differ} differ, bits of {}, {:.3} left",
                case.name, outcome.bits_differ, outcome.left
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn steps_of_32_bits_are_close() {
    let mut wrong = Vec::new();
    for case in cases() {
        let outcome = compare(&case, Precision::F32, [8, 1]);
        if outcome.at(1.0 - case.spare_of_singles) > AGREEMENT_OF_SINGLES
            || outcome.bits_differ > 0
            || outcome.left > MAX_LEFT
        {
            wrong.push(format!(
                "{}: {:.1e}, {:.3} left",
                case.name,
                outcome.at(1.0 - case.spare_of_singles),
                outcome.left
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
