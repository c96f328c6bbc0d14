//! What a block on a slope presses with, beside what statics says.

use sapwood::{Options, World};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mass, degrees) = (3.0, 20.0_f64);
    let text = format!(
        r#"<mujoco><option timestep="0.002"/><worldbody><body euler="0 {degrees} 0">
        <geom type="plane" size="5 5 1" friction="0.7"/></body>
        <body pos="0 0 0" euler="0 {degrees} 0"><freejoint/><geom type="box" pos="0 0 0.1" size="0.1 0.1 0.1" mass="{mass}" friction="0.7"/></body>
        </worldbody></mujoco>"#
    );
    let mut simulation = World::from_text(&text)?.simulate(Options::default())?;
    (0..500).try_for_each(|_| simulation.step())?;
    let dt = simulation.timestep();
    let (mut normal, mut friction) = (0.0, [0.0, 0.0]);
    for point in simulation.contacts() {
        let [t1, t2, n] = point.impulse.map(|impulse| impulse / dt);
        normal += n;
        friction = [friction[0] + t1, friction[1] + t2];
    }
    let (weight, angle) = (mass * 9.81, degrees.to_radians());
    println!("normal force {normal:.3} N, expected {:.3} N", weight * angle.cos());
    println!("friction {:.3} N, expected {:.3} N", f64::hypot(friction[0], friction[1]), weight * angle.sin());
    assert!((normal - weight * angle.cos()).abs() < 1e-2);
    assert!((f64::hypot(friction[0], friction[1]) - weight * angle.sin()).abs() < 1e-2);
    Ok(())
}
