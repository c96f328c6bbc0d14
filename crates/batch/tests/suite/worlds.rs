//! States of worlds in and out, failures by index, rollouts, derivatives.

use crate::common::{self, Loaded, humanoid, worlds};
use sapwood_batch::{Batch, BatchError, BatchOptions, Cotangents, Parameter, Parameters, Precision};
use sim::{Scheme, SimulationError};

fn batch(loaded: &Loaded, n: usize, options: BatchOptions) -> Batch {
    let mut batch = Batch::new(loaded.model.clone(), loaded.scene.clone(), n, options).unwrap();
    let nv = loaded.model.nv();
    for (v, (start, _)) in batch.v_mut().chunks_exact_mut(nv).zip(worlds(loaded, n as u64)) {
        v.copy_from_slice(&start);
    }
    batch
}

fn one_by_one() -> BatchOptions {
    let mut options = BatchOptions::default();
    options.simulation.scheme = Scheme::Midpoint;
    options
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn a_world_that_fails_is_named_and_stays() {
    let loaded = humanoid();
    let (nq, nv) = (loaded.model.nq(), loaded.model.nv());
    for options in [BatchOptions::default(), one_by_one()] {
        let [mut clean, mut broken] = [(); 2].map(|()| batch(&loaded, 9, options.clone()));
        [&mut clean, &mut broken].into_iter().for_each(|batch| batch.step(30).unwrap());
        broken.v_mut()[4 * nv + 2] = f64::NAN;
        let before = (bits(&broken.q()[4 * nq..5 * nq]), bits(&broken.v()[4 * nv..5 * nv]));
        clean.step(40).unwrap();
        let error = broken.step(40).unwrap_err();
        let BatchError::Worlds {
            world: 4,
            others: 0,
            source: SimulationError::NotFinite { step: 30, name: "v", index: 2, .. },
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(before, (bits(&broken.q()[4 * nq..5 * nq]), bits(&broken.v()[4 * nv..5 * nv])));
        assert_eq!(broken.errors().map(|(world, _)| world).collect::<Vec<_>>(), [4]);
        assert!((broken.time()[4] - 0.12).abs() < 1e-12 && (broken.time()[5] - 0.28).abs() < 1e-12);
        for world in (0..9).filter(|world| *world != 4) {
            let of = |batch: &Batch| [bits(&batch.q()[world * nq..][..nq]), bits(&batch.v()[world * nv..][..nv])];
            assert_eq!(of(&broken), of(&clean), "world {world}");
        }
        assert_eq!(broken.stats().steps, 9 * 30 + 8 * 40);
    }
}

#[test]
fn a_rollout_has_the_bits_of_steps() {
    let loaded = humanoid();
    let (nq, nv, nu) = (loaded.model.nq(), loaded.model.nv(), loaded.model.nu());
    for options in [BatchOptions::default(), one_by_one()] {
        let [mut one, mut other] = [(); 2].map(|()| batch(&loaded, 5, options.clone()));
        let controls: Vec<f64> = (0..5 * 12 * nu).map(|i| (0.7 * i as f64).sin()).collect();
        let (mut q, mut v) = (vec![0.0; 5 * 12 * nq], vec![0.0; 5 * 12 * nv]);
        other.rollout(&controls, &[], 12, 3, &mut q, &mut v).unwrap();
        for k in 0..12 {
            for world in 0..5 {
                one.ctrl_mut()[world * nu..][..nu].copy_from_slice(&controls[(world * 12 + k) * nu..][..nu]);
            }
            one.step(3).unwrap();
            for world in 0..5 {
                assert_eq!(bits(&one.q()[world * nq..][..nq]), bits(&q[(world * 12 + k) * nq..][..nq]));
                assert_eq!(bits(&one.v()[world * nv..][..nv]), bits(&v[(world * 12 + k) * nv..][..nv]));
            }
        }
        assert!(matches!(
            other.rollout(&controls, &[], 11, 3, &mut q, &mut v),
            Err(BatchError::Size { name: "controls", .. })
        ));
    }
}

#[test]
fn states_go_out_and_in() {
    let loaded = humanoid();
    let mut alone = batch(&loaded, 3, one_by_one());
    alone.step(50).unwrap();
    let mut simulation = alone.simulation(1).unwrap();
    let state = alone.state(1);
    alone.step(20).unwrap();
    (0..20).for_each(|_| simulation.step().unwrap());
    assert_eq!(*simulation.state(), alone.state(1));
    alone.set_state(2, &state).unwrap();
    alone.step(20).unwrap();
    (0..20).for_each(|_| simulation.step().unwrap());
    assert_eq!(simulation.state().q, alone.state(1).q);
    let nq = loaded.model.nq();
    assert_ne!(alone.q()[nq..2 * nq], alone.q()[2 * nq..]);
    let mut pushed = state;
    pushed.applied_force[0] = 1.0;
    alone.set_state(0, &pushed).unwrap();
    assert_eq!((alone.applied_force()[0], alone.state(0)), (1.0, pushed.clone()));
    pushed.surface_velocity = vec![1.0; 3 * loaded.scene.geoms.len()];
    alone.set_state(0, &pushed).unwrap();
    assert_eq!((alone.surface_velocity()[0], alone.state(0)), (1.0, pushed.clone()));
    pushed.surface_velocity.pop();
    assert!(matches!(alone.set_state(0, &pushed), Err(BatchError::Size { .. })));
}

#[test]
fn derivatives_are_those_of_one_world() {
    let loaded = humanoid();
    let (nv, nu) = (loaded.model.nv(), loaded.model.nu());
    let mut options = BatchOptions::default();
    options.threads = Some(2);
    let mut batch = batch(&loaded, 3, options);
    batch.step(5).unwrap();
    let jacobians = batch.step_jacobians().unwrap();
    let ones = vec![1.0; 3 * nv];
    let gradients = batch.vjp(Cotangents { q: &ones, v: &ones }).unwrap();
    for world in 0..3 {
        let expected = batch.simulation(world).unwrap().step_jacobians().unwrap();
        assert_eq!(jacobians.a[world * 4 * nv * nv..][..4 * nv * nv], expected.a);
        assert_eq!(jacobians.b[world * 2 * nv * nu..][..2 * nv * nu], expected.b);
        let sum: f64 = expected.a.chunks_exact(2 * nv).map(|row| row[0]).sum();
        assert!((gradients.q[world * nv] - sum).abs() < 1e-9 * (1.0 + sum.abs()));
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let loaded = humanoid();
    let make = |n: usize, options: BatchOptions| Batch::new(loaded.model.clone(), loaded.scene.clone(), n, options);
    assert!(matches!(make(0, BatchOptions::default()), Err(BatchError::Option { name: "worlds", .. })));
    for n in [1 << 40, usize::MAX] {
        assert!(matches!(make(n, BatchOptions::default()), Err(BatchError::Memory { .. })));
    }
    let mut four = BatchOptions::default();
    (four.precision, four.lanes) = (Precision::F32, Some(4));
    assert!(matches!(make(1, four), Err(BatchError::Option { name: "lanes", .. })));
    let mut batch = make(2, BatchOptions::default()).unwrap();
    assert!(matches!(batch.reset(&[true], None), Err(BatchError::Size { .. })));
    assert!(matches!(batch.reset(&[true, false], Some("nobody")), Err(BatchError::Simulation(_))));
    assert!(matches!(batch.reset_to(&[true, false], &[], &[]), Err(BatchError::Size { .. })));
}

#[test]
fn worlds_may_have_parameters_of_their_own() {
    let loaded = humanoid();
    let mut batch = batch(&loaded, 3, BatchOptions::default());
    let nv = loaded.model.nv();
    let weightless = Parameters::default().with(Parameter::Gravity, vec![0.0; 3]);
    batch.v_mut().fill(0.0);
    batch.set_parameters(1, weightless).unwrap();
    assert_eq!((batch.alone(), batch.worlds_alone().count()), (None, 0));
    batch.step(10).unwrap();
    assert!(batch.v()[nv..2 * nv].iter().all(|v| v.abs() < 1e-12));
    assert!(batch.v()[2] < -0.3 && batch.v()[2 * nv + 2] < -0.3);
    // Mass scales force and inertia alike, and a second call leaves the first as it is.
    let masses = batch.parameters(1).get(Parameter::Masses).unwrap().iter().map(|mass| 2.0 * mass).collect();
    let heavy = Parameters::default().with(Parameter::Masses, masses);
    batch.set_parameters(1, heavy).unwrap();
    assert_eq!(batch.parameters(1).get(Parameter::Gravity), Some(&[0.0; 3][..]));
    assert!((batch.world_model(1).0.mass() - 2.0 * loaded.model.mass()).abs() < 1e-9);
    let twice = batch.world_model(1).0.tree.nodes.iter().map(|node| node.inertia.inertia.xx()).collect::<Vec<_>>();
    for (twice, node) in twice.iter().zip(&loaded.model.tree.nodes) {
        assert!((twice - 2.0 * node.inertia.inertia.xx()).abs() <= 1e-12);
    }
    let wrong = Parameters::default().with(Parameter::Damping, vec![-1.0; nv]);
    let error = batch.set_parameters(0, wrong).unwrap_err().to_string();
    assert_eq!(error, "damping[0] is -1: expected a finite number, 0 or more");
    let other = common::load("<mujoco/>");
    assert!(matches!(batch.set_world_model(0, other.model, other.scene), Err(BatchError::Structure { .. })));
    batch.clear_world_models([1]);
    assert_eq!(batch.alone(), None);
}
