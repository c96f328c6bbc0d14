//! A robot arm.

use crate::text::Document;

/// Masses of the links, kg.
const MASSES: [f64; 7] = [3.0, 3.0, 2.5, 2.5, 2.0, 1.5, 0.5];
/// Greatest torques of the servos, N·m; the second joint needs 55 to hold the arm out.
const TORQUES: [f64; 7] = [200.0, 200.0, 120.0, 120.0, 60.0, 40.0, 20.0];

/// Seven links of 0.2 m that point up, on hinges about z and y in turn.
pub fn arm7(name: String) -> String {
    let mut document = Document::new(name, 1.0).with_timestep(0.001);
    for (i, mass) in MASSES.into_iter().enumerate() {
        let (axis, height) = (if i % 2 == 0 { "0 0 1" } else { "0 1 0" }, if i == 0 { 0.0 } else { 0.2 });
        let indent = "  ".repeat(i);
        document.world.push(format!(r#"{indent}<body name="link{i}" pos="0 0 {height}">"#));
        document.world.push(format!(
            r#"{indent}  <joint name="joint{i}" axis="{axis}" range="-172 172" limited="true"/><geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.04" mass="{mass}" contype="0" conaffinity="0"/>"#
        ));
        let torque = TORQUES[i];
        document.actuator.push(format!(
            r#"<position name="servo{i}" joint="joint{i}" kp="1e5" kv="1e3" forcelimited="true" forcerange="-{torque} {torque}"/>"#
        ));
    }
    for i in (0..MASSES.len()).rev() {
        document.world.push(format!("{}</body>", "  ".repeat(i)));
    }
    document.finish()
}
