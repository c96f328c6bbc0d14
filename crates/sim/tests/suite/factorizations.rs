//! Random scenes, every step in contact space where that is chosen and by the global solver: recursive factors or sparse blocks.

use crate::common::{self, both_ways, simulation};
use sapwood_sim::{ContactLaw, Options, Simulation};
use support::SplitMix64;

/// Loose solids and chains above the ground, from apart to in a heap; in half of the scenes some are tied: a chain's end to a solid
/// or to the world, or two joints to each other.
fn mjcf(rng: &mut SplitMix64) -> String {
    let spread = rng.uniform(0.05, 0.6);
    let (mut bodies, mut ties) = (String::new(), String::new());
    let solids = rng.below(6);
    for i in 0..solids {
        let place = |rng: &mut SplitMix64| rng.uniform(-spread, spread);
        let (x, y, z) = (place(rng), place(rng), rng.uniform(0.05, 0.3));
        let size = rng.uniform(0.03, 0.07);
        let shape = match rng.below(3) {
            0 => format!(r#"type="sphere" size="{size}""#),
            1 => format!(r#"type="capsule" size="{} {size}""#, 0.5 * size),
            _ => format!(r#"type="box" size="{size} {} .04""#, 0.8 * size),
        };
        let (turn, friction, density) = (rng.uniform(-90.0, 90.0), rng.uniform(0.0, 1.2), rng.uniform(200.0, 5000.0));
        bodies += &format!(
            r#"<body name="solid {i}" pos="{x} {y} {z}" euler="{turn} 20 {turn}"><freejoint/>
            <geom {shape} friction="{friction}" density="{density}"/></body>"#
        );
    }
    let tied = rng.below(2) == 0;
    for c in 0..1 + rng.below(3) {
        let links = 1 + rng.below(4);
        let mut inner = String::new();
        for k in (1..links).rev() {
            let joint = match rng.below(3) {
                0 => r#"<joint name="NAME" axis="0 1 .3" range="-40 40" armature=".001"/>"#,
                1 => r#"<joint name="NAME" axis="1 0 0" damping=".01" frictionloss=".02"/>"#,
                _ => r#"<joint type="ball" damping=".001"/>"#,
            };
            let joint = joint.replace("NAME", &format!("j{c}{k}"));
            inner = format!(
                r#"<body name="link {c} {k}" pos=".12 0 0">{joint}
                <geom type="capsule" fromto="0 0 0 .09 0 0" size=".02"/>{inner}</body>"#
            );
        }
        let root = if rng.below(3) == 0 { r#"<joint axis="0 1 0"/>"# } else { "<freejoint/>" };
        let (x, y, z) = (rng.uniform(-spread, spread), rng.uniform(-spread, spread), rng.uniform(0.1, 0.4));
        bodies += &format!(
            r#"<body name="link {c} 0" pos="{x} {y} {z}">{root}
            <geom type="capsule" fromto="0 0 0 .09 0 0" size=".025"/>{inner}</body>"#
        );
        if tied && solids > 0 && rng.below(2) == 0 {
            let body = format!("solid {}", rng.below(solids));
            ties += &format!(r#"<connect body1="link {c} {}" body2="{body}" anchor=".05 0 0"/>"#, links - 1);
        } else if tied {
            ties += &format!(r#"<connect body1="link {c} {}" anchor=".05 0 0"/>"#, links - 1);
        }
        for k in 2..links {
            let (a, b) = (format!("j{c}{k}"), format!("j{c}{}", k - 1));
            if tied && [&a, &b].iter().all(|name| bodies.contains(&format!(r#"name="{name}""#))) {
                ties += &format!(r#"<joint joint1="{a}" joint2="{b}" polycoef="0 .7 0 0 0"/>"#);
            }
        }
    }
    format!(
        r#"<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 .1"/>{bodies}</worldbody>
        <equality>{ties}</equality></mujoco>"#
    )
}

/// What was compared under one law.
#[derive(Debug, Default)]
struct Seen {
    steps: usize,
    recursive: usize,
    between_bodies: usize,
    unsettled: usize,
    /// Steps in which Coulomb's law has another solution.
    ambiguous: usize,
    /// Steps in more than [`MOST_PARTS`]: bodies at 200 rad/s, whose later parts multiply what the first ones differ by.
    in_many_parts: usize,
    worst: f64,
}

const MOST_PARTS: usize = 8;

/// Takes each step from the same state in both ways and compares velocities, relative to the greatest.
fn compare(seed: u64, contact: ContactLaw, seen: &mut Seen) {
    let mut rng = SplitMix64(seed);
    let text = mjcf(&mut rng);
    let [mut auto, mut global] =
        both_ways(|| simulation(&text, Options { contact, tolerance: 1e-12, ..Options::default() }));
    auto.state_mut().v.iter_mut().for_each(|v| *v = rng.uniform(-1.0, 1.0));
    for step in 0..40 {
        let before = auto.state().to_bytes();
        auto.step().unwrap();
        if step % 4 != 0 {
            continue;
        }
        global.state_mut().restore(&before).unwrap();
        global.step().unwrap();
        let settled = [&auto, &global].iter().all(|s| s.stats().friction_residual < 1e-9)
            && global.stats().substeps == auto.stats().substeps;
        let size = auto.state().v.iter().fold(0.0, |m, v| f64::max(m, v.abs()));
        let worst = common::difference(&auto, &global) / size;
        seen.steps += 1;
        seen.unsettled += usize::from(!settled);
        let between = touches_bodies(&auto);
        seen.between_bodies += usize::from(between);
        seen.recursive += usize::from(!between && auto.stats().active_contacts > 0);
        // The convex laws have one solution. Coulomb's law may have several where contacts jam; all of these balance momentum.
        let balances = [&auto, &global].iter().all(|s| s.stats().residual < 1e-9);
        if settled && contact == ContactLaw::Coulomb && worst > 1e-3 && balances {
            seen.ambiguous += 1;
        } else if settled && auto.stats().substeps > MOST_PARTS {
            seen.in_many_parts += 1;
        } else if settled {
            // Each part that the step is made in may err by what its solution leaves.
            let worst = worst / auto.stats().substeps as f64;
            seen.worst = seen.worst.max(worst);
            assert!(worst < 1e-10, "{contact:?}, seed {seed}, step {step}: {worst:e} {:?}", auto.stats());
        }
    }
}

/// Whether two moving bodies push each other.
fn touches_bodies(simulation: &Simulation) -> bool {
    let fixed = |body: usize| simulation.model().bodies[body].node.is_none();
    simulation.contacts().iter().any(|c| c.impulse[2] > 0.0 && !c.bodies.iter().any(|&b| fixed(b)))
}

#[test]
fn both_ways_agree() {
    for contact in [ContactLaw::Sap, ContactLaw::Lagged, ContactLaw::Coulomb] {
        let mut seen = Seen::default();
        for seed in 0..120 {
            compare(seed, contact, &mut seen);
        }
        println!("{contact:?}: {seen:?}");
        assert!(seen.recursive > 100 && seen.between_bodies > 100 && 20 * seen.unsettled < seen.steps, "{seen:?}");
        assert!(200 * seen.ambiguous < seen.steps && 100 * seen.in_many_parts < seen.steps, "{seen:?}");
    }
}

/// A boom of 50 m and a tonne that holds a chain of links of a milligram, which reaches the ground: what the small ones have about
/// their own joints is a part in 1e18 of what they have with the boom about its root.
fn boom() -> String {
    let mut chain = String::new();
    for k in 0..13 {
        chain += &format!(
            r#"<body pos="{} 0 0"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.002 0 0" size="0.0004"
            mass="1e-6"/>"#,
            if k == 0 { 50.0 } else { 0.003 }
        );
    }
    format!(
        r#"<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="100 100 1"/><body pos="0 0 0.001">
        <joint type="hinge" axis="0 0 1"/><inertial pos="25 0 0" mass="1000" diaginertia="10 2e5 2e5"/>{chain}{}</body>
        </worldbody></mujoco>"#,
        "</body>".repeat(13)
    )
}

#[test]
fn small_joints_far_from_the_root_keep_their_digits() {
    let [mut auto, mut recursive] =
        both_ways(|| simulation(&boom(), Options { tolerance: 1e-12, ..Options::default() }));
    let (mut touched, mut worst) = (0, 0.0_f64);
    for _ in 0..100 {
        recursive.state_mut().restore(&auto.state().to_bytes()).unwrap();
        auto.step().unwrap();
        recursive.step().unwrap();
        touched += auto.stats().active_contacts;
        let size = auto.state().v.iter().fold(0.0, |m, v| f64::max(m, v.abs()));
        worst = worst.max(common::difference(&auto, &recursive) / size);
    }
    assert!(worst < 1e-9, "{worst:e}");
    assert!(touched > 100, "{touched}");
}

/// A trunk with four limbs of three links: ball joints, hinges with limits and dry friction, two of them tied; the feet have rolling
/// friction.
fn crawler(friction: f64) -> String {
    let mut limbs = String::new();
    for (k, (x, y)) in [(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)].into_iter().enumerate() {
        let loss = if k == 0 { 0.05 } else { 0.0 };
        limbs += &format!(
            r#"<body pos="{x} {y} 0"><joint type="ball" damping=".3"/><geom type="capsule" fromto="0 0 0 {x} 0 -.1" size=".03"/>
            <body pos="{x} 0 -.1"><joint name="knee {k}" axis="0 1 0" range="-30 20" damping=".1" frictionloss="{loss}"/>
            <geom type="capsule" fromto="0 0 0 0 {y} -.2" size=".03"/>
            <body pos="0 {y} -.2"><joint type="ball" damping=".1"/>
            <geom type="sphere" pos="0 0 -.05" size=".04" condim="6" friction="{friction} .01 .005"/></body></body></body>"#
        );
    }
    format!(
        r#"<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 .1" friction="{friction}"/>
        <body pos="0 0 .42"><freejoint/><geom type="box" size=".25 .1 .05"/>{limbs}</body></worldbody>
        <equality><joint joint1="knee 2" joint2="knee 3" polycoef="0 .7 0 0 0"/></equality></mujoco>"#
    )
}

#[test]
fn what_moves_is_solved_on_its_rows_alike() {
    for contact in [ContactLaw::Sap, ContactLaw::Lagged, ContactLaw::Coulomb] {
        let (mut on_rows, mut compared, mut worst) = (0, 0, 0.0_f64);
        for seed in 0..12 {
            let mut rng = SplitMix64(seed);
            let text = crawler(rng.uniform(0.2, 1.0));
            let [mut auto, mut global] =
                both_ways(|| simulation(&text, Options { contact, tolerance: 1e-12, ..Options::default() }));
            auto.state_mut().v.iter_mut().for_each(|v| *v = rng.uniform(-1.5, 1.5));
            for _ in 0..120 {
                let before = auto.state().to_bytes();
                auto.step().unwrap();
                global.state_mut().restore(&before).unwrap();
                global.step().unwrap();
                let v = &auto.state().v;
                // The same bits: the same way.
                on_rows += usize::from(*v != global.state().v);
                if [&auto, &global].iter().all(|s| s.stats().friction_residual < 1e-10) {
                    compared += 1;
                    let size = v.iter().fold(0.0, |most, v| f64::max(most, v.abs()));
                    worst = worst.max(common::difference(&auto, &global) / size);
                }
            }
        }
        println!("{contact:?}: {on_rows} of 1440 steps on rows, {compared} compared, {worst:e}");
        // A fixed point is found to a residual of 1e-10 of all momentum; of that of light feet it is more.
        let tolerance = if contact == ContactLaw::Coulomb { 1e-7 } else { 1e-9 };
        assert!(on_rows > 300 && compared > 1200 && worst < tolerance, "{on_rows} {compared} {worst:e}");
    }
}

/// A finger of three joints that muscles on ten strings pull, on both sides, each up to one of its links.
fn finger() -> String {
    let place = |k: i32| format!("{} {}", 0.002 * f64::from(k), if k % 2 == 0 { 0.02 } else { -0.02 });
    let of_all = |part: &dyn Fn(i32) -> String| (0..10).map(part).collect::<String>();
    let link = |link: i32, inner: &str| {
        let sites = of_all(&|k| format!(r#"<site name="s{k}{link}" pos=".04 {}"/>"#, place(k)));
        format!(
            r#"<body pos="{} 0 0"><joint axis="0 1 0" range="-20 70" damping=".002"/><geom type="capsule" size=".008"
            fromto="0 0 0 .08 0 0" mass=".05" contype="0" conaffinity="0"/>{sites}{inner}</body>"#,
            if link == 1 { 0.0 } else { 0.08 }
        )
    };
    let string = |k: i32| {
        let along: String = (1..=1 + k % 3).map(|link| format!(r#"<site site="s{k}{link}"/>"#)).collect();
        format!(r#"<spatial name="t{k}"><site site="w{k}"/>{along}</spatial>"#)
    };
    let muscle = |k: i32| format!(r#"<muscle tendon="t{k}" lengthrange=".05 .4" force="{}"/>"#, 5 + k);
    format!(
        r#"<mujoco><option timestep="0.002"/><compiler autolimits="true"/><worldbody>{}{}</worldbody>
        <tendon>{}</tendon><actuator>{}</actuator></mujoco>"#,
        of_all(&|k| format!(r#"<site name="w{k}" pos="-.05 {}"/>"#, place(k))),
        link(1, &link(2, &link(3, ""))),
        of_all(&string),
        of_all(&muscle)
    )
}

/// More rows than velocities, none with friction.
#[test]
fn many_muscles_of_few_joints_are_solved_alike() {
    let text = finger();
    let [mut auto, mut global] = both_ways(|| simulation(&text, Options { tolerance: 1e-12, ..Options::default() }));
    let mut rng = SplitMix64(5);
    let (mut most, mut at_limits, mut worst) = (0, 0, 0.0_f64);
    for step in 0..400 {
        if step % 20 == 0 {
            auto.state_mut().ctrl.iter_mut().for_each(|ctrl| *ctrl = rng.uniform(0.0, 1.0));
        }
        let before = auto.state().to_bytes();
        auto.step().unwrap();
        most = most.max(auto.stats().constraints);
        at_limits += usize::from(auto.stats().limits > 0);
        let size = auto.state().v.iter().fold(1e-3, |m, v| f64::max(m, v.abs()));
        global.state_mut().restore(&before).unwrap();
        global.step().unwrap();
        worst = worst.max(common::difference(&auto, &global) / size / auto.stats().substeps as f64);
    }
    println!("{worst:e}, up to {most} constraints, {at_limits} steps at limits");
    assert!(worst < 1e-10 && most > 10 && at_limits > 20, "{worst:e} {most} {at_limits}");
}
