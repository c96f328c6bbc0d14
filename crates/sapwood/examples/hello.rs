//! A box falls on the ground and comes to rest.

use sapwood::{Options, World};

const SCENE: &str = r#"<mujoco><worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="box" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2"/></body>
</worldbody></mujoco>"#;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut simulation = World::from_text(SCENE)?.simulate(Options::default())?;
    while simulation.state().time < 2.0 {
        simulation.step()?;
    }
    let height = simulation.state().q[2];
    println!("after 2 s the box is {height:.5} m above the ground, with {} contacts", simulation.contacts().len());
    assert!((height - 0.1).abs() < 1e-4, "half of its edge");
    Ok(())
}
