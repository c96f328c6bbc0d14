//! Worlds of the kernels beside worlds in lanes. The kernels are compiled for the host; without a C++ compiler there is nothing to test.

mod models;

use std::path::Path;
use std::sync::Arc;

use batch::{Batch, BatchOptions};
use geometry::Scene;
use multibody::Model;
use sapwood_gpu::{Array, GpuBatch, GpuError, GpuOptions, Order, Place, Precision};
use sim::{Parameter, Parameters};

/// Worlds of a test.
const WORLDS: usize = 6;

fn options(order: Order, precision: Precision) -> GpuOptions {
    let mut simulation = BatchOptions::default().simulation;
    simulation.tolerance = 1e-12;
    GpuOptions { simulation, place: Place::Host(order), precision, rows: Some(96) }
}

/// A number from −1 to 1 that looks random.
fn noise(k: usize) -> f64 {
    let mut x = (k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678;
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x >> 11) as f64 / (1_u64 << 52) as f64) - 1.0
}

/// What a world has otherwise than the model.
type Vary = fn(usize, &Model, &Scene) -> Parameters;

/// Worlds of the model as it is.
fn alike(_: usize, _: &Model, _: &Scene) -> Parameters {
    Parameters::default()
}

/// Worlds with other masses, gravity, friction, damping, gains, inertia of gears.
fn varied(world: usize, model: &Model, scene: &Scene) -> Parameters {
    let mut own = Parameters::default();
    if world > 0 {
        let factor = |k: usize| 1.0 + 0.2 * noise(100 * world + k);
        for parameter in [
            Parameter::Masses,
            Parameter::InertiaScales,
            Parameter::Frictions,
            Parameter::TorsionalFrictions,
            Parameter::Damping,
            Parameter::Stiffness,
            Parameter::Armature,
            Parameter::Gains,
            Parameter::Gravity,
        ] {
            let of_model = parameter.of(model, scene);
            own.set(parameter, of_model.iter().enumerate().map(|(k, x)| x * factor(k)).collect());
        }
    }
    own
}

/// How far what sensors show is from what they show on the processor, relative to numbers above 1: world, sensor and error.
fn sensors(batch: &mut Batch, gpu: &mut GpuBatch) -> Vec<(usize, String, f64)> {
    let model = batch.model().clone();
    let n = model.sensor_data_len();
    if n == 0 {
        return Vec::new();
    }
    match gpu.view(Array::Sensors) {
        // Files may have others; all of this model's are read.
        Err(GpuError::Missing(_)) if model.name != "sensors" => return Vec::new(),
        shown => assert_eq!(shown.unwrap().shape, [WORLDS, n]),
    }
    let mut expected = vec![0.0; WORLDS * n];
    batch.sensor_data(&mut expected).unwrap();
    let shown = gpu.read(Array::Sensors).unwrap();
    let mut all = Vec::new();
    for (world, (own, other)) in shown.chunks(n).zip(expected.chunks(n)).enumerate() {
        for (sensor, range) in model.sensors.iter().zip(model.sensor_ranges()) {
            let apart = |(a, b): (&f64, &f64)| (a - b).abs() / b.abs().max(1.0);
            let error = own[range.clone()].iter().zip(&other[range.clone()]).map(apart).fold(0.0, f64::max);
            let both = format!("{:?} {:?}", &own[range.clone()], &expected[world * n..][range]);
            all.push((world, format!("{:?} {both}", sensor.kind), error));
        }
    }
    all
}

