//! Worlds on a GPU beside the same worlds on the host, whose C++ compiler compiles the same kernels.
//!
//! `beside_host MODEL.xml WORLDS STEPS`

use std::path::Path;
use std::sync::Arc;

use sapwood_gpu::{Array, GpuBatch, GpuOptions, Order, Place, Precision};

/// A number from −1 to 1 that looks random.
fn noise(k: usize) -> f64 {
    let mut x = (k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678;
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x >> 11) as f64 / (1_u64 << 52) as f64) - 1.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, worlds, steps] = &arguments[..] else { return Err("MODEL.xml WORLDS STEPS".into()) };
    let (worlds, steps): (usize, usize) = (worlds.parse()?, steps.parse()?);
    let loaded = formats::load(Path::new(path), &formats::LoadOptions::default())?;
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    for precision in [Precision::F64, Precision::F32] {
        let make = |place| {
            let options = GpuOptions { simulation: sim::Options::default(), place, precision, rows: None };
            GpuBatch::new(model.clone(), scene.clone(), worlds, options)
        };
        let mut pair = if std::env::var_os("ALONE").is_some() {
            vec![make(Place::Cuda(0))?]
        } else {
            vec![make(Place::Cuda(0))?, make(Place::Host(Order::Forwards))?]
        };
        let v: Vec<f64> = (0..worlds * model.nv()).map(|k| 0.3 * noise(k)).collect();
        pair.iter_mut().try_for_each(|batch| batch.write(Array::V, &v))?;
        let mut line = format!("{precision:?}");
        for k in 0..steps {
            if k % 10 == 0 {
                let ctrl: Vec<f64> = (0..worlds * model.nu()).map(|j| 0.4 * noise(7777 + 1000 * k + j)).collect();
                pair.iter_mut().try_for_each(|batch| batch.write(Array::Ctrl, &ctrl))?;
            }
            pair.iter_mut().try_for_each(|batch| batch.step(1, 0))?;
            if [1, 10, 25, 50, 100, 200].contains(&(k + 1)) {
                let q = pair.iter_mut().map(|batch| batch.read(Array::Q)).collect::<Result<Vec<_>, _>>()?;
                if let [gpu, host] = &q[..] {
                    let mut errors: Vec<f64> = gpu
                        .chunks(model.nq())
                        .zip(host.chunks(model.nq()))
                        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
                        .collect();
                    errors.sort_by(f64::total_cmp);
                    line += &format!(
                        " | step {}: median {:.1e} worst {:.1e}",
                        k + 1,
                        errors[worlds / 2],
                        errors[worlds - 1]
                    );
                }
            }
        }
        println!("{line} | {:?}", pair[0].status()?[0]);
    }
    Ok(())
}
