use geometry::{Geom, Shape};

use super::*;

/// The geoms of a robot whose only link has this content, after this content of the robot.
fn geoms(before: &str, content: &str) -> Vec<Geom> {
    let loaded = load(&robot(before, content));
    assert!(loaded.model.warnings.is_empty(), "{:?}", loaded.model.warnings);
    loaded.scene.geoms
}

fn robot(before: &str, content: &str) -> String {
    format!("<robot name=\"r\">{before}\n<link name=\"l\">\n{content}\n</link></robot>")
}

fn collision(shape: &str) -> String {
    format!("<collision><geometry>{shape}</geometry></collision>")
}

fn visual(material: &str) -> String {
    format!("<visual><geometry><sphere radius=\"1\"/></geometry>{material}</visual>")
}

#[test]
fn geoms_of_one_name_are_numbered_and_come_back_from_text() {
    let named = |name: &str| visual("").replace("<visual>", &format!("<visual name=\"{name}\">"));
    let content = [named("a"), named("a"), named("a_2"), named("a"), named("")].concat();
    let loaded = load(&robot("", &content));
    let names: Vec<&str> = loaded.scene.geoms.iter().map(|geom| geom.name.as_str()).collect();
    assert_eq!(names, ["a", "a_3", "a_2", "a_4", ""]);
    let text = sapwood_formats::to_mjcf(&loaded.model, &loaded.scene, &sapwood_formats::WriteOptions::default());
    assert_eq!(load(&text.expect("MJCF").text).scene.geoms.len(), 5);
}

#[test]
fn sizes_are_halved_where_shapes_have_half_sizes() {
    let shapes = [
        "<box size=\"1 2 3\"/>",
        "<cylinder radius=\"1\" length=\"2\"/>",
        "<sphere radius=\"4\"/>",
        "<capsule radius=\"1\" length=\"6\"/>",
    ];
    let geoms = geoms("", &shapes.map(collision).concat());
    assert!(matches!(geoms[0].shape, Shape::Box { half_extents: [0.5, 1.0, 1.5] }));
    assert!(matches!(geoms[1].shape, Shape::Cylinder { radius: 1.0, half_length: 1.0 }));
    assert!(matches!(geoms[2].shape, Shape::Sphere { radius: 4.0 }));
    assert!(matches!(geoms[3].shape, Shape::Capsule { radius: 1.0, half_length: 3.0 }));
}

#[test]
fn geoms_stand_at_their_origin_in_the_body_of_their_link() {
    let text = "<visual name=\"v\"><origin xyz=\"1 2 3\"/><geometry><sphere radius=\"1\"/></geometry></visual>";
    let geoms = geoms("", text);
    assert_eq!((geoms[0].name.as_str(), geoms[0].body, geoms[0].pose.pos.to_array()), ("v", 1, [1.0, 2.0, 3.0]));
}

#[test]
fn visuals_are_seen_and_collisions_touch() {
    let both = geoms("", &(visual("") + &collision("<sphere radius=\"1\"/>")));
    assert_eq!((both[0].contype, both[0].conaffinity, both[0].group), (0, 0, 1));
    assert_eq!((both[1].contype, both[1].conaffinity, both[1].group), (1, 1, 3));
    // Without anything else to see, what touches is drawn.
    assert_eq!(geoms("", &collision("<sphere radius=\"1\"/>"))[0].group, 1);
}

