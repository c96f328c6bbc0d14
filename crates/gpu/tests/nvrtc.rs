//! Kernels compiled by NVRTC, which needs no GPU. Where it is missing there is nothing to test; a word on standard error says so.

mod models;

use ::models::characters::{self, Character};
use sapwood_gpu::{Nvrtc, Precision, Source};

/// Compiles the kernels of a model, with PD control of all its joints or without.
fn compile(name: &str, mjcf: &str, pd: Option<fn(&multibody::Model) -> sim::Pd>) {
    let nvrtc = match Nvrtc::get() {
        Ok(nvrtc) => nvrtc,
        Err(error) => return eprintln!("SKIPPED: {error}"),
    };
    let loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
    let pd = pd.map(|pd| pd(&loaded.model));
    let plan = sim::plan(&loaded.model, &loaded.scene, &sim::Options::default(), pd.as_ref()).unwrap();
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

#[test]
fn kernels_compile_for_every_architecture() {
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
        compile(name, mjcf, None);
    }
}

/// What imitation asks for: balls under PD control with effort limits, sensors of frames and of touch.
#[test]
fn kernels_of_imitation_compile() {
    let humanoid = characters::mjcf(Character::Humanoid, &characters::Options::default());
    let site = r#"<site name="fall" size="1000"/></body>"#;
    let sensors = r#"<sensor><touch site="fall"/><framepos objtype="xbody" objname="root"/><framequat objtype="xbody" objname="root"/>
        <framelinvel objtype="xbody" objname="root"/><frameangvel objtype="xbody" objname="root"/><subtreecom body="root"/><subtreelinvel body="root"/></sensor>"#;
    let mjcf = humanoid.replacen("</body>", site, 1).replace("</mujoco>", &format!("{sensors}</mujoco>"));
    let pd = |model: &multibody::Model| sim::Pd {
        kp: vec![300.0; model.nv()],
        kd: vec![30.0; model.nv()],
        target: model.q0.clone(),
        target_velocity: vec![0.0; model.nv()],
        effort_limit: vec![100.0; model.nv()],
    };
    compile("humanoid", &mjcf, Some(pd));
}
