//! Worlds of the kernels beside worlds in lanes. The kernels are compiled for the host; without a C++ compiler there is nothing to test.

mod models;

use std::path::Path;
use std::sync::Arc;

use batch::{Batch, BatchOptions};
use sapwood_gpu::{Array, GpuBatch, GpuOptions, Order, Place, Precision};

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

struct Run {
    q: Vec<f64>,
    expected: Vec<f64>,
    status: Vec<sapwood_gpu::Status>,
    worst: Vec<f64>,
}

/// Steps worlds that start apart and are driven by noise, on both sides.
fn run(mjcf: &str, steps: usize, gpu_options: GpuOptions) -> Run {
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
    let mut gpu = GpuBatch::new(model.clone(), scene, WORLDS, gpu_options).unwrap();
    let (nv, nu) = (model.nv(), model.nu());
    let v: Vec<f64> = (0..WORLDS * nv).map(|k| 0.3 * noise(k)).collect();
    batch.v_mut().copy_from_slice(&v);
    gpu.write(Array::V, &v).unwrap();
    let (mut worst, mut left_before, nq) = (Vec::new(), 0, model.nq());
    let mut unsettled_before = vec![0; WORLDS];
    for k in 0..steps {
        if k % 10 == 0 {
            let ctrl: Vec<f64> = (0..WORLDS * nu).map(|j| 0.4 * noise(7777 + 1000 * k + j)).collect();
            batch.ctrl_mut().copy_from_slice(&ctrl);
            gpu.write(Array::Ctrl, &ctrl).unwrap();
        }
        batch.step(1).unwrap();
        gpu.step(1, 0).unwrap();
        let q = gpu.read(Array::Q).unwrap();
        // Steps that lanes leave to a simulation of one world are made otherwise there: these worlds go on from where that led.
        let left = batch.stats().left;
        let mut most = 0.0_f64;
        let mut apart = Vec::new();
        for (world, (own, other)) in q.chunks(nq).zip(batch.q().chunks(nq)).enumerate() {
            let error = own.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if left > left_before && error > 1e-8 {
                apart.push(world);
                println!("step {k} world {world}: left, {error:.1e}, {:?}", gpu.status().unwrap()[world]);
            } else {
                most = most.max(error);
            }
        }
        assert!(apart.len() as u64 <= left - left_before, "worlds {apart:?}, left {}", left - left_before);
        left_before = left;
        if !apart.is_empty() {
            gpu.write(Array::Q, batch.q()).unwrap();
            gpu.write(Array::V, batch.v()).unwrap();
            let mut status = gpu.read(Array::Status).unwrap();
            // What was not solved is forgotten there, what is made in halves is not.
            let unsettled: Vec<i32> = gpu.status().unwrap().iter().map(|status| status.unsettled).collect();
            apart
                .iter()
                .filter(|world| unsettled[**world] > unsettled_before[**world])
                .for_each(|world| status[8 * world] = 0.0);
            gpu.write(Array::Status, &status).unwrap();
        }
        unsettled_before = gpu.status().unwrap().iter().map(|status| status.unsettled).collect();
        worst.push(most);
    }
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
    Run { q: gpu.read(Array::Q).unwrap(), expected: batch.q().to_vec(), status, worst }
}

/// As far as worlds agree in steps that both sides make in one piece.
fn check(name: &str, mjcf: &str, options: GpuOptions, tolerance: f64) {
    println!("{name}");
    let run = run(mjcf, 100, options);
    let worst = run.worst.iter().fold(0.0_f64, |a, b| a.max(*b));
    assert!(worst < tolerance, "{name}: {worst:.1e}");
}

#[test]
fn every_model_moves_as_in_lanes() {
    let only = std::env::var("ONLY").unwrap_or_default();
    for (name, mjcf) in models::ALL.into_iter().filter(|(name, _)| name.contains(&only)) {
        // Three balls in a row tumble: errors grow a thousandfold.
        let tolerance = if name == "balls" { 1e-8 } else { 1e-10 };
        check(name, mjcf, options(Order::Forwards, Precision::F64), tolerance);
    }
}

#[test]
fn a_file() {
    let path = std::env::var("MODEL").unwrap_or_default();
    if !path.is_empty() {
        check(&path, &path, options(Order::Forwards, Precision::F64), 1e-8);
    }
}