/// Steps worlds that start apart and are driven by noise, on both sides.
fn run(mjcf: &str, steps: usize, gpu_options: GpuOptions, within: f64, vary: Vary) -> Vec<f64> {
    let loaded = if mjcf.starts_with('<') {
        formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap()
    } else {
        formats::load(Path::new(mjcf), &formats::LoadOptions::default()).unwrap()
    };
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let mut batch_options = BatchOptions::default();
    batch_options.simulation = gpu_options.simulation.clone();
    batch_options.threads = Some(1);
    batch_options.lanes = Some(1);
    let mut batch = Batch::new(model.clone(), scene.clone(), WORLDS, batch_options).unwrap();
    let mut gpu = GpuBatch::new(model.clone(), scene.clone(), WORLDS, gpu_options).unwrap();
    let own = |world| Some((world, vary(world, &model, &scene))).filter(|(_, own)| !own.is_empty());
    let own: Vec<_> = (0..WORLDS).filter_map(own).collect();
    batch.set_parameters_of(own.clone()).unwrap();
    gpu.set_parameters_of(own).unwrap();
    assert_eq!(batch.worlds_alone().count(), 0);
    let (nv, nu) = (model.nv(), model.nu());
    let v: Vec<f64> = (0..WORLDS * nv).map(|k| 0.3 * noise(k)).collect();
    batch.v_mut().copy_from_slice(&v);
    gpu.write(Array::V, &v).unwrap();
    // From here on launches show them.
    sensors(&mut batch, &mut gpu);
    let (mut worst, mut left_before, mut elsewhere, nq) = (Vec::new(), 0, 0, model.nq());
    let mut apart_before: Vec<usize> = Vec::new();
    let mut before = gpu.status().unwrap();
    for k in 0..steps {
        if k % 10 == 0 {
            let ctrl: Vec<f64> = (0..WORLDS * nu).map(|j| 0.4 * noise(7777 + 1000 * k + j)).collect();
            batch.ctrl_mut().copy_from_slice(&ctrl);
            gpu.write(Array::Ctrl, &ctrl).unwrap();
        }
        batch.step(1).unwrap();
        gpu.step(1, 0).unwrap();
        let (q, v) = (gpu.read(Array::Q).unwrap(), gpu.read(Array::V).unwrap());
        // Steps that lanes leave to a simulation of one world, or that the kernels say they did not solve, are made otherwise on both sides:
        // these worlds go on from where the processor is. What they remember is of another solution, so that the next step may differ as well.
        let left = batch.stats().left;
        let status = gpu.status().unwrap();
        let is_unsettled = |world: usize| status[world].unsettled > before[world].unsettled;
        let shown = sensors(&mut batch, &mut gpu);
        let (mut most, mut apart) = (0.0_f64, Vec::new());
        for (world, (own, other)) in q.chunks(nq).zip(batch.q().chunks(nq)).enumerate() {
            let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let (error, dofs) = (difference(own, other), world * nv..(world + 1) * nv);
            // Positions move by velocities of their own where contacts recover.
            let in_motion = error.max(difference(&v[dofs.clone()], &batch.v()[dofs]));
            let may_differ = left > left_before || is_unsettled(world) || apart_before.contains(&world);
            if may_differ && in_motion > within {
                apart.push(world);
            } else {
                most = most.max(error);
                // Accelerations and forces are differences over a time step.
                let is_wrong = |(of, _, error): &&(usize, String, f64)| *of == world && *error > 1e3 * within;
                let wrong: Vec<_> = shown.iter().filter(is_wrong).collect();
                assert!(wrong.is_empty(), "step {k}: {wrong:#?}");
            }
        }
        let others = (0..WORLDS).filter(|world| is_unsettled(*world)).count() as u64;
        let explained = left - left_before + others + apart_before.len() as u64;
        assert!(apart.len() as u64 <= explained, "worlds {apart:?}, left {}", left - left_before);
        elsewhere += apart.len();
        if !apart.is_empty() {
            gpu.write(Array::Q, batch.q()).unwrap();
            gpu.write(Array::V, batch.v()).unwrap();
            // What was not solved is forgotten, what is made in halves is not.
            let mut numbers = gpu.read(Array::Status).unwrap();
            apart.iter().filter(|world| is_unsettled(**world)).for_each(|world| numbers[8 * world] = 0.0);
            gpu.write(Array::Status, &numbers).unwrap();
        }
        (left_before, before, apart_before) = (left, status, apart);
        worst.push(most);
    }
    assert!(elsewhere <= WORLDS * steps / 50, "{elsewhere} steps were made otherwise");
    let stats = batch.stats();
    println!("lanes: steps {} left {} iterations {}", stats.steps, stats.left, stats.iterations);
    let status = gpu.status().unwrap();
    let sum = |of: fn(&sapwood_gpu::Status) -> i32| status.iter().map(of).sum::<i32>();
    println!(
        "gpu: iterations {} unsettled {} overflow {} coarse {}",
        sum(|s| s.iterations),
        sum(|s| s.unsettled),
        sum(|s| s.overflow),
        sum(|s| s.coarse)
    );
    println!(
        "differences: {:.1e} {:.1e} {:.1e} {:.1e}",
        worst[0],
        worst[9.min(steps - 1)],
        worst[steps / 2],
        worst[steps - 1]
    );
    worst
}

/// As far as worlds agree in steps that both sides make in one piece.
fn check(name: &str, mjcf: &str, options: GpuOptions, steps: usize, tolerance: f64, vary: Vary) {
    println!("{name}");
    let worst = run(mjcf, steps, options, tolerance, vary).into_iter().fold(0.0, f64::max);
    assert!(worst < tolerance, "{name}: {worst:.1e}");
}

/// Where bodies tumble on balls or on edges, or a heavy one presses on a light one, errors grow a thousandfold; where curved bodies hit each other
/// far off the way of their centres, the direction is known to some seven digits, and then a step may differ.
fn tolerance(name: &str) -> f64 {
    match name {
        "cylinders" => 1e-7,
        "balls" | "masses apart" | "hulls" => 1e-8,
        _ => 1e-10,
    }
}