#[test]
fn colours_are_local_or_named_even_when_a_later_link_names_them() {
    let red = "<material name=\"red\"><color rgba=\"1 0 0 0.5\"/></material>";
    let local = visual("<material name=\"mine\"><color rgba=\"0 0 1 1\"/></material>");
    let named = visual("<material name=\"red\"/>");
    assert_eq!(geoms("", &local)[0].rgba, [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(geoms(red, &named)[0].rgba, [1.0, 0.0, 0.0, 0.5]);
    assert_eq!(geoms("", &(named + &visual(red)))[0].rgba, [1.0, 0.0, 0.0, 0.5]);
}

#[test]
fn colours_that_are_not_there_and_textures_are_named() {
    warns(&load(&robot("", &visual("<material name=\"red\"/>"))), "material name: no colour of this name");
    let texture = "<material name=\"m\"><texture filename=\"t.png\"/></material>";
    warns(&load(&robot("", &visual(texture))), "texture: textures are not shown");
}

#[test]
fn what_cannot_be_shown_is_skipped_and_what_cannot_touch_is_an_error() {
    for (shape, expected) in [
        ("<mesh filename=\"no.stl\"/>", "\"no.stl\": no such file"),
        ("<sphere radius=\"-1\"/>", "radius=\"-1\": expected a number above 0"),
        ("<box size=\"1 -1 1\"/>", "size: expected numbers above 0"),
        ("<torus/>", "expected <box>, <cylinder>, <sphere>, <capsule> or <mesh>"),
        ("", "empty: expected <box>"),
    ] {
        let collision = collision(shape);
        let visual = collision.replace("collision", "visual");
        let loaded = load(&robot("", &visual));
        assert!(loaded.scene.geoms.is_empty());
        let warnings: Vec<String> = loaded.model.warnings.iter().map(ToString::to_string).collect();
        assert!(warnings[0].contains("visual: not shown") && warnings[0].contains(expected), "{warnings:?}");
        let error = error(&robot("", &collision));
        assert!(error.line() == 3 && error.message().contains(expected), "{error}\n{expected}");
    }
}

/// Robots have such in place of frames.
#[test]
fn shapes_of_size_0_are_named_and_left_out() {
    for shape in ["<sphere radius=\"0\"/>", "<box size=\"1 0 1\"/>", "<cylinder radius=\"0\" length=\"1\"/>"] {
        let loaded = load(&robot("", &collision(shape)));
        assert!(loaded.scene.geoms.is_empty());
        warns(&loaded, "collision: of size 0: it touches nothing");
        warns(&load(&robot("", &collision(shape).replace("collision", "visual"))), "visual: of size 0: not shown");
    }
}

/// Three links along x, each a ball of radius 0.6 m, each 1 m from the one before.
fn chain(third: f64) -> String {
    let ball = collision("<sphere radius=\"0.6\"/>");
    let link = |name: &str| format!("<link name=\"{name}\">{INERTIAL}{ball}</link>");
    let joint = |a: &str, b: &str, x: f64| {
        let limits = "<limit lower=\"0.5\" upper=\"1\"/><axis xyz=\"1 0 0\"/>";
        let ends = format!("<parent link=\"{a}\"/><child link=\"{b}\"/><origin xyz=\"{x} 0 0\"/>");
        format!("<joint name=\"{a}{b}\" type=\"revolute\">{ends}{limits}</joint>")
    };
    let links = ["a", "b", "c"].map(link).concat();
    format!("<robot name=\"r\">{links}{}{}</robot>", joint("a", "b", 1.0), joint("b", "c", third))
}

#[test]
fn links_touch_unless_one_hangs_from_the_other() {
    // The base is fixed to the world, from which contacts are not kept apart otherwise.
    let loaded = load(&chain(1.0));
    assert!(loaded.model.warnings.is_empty(), "{:?}", loaded.model.warnings);
    assert_eq!(loaded.scene.excluded, [[1, 2]]);
}

#[test]
fn links_that_overlap_from_the_start_never_touch() {
    let loaded = load(&chain(0.1));
    warns(&loaded, "links that overlap in the default configuration never touch: a – c");
    assert_eq!(loaded.scene.excluded, [[1, 2], [1, 3]]);
}

#[test]
fn the_default_configuration_is_within_the_limits() {
    assert_eq!(load(&chain(1.0)).model.q0, [0.5, 0.5]);
}
