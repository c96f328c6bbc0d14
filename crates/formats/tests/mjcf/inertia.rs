//! Mass, centre of mass and inertia: from `<inertial>`, from geoms, and as the compiler corrects them.

use std::f64::consts::PI;

use spatial::{RigidInertia, Sym3};

use crate::{close, load};

/// The inertia of the only body with this in it.
fn body(compiler: &str, content: &str) -> RigidInertia<f64> {
    let text = format!("<mujoco><compiler {compiler}/><worldbody><body>{content}</body></worldbody></mujoco>");
    load(&text).model.bodies[1].inertia
}

fn entries(i: Sym3<f64>) -> [f64; 6] {
    [i.xx(), i.yy(), i.zz(), i.xy(), i.xz(), i.yz()]
}

/// As of URDF files; the text has the nearest that MuJoCo takes.
#[test]
fn moments_that_no_body_has_are_used_with_a_warning() {
    // a + b ≥ c, and as near as can be: what is missing is shared.
    for (moments, nearest) in [("1 1 9", [10.0 / 3.0, 10.0 / 3.0, 20.0 / 3.0]), ("0 0 3", [1.0, 1.0, 2.0])] {
        let inertial = format!(r#"<inertial pos="0 0 0" quat="1 2 3 4" mass="1" diaginertia="{moments}"/>"#);
        let loaded = crate::world(&format!(r#"<body name="b"><joint/>{inertial}</body>"#));
        let warning = &loaded.model.warnings[0];
        assert!(warning.element == "inertial" && warning.message.contains("no rigid body has"), "{warning}");
        let (model, scene) = (&loaded.model, &loaded.scene);
        let written = sapwood_formats::to_mjcf(model, scene, &sapwood_formats::WriteOptions::default()).expect("text");
        assert!(written.notes[0].contains("body \"b\": no rigid body has its inertia"), "{:?}", written.notes);
        let again = crate::load(&written.text).model;
        let found = again.bodies[1].inertia.inertia.eigenvalues();
        assert!(close(&found, &nearest, 1e-13), "{moments}: {found:?}");
    }
}

#[test]
fn inertial_with_turned_axes_and_in_full() {
    let turned = body("", r#"<inertial pos="1 2 3" mass="4" diaginertia="1 2 2.5" euler="0 0 90"/>"#);
    assert_eq!((turned.mass, turned.com.to_array()), (4.0, [1.0, 2.0, 3.0]));
    assert!(close(&entries(turned.inertia), &[2.0, 1.0, 2.5, 0.0, 0.0, 0.0], 1e-15));
    let full = body("", r#"<inertial pos="0 0 0" mass="4" fullinertia="2 2.2 2.4 .1 .2 .3"/>"#);
    assert_eq!(entries(full.inertia), [2.0, 2.2, 2.4, 0.1, 0.2, 0.3]);
}

#[test]
fn geoms_give_the_mass_unless_there_is_an_inertial() {
    let ball = body("", r#"<geom size="0.5" density="2"/>"#);
    let mass = 2.0 * 4.0 / 3.0 * PI * 0.125;
    assert!((ball.mass - mass).abs() < 1e-15 && (ball.inertia.xx() - 0.4 * mass * 0.25).abs() < 1e-15);
    let both = r#"<geom size="0.5"/><inertial pos="0 0 0" mass="7" diaginertia="1 1 1"/>"#;
    assert_eq!(body("", both).mass, 7.0);
    assert!((body(r#"inertiafromgeom="true""#, both).mass - 500.0 * mass).abs() < 1e-12);
    assert_eq!(body(r#"inertiafromgeom="false""#, r#"<geom size="0.5"/>"#).mass, 0.0);
}

#[test]
fn two_geoms_are_one_dumbbell() {
    let two = body("", r#"<geom size=".1" mass="1" pos="1 0 0"/><geom size=".1" mass="3" pos="-1 0 0"/>"#);
    assert_eq!((two.mass, two.com.to_array()), (4.0, [-0.5, 0.0, 0.0]));
    let ball = 4.0 * 0.4 * 0.01;
    // Reduced mass 3/4 at distance 2.
    assert!(close(&entries(two.inertia), &[ball, ball + 3.0, ball + 3.0, 0.0, 0.0, 0.0], 1e-14));
}

#[test]
fn groups_select_geoms_with_mass() {
    let geoms = r#"<geom size="1" mass="1" group="1"/><geom size="1" mass="2" group="3"/>"#;
    assert_eq!(body(r#"inertiagrouprange="2 4""#, geoms).mass, 2.0);
}

#[test]
fn shells_have_their_mass_on_the_surface() {
    let shell = body("", r#"<geom size="0.5" shellinertia="true" density="2"/>"#);
    let mass = 2.0 * 4.0 * PI * 0.25;
    assert!((shell.mass - mass).abs() < 1e-14 && (shell.inertia.zz() - mass * 0.25 / 1.5).abs() < 1e-14);
}

#[test]
fn bounds_and_balance() {
    let light =
        body(r#"boundmass="3" boundinertia="0.5""#, r#"<inertial pos="0 0 0" mass="1" diaginertia=".1 .6 .6"/>"#);
    assert_eq!(light.mass, 3.0);
    assert!(close(&entries(light.inertia), &[0.5, 0.6, 0.6, 0.0, 0.0, 0.0], 1e-15));
    let balanced = body(r#"balanceinertia="true""#, r#"<inertial pos="0 0 0" mass="1" diaginertia="1 2 6"/>"#);
    assert!(close(&entries(balanced.inertia), &[3.0, 3.0, 3.0, 0.0, 0.0, 0.0], 1e-15));
}

#[test]
fn total_mass_scales_every_body() {
    let text = r#"<mujoco><compiler settotalmass="10"/><worldbody><geom size="1"/>
        <body><geom size="1" mass="1"/></body><body><geom size="1" mass="4"/></body></worldbody></mujoco>"#;
    let model = load(text).model;
    assert!((model.bodies[1].inertia.mass - 2.0).abs() < 1e-15 && (model.mass() - 10.0).abs() < 1e-14);
    assert!((model.bodies[2].inertia.inertia.xx() - 0.4 * 8.0).abs() < 1e-14);
}

#[test]
fn inline_meshes_weigh_what_their_volume_weighs() {
    // A tetrahedron with corners at the origin and on the axes, mirrored in x: volume 1/6 · 2³.
    let text = |inertia: &str| {
        format!(
            r#"<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3"
            scale="-2 2 2" inertia="{inertia}"/></asset><worldbody><body><geom mesh="m" type="mesh" density="3"/></body>
            </worldbody></mujoco>"#
        )
    };
    for model in ["exact", "convex", "legacy"] {
        let inertia = load(&text(model)).model.bodies[1].inertia;
        assert!((inertia.mass - 4.0).abs() < 1e-14, "{model}: {}", inertia.mass);
        assert!(close(&inertia.com.to_array(), &[-0.5, 0.5, 0.5], 1e-15), "{model}: {:?}", inertia.com);
    }
}

/// MuJoCo balances and bounds before it checks.
#[test]
fn balanced_and_bounded_inertias_need_not_be_those_of_a_body() {
    let moments = |compiler: &str, moments: &str| {
        let inertial = format!("<inertial pos='0 0 0' mass='1' diaginertia='{moments}'/>");
        let body = format!("<worldbody><body><freejoint/>{inertial}</body></worldbody>");
        let loaded = crate::try_load(&format!("<mujoco><compiler {compiler}/>{body}</mujoco>"));
        loaded.map(|loaded| loaded.model.bodies[1].inertia.inertia.diag().to_array())
    };
    let third = 7.0 / 3.0;
    assert!(crate::close(&moments("balanceinertia='true'", "1 1 5").expect("a model"), &[third; 3], 1e-15));
    assert!(crate::close(&moments("balanceinertia='true'", "1 -1 5").expect("a model"), &[2.0; 3], 1e-15));
    assert!(crate::close(&moments("boundinertia='0.1'", "1 1 -1").expect("a model"), &[1.0, 1.0, 0.1], 1e-15));
    assert!(crate::close(&moments("boundinertia='0.1'", "1 1 5").expect("a model"), &[1.0, 1.0, 5.0], 1e-15));
    assert!(moments("", "1 1 -1").is_err());
}
