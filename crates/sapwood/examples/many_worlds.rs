//! A hundred balls, each dropped from its own height: worlds of one model side by side, in vector lanes and on threads.

use sapwood::{BatchOptions, World};

const WORLDS: usize = 100;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::from_text(
        r#"<mujoco><worldbody><geom type="plane" size="0 0 1"/>
        <body pos="0 0 0.5"><freejoint/><geom type="sphere" size=".1" mass="1"/></body></worldbody></mujoco>"#,
    )?;
    let mut batch = world.batch(WORLDS, BatchOptions::default())?;
    let nq = world.model.nq();
    for (i, q) in batch.q_mut().chunks_exact_mut(nq).enumerate() {
        q[2] += 0.01 * i as f64;
    }
    batch.step(500)?;
    for q in batch.q().chunks_exact(nq) {
        assert!((q[2] - 0.1).abs() < 1e-3, "every ball lies on the ground");
    }
    // Those of the second half once more.
    let which: Vec<bool> = (0..WORLDS).map(|i| i >= WORLDS / 2).collect();
    batch.reset(&which, None)?;
    batch.step(10)?;
    let falling = batch.v().chunks_exact(world.model.nv()).filter(|v| v[2] < -0.1).count();
    assert_eq!(falling, WORLDS / 2);
    println!("{WORLDS} worlds, {} steps, {} lanes: {falling} are falling again", batch.stats().steps, batch.lanes());
    Ok(())
}
