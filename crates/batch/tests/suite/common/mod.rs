//! Worlds that tests share.
#![allow(dead_code)]

use std::sync::Arc;

use geometry::Scene;
use multibody::Model;
use sapwood_batch::{Batch, BatchOptions};
use support::SplitMix64;

/// A model and its scene.
pub struct Loaded {
    pub model: Arc<Model>,
    pub scene: Arc<Scene>,
}

/// The model of a text in MJCF.
pub fn load(mjcf: &str) -> Loaded {
    let loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
    Loaded { model: loaded.model.into(), scene: loaded.scene.into() }
}

/// A figure of capsules and hinges with motors that lies, kicks and touches itself.
pub fn humanoid() -> Loaded {
    let limb = |name: &str, x: f64, y: f64, z: f64, sign: f64| {
        format!(
            r#"<body pos="{x} {y} {z}"><joint name="{name}1" axis="0 1 0" range="-80 80"/><joint name="{name}2" axis="1 0 0" range="-60 60"/>
            <geom type="capsule" fromto="0 0 0 0 {} -.3" size=".05"/>
            <body pos="0 {} -.3"><joint name="{name}3" axis="0 1 0" range="-120 2"/>
            <geom type="capsule" fromto="0 0 0 .02 0 -.3" size=".04"/><geom type="sphere" pos=".05 0 -.33" size=".05"/></body></body>"#,
            0.02 * sign,
            0.02 * sign
        )
    };
    let limbs: Vec<String> = [
        limb("la", 0.0, 0.2, 0.25, 1.0),
        limb("ra", 0.0, -0.2, 0.25, -1.0),
        limb("ll", 0.0, 0.1, -0.1, 1.0),
        limb("rl", 0.0, -0.1, -0.1, -1.0),
    ]
    .into();
    let names = ["la", "ra", "ll", "rl"].into_iter().flat_map(|limb| (1..4).map(move |k| format!("{limb}{k}")));
    let motors: String = names.map(|name| format!(r#"<motor joint="{name}" gear="20" ctrlrange="-1 1"/>"#)).collect();
    load(&format!(
        r#"<mujoco><compiler autolimits="true"/><option timestep=".004"/>
        <default><joint damping=".5" armature=".01"/><geom friction=".8"/></default>
        <worldbody><geom type="plane" size="0 0 1"/>
        <body pos="0 0 .9"><freejoint/><geom type="capsule" fromto="0 0 0 0 0 .2" size=".1"/><geom type="sphere" pos="0 0 .4" size=".09"/>
        {}</body></worldbody><actuator>{motors}</actuator></mujoco>"#,
        limbs.concat()
    ))
}

/// Two arms of hinges with servos at their limits, which wrestle over balls that start in each other and in the ground.
pub fn robots() -> Loaded {
    let link = |name: &str, axis: &str, range: &str| {
        format!(
            r#"<body pos="0 0 .25"><joint name="{name}" axis="{axis}" range="{range}"/><geom type="capsule" fromto="0 0 0 0 0 .25" size=".05"/>"#
        )
    };
    let robot = |name: &str, x: f64| {
        let links = [("1", "0 1 0", "-100 100"), ("2", "1 0 0", "-90 90"), ("3", "0 1 0", "-120 120")];
        let links: String = links.iter().map(|(k, axis, range)| link(&format!("{name}{k}"), axis, range)).collect();
        format!(
            r#"<body pos="{x} 0 0"><freejoint/><geom type="box" size=".15 .15 .05" pos="0 0 .05" mass="8"/>{links}</body></body></body></body>"#
        )
    };
    let ball =
        |x: f64, z: f64| format!(r#"<body pos="{x} .3 {z}"><freejoint/><geom type="sphere" size=".08"/></body>"#);
    let servo = |name: String| format!(r#"<position joint="{name}" kp="120" kv="6" forcerange="-15 15"/>"#);
    let servos: String = ["a", "b"].iter().flat_map(|name| (1..4).map(move |k| servo(format!("{name}{k}")))).collect();
    load(&format!(
        r#"<mujoco><compiler autolimits="true"/><option timestep=".004"/>
        <default><joint damping=".5" armature=".02"/><geom friction=".8"/></default>
        <worldbody><geom type="plane" size="0 0 1"/>{}{}{}{}{}</worldbody><actuator>{servos}</actuator></mujoco>"#,
        robot("a", -0.2),
        robot("b", 0.2),
        ball(0.0, 0.04),
        ball(0.05, 0.15),
        ball(0.1, 0.05)
    ))
}

/// Starts of worlds: velocities, and the seed of their controls.
pub fn worlds(loaded: &Loaded, count: u64) -> Vec<(Vec<f64>, u64)> {
    (0..count)
        .map(|seed| {
            let mut random = SplitMix64(seed);
            ((0..loaded.model.nv()).map(|_| random.symmetric()).collect(), seed)
        })
        .collect()
}

/// States of these worlds after some steps under random controls.
pub fn run(loaded: &Loaded, worlds: Vec<(Vec<f64>, u64)>, lanes: usize, threads: usize, steps: usize) -> Vec<Vec<u64>> {
    let mut options = BatchOptions::default();
    (options.lanes, options.threads) = (Some(lanes), Some(threads));
    let mut batch = Batch::new(loaded.model.clone(), loaded.scene.clone(), worlds.len(), options).unwrap();
    assert_eq!(batch.alone(), None);
    let (nq, nv, nu) = (loaded.model.nq(), loaded.model.nv(), loaded.model.nu());
    for (v, (start, _)) in batch.v_mut().chunks_exact_mut(nv).zip(&worlds) {
        v.copy_from_slice(start);
    }
    let mut random: Vec<SplitMix64> = worlds.iter().map(|(_, seed)| SplitMix64(*seed)).collect();
    for _ in 0..steps / 10 {
        for (random, ctrl) in random.iter_mut().zip(batch.ctrl_mut().chunks_exact_mut(nu)) {
            ctrl.iter_mut().for_each(|u| *u = random.symmetric());
        }
        batch.step(10).unwrap();
    }
    assert!(batch.stats().pushing > 0);
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
    batch.q().chunks_exact(nq).zip(batch.v().chunks_exact(nv)).map(|(q, v)| [bits(q), bits(v)].concat()).collect()
}
