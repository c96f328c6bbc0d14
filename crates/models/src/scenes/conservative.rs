//! Systems that keep their energy; what they do is known, or can be computed to any accuracy by other means.

use super::text::{Document, numbers};

/// Attributes of geoms that are there to be seen.
const SHOWN: &str = r#"contype="0" conaffinity="0""#;

/// A free box of three different edges, with the centre of mass at its origin, that turns about its middle axis: the
/// unstable one, so that it tumbles (Dzhanibekov, Poinsot).
pub fn tumbling_body(name: String) -> String {
    let mut document = Document::new(name, 1.0).weightless();
    document.free("body", [0.0; 3], None, &format!(r#"type="box" size="0.05 0.1 0.2" mass="1" {SHOWN}"#));
    document.keyframe.push(r#"<key name="tumbling" qpos="0 0 0 1 0 0 0" qvel="0 0 0 0.1 5 0.1"/>"#.into());
    document.finish()
}

/// Two thin rods of 1 m and 1 kg that hang from each other.
pub fn double_pendulum(name: String) -> String {
    let mut document = Document::new(name, 1.0);
    document.world.push(rod("upper", "0 0 0", 1.0, 1.0, ""));
    document.world.push(format!("  {}</body></body>", rod("lower", "0 0 -1", 1.0, 1.0, "")));
    document.keyframe.push(r#"<key name="raised" qpos="1 0.5"/>"#.into());
    document.finish()
}

/// Thin rods of 0.1 m and 0.1 kg that hang from each other without weight, with springs of 1000 N·m/rad and no damping.
pub fn spring_chain(name: String, links: usize) -> String {
    let mut document = Document::new(name, 1.0).with_timestep(0.001).weightless();
    for i in 0..links {
        let pos = if i == 0 { "0 0 0" } else { "0 0 -0.1" };
        document.world.push("  ".repeat(i) + &rod(&format!("link{i}"), pos, 0.1, 0.1, r#" stiffness="1000""#));
    }
    document.world.push("</body>".repeat(links));
    document.keyframe.push(format!(r#"<key name="bent" qpos="{}"/>"#, numbers(&vec![0.05; links])));
    document.finish()
}

/// A body with a hinge about y at its origin, from which a thin rod hangs; its end tag is left to the caller.
fn rod(name: &str, pos: &str, length: f64, mass: f64, attributes: &str) -> String {
    let (middle, end, radius) = (numbers(&[-length / 2.0]), numbers(&[-length]), numbers(&[0.02 * length]));
    // All digits: numbers to twelve decimals are too coarse here. No geom is a rod without thickness; the inertia about
    // itself never acts, but must not be 0.
    let (inertia, about_itself) = (mass * length * length / 12.0, 0.5 * mass * (0.02 * length) * (0.02 * length));
    format!(
        r#"<body name="{name}" pos="{pos}"><joint name="{name}" axis="0 1 0"{attributes}/><inertial pos="0 0 {middle}" mass="{mass}" diaginertia="{inertia} {inertia} {about_itself}"/><geom type="capsule" fromto="0 0 0 0 0 {end}" size="{radius}" {SHOWN}/>"#
    )
}

/// A disc of 4 cm and 0.1 kg on a stem of 5 cm whose tip stays at the origin; it spins at 150 rad/s, leaning by 0.3 rad.
pub fn spinning_top(name: String) -> String {
    let mut document = Document::new(name, 1.0).with_timestep(0.001);
    let (mass, radius) = (0.1, 0.04);
    let polar = 0.5 * mass * radius * radius;
    let across = 0.5 * polar;
    document.world.push(format!(
        r#"<body name="top"><joint name="tip" type="ball"/><inertial pos="0 0 0.05" mass="{mass}" diaginertia="{across} {across} {polar}"/><geom type="cylinder" fromto="0 0 0.045 0 0 0.055" size="{radius}" {SHOWN}/><geom type="capsule" fromto="0 0 0.004 0 0 0.08" size="0.003" {SHOWN}/></body>"#
    ));
    let lean = 0.15;
    document.keyframe.push(format!(
        r#"<key name="spinning" qpos="{}" qvel="0 0 150"/>"#,
        numbers(&[libm::cos(lean), libm::sin(lean), 0.0, 0.0])
    ));
    document.finish()
}
