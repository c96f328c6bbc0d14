//! Contact points of every kind of pair: one step in lanes from each state of a fall is that of a simulation from the same state.

use crate::common::{Loaded, load};
use sapwood_batch::{Batch, BatchOptions};
use sim::{Options, Simulation, VelocityExtrapolation};
use support::SplitMix64;

/// Falls of each scene, and steps of 4 ms in each.
const FALLS: usize = 12;
const STEPS: usize = 250;

/// Velocities differ by no more than this share of the greatest change of one in the step, or of what gravity changes in it where bodies rest.
const AGREEMENT: f64 = 1e-6;
const MIN_CHANGE: f64 = 9.81 * 0.004;
const TOLERANCE: f64 = 1e-11;

/// Free bodies with these geoms, one above the other, over what `fixed` says.
fn falling(fixed: &str, geoms: &[&str]) -> Loaded {
    let body = |(k, geom): (usize, &&str)| {
        let height = 0.25 + 0.3 * k as f64;
        format!(r#"<body pos="0 0 {height}"><freejoint/><geom {geom}/></body>"#)
    };
    let bodies: String = geoms.iter().enumerate().map(body).collect();
    load(&format!(
        r#"<mujoco><option timestep=".004"/><default><geom friction=".5"/></default>
        <asset><mesh name="rock" vertex="0 0 .1  .1 0 0  0 .12 0  -.1 .02 0  .01 -.09 0  .03 .02 -.08  -.06 -.05 -.06"/>
        <hfield name="hills" nrow="5" ncol="5" size="1 1 .1 .2" elevation="0 .2 .1 .3 0  .1 .5 .2 0 .3  0 .1 0 .4 .2  .3 0 .6 .1 0  0 .2 .1 0 .1"/></asset>
        <worldbody>{fixed}{bodies}</worldbody></mujoco>"#
    ))
}

const PLANE: &str = r#"<geom type="plane" size="0 0 1"/>"#;

/// Steps falls in lanes and one by one, the upper bodies faster by `speed`; at most `spare` of all steps may be left or differ.
///
/// Those that differ are of edges of round bodies that lie on edges of others: which of two points within micrometres the narrow phase
/// keeps depends on the last digits of poses. Those that are left have contact problems that lanes do not solve.
fn check(name: &str, loaded: &Loaded, speed: f64, spare: f64) {
    let (model, scene) = (&loaded.model, &loaded.scene);
    let simulation_options = Options { tolerance: TOLERANCE, ..Options::default() };
    let mut options = BatchOptions::default();
    options.simulation = simulation_options.clone();
    (options.lanes, options.threads) = (Some(4), Some(1));
    let mut batch = Batch::new(model.clone(), scene.clone(), FALLS, options).unwrap();
    assert_eq!(batch.alone(), None, "{name}");
    let (nq, nv) = (model.nq(), model.nv());
    let mut falls: Vec<Simulation> = (0..FALLS as u64)
        .map(|seed| {
            let mut random = SplitMix64(seed);
            let mut fall = Simulation::new(model.clone(), scene.clone(), simulation_options.clone()).unwrap();
            for q in fall.state_mut().q.chunks_exact_mut(7) {
                q[..3].iter_mut().for_each(|x| *x += 0.02 * random.symmetric());
                q[3..].iter_mut().for_each(|x| *x += 0.2 * random.symmetric());
                let norm = q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
                q[3..].iter_mut().for_each(|x| *x /= norm);
            }
            for (body, v) in fall.state_mut().v.chunks_exact_mut(6).enumerate() {
                v[..3].iter_mut().for_each(|v| *v = 0.3 * random.symmetric());
                v[2] -= speed * body as f64;
                v[3..].iter_mut().for_each(|v| *v = 2.0 * random.symmetric());
            }
            fall
        })
        .collect();
    let (mut differ, mut most, mut pushing) = (0, 0.0_f64, 0);
    for _ in 0..STEPS {
        for (world, fall) in falls.iter_mut().enumerate() {
            // What either remembers of the step before is left out.
            let state = fall.state_mut();
            state.warm_start.clear();
            state.extrapolation = VelocityExtrapolation::default();
            batch.forget(world);
            batch.q_mut()[world * nq..][..nq].copy_from_slice(&state.q);
            batch.v_mut()[world * nv..][..nv].copy_from_slice(&state.v);
        }
        batch.step(1).unwrap();
        for (fall, v) in falls.iter_mut().zip(batch.v().chunks_exact(nv)) {
            let before = fall.state().v.clone();
            fall.step().unwrap();
            pushing += fall.stats().active_contacts;
            let largest = |other: &[f64]| {
                fall.state().v.iter().zip(other).fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
            };
            let error = largest(v) / largest(&before).max(MIN_CHANGE);
            most = most.max(error);
            differ += usize::from(error.is_nan() || error > AGREEMENT);
        }
    }
    let steps = (FALLS * STEPS) as f64;
    let left = batch.stats().left as f64 / steps;
    println!("{name}: {left:.4} left, {differ} steps differ, by up to {most:.1e}, {:.1} push", pushing as f64 / steps);
    assert!(pushing > 0, "{name}: nothing touches");
    assert!(left <= spare, "{name}: {left} left");
    assert!(differ as f64 <= spare * steps, "{name}: {differ} steps differ, by up to {most:e}");
}

#[test]
fn planes() {
    for geom in [
        r#"type="sphere" size=".1""#,
        r#"type="capsule" size=".06 .1""#,
        r#"type="box" size=".1 .08 .06""#,
        r#"type="cylinder" size=".08 .1""#,
        r#"type="ellipsoid" size=".1 .08 .06""#,
        r#"type="mesh" mesh="rock""#,
    ] {
        check(&format!("a plane, {geom}"), &falling(PLANE, &[geom]), 0.0, 0.02);
    }
}

#[test]
fn cylinders_on_what_is_soft() {
    let soft = r#"solref=".03 .8""#;
    for floor in [r#"<geom type="plane" size="0 0 1" SOFT/>"#, r#"<geom type="box" size="2 2 .1" pos="0 0 -.1" SOFT/>"#]
    {
        for turn in ["0 0 0", "90 0 0"] {
            let geom = format!(r#"type="cylinder" size=".08 .1" euler="{turn}" {soft}"#);
            let loaded = falling(&floor.replace("SOFT", soft), &[&geom]);
            check(&format!("{floor}, {geom}"), &loaded, 0.0, 0.02);
        }
    }
}

#[test]
fn bodies_upon_each_other() {
    let shapes = [
        r#"type="sphere" size=".08""#,
        r#"type="capsule" size=".06 .1""#,
        r#"type="ellipsoid" size=".1 .12 .06""#,
        r#"type="cylinder" size=".1 .06""#,
        r#"type="box" size=".1 .12 .06""#,
        r#"type="mesh" mesh="rock""#,
    ];
    for (k, a) in shapes.iter().enumerate() {
        for b in &shapes[k..] {
            check(&format!("{a}, {b}"), &falling(PLANE, &[b, a]), 0.0, 0.03);
        }
    }
}

#[test]
fn what_is_fixed() {
    let floors = [
        r#"<geom type="box" size="2 2 .1" pos="0 0 -.1"/>"#,
        r#"<geom type="box" size=".5 .5 .1" euler="10 5 0"/><geom type="plane" size="0 0 1" pos="0 0 -.3"/>"#,
        r#"<geom type="hfield" hfield="hills"/>"#,
        r#"<geom type="capsule" size=".1 1" euler="0 90 0"/><geom type="plane" size="0 0 1" pos="0 0 -.2"/>"#,
        r#"<geom type="sphere" size=".2"/><geom type="plane" size="0 0 1" pos="0 0 -.2"/>"#,
        r#"<geom type="plane" size="0 0 1" euler="10 0 0"/><geom type="cylinder" size=".3 .1" pos="0 0 .05"/>"#,
    ];
    for floor in floors {
        for geom in [r#"type="sphere" size=".1""#, r#"type="capsule" size=".06 .1""#, r#"type="box" size=".1 .08 .06""#]
        {
            // Contact points on triangles of a height field are many for their rank.
            let spare = if floor.contains("hfield") { 0.1 } else { 0.02 };
            check(&format!("{floor}, {geom}"), &falling(floor, &[geom]), 0.0, spare);
        }
    }
}

#[test]
fn parallel_capsules() {
    let lying = r#"type="capsule" size=".06 .15" euler="0 90 0""#;
    check("parallel capsules", &falling(PLANE, &[lying, lying]), 0.0, 0.02);
}

#[test]
fn fast_balls() {
    let balls = [r#"type="sphere" size=".04""#; 3];
    check("fast balls", &falling(PLANE, &balls), 30.0, 0.02);
}

/// Positions of falls after 150 steps, in this order of worlds.
fn bits(loaded: &Loaded, lanes: usize, seeds: &[u64]) -> Vec<Vec<u64>> {
    let mut options = BatchOptions::default();
    (options.lanes, options.threads) = (Some(lanes), Some(1));
    let mut batch = Batch::new(loaded.model.clone(), loaded.scene.clone(), seeds.len(), options).unwrap();
    let (nq, nv) = (loaded.model.nq(), loaded.model.nv());
    for (v, seed) in batch.v_mut().chunks_exact_mut(nv).zip(seeds) {
        let mut random = SplitMix64(*seed);
        v.iter_mut().for_each(|v| *v = random.symmetric());
    }
    batch.step(150).unwrap();
    batch.q().chunks_exact(nq).map(|q| q.iter().map(|q| q.to_bits()).collect()).collect()
}

#[test]
fn bits_do_not_depend_on_neighbours() {
    let shapes = [
        r#"type="capsule" size=".06 .15" euler="0 90 0""#,
        r#"type="capsule" size=".06 .15" euler="0 90 0""#,
        r#"type="box" size=".1 .12 .06""#,
        r#"type="ellipsoid" size=".1 .12 .06""#,
        r#"type="mesh" mesh="rock""#,
    ];
    for floor in [PLANE, r#"<geom type="hfield" hfield="hills"/>"#] {
        let loaded = falling(floor, &shapes);
        let expected = bits(&loaded, 1, &[0, 1, 2, 3, 4, 5, 6, 7]);
        let found = bits(&loaded, 4, &[7, 6, 5, 4, 3, 2, 1, 0]);
        for (world, (found, expected)) in found.iter().rev().zip(&expected).enumerate() {
            assert_eq!(found, expected, "world {world} on {floor}");
        }
    }
}
