//! Worlds with parameters and applied forces of their own, and what their sensors show, beside simulations in the same states.

use crate::common::{Loaded, load};
use sapwood_batch::{Batch, BatchOptions, Parameter, Parameters};
use sim::{Simulation, State};
use support::SplitMix64;

const WORLDS: usize = 6;
const STEPS: usize = 150;

/// As in `agreement.rs`: with a tolerance of 1e-11 what is left is a fraction of it over the mobility of the contacts.
const AGREEMENT: f64 = 1e-6;
const TOLERANCE: f64 = 1e-11;

/// Something of all that parameters reach and sensors look at: a body that kicks on the ground and holds another one.
fn figure() -> Loaded {
    load(
        r#"<mujoco><compiler autolimits="true"/><option timestep=".004"/>
        <default><geom friction=".8" density="700"/><joint damping=".3" armature=".01"/></default>
        <worldbody><geom type="plane" size="0 0 1"/>
        <body name="trunk" pos="0 0 .45"><freejoint/><site name="imu" pos=".02 0 .05"/>
          <geom type="capsule" fromto="-.15 0 0 .15 0 0" size=".09"/>
          <body pos=".15 .12 0"><joint name="hip" axis="0 1 0" range="-15 20" frictionloss=".4"/><site name="mount"/>
            <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".04"/>
            <body pos="0 0 -.2"><joint name="knee" axis="0 1 0" range="-100 -5" stiffness="3" springref="-20"/>
              <geom name="shin" type="capsule" fromto="0 0 0 .02 0 -.18" size=".035"/><site name="sole" pos=".02 0 -.2" size=".1"/></body></body>
          <body pos="-.15 -.12 0"><joint name="ball" type="ball" range="0 40"/>
            <geom type="capsule" fromto="0 0 0 0 0 -.22" size=".04"/><site name="wrist" pos="0 0 -.22"/>
            <body pos="0 0 -.24"><joint name="ankle" axis="1 0 0"/>
              <geom type="sphere" size=".06" condim="6" friction=".8 .02 .01"/></body></body>
        </body>
        <body name="load" pos="0 .5 .2"><freejoint/><geom type="sphere" size=".07"/></body></worldbody>
        <equality><connect body1="trunk" body2="load" anchor="0 .3 0"/></equality>
        <tendon><fixed name="cord" limited="true" range="-.3 .3"><joint joint="hip" coef="1"/><joint joint="ankle" coef="-.5"/></fixed></tendon>
        <actuator><position joint="hip" kp="40" kv="1" forcerange="-9 9"/><motor joint="knee" gear="8" ctrlrange="-1 1"/>
          <velocity joint="ankle" kv=".8"/><motor tendon="cord" gear="3"/></actuator>
        <sensor><accelerometer site="imu" noise=".1" cutoff="80"/><gyro site="imu"/><framepos objtype="body" objname="load"/>
          <framelinacc objtype="site" objname="sole"/><frameangacc objtype="body" objname="trunk"/><force site="mount"/><torque site="mount"/>
          <force site="wrist"/><torque site="wrist"/><touch site="sole"/><contact subtree1="trunk" reduce="netforce" data="found force torque"/>
          <contact geom1="shin" data="force pos normal"/><jointlimitfrc joint="hip"/><jointlimitfrc joint="knee"/>
          <tendonlimitfrc tendon="cord"/><actuatorfrc actuator="hip"/><jointactuatorfrc joint="hip"/><jointactuatorfrc joint="ankle"/>
          <tendonactuatorfrc tendon="cord"/><subtreeangmom body="trunk"/><e_potential/><e_kinetic/><clock/></sensor></mujoco>"#
            .replace(r#"kp="40""#, r#"name="hip" kp="40""#)
            .as_str(),
    )
}

/// All that lanes let worlds have of their own, with these factors from a seed.
fn parameters(loaded: &Loaded, seed: u64) -> Parameters {
    let mut random = SplitMix64(seed);
    let mut scaled = |parameter: Parameter| {
        let of_model = parameter.of(&loaded.model, &loaded.scene);
        (parameter, of_model.iter().map(|x| x * (1.0 + 0.3 * random.symmetric())).collect::<Vec<f64>>())
    };
    use Parameter as P;
    let all = [
        P::Gravity,
        P::Masses,
        P::Coms,
        P::InertiaScales,
        P::Frictions,
        P::TorsionalFrictions,
        P::RollingFrictions,
        P::Armature,
        P::Damping,
        P::Stiffness,
        P::Frictionloss,
        P::Gains,
        P::Kv,
        P::EqualityAnchors,
    ];
    let mut all: Parameters = all.map(&mut scaled).into_iter().collect();
    let mut armature = all.get(P::Armature).unwrap_or_default().to_vec();
    // Free bodies have none.
    loaded.model.tree.dofs.iter().for_each(|dofs| armature[dofs.start..dofs.start + 6].fill(0.0));
    all.set(P::Armature, armature);
    let mut ranges = P::JointRanges.of(&loaded.model, &loaded.scene);
    for range in ranges.chunks_exact_mut(2).filter(|range| range[0] != 0.0 && range[0].is_finite()) {
        range.iter_mut().for_each(|end| *end *= 0.9 + 0.1 * seed as f64 / WORLDS as f64);
    }
    all.set(P::JointRanges, ranges);
    all
}

/// Some states of a world, driven and pushed at random.
fn drive(random: &mut SplitMix64, state: &mut State) {
    state.ctrl.iter_mut().for_each(|u| *u = 1.2 * random.symmetric());
    state.applied_force.iter_mut().for_each(|f| *f = 0.5 * random.symmetric());
    state.applied_wrench[6..].iter_mut().for_each(|w| *w = 4.0 * random.symmetric());
}

#[test]
fn worlds_that_differ_stay_in_lanes_and_step_as_simulations() {
    let loaded = figure();
    let model = &loaded.model;
    let (nq, nv, n) = (model.nq(), model.nv(), model.sensor_data_len());
    let mut batches = [4, 1].map(|lanes| {
        let mut options = BatchOptions::default();
        (options.lanes, options.threads, options.simulation.tolerance) = (Some(lanes), Some(2), TOLERANCE);
        let mut batch = Batch::new(model.clone(), loaded.scene.clone(), WORLDS, options).unwrap();
        // The first one is the model's.
        (1..WORLDS).for_each(|world| batch.set_parameters(world, parameters(&loaded, world as u64)).unwrap());
        assert_eq!((batch.alone(), batch.worlds_alone().count()), (None, 0));
        batch
    });
    let mut runs: Vec<_> = (0..WORLDS)
        .map(|world| {
            let (model, scene) = batches[0].world_model(world);
            let mut run = Simulation::new(model.clone(), scene.clone(), batches[0].options().clone()).unwrap();
            let mut random = SplitMix64(world as u64);
            run.state_mut().v.iter_mut().for_each(|v| *v = random.symmetric());
            (run, random)
        })
        .collect();
    let (mut worst, mut worst_sensor, mut scales) = (0.0_f64, vec![0.0_f64; n], vec![0.0_f64; n]);
    for step in 0..STEPS {
        for (world, (run, random)) in runs.iter_mut().enumerate() {
            if step % 10 == 0 {
                drive(random, run.state_mut());
            }
            let state = run.state_mut();
            state.warm_start.clear();
            state.extrapolation.clear();
            for batch in &mut batches {
                batch.set_state(world, run.state()).unwrap();
            }
        }
        batches.iter_mut().for_each(|batch| batch.step(1).unwrap());
        assert!(
            batches[0].q() == batches[1].q() && batches[0].v() == batches[1].v(),
            "bits depend on the number of lanes"
        );
        let mut shown = vec![0.0; n * WORLDS];
        batches[0].sensor_data(&mut shown).unwrap();
        for (world, (run, _)) in runs.iter_mut().enumerate() {
            let (q0, v0) = (run.state().q.clone(), run.state().v.clone());
            run.step().unwrap();
            let change = largest(&run.state().v, &v0).max(9.81 * run.timestep());
            let error = largest(&run.state().v, &batches[0].v()[world * nv..][..nv]) / change;
            let moved = largest(&run.state().q, &q0).max(run.timestep() * change);
            worst = worst.max(error).max(largest(&run.state().q, &batches[0].q()[world * nq..][..nq]) / moved);
            let mut expected = Vec::new();
            run.sensor_data(&mut expected);
            for (k, (shown, expected)) in shown[world * n..].iter().zip(&expected).enumerate() {
                worst_sensor[k] = worst_sensor[k].max((shown - expected).abs());
                scales[k] = scales[k].max(expected.abs());
            }
        }
    }
    let stats = batches[0].stats();
    println!("{worst:.1e}; left {}, pushing {} of {}", stats.left, stats.pushing, stats.steps);
    assert!(worst < AGREEMENT, "{worst:.1e}");
    assert!(stats.left < stats.steps / 10 && stats.pushing > stats.steps);
    let mut wrong = Vec::new();
    for (k, (error, scale)) in worst_sensor.iter().zip(&scales).enumerate() {
        if *error > 1e-7 * scale {
            wrong.push((k, *error, *scale));
        }
    }
    let silent: Vec<_> = scales.iter().enumerate().filter(|(_, scale)| **scale == 0.0).map(|(k, _)| k).collect();
    assert!(wrong.is_empty() && silent.is_empty(), "{wrong:?} {silent:?}");
}

#[test]
fn what_lanes_cannot_differ_in_is_stepped_alone_beside_the_others() {
    let loaded = figure();
    let (nq, steps) = (loaded.model.nq(), 40);
    let mut plain = Batch::new(loaded.model.clone(), loaded.scene.clone(), 5, BatchOptions::default()).unwrap();
    let mut mixed = Batch::new(loaded.model.clone(), loaded.scene.clone(), 5, BatchOptions::default()).unwrap();
    let sizes = Parameter::GeomSizes.of(&loaded.model, &loaded.scene).iter().map(|x| 1.1 * x).collect();
    mixed.set_parameters(2, Parameters::default().with(Parameter::GeomSizes, sizes)).unwrap();
    assert_eq!(mixed.worlds_alone().collect::<Vec<_>>(), [(2, "geom_sizes of its own")]);
    plain.step(steps).unwrap();
    mixed.step(steps).unwrap();
    for world in [0, 1, 3, 4] {
        assert_eq!(plain.q()[world * nq..][..nq], mixed.q()[world * nq..][..nq], "world {world}");
    }
    // Alone it is a simulation, bit for bit, and its state is complete.
    let (model, scene) = mixed.world_model(2);
    let mut one = Simulation::new(model.clone(), scene.clone(), mixed.options().clone()).unwrap();
    (0..steps).for_each(|_| one.step().unwrap());
    assert_eq!(one.state().q, mixed.q()[2 * nq..][..nq]);
    let mut on = mixed.simulation(2).unwrap();
    (0..steps).for_each(|_| on.step().unwrap());
    mixed.step(steps).unwrap();
    assert_eq!(on.state().q, mixed.q()[2 * nq..][..nq]);
    mixed.clear_world_models([2]);
    assert_eq!(mixed.worlds_alone().count(), 0);
}

fn largest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
}

