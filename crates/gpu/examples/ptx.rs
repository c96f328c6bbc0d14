//! Writes the kernels of a model as PTX, for `ptxas -v` and the like: `ptx MODEL.xml 90 > humanoid.ptx`.

use std::io::Write;
use std::path::Path;

use sapwood_gpu::{Nvrtc, Precision, Source};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, architecture] = &arguments[..] else { return Err("MODEL.xml ARCHITECTURE".into()) };
    let loaded = formats::load(Path::new(path), &formats::LoadOptions::default())?;
    let plan = sim::plan(&loaded.model, &loaded.scene, &sim::Options::default(), None).map_err(|reason| reason.0)?;
    let sensors = plan.sensors(&loaded.model, &loaded.scene);
    let source = Source::new(&plan, &sensors, Precision::F32, None)?;
    let ptx = Nvrtc::get()?.compile(&source.text, architecture.parse()?)?;
    let end = ptx.iter().position(|byte| *byte == 0).unwrap_or(ptx.len());
    std::io::stdout().write_all(&ptx[..end])?;
    Ok(())
}
