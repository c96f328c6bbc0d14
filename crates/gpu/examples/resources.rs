//! What kernels take of a GPU, without one: a row for each model. NVRTC makes PTX, `ptxas` (on the path, or named by `PTXAS`; it comes with the
//! package nvidia-cuda-nvcc) reports registers, stack and spills, and the kernels on the host count barriers and rounds of loops.
//!
//! `resources MODEL.xml …`

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use sapwood_gpu::{Array, GpuBatch, GpuOptions, Nvrtc, Order, Place, Precision, Source};

/// Shared memory of a multiprocessor of an H100, and what the driver keeps of a block's.
const OF_MULTIPROCESSOR: usize = 228 << 10;
const WORLDS: usize = 8;
const STEPS: usize = 300;

/// A number from −1 to 1 that looks random.
fn noise(k: usize) -> f64 {
    let mut x = (k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678;
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x >> 11) as f64 / (1_u64 << 52) as f64) - 1.0
}

/// What `ptxas` says of the kernel: registers, bytes of stack, of spilled stores and loads.
fn report(source: &Source, architecture: usize) -> Result<String, Box<dyn std::error::Error>> {
    let mut ptx = Nvrtc::get()?.compile(&source.text, architecture)?;
    ptx.retain(|byte| *byte != 0);
    let path = std::env::temp_dir().join(format!("sapwood-{}-{architecture}.ptx", std::process::id()));
    std::fs::write(&path, ptx)?;
    let assembler = std::env::var_os("PTXAS").map_or_else(|| PathBuf::from("ptxas"), PathBuf::from);
    let output = Command::new(&assembler)
        .args(["-v", &format!("-arch=sm_{architecture}"), "-o", "/dev/null"])
        .arg(&path)
        .output()
        .map_err(|error| format!("{}: {error}: pip install nvidia-cuda-nvcc, or set PTXAS", assembler.display()))?;
    std::fs::remove_file(&path)?;
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(words.into());
    }
    let own = words.split("Compiling entry function 'steps'").nth(1).ok_or("no kernel")?;
    let before = |what: &str| {
        let number = own.split(what).next().and_then(|text| text.split_whitespace().next_back());
        number.unwrap_or("?").to_owned()
    };
    Ok(format!(
        "{} | {} | {} / {}",
        before(" registers"),
        before(" bytes stack frame"),
        before(" bytes spill stores"),
        before(" bytes spill loads")
    ))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| model | bytes a world | worlds a multiprocessor | barriers a step | rounds | sm | registers | stack | spills |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for path in std::env::args().skip(1) {
        let loaded = formats::load(Path::new(&path), &formats::LoadOptions::default())?;
        let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
        let simulation = sim::Options::default();
        let plan = sim::plan(&model, &scene, &simulation, None).map_err(|reason| reason.0)?;
        let source = Source::new(&plan, &plan.sensors(&model, &scene), Precision::F32, None)?;
        let options =
            GpuOptions { simulation, place: Place::Host(Order::Forwards), precision: Precision::F32, rows: None };
        let mut batch = GpuBatch::new(model.clone(), scene.clone(), WORLDS, options)?;
        let v: Vec<f64> = (0..WORLDS * model.nv()).map(noise).collect();
        batch.write(Array::V, &v)?;
        let before = batch.work().unwrap_or_default();
        for k in 0..STEPS / 25 {
            let ctrl: Vec<f64> = (0..WORLDS * model.nu()).map(|j| 0.4 * noise(7777 + 1000 * k + j)).collect();
            batch.write(Array::Ctrl, &ctrl)?;
            batch.step(25, 0)?;
        }
        let after = batch.work().unwrap_or_default();
        let per_step = |k: usize| (after[k] - before[k]) as f64 / (WORLDS * STEPS) as f64;
        let name = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let size = batch.world_size();
        for architecture in [80, 90] {
            println!(
                "| {name} | {size} | {} | {:.0} | {:.0} | {architecture} | {} |",
                OF_MULTIPROCESSOR / size,
                per_step(0),
                per_step(1),
                report(&source, architecture)?
            );
        }
    }
    Ok(())
}
