//! Kernels compiled by NVRTC, which needs no GPU. Where it is missing there is nothing to test; a word on standard error says so.

use sapwood_gpu::{Nvrtc, Precision, Source};

const MODEL: &str = r#"<mujoco><worldbody><geom type="plane" size="0 0 1"/>
    <body pos="0 0 1"><freejoint/><geom type="capsule" size=".1 .2"/>
      <body pos="0 0 .5"><joint type="hinge" axis="0 1 0" limited="true" range="-1 1"/><geom type="box" size=".1 .1 .1" pos="0 0 .6"/></body></body>
    </worldbody></mujoco>"#;

#[test]
fn kernels_compile_for_every_architecture() {
    let nvrtc = match Nvrtc::get() {
        Ok(nvrtc) => nvrtc,
        Err(error) => return eprintln!("SKIPPED: {error}"),
    };
    let loaded = formats::load_str(MODEL, None, &formats::LoadOptions::default()).unwrap();
    let plan = sim::plan(&loaded.model, &loaded.scene, &sim::Options::default(), None).unwrap();
    for precision in [Precision::F32, Precision::F64] {
        let source = Source::new(&plan, precision, None).unwrap();
        for architecture in [80, 90] {
            let ptx = nvrtc.compile(&source.text, architecture).unwrap();
            let ptx = String::from_utf8_lossy(&ptx);
            assert!(ptx.contains(&format!(".target sm_{architecture}")) && ptx.contains("steps"));
        }
    }
}