/// Those of the models that are named; all for none.
fn each(names: &[&str], change: impl Fn(&mut GpuOptions), steps: usize, within: impl Fn(&str) -> f64) {
    let only = std::env::var("ONLY").unwrap_or_default();
    let is_meant = |name: &str| name.contains(&only) && (names.is_empty() || names.contains(&name));
    for (name, mjcf) in models::all().filter(|(name, _)| is_meant(name)) {
        let mut options = options(Order::Forwards, Precision::F64);
        change(&mut options);
        check(name, mjcf, options, steps, within(name), alike);
    }
}

#[test]
fn every_model_moves_as_in_lanes() {
    each(&[], |_| (), 100, tolerance);
}

#[test]
fn items_of_a_phase_may_come_in_any_order() {
    for order in [Order::Backwards, Order::Shuffled] {
        each(
            &["actuators", "equalities", "walker", "hulls", "cylinders", "rolling"],
            |options| options.place = Place::Host(order),
            100,
            tolerance,
        );
    }
}

#[test]
fn other_laws_of_friction_and_schemes_do() {
    use sim::{ContactLaw, Scheme};
    // Friction that lags behind depends on what was met before, which worlds that were made elsewhere do not know.
    let cases =
        [(ContactLaw::Sap, Scheme::SymplecticEuler, "bodies"), (ContactLaw::Lagged, Scheme::Bilinear, "equalities")];
    for (contact, scheme, name) in cases {
        let change =
            |options: &mut GpuOptions| (options.simulation.contact, options.simulation.scheme) = (contact, scheme);
        each(&[name, "walker"], change, 100, tolerance);
    }
}

/// In 32 bits positions stay within 1e-3 of 64 bits for as long as worlds do not fall apart: here for 50 steps.
#[test]
fn single_precision_is_near() {
    let change = |options: &mut GpuOptions| {
        options.precision = Precision::F32;
        (options.simulation.tolerance, options.simulation.sigma) = (1e-6, 1e-3);
    };
    each(&["joints", "tendons", "walker"], change, 50, |_| 1e-3);
}

/// A model that `MODEL` names.
#[test]
fn a_file() {
    let path = std::env::var("MODEL").unwrap_or_default();
    if !path.is_empty() {
        check(&path, &path, options(Order::Forwards, Precision::F64), 100, 1e-8, alike);
    }
}

#[test]
fn worlds_have_parameters_of_their_own() {
    for (name, mjcf) in models::all().filter(|(name, _)| ["actuators", "tops", "walker", "boxes"].contains(name)) {
        check(name, mjcf, options(Order::Forwards, Precision::F64), 100, tolerance(name), varied);
    }
}

/// PD control whose drives are all at tight limits: by default there is room for them, and worlds move as in lanes.
#[test]
fn all_drives_at_their_limits_have_room() {
    let arm = r#"<body><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".03" contype="0" conaffinity="0"/></body>"#;
    let mjcf = format!("<mujoco><option timestep=\"0.01\"/><worldbody>{}</worldbody></mujoco>", arm.repeat(14));
    let loaded = formats::load_str(&mjcf, None, &formats::LoadOptions::default()).unwrap();
    let (model, scene, nv) = (Arc::new(loaded.model), Arc::new(loaded.scene), 14);
    let mut gpu_options = options(Order::Forwards, Precision::F64);
    gpu_options.rows = None;
    let mut batch_options = BatchOptions::default();
    batch_options.simulation = gpu_options.simulation.clone();
    let mut batch = Batch::new(model.clone(), scene.clone(), 1, batch_options).unwrap();
    let mut gpu = GpuBatch::new(model, scene, 1, gpu_options).unwrap();
    let pd = sim::Pd {
        kp: vec![300.0; nv],
        kd: vec![30.0; nv],
        target: vec![0.0; nv],
        target_velocity: vec![0.0; nv],
        effort_limit: vec![0.05; nv],
    };
    batch.set_pd(Some(pd.clone())).unwrap();
    gpu.set_pd(Some(pd)).unwrap();
    let mut most_at_once = 0;
    for _ in 0..50 {
        batch.step(1).unwrap();
        gpu.step(1, 0).unwrap();
        most_at_once = most_at_once.max(gpu.status().unwrap()[0].remembered);
    }
    let status = gpu.status().unwrap()[0];
    assert_eq!(most_at_once, 14);
    assert_eq!((status.overflow, status.unsettled, status.coarse), (0, 0, 0));
    let error = |(a, b): (&f64, &f64)| (a - b).abs();
    let worst = gpu.read(Array::Q).unwrap().iter().zip(batch.q()).map(error).fold(0.0, f64::max);
    assert!(worst < 1e-10, "{worst:.1e}");
}
