//! What is written is read back as it was, bit for bit.

use sapwood_formats::{LoadOptions, Loaded, MeshFiles, WriteOptions, Written, to_mjcf};

fn written(loaded: &Loaded) -> Written {
    to_mjcf(&loaded.model, &loaded.scene, &WriteOptions::default()).expect("MJCF")
}

/// Loads a world, its text, and compares all but warnings, which name lines.
fn comes_back(world: &str) {
    let mut first = crate::load(world);
    let mut second = crate::load(&written(&first).text);
    same(&mut first, &mut second);
}

fn same(first: &mut Loaded, second: &mut Loaded) {
    first.model.warnings.clear();
    second.model.warnings.clear();
    let [first, second] = [first, second].map(|loaded| format!("{loaded:#?}"));
    let other = first.lines().zip(second.lines()).position(|(a, b)| a != b);
    let around =
        |text: &str, line: usize| text.lines().skip(line.saturating_sub(12)).take(14).collect::<Vec<_>>().join("\n");
    assert!(other.is_none(), "{:?}", other.map(|line| [around(&first, line), around(&second, line)]));
    assert_eq!(first.len(), second.len());
}

#[test]
fn textures_and_places_in_them() {
    let text = r#"<mujoco><asset>
      <texture type="skybox" builtin="gradient" width="4" rgb1="0 .2 1" rgb2="1 1 1"/>
      <texture name="squares" type="2d" builtin="checker" width="6" height="4" rgb1="1 0 0" mark="edge"/>
      <texture name="dice" builtin="gradient" width="3" mark="cross" markrgb="0 1 0"/>
      <material name="a" texture="squares" texrepeat="3 .1" rgba="1 .5 .25 1"/><material name="b" texture="dice" texuniform="true"/>
      <material name="c" texture="squares"/>
      <mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3" inertia="shell"
        texcoord="0 0 .1 0 .3 .7 .5 .5"/></asset>
      <worldbody><geom size="1" material="a"/><geom size="2" material="b"/><geom type="mesh" mesh="m" material="c"/>
      <geom size="3" material="a" rgba="0 1 0 1"/><geom size="4" rgba=".1 .2 .3 1"/></worldbody></mujoco>"#;
    let mut first = crate::load(text);
    let alone = written(&first);
    assert_eq!(alone.notes, ["textures: 3 are left out, as they need files beside the text"]);
    crate::load(&alone.text);
    let read_back = |meshes: MeshFiles| {
        let options = WriteOptions { meshes, stem: Some("world") };
        let written = to_mjcf(&first.model, &first.scene, &options).expect("MJCF");
        assert!(written.notes.is_empty(), "{:?}", written.notes);
        let files = written.files.into_iter().map(|file| (file.name, file.content)).collect();
        sapwood_formats::load_with_assets(&written.text, files, &LoadOptions::default()).expect("model")
    };
    let (mut second, in_file) = (read_back(MeshFiles::Inline), read_back(MeshFiles::Obj));
    // OBJ counts from the lower edge, in single precision.
    let places = [&first, &in_file].map(|loaded| match &loaded.scene.geoms[2].shape {
        geometry::Shape::Mesh(mesh) => mesh.surface.texcoords.concat(),
        other => panic!("{other:?}"),
    });
    assert_eq!(places[0].len(), 24);
    assert!(places[0].iter().zip(&places[1]).all(|(a, b)| (a - b).abs() < 1e-6), "{places:?}");
    same(&mut first, &mut second);
}

fn world(content: &str) -> String {
    format!("<mujoco><compiler inertiafromgeom=\"false\"/><worldbody>{content}</worldbody></mujoco>")
}

