//! Mechanisms with loops, closed by MJCF's `equality connect`.

use super::text::{Document, Quat, Vec3, numbers};

/// Lengths of the four-bar linkage, m: the shortest and the longest together are below the others, so the crank turns
/// all the way (Grashof).
const CRANK: f64 = 0.1;
const COUPLER: f64 = 0.36;
const ROCKER: f64 = 0.25;
const FRAME: f64 = 0.35;
/// Height of the frame over the ground, m.
const HEIGHT: f64 = 0.5;

/// A crank that points up at the origin of the frame, a rocker at its other end, the coupler between them.
pub fn four_bar(name: String) -> String {
    let mut document = Document::new(name, 1.0);
    // The joint of coupler and rocker: where circles about the crank's pin and the rocker's pivot meet.
    let (dx, dz) = (FRAME, -CRANK);
    let distance = libm::hypot(dx, dz);
    let along = (COUPLER * COUPLER - ROCKER * ROCKER + distance * distance) / (2.0 * distance);
    let across = (COUPLER * COUPLER - along * along).sqrt();
    let pin = [(along * dx - across * dz) / distance, 0.0, CRANK + (along * dz + across * dx) / distance];
    let tip = numbers(&[pin[0], 0.0, pin[2] - CRANK]);
    document.world.push(format!(r#"<body name="crank" pos="0 0 {HEIGHT}">"#));
    document.world.push(format!(r#"  <joint name="crank" axis="0 1 0"/>{}"#, link([0.0, 0.0, CRANK])));
    document.world.push(format!(r#"  <body name="coupler" pos="0 0 {CRANK}">"#));
    document
        .world
        .push(format!(r#"    <joint name="coupler" axis="0 1 0"/>{}</body>"#, link([pin[0], 0.0, pin[2] - CRANK])));
    document.world.push("</body>".into());
    document.world.push(format!(
        r#"<body name="rocker" pos="{FRAME} 0 {HEIGHT}"><joint name="rocker" axis="0 1 0"/>{}</body>"#,
        link([pin[0] - FRAME, 0.0, pin[2]])
    ));
    document.equality.push(format!(r#"<connect name="loop" body1="coupler" body2="rocker" anchor="{tip}"/>"#));
    document.actuator.push(r#"<motor name="crank" joint="crank"/>"#.into());
    document.finish()
}

/// A rod from the origin that touches nothing.
fn link(to: Vec3) -> String {
    let mass = 2.0 * norm(to);
    format!(
        r#"<geom type="capsule" fromto="0 0 0 {}" size="0.01" mass="{}" contype="0" conaffinity="0"/>"#,
        numbers(&to),
        numbers(&[mass])
    )
}

/// Radii of the circles of joints on the base and the platform, m.
const BASE: f64 = 0.4;
const PLATFORM: f64 = 0.25;
/// Height of the platform over the base, m.
const RAISED: f64 = 0.5;
/// Angles of the joints from the middle of a pair, rad: on the base pairs are near, on the platform the others.
const BASE_SPREAD: f64 = 0.2;
const PLATFORM_SPREAD: f64 = 0.85;

/// Six legs in pairs; each a universal joint at the base, a sliding rod, and a ball joint at the platform.
pub fn stewart(name: String) -> String {
    let mut document = Document::new(name, 1.0);
    document.world.push(format!(
        r#"<body name="platform" pos="0 0 {RAISED}"><freejoint name="platform"/><geom name="platform" type="cylinder" size="0.28 0.02" mass="5" contype="0" conaffinity="0"/></body>"#
    ));
    for leg in 0..6 {
        let pair = f64::from(leg / 2) * 2.0 * std::f64::consts::PI / 3.0;
        let sign = if leg % 2 == 0 { -1.0 } else { 1.0 };
        let [foot, head] =
            [(BASE, BASE_SPREAD, 0.0), (PLATFORM, PLATFORM_SPREAD, RAISED)].map(|(radius, spread, z)| {
                let angle = pair + sign * spread;
                [radius * libm::cos(angle), radius * libm::sin(angle), z]
            });
        let along: Vec3 = std::array::from_fn(|k| head[k] - foot[k]);
        let length = norm(along);
        let (pos, quat) = (numbers(&foot), numbers(&from_z(along)));
        let (tube, tip) = (numbers(&[0.55 * length]), numbers(&[length]));
        document.world.push(format!(r#"<body name="tube{leg}" pos="{pos}" quat="{quat}">"#));
        document.world.push(format!(
            r#"  <joint name="swing{leg}" axis="1 0 0"/><joint name="tilt{leg}" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 {tube}" size="0.02" mass="1" contype="0" conaffinity="0"/>"#
        ));
        document.world.push(format!(
            r#"  <body name="rod{leg}"><joint name="leg{leg}" type="slide" axis="0 0 1" range="-0.15 0.15" limited="true"/><geom type="capsule" fromto="0 0 {tube} 0 0 {tip}" size="0.012" mass="0.5" contype="0" conaffinity="0"/></body>"#
        ));
        document.world.push("</body>".into());
        document
            .equality
            .push(format!(r#"<connect name="loop{leg}" body1="rod{leg}" body2="platform" anchor="0 0 {tip}"/>"#));
        document.actuator.push(format!(
            r#"<position name="leg{leg}" joint="leg{leg}" kp="20000" kv="400" forcelimited="true" forcerange="-200 200"/>"#
        ));
    }
    document.finish()
}

fn norm([x, y, z]: Vec3) -> f64 {
    (x * x + y * y + z * z).sqrt()
}

/// The shortest rotation that takes z to a direction, which does not point down.
fn from_z(to: Vec3) -> Quat {
    let length = norm(to);
    let [x, y, z] = to.map(|c| c / length);
    // Half the angle lies between z and the sum of both.
    let w = ((1.0 + z) / 2.0).sqrt();
    [w, -y / (2.0 * w), x / (2.0 * w), 0.0]
}
