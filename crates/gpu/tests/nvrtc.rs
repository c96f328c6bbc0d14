//! Kernels compiled by NVRTC, which needs no GPU. Where it is missing there is nothing to test; a word on standard error says so.

mod models;

use sapwood_gpu::{Nvrtc, Precision, Source};

#[test]
fn kernels_compile_for_every_architecture() {
    let nvrtc = match Nvrtc::get() {
        Ok(nvrtc) => nvrtc,
        Err(error) => return eprintln!("SKIPPED: {error}"),
    };
    // Between them these have all kernels.
    for name in [
        "walker",
        "equalities",
        "tendons",
        "actuators",
        "cylinders",
        "on hulls",
        "tops",
        "rolling",
        "sensors",
        "hills",
        "wheels on hills",
    ] {
        let Some((_, mjcf)) = models::all().find(|(own, _)| *own == name) else { panic!("no model {name}") };
        let loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
        let plan = sim::plan(&loaded.model, &loaded.scene, &sim::Options::default(), None).unwrap();
        for precision in [Precision::F32, Precision::F64] {
            let sensors = plan.sensors(&loaded.model, &loaded.scene);
            let source = Source::new(&plan, &sensors, precision, None).unwrap();
            let both: &[usize] = if precision == Precision::F32 { &[80, 90] } else { &[90] };
            for &architecture in both {
                let ptx = nvrtc.compile(&source.text, architecture).unwrap();
                let ptx = String::from_utf8_lossy(&ptx);
                assert!(ptx.contains(&format!(".target sm_{architecture}")) && ptx.contains("steps"), "{name}");
            }
        }
    }
}
