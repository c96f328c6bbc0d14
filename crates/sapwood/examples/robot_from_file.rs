//! A robot from a file, MJCF or URDF: what was read, and what of it is not simulated.
//!
//! `cargo run --example robot_from_file -- robot.xml`; without an argument it writes an arm and loads that.

use std::path::PathBuf;

use sapwood::{Options, load};

const ARM: &str = r#"<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="2"/><inertia ixx=".02" iyy=".02" izz=".002" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0 0.2"/><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/></joint>
</robot>"#;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A test that runs all examples passes arguments of its own: only files count.
    let given = std::env::args().nth(1).map(PathBuf::from).filter(|path| path.is_file());
    let path = match given {
        Some(path) => path,
        None => {
            let path = std::env::temp_dir().join(format!("sapwood-arm-{}.urdf", std::process::id()));
            std::fs::write(&path, ARM)?;
            path
        }
    };
    let world = load(&path)?;
    let model = &world.model;
    println!("{}: {} bodies, {} degrees of freedom", model.name, model.bodies.len(), model.nv());
    for warning in &model.warnings {
        println!("not simulated: {warning}");
    }
    let mut simulation = world.simulate(Options::default())?;
    let before = simulation.energy();
    (0..200).try_for_each(|_| simulation.step())?;
    let after = simulation.energy();
    let (start, end) = (before.kinetic + before.potential, after.kinetic + after.potential);
    println!("energy {start:.4} J at the start, {end:.4} J after 200 steps");
    assert!(end <= start + 1e-2 * start.abs().max(1.0), "nothing drives it");
    Ok(())
}