/// What `solref` makes of a pair's mass depends on its friction, as MuJoCo's pyramids have it.
#[test]
fn frictions_of_a_worlds_own_alone_press_in_as_in_a_simulation() {
    let loaded = load(
        r#"<mujoco><option timestep=".004"/><default><geom solref=".03 .7" solimp=".6 .8 .01"/></default>
        <worldbody><geom type="plane" size="0 0 1"/>
        <body pos="0 0 .2"><freejoint/><geom type="capsule" fromto="-.1 0 0 .1 0 .03" size=".05" mass="2"/></body></worldbody></mujoco>"#,
    );
    let mut options = BatchOptions::default();
    (options.lanes, options.simulation.tolerance) = (Some(4), TOLERANCE);
    let mut batch = Batch::new(loaded.model.clone(), loaded.scene.clone(), 3, options).unwrap();
    for world in 1..3 {
        let frictions = Parameter::Frictions.of(&loaded.model, &loaded.scene);
        let own = frictions.iter().map(|mu| mu * 0.4 * world as f64).collect::<Vec<_>>();
        batch.set_parameters(world, [(Parameter::Frictions, own)].into_iter().collect()).unwrap();
    }
    assert_eq!(batch.worlds_alone().count(), 0);
    let mut runs: Vec<_> = (0..3)
        .map(|world| {
            let (model, scene) = batch.world_model(world);
            Simulation::new(model.clone(), scene.clone(), batch.options().clone()).unwrap()
        })
        .collect();
    let nq = loaded.model.nq();
    for _ in 0..100 {
        batch.step(1).unwrap();
        for (world, run) in runs.iter_mut().enumerate() {
            run.step().unwrap();
            let found = &batch.q()[nq * world..nq * (world + 1)];
            for (found, expected) in found.iter().zip(&run.state().q) {
                assert!((found - expected).abs() < AGREEMENT, "world {world}: {found} for {expected}");
            }
        }
    }
}
