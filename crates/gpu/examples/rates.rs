//! Rates of worlds on a GPU, in millions of steps a second.
//!
//! `rates MODEL.xml [WORLDS …]`

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use sapwood_gpu::{Array, GpuBatch, GpuOptions, Place, Precision};

/// A number from −1 to 1 that looks random.
fn noise(k: usize) -> f64 {
    let mut x = (k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678;
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x >> 11) as f64 / (1_u64 << 52) as f64) - 1.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("a model")?;
    let counts: Vec<usize> = arguments.map(|n| n.parse()).collect::<Result<_, _>>()?;
    let loaded = formats::load(Path::new(&path), &formats::LoadOptions::default())?;
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let variable = |name: &str| std::env::var(name).ok();
    let mut simulation = sim::Options::default();
    if variable("CONTACT").as_deref() == Some("sap") {
        simulation.contact = sim::ContactLaw::Sap;
    }
    if variable("SCHEME").as_deref() == Some("euler") {
        simulation.scheme = sim::Scheme::SymplecticEuler;
    }
    let precision = if variable("F64").is_some() { Precision::F64 } else { Precision::F32 };
    let rows = variable("ROWS").map(|rows| rows.parse()).transpose()?;
    for n in counts {
        let options = GpuOptions { simulation: simulation.clone(), place: Place::Cuda(0), precision, rows };
        let start = Instant::now();
        let mut batch = GpuBatch::new(model.clone(), scene.clone(), n, options)?;
        let made = start.elapsed().as_secs_f64();
        let v: Vec<f64> = (0..n * model.nv()).map(noise).collect();
        batch.write(Array::V, &v)?;
        let control = |batch: &mut GpuBatch, block: usize| {
            let range = |j: usize| model.actuators[j % model.nu()].ctrl_range.unwrap_or((-1.0, 1.0));
            let ctrl: Vec<f64> = (0..n * model.nu())
                .map(|j| {
                    let (low, high) = range(j);
                    0.5 * (low + high) + 0.5 * (high - low) * noise(7_777_777 * block + j)
                })
                .collect();
            batch.write(Array::Ctrl, &ctrl)
        };
        for block in 0..12 {
            control(&mut batch, block)?;
            batch.step(25, 0)?;
        }
        let before = batch.status()?;
        let mut rates = [0.0; 3];
        for (rate, each) in rates.iter_mut().zip([1, 5, 25]) {
            let mut seconds = 0.0;
            let blocks = 6;
            for block in 0..blocks {
                control(&mut batch, 100 * each + block)?;
                batch.synchronize()?;
                let start = Instant::now();
                for _ in 0..25 / each {
                    batch.step(each, 0)?;
                }
                batch.synchronize()?;
                seconds += start.elapsed().as_secs_f64();
            }
            *rate = 1e-6 * (25 * blocks * n) as f64 / seconds;
        }
        let after = batch.status()?;
        let sum = |of: fn(&sapwood_gpu::Status) -> i32| {
            let total = |all: &[sapwood_gpu::Status]| all.iter().map(|s| f64::from(of(s))).sum::<f64>();
            total(&after) - total(&before)
        };
        let steps = sum(|s| s.steps);
        println!(
            "{n:6} worlds: {:7.2} {:7.2} {:7.2} M/s (1, 5, 25 a launch) | iterations {:.2} unsettled {:.1e} overflow {:.1e} coarse {:.1e} failed {} | {} B a world, made in {made:.1} s",
            rates[0],
            rates[1],
            rates[2],
            sum(|s| s.iterations) / steps,
            sum(|s| s.unsettled) / steps,
            sum(|s| s.overflow) / steps,
            sum(|s| s.coarse) / steps,
            after.iter().filter(|s| s.failed != 0).count(),
            batch.world_size(),
        );
    }
    Ok(())
}