#[test]
fn bodies_without_mass() {
    comes_back(&world(r#"<body pos="1 2 3" quat="1 1 0 0"><body pos="0 0 4"/><geom size=".1"/></body>"#));
    // Sums of bodies that move need mass; what hangs on one by no joint has it.
    let inertial = r#"<inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/>"#;
    comes_back(&world(&format!(r#"<body pos="1 2 3"><joint/><body pos="0 0 4">{inertial}</body></body>"#)));
}

/// A wrist of two joints in one place, the first with nothing but a frame fixed to it.
#[test]
fn bodies_that_move_without_mass() {
    let inertial = r#"<inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/>"#;
    let wrist = format!(r#"<body name="a"><joint/><body/><body><joint axis="1 0 0"/>{inertial}</body></body>"#);
    let first = written(&crate::load(&world(&wrist)));
    assert!(first.notes.iter().any(|note| note.contains("moves without mass")), "{:?}", first.notes);
    let again = crate::load(&first.text);
    assert!(again.model.bodies[1].inertia.mass > 1e-15);
    assert_eq!(written(&again).text, first.text);
}

#[test]
fn zeros_with_a_sign_and_rods() {
    for numbers in ["1 2 3 -0 0 -0", "1 1 1e-9 0 0 -1e-12", "3 2 1 1e-300 0 0", ".4 .3 .2 .02 -.01 .03"] {
        let inertial = format!(r#"<inertial pos="-0 0 -0" mass="1" fullinertia="{numbers}"/>"#);
        comes_back(&world(&format!(r#"<body pos="-0 0 -0"><joint/>{inertial}</body>"#)));
    }
    comes_back(&world(
        r#"<body><joint/><inertial pos="0 0 0" quat="1 2 3 4" mass="1" diaginertia=".1 .1 1e-5"/></body>"#,
    ));
}

/// Where two moments are equal a medium acts along axes that the inertia does not tell.
#[test]
fn axes_in_a_medium() {
    for body in [
        r#"<geom type="capsule" size=".1" fromto="0 0 0 1 0 0"/>"#,
        r#"<geom type="cylinder" size=".04" fromto="-.1 -.2 0 .1 .4 0"/>"#,
        r#"<geom type="box" size=".1 .1 .3" euler="10 20 30" pos=".3 .2 .1"/>"#,
        r#"<geom size=".1" euler="10 20 30"/>"#,
        r#"<geom size=".1"/><geom size=".1" pos=".3 .1 .2"/>"#,
        r#"<inertial pos="1 2 3" quat="1 2 3 4" mass="1" diaginertia=".1 .1 1e-5"/>"#,
    ] {
        let body = format!(r#"<body pos="0 1 2" euler="30 0 0"><freejoint/>{body}</body>"#);
        comes_back(&format!(r#"<mujoco><option density="1.2"/><worldbody>{body}</worldbody></mujoco>"#));
    }
}

#[test]
fn names_of_meshes_are_addresses() {
    comes_back(
        r#"<mujoco><asset><mesh name="package://a/b/link.dae" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody>
        <geom type="mesh" mesh="package://a/b/link.dae"/></worldbody></mujoco>"#,
    );
}

#[test]
fn fixed_tendons_with_the_looks_of_strings() {
    let world = r#"<mujoco><default><tendon width=".1" rgba="1 0 0 1"/></default><worldbody>
        <body><joint name="j"/><geom size=".1"/></body></worldbody>
        <tendon><fixed group="2"><joint joint="j" coef="1"/></fixed></tendon></mujoco>"#;
    comes_back(world);
    let text = written(&crate::load(world)).text;
    assert!(!text.contains("width") && !text.contains("<fixed rgba"), "{text}");
}

#[test]
fn rotations_of_bodies() {
    let mut seed = 1_u64;
    let mut draw = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let mut bodies = String::new();
    for _ in 0..500 {
        let quat = [draw(), draw(), draw(), draw()].map(|x| x.to_string()).join(" ");
        bodies += &format!(r#"<body quat="{quat}"><geom size=".1" quat="{quat}"/><site quat="{quat}"/></body>"#);
    }
    comes_back(&world(&bodies));
}

/// What MuJoCo refuses is written as what it takes, and that comes back.
#[test]
fn what_no_body_has_is_written_once() {
    for numbers in
        ["1 1 1 1 1 1", "1e-6 1e-6 1e-6 1e-6 1e-6 1e-6", "0 0 0 0 1e-20 0", "1 1 2.00000000001 0 0 0", "0 0 0 0 0 0"]
    {
        let inertial = format!(r#"<inertial pos="0 0 0" mass="1" fullinertia="{numbers}"/>"#);
        let first = written(&crate::load(&world(&format!(r#"<body name="b"><joint/>{inertial}</body>"#))));
        let again = crate::load(&first.text);
        assert_eq!(written(&again).text, first.text, "{numbers}");
        let [a, b, c] = again.model.bodies[1].inertia.inertia.diag().to_array();
        assert!(a + b >= c && a + c >= b && b + c >= a && a.min(b).min(c) > 1e-15, "{numbers}: {a} {b} {c}");
        let is_far = numbers != "1 1 2.00000000001 0 0 0";
        assert_eq!(!first.notes.is_empty(), is_far, "{numbers}: {:?}", first.notes);
    }
}

#[test]
fn next_to_nothing_has_no_axes() {
    let nothing = r#"<body><inertial pos="0 0 0" mass=".2" fullinertia="9e-21 9e-21 0 9e-21 0 0"/></body>"#;
    let first = written(&crate::load(&world(&format!(r#"<body><joint/><geom size=".1"/>{nothing}</body>"#))));
    assert_eq!(written(&crate::load(&first.text)).text, first.text);
}

/// What has lost its last digits somewhere is written as what is nearest to it, and not as a sphere.
#[test]
fn moments_that_lack_little_change_little() {
    for lack in [1e-14, 1e-10, 1e-8, 1e-6, 1e-4] {
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let given = order.map(|i| [1.0, 2.0, 3.0 * (1.0 + lack)][i]);
            let [a, b, c] = given;
            let body = format!(r#"<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="{a} {b} {c}"/></body>"#);
            let first = crate::load(&world(&body));
            let again = crate::load(&written(&first).text);
            let found = again.model.bodies[1].inertia.inertia.diag().to_array();
            for (found, given) in found.into_iter().zip(given) {
                assert!((found - given).abs() <= 1.1 * lack + 1e-13, "{found} for {given}, which lacks {lack}");
            }
        }
    }
}

/// Of a mesh whose corners at one vertex have several places in a texture, which the text has no words for: in a file, with all digits.
#[test]
fn scaled_meshes_with_places_by_corner() {
    // MSH: two vertices at one point, with other places in a texture.
    let vertices = [[0.0, 0.0, 0.1], [0.3, 0.0, 0.0], [0.0, 0.7, 0.0], [0.0, 0.0, 0.9], [0.0, 0.0, 0.1]];
    let places = [[0.499634, 0.462625], [0.3, 0.458616], [0.1, 0.2], [0.473328, 0.1], [0.7, 1e-3]];
    let faces = [[0, 2, 1], [4, 1, 3], [4, 3, 2], [1, 2, 3]];
    let counts = [vertices.len(), 0, places.len(), faces.len()].map(|count| count as i32);
    let numbers = vertices.as_flattened().iter().chain(places.as_flattened());
    let mesh: Vec<u8> = counts
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .chain(numbers.flat_map(|x: &f32| x.to_le_bytes()))
        .chain(faces.as_flattened().iter().flat_map(|n: &i32| n.to_le_bytes()))
        .collect();
    let text = r#"<mujoco><asset><texture name="t" type="2d" builtin="checker" width="4" height="4"/>
      <material name="m" texture="t"/><mesh name="a" file="a.msh" scale="1.5 .001 1.1" inertia="shell"/></asset>
      <worldbody><geom type="mesh" mesh="a" material="m"/></worldbody></mujoco>"#;
    let load = |text: &str, files: Vec<(String, Vec<u8>)>| {
        let files = files.into_iter().collect();
        sapwood_formats::load_with_assets(text, files, &LoadOptions::default()).expect("model")
    };
    let mut first = load(text, vec![("a.msh".into(), mesh)]);
    let options = WriteOptions { meshes: MeshFiles::Inline, stem: Some("world") };
    let written = to_mjcf(&first.model, &first.scene, &options).expect("MJCF");
    let files: Vec<_> = written.files.into_iter().map(|file| (file.name, file.content)).collect();
    assert!(files.iter().any(|(name, _)| name.ends_with(".obj")), "the mesh is in a file");
    let mut second = load(&written.text, files);
    same(&mut first, &mut second);
}

/// MuJoCo refuses planes that move, which SDFormat has.
#[test]
fn planes_that_move_are_noted() {
    for (joint, is_noted) in [("<freejoint/>", true), ("", false)] {
        let geoms = r#"<geom name="a" size="0.1"/><geom name="b" type="plane" size="1 1 1"/>"#;
        let Loaded { model, scene } = super::world(&format!("<body>{joint}{geoms}</body>"));
        let written = to_mjcf(&model, &scene, &WriteOptions::default()).unwrap();
        let is_of_plane = |note: &String| note.starts_with("geom \"b\": a plane that moves");
        assert_eq!(written.notes.iter().any(is_of_plane), is_noted, "{:?}", written.notes);
    }
}
