//! Files: includes, assets, and errors that name them.

use std::fs;
use std::path::PathBuf;

use sapwood_formats::{LoadError, LoadOptions, Loaded};

/// A folder of this test alone, with these files.
fn folder(test: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("mjcf-{test}"));
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder to write to");
        fs::write(path, text).expect("a file to write");
    }
    folder
}

fn load(test: &str, files: &[(&str, &str)]) -> Result<Loaded, LoadError> {
    sapwood_formats::load(&folder(test, files).join(files[0].0), &LoadOptions::default())
}

#[test]
fn includes_are_spliced_in_place() {
    let files = [
        (
            "main.xml",
            r#"<mujoco><include file="parts/defaults.xml"/><worldbody><body name="a"/><include file="parts/bodies.xml"/>
            <body name="d"/></worldbody></mujoco>"#,
        ),
        ("parts/defaults.xml", r#"<mujocoinclude><default><geom size="3"/></default></mujocoinclude>"#),
        // Nested includes are relative to the main file, too.
        (
            "parts/bodies.xml",
            r#"<mujoco><body name="b"><include file="parts/geom.xml"/></body><body name="c"/></mujoco>"#,
        ),
        ("parts/geom.xml", r#"<mujoco><geom/></mujoco>"#),
    ];
    let loaded = load("splice", &files).expect("a model");
    let names: Vec<&str> = loaded.model.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["world", "a", "b", "c", "d"]);
    assert!(matches!(loaded.scene.geoms[0].shape, geometry::Shape::Sphere { radius: 3.0 }));
}

#[test]
fn a_file_is_included_once() {
    let files = [
        ("main.xml", "<mujoco>\n<include file=\"a.xml\"/></mujoco>"),
        ("a.xml", "<mujoco>\n\n<include file=\"main.xml\"/></mujoco>"),
    ];
    let error = load("cycle", &files).expect_err("a cycle");
    assert!(error.file().ends_with("a.xml") && error.line() == 3, "{error}");
    assert!(error.message().contains("included already"), "{error}");
}

#[test]
fn missing_files_are_named_where_they_are_asked_for() {
    let error =
        load("missing-include", &[("main.xml", "<mujoco>\n<include file=\"no.xml\"/></mujoco>")]).expect_err("no file");
    assert!(error.line() == 2 && error.element() == "include" && error.message().contains("no.xml"), "{error}");
    let mesh = "<mujoco><asset>\n\n<mesh file=\"no.stl\"/></asset></mujoco>";
    let error = load("missing-mesh", &[("main.xml", mesh)]).expect_err("no file");
    assert!(error.line() == 3 && error.element() == "mesh" && error.message().contains("no.stl"), "{error}");
    let error =
        sapwood_formats::load(&PathBuf::from("no-such-model.xml"), &LoadOptions::default()).expect_err("no file");
    assert_eq!((error.file(), error.line()), ("no-such-model.xml", 0));
}

#[test]
fn an_error_in_an_included_file_names_that_file() {
    let files = [
        ("main.xml", r#"<mujoco><worldbody><include file="part.xml"/></worldbody></mujoco>"#),
        ("part.xml", "<mujoco>\n<body>\n<geom size=\"1\" type=\"cube\"/></body></mujoco>"),
    ];
    let error = load("included-error", &files).expect_err("an unknown type");
    assert!(error.file().ends_with("part.xml") && error.line() == 3, "{error}");
}

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

#[test]
fn meshes_are_found_in_their_folder_and_named_after_their_file() {
    let model = |compiler: &str, file: &str| {
        format!(
            r#"<mujoco><compiler {compiler}/><asset><mesh file="{file}"/></asset><worldbody><body>
            <geom type="mesh" mesh="tetra" density="6"/></body></worldbody></mujoco>"#
        )
    };
    let cases = [
        (r#"meshdir="assets""#, "tetra.obj"),
        (r#"assetdir="assets/""#, "tetra.obj"),
        (r#"assetdir="elsewhere" meshdir="assets""#, "tetra.obj"),
        (r#"meshdir="assets" strippath="true""#, "C:\\some\\folder\\tetra.obj"),
        ("", "assets/tetra.obj"),
    ];
    for (k, (compiler, file)) in cases.into_iter().enumerate() {
        let text = model(compiler, file);
        let loaded = load(&format!("meshdir-{k}"), &[("main.xml", &text), ("assets/tetra.obj", TETRAHEDRON)]);
        let mass = loaded.map(|l| l.model.bodies[1].inertia.mass);
        assert!(mass.as_ref().is_ok_and(|m| (m - 1.0).abs() < 1e-15), "{compiler}: {mass:?}");
    }
}

#[test]
fn height_fields_come_from_pictures_and_binaries() {
    let text = r#"<mujoco><asset><hfield name="h" file="h.bin" size="1 1 2 .1"/><hfield name="p" file="p.png" size="1 1 2 .1"/></asset>
        <worldbody><geom type="hfield" hfield="h"/><geom type="hfield" hfield="p"/></worldbody></mujoco>"#;
    let folder = folder("hfield", &[("main.xml", text)]);
    let mut binary: Vec<u8> = [2_i32, 3].iter().flat_map(|n| n.to_le_bytes()).collect();
    binary.extend([0.0_f32, 1.0, 2.0, 3.0, 4.0, 8.0].iter().flat_map(|h| h.to_le_bytes()));
    fs::write(folder.join("h.bin"), binary).expect("a file to write");
    let mut picture = Vec::new();
    let mut encoder = png::Encoder::new(&mut picture, 2, 2);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(&[0, 255, 51, 102]).expect("pixels");
    writer.finish().expect("an end");
    fs::write(folder.join("p.png"), picture).expect("a file to write");

    let loaded = sapwood_formats::load(&folder.join("main.xml"), &LoadOptions::default()).expect("a model");
    let heights = |k: usize| match &loaded.scene.geoms[k].shape {
        geometry::Shape::HeightField(field) => field.heights.clone(),
        other => panic!("{other:?}"),
    };
    assert!(crate::close(&heights(0), &[0.0, 0.25, 0.5, 0.75, 1.0, 2.0], 1e-15));
    // The first row of a picture lies at +y.
    assert!(crate::close(&heights(1), &[0.4, 0.8, 0.0, 2.0], 1e-15));
}

/// As in MuJoCo: relative to the main file, or else to the file that names it.
#[test]
fn files_may_be_relative_to_the_included_file() {
    let include = |file: &str| format!("<mujoco><include file=\"{file}\"/></mujoco>");
    let body = |name: &str| format!("<mujoco><worldbody><body name=\"{name}\"/></worldbody></mujoco>");
    let main = ("main.xml", &*include("sub/a.xml"));
    let name = |test: &str, files: &[(&str, &str)]| load(test, files).expect("a model").model.bodies[1].name.clone();
    let beside = [main, ("sub/a.xml", &include("b.xml")), ("sub/b.xml", &body("beside"))];
    assert_eq!(name("beside", &beside), "beside");
    let both = [beside[0], beside[1], beside[2], ("b.xml", &body("main"))];
    assert_eq!(name("both", &both), "main");

    let points = "0 0 0  1 0 0  0 1 0  0 0 1";
    let corners: String = points.split("  ").map(|p| format!("v {p}\n")).collect();
    let obj = corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let doubled =
        obj.replace('1', "2").replace("f 2 3 2", "f 1 3 2").replace("f 2 2 4", "f 1 2 4").replace("f 2 4 3", "f 1 4 3");
    let asset = "<mujoco><compiler meshdir=\"meshes\"/><asset><mesh name=\"m\" file=\"m.obj\"/></asset><worldbody>\
                 <geom type=\"mesh\" mesh=\"m\"/></worldbody></mujoco>";
    let main = ("main.xml", &*include("sub/a.xml"));
    let width = |test: &str, files: &[(&str, &str)]| match &load(test, files).expect("a model").scene.geoms[0].shape {
        geometry::Shape::Mesh(mesh) => mesh.vertices.iter().map(|v| v.x).fold(0.0, f64::max),
        _ => 0.0,
    };
    let asset = ("sub/a.xml", asset);
    assert_eq!(width("mesh-sub", &[main, asset, ("sub/m.obj", &obj)]), 1.0);
    assert_eq!(width("mesh-folder", &[main, asset, ("sub/m.obj", &obj), ("meshes/m.obj", &doubled)]), 2.0);
    // MuJoCo does not look here; a folder beside the included file is where people put one.
    assert_eq!(width("mesh-sub-folder", &[main, asset, ("sub/meshes/m.obj", &obj)]), 1.0);
}

#[test]
fn a_file_that_includes_itself_by_another_name_is_an_error() {
    let files = [("main.xml", "<mujoco><include file=\"sub/../main.xml\"/></mujoco>"), ("sub/x", "")];
    let error = load("itself", &files).expect_err("a cycle");
    assert!(error.message().contains("is included already"), "{error}");
}
