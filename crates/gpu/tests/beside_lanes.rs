//! Worlds of the kernels beside worlds in lanes. The kernels are compiled for the host; without a C++ compiler there is nothing to test.

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
    let mut worst = Vec::new();
    for k in 0..steps {
        if k % 10 == 0 {
            let ctrl: Vec<f64> = (0..WORLDS * nu).map(|j| 0.4 * noise(7777 + 1000 * k + j)).collect();
            batch.ctrl_mut().copy_from_slice(&ctrl);
            gpu.write(Array::Ctrl, &ctrl).unwrap();
        }
        batch.step(1).unwrap();
        gpu.step(1, 0).unwrap();
        let q = gpu.read(Array::Q).unwrap();
        if std::env::var("TRACE").is_ok() {
            let nq = model.nq();
            for (w, (a, b)) in q.chunks(nq).zip(batch.q().chunks(nq)).enumerate() {
                let e = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                if e > 1e-9 {
                    println!("step {k} world {w}: {e:.1e} {:?} left {}", gpu.status().unwrap()[w], batch.stats().left);
                }
            }
        }
        worst.push(q.iter().zip(batch.q()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max));
    }
    let stats = batch.stats();
    println!("lanes: steps {} left {} iterations {}", stats.steps, stats.left, stats.iterations);
    let status = gpu.status().unwrap();
    println!("gpu: {:?}", status[0]);
    println!("differences: {:.1e} {:.1e} {:.1e} {:.1e}", worst[0], worst[9.min(steps - 1)], worst[steps / 2], worst[steps - 1]);
    Run { q: gpu.read(Array::Q).unwrap(), expected: batch.q().to_vec(), status, worst }
}

fn check(name: &str, mjcf: &str, tolerance: f64) {
    println!("{name}");
    let run = run(mjcf, 100, options(Order::Forwards, Precision::F64));
    assert!(run.worst.iter().all(|error| *error < tolerance), "{name}: {:.1e}", run.worst.iter().fold(0.0_f64, |a, b| a.max(*b)));
    let _ = (run.q, run.expected, run.status);
}

#[test]
fn scratchpad() {
    let path = std::env::var("MODEL").unwrap_or_default();
    if !path.is_empty() {
        check(&path, &path, 1e-8);
    }
}
