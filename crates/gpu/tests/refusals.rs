//! What kernels do not simulate, and what is no batch, is an error that says what to do.

use std::sync::Arc;

use sapwood_gpu::{Array, GpuBatch, GpuError, GpuOptions, Order, Place, Precision};

fn make(mjcf: &str, worlds: usize, change: impl FnOnce(&mut GpuOptions)) -> Result<GpuBatch, GpuError> {
    let loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
    let mut options = GpuOptions {
        simulation: sim::Options::default(),
        place: Place::Host(Order::Forwards),
        precision: Precision::F64,
        rows: None,
    };
    change(&mut options);
    GpuBatch::new(Arc::new(loaded.model), Arc::new(loaded.scene), worlds, options)
}

fn refusal(mjcf: &str, change: impl FnOnce(&mut GpuOptions)) -> String {
    make(mjcf, 2, change).err().map_or_else(String::new, |error| error.to_string())
}

const BALL: &str =
    r#"<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>"#;

#[test]
fn what_is_missing_is_named() {
    let shield = r#"<mujoco><worldbody><body><joint type="hinge"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="plane" size="0 0 1"/></body>
        <body pos="0 0 1"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>"#;
    let message = refusal(shield, |_| ());
    assert!(message.contains("contact of a plane that moves (geom 0)"), "{message}");
    assert!(message.contains("device=\"cpu\""), "{message}");

    let led = BALL.replace("<worldbody>", r#"<worldbody><body mocap="true"/><geom size=".1" surfacevel="1"/>"#);
    let message = refusal(&led, |_| ());
    assert!(message.contains("moved from outside") && message.contains("surfaces of geoms that move"), "{message}");

    let implicit = refusal(BALL, |options| options.simulation.scheme = sim::Scheme::Midpoint);
    assert!(implicit.contains("the scheme is implicit") && implicit.contains("device=\"cpu\""), "{implicit}");
}

#[test]
fn no_worlds_and_wrong_arrays_are_errors() {
    let none = make(BALL, 0, |_| ()).err().map(|error| error.to_string());
    assert_eq!(none.as_deref(), Some("n is 0: expected 1 or more worlds"));
    let Ok(mut batch) = make(BALL, 2, |_| ()) else { return eprintln!("SKIPPED: no C++ compiler") };
    let error = batch.write(Array::Q, &[0.0; 3]).unwrap_err().to_string();
    assert_eq!(error, "Q has 3 entries: expected 14");
    assert!(batch.view(Array::PdTarget).unwrap_err().to_string().contains("call pd first"));
}

/// A machine without a GPU says so in one sentence; one with a GPU makes the batch.
#[test]
fn a_missing_gpu_is_one_sentence() {
    match make(BALL, 2, |options| options.place = Place::Cuda(0)) {
        Ok(_) => {}
        Err(error) => {
            let message = error.to_string();
            assert!(matches!(error, GpuError::Device(_)) && !message.contains('\n'), "{message}");
        }
    }
}

/// A world that diverges stays as it was and is marked; others go on.
#[test]
fn worlds_that_diverge_stay() {
    let Ok(mut batch) = make(BALL, 2, |_| ()) else { return eprintln!("SKIPPED: no C++ compiler") };
    let mut v = vec![0.0; 12];
    v[6 + 3] = 1e9;
    batch.write(Array::V, &v).unwrap();
    batch.step(3, 0).unwrap();
    let status = batch.status().unwrap();
    assert_eq!([status[0].failed, status[1].failed], [0, 1]);
    assert_eq!([status[0].steps, status[1].steps], [3, 0]);
    assert_eq!(batch.read(Array::V).unwrap()[6..], v[6..]);
    let q = batch.read(Array::Q).unwrap();
    batch.reset_to(&[false, true], &q[7..], &[0.0; 6]).unwrap();
    batch.step(1, 0).unwrap();
    assert_eq!(batch.status().unwrap()[1].failed, 0);
}
